package store

import (
	"slices"
	"testing"

	"autotune/space"
	"autotune/store/storetest"
	"autotune/tuner"
)

// tokens is a problem whose one parameter has these choices, and perhaps more parameters.
func tokens(t *testing.T, values []int64, more ...space.Param) tuner.Problem {
	t.Helper()
	choices := func(values ...space.Value) space.Domain {
		d, err := space.Choices(values...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	var list []space.Value
	for _, v := range values {
		list = append(list, space.Int(v))
	}
	params := append([]space.Param{{Name: "engine", Domain: choices(space.String("vllm"))},
		{Name: "vllm.max-num-batched-tokens", Engine: "vllm", Flag: "max-num-batched-tokens", Domain: choices(list...)}}, more...)
	s, err := space.New(params, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := storetest.Problem(t)
	p.Space = s
	return p
}

// ask carries out a trial for each value, with the numbers that come next.
func ask(t *testing.T, d *DB, values ...int64) {
	t.Helper()
	for _, v := range values {
		point := d.problem.Space.Build(func(p space.Param, _ space.Lookup) space.Value {
			if p.Flag == "max-num-batched-tokens" {
				return space.Int(v)
			}
			return p.Domain.At(0)
		})
		tr := tuner.Trial{Number: history(t, d).Next(), Point: point, Origin: tuner.OriginSearch, Started: storetest.Epoch, Proposal: tuner.Proposal{Point: point}}
		if err := d.Begin(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
		tr.Outcome, tr.Ended = tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Metrics: map[string]float64{"total_token_throughput": float64(v)}}}, storetest.Epoch
		if err := d.Finish(t.Context(), tr); err != nil {
			t.Fatal(err)
		}
	}
}

// check compares the values of all trials, ours and Optuna's, with those that were asked, and which of them are outside the space.
func check(t *testing.T, d *DB, values []int64, outside ...int64) {
	t.Helper()
	sees := optunaSees(t, d)
	for i, tr := range history(t, d) {
		v, _ := tr.Point.Get("vllm.max-num-batched-tokens")
		if v != space.Int(values[i]) || sees[i].Params["vllm.max-num-batched-tokens"] != v.String() || tr.Outside != slices.Contains(outside, values[i]) {
			t.Errorf("trial %d was asked with %d, has %v, for Optuna %s, outside %v", i, values[i], v, sees[i].Params["vllm.max-num-batched-tokens"], tr.Outside)
		}
	}
	if lists := query(t, d, "SELECT DISTINCT distribution_json FROM trial_params WHERE param_name = 'vllm.max-num-batched-tokens'"); len(lists) != 1 {
		t.Errorf("Optuna sees several lists of choices: %v", lists)
	}
}

// revise goes on under another space.
func revise(t *testing.T, d *DB, p tuner.Problem, spec string) {
	t.Helper()
	d.Bind(p)
	study := storetest.Study()
	study.Spec = []byte(spec)
	if err := d.Revise(t.Context(), study); err != nil {
		t.Fatal(err)
	}
	got, err := d.ReadStudy(t.Context())
	if err != nil || string(got.Spec) != spec || got.UUID != study.UUID {
		t.Errorf("revised to %s, %v", got.Spec, err)
	}
}

// When choices change at a resume, trials keep their values, whatever place these have in the new list; what is no longer in the list is outside.
func TestChoicesChange(t *testing.T) {
	path := temporary(t)
	d := holding(t)(Create(path, storetest.Study(), tokens(t, []int64{128, 256})))
	asked := []int64{128, 256, 128}
	ask(t, d, asked...)
	check(t, d, asked)

	revise(t, d, tokens(t, []int64{64, 128, 256, 1024}), "longer")
	check(t, d, asked)
	ask(t, d, 64, 1024, 128)
	asked = append(asked, 64, 1024, 128)
	check(t, d, asked)

	revise(t, d, tokens(t, []int64{256}), "shorter")
	check(t, d, asked, 64, 128, 1024)
	ask(t, d, 256)
	asked = append(asked, 256)
	check(t, d, asked, 64, 128, 1024)

	revise(t, d, tokens(t, []int64{1024, 256, 128, 64}), "another order")
	check(t, d, asked)
}

// A flag that the space gains was left out so far, so that trials stay inside where leaving it out is allowed; one that it loses matters where it was set.
func TestFlagsComeAndGo(t *testing.T) {
	seqs := func(values ...space.Value) space.Param {
		d, err := space.Choices(values...)
		if err != nil {
			t.Fatal(err)
		}
		return space.Param{Name: "vllm.max-num-seqs", Engine: "vllm", Flag: "max-num-seqs", Domain: d}
	}
	d := holding(t)(Create(temporary(t), storetest.Study(), tokens(t, []int64{128, 256})))
	ask(t, d, 128)
	interrupted := tuner.Trial{Number: 1, Point: history(t, d)[0].Point}
	if err := d.Begin(t.Context(), interrupted); err != nil {
		t.Fatal(err)
	}
	revise(t, d, tokens(t, []int64{128, 256}, seqs(space.Default(), space.Int(64))), "a flag more")
	h := history(t, d)
	if v, ok := h[0].Point.Get("vllm.max-num-seqs"); h[0].Outside || !ok || !v.IsDefault() {
		t.Errorf("the earlier trial is %v, outside %v", h[0].Point.Map(), h[0].Outside)
	}
	if err := d.Begin(t.Context(), h[1]); err != nil {
		t.Errorf("asking the interrupted trial again: %v", err)
	}
	ask(t, d, 256)
	revise(t, d, tokens(t, []int64{128, 256}), "that flag less")
	for _, tr := range history(t, d) {
		if tr.Outside {
			t.Errorf("trial %d is outside although the flag was left out", tr.Number)
		}
	}
	revise(t, d, tokens(t, []int64{128, 256}, seqs(space.Int(64))), "the flag must be set")
	for _, tr := range history(t, d) {
		if !tr.Outside {
			t.Errorf("trial %d is inside although the flag was left out", tr.Number)
		}
	}
}

// Integers that no float holds come back to the last digit, and stand so in Optuna's tables.
func TestLargeIntegers(t *testing.T) {
	values := []int64{1<<53 + 1, 1<<63 - 1, -1 << 63, 1 << 53}
	d := holding(t)(Create(temporary(t), storetest.Study(), tokens(t, values)))
	ask(t, d, values...)
	for i, tr := range history(t, d) {
		v, _ := tr.Point.Get("vllm.max-num-batched-tokens")
		want := space.Int(values[i]).String()
		if i < 3 {
			want = `"` + want + `"`
		}
		if got := optunaSees(t, d)[i].Params["vllm.max-num-batched-tokens"]; v != space.Int(values[i]) || got != want {
			t.Errorf("%d came back as %v, for Optuna as %s", values[i], v, got)
		}
	}
}
