package tuner_test

import (
	"slices"
	"strings"
	"testing"

	"autotune/space"
	"autotune/tuner"
)

// gains is a history of measured trials with these expected gains of the model's own proposals; below 0: another kind of proposal.
func gains(t *testing.T, expected ...float64) (tuner.Problem, tuner.History) {
	t.Helper()
	p := newBench(t).problem
	var h tuner.History
	for n, g := range expected {
		trial := tuner.Trial{Number: n, Point: p.Baselines[0], Outcome: measured(1)}
		if trial.Proposal = (tuner.Proposal{Kind: tuner.KindGain, Gain: g}); g < 0 {
			trial.Proposal = tuner.Proposal{Kind: tuner.KindExplore}
		}
		h = append(h, trial)
	}
	return p, h
}

func TestNoGain(t *testing.T) {
	many := slices.Repeat([]float64{0.1}, 16)
	for name, c := range map[string]struct {
		gains  []float64
		below  float64
		change func(h tuner.History)
		over   bool
	}{
		"four low ones running": {slices.Concat(many, []float64{.009, .001, 0, .005}), 0.01, nil, true},
		"three":                 {slices.Concat(many, []float64{.02, .001, 0, .005}), 0.01, nil, false},
		"explorations in between are passed over":        {slices.Concat(many, []float64{.009, -1, .001, -1, 0, -1, .005, -1}), 0.01, nil, true},
		"a high one in between":                          {slices.Concat(many, []float64{.009, .001, -1, .01, 0, .005}), 0.01, nil, false},
		"fewer than twenty trials":                       {slices.Concat(many[:15], []float64{.009, .001, 0, .005}), 0.01, nil, false},
		"switched off":                                   {slices.Concat(many, []float64{.009, .001, 0, .005}), 0, nil, false},
		"no model":                                       {slices.Repeat([]float64{-1}, 30), 0.01, nil, false},
		"the last is still running: nineteen have ended": {slices.Concat(many, []float64{.009, .001, 0, .005}), 0.01, func(h tuner.History) { h[19].Outcome = tuner.Outcome{} }, false},
		"nothing is feasible": {slices.Concat(many, []float64{.009, .001, 0, .005}), 0.01, func(h tuner.History) {
			for i := range h {
				h[i].Outcome = tuner.Outcome{Kind: tuner.Infeasible}
			}
		}, false},
		"the low ones are of another engine version": {slices.Concat(many, many, []float64{.009, .001, 0, .005}), 0.01, func(h tuner.History) {
			for i := range h[32:] {
				h[32+i].Stale = true
			}
		}, false},
	} {
		p, h := gains(t, c.gains...)
		if c.change != nil {
			c.change(h)
		}
		reason, over := tuner.NoGain(p, h, c.below)
		if over != c.over || over == (reason == "") {
			t.Errorf("%s: over %v, %q", name, over, reason)
		}
	}
	p, h := gains(t, slices.Concat(many, []float64{.0094, -1, .001, 0, .005})...)
	const want = "the model's last 4 proposals, trials 16, 18, 19, 20, promised at most 0.94 % over the best, less than the 1 % of search.stop"
	if reason, _ := tuner.NoGain(p, h, 0.01); reason != want {
		t.Errorf("got  %s\nwant %s", reason, want)
	}
}

// hopeless proposes in order, and expects nothing.
type hopeless struct{ inOrder }

func (s hopeless) Suggest(p tuner.Problem, h tuner.History, a tuner.Ask) (tuner.Proposal, error) {
	q, err := s.inOrder.Suggest(p, h, a)
	q.Kind = tuner.KindGain
	return q, err
}

// widen gives a bench a flag of a hundred values.
func widen(t *testing.T, b *bench) {
	t.Helper()
	seqs, err := space.Ints(1, 100, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	params := b.problem.Space.Params()
	params[1].Domain = seqs.Allowing(space.Default())
	if b.problem.Space, err = space.New(params, nil, nil); err != nil {
		t.Fatal(err)
	}
}

func TestTheStopRuleEndsAStudy(t *testing.T) {
	b := newBench(t)
	widen(t, b)
	b.Sampler, b.StopGain, b.study.Budget.Trials = hopeless{}, 0.01, 60
	end, err := b.run(t.Context())
	if err != nil || end != tuner.EndNoGain || len(b.runner.ran) != 20 {
		t.Fatalf("ended %q, %v after %d trials; want 20", end, err, len(b.runner.ran))
	}
	if end, err = b.run(t.Context()); err != nil || end != tuner.EndNoGain || len(b.runner.ran) != 20 {
		t.Fatalf("again it ended %q, %v after %d trials", end, err, len(b.runner.ran))
	}
	b.StopGain, b.study.Budget.Trials = 0, 23
	if end, err = b.run(t.Context()); err != nil || end != tuner.EndBudgetTrials || len(b.runner.ran) != 23 {
		t.Fatalf("without the rule it ended %q, %v after %d trials", end, err, len(b.runner.ran))
	}
}

// A space in which nothing but the baseline runs is told of once, also over two sittings, and the study goes on.
func TestTooLittleRoomIsSaidOnce(t *testing.T) {
	b := newBench(t)
	widen(t, b)
	failed := []answer{{outcome: tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseLoad, Reason: tuner.ReasonMemory}}}
	for n := 1; n < 30; n++ {
		b.runner.answers[n] = failed
	}
	notices := func() (n int) {
		for _, text := range b.store.notes {
			if strings.Contains(text, "the first 10 trials after the baselines have all failed: the space") {
				n++
			}
		}
		return n
	}
	for _, c := range []struct{ trials, notices int }{{10, 0}, {11, 1}, {15, 1}} {
		b.study.Budget.Trials = c.trials
		if end, err := b.run(t.Context()); err != nil || end != tuner.EndBudgetTrials {
			t.Fatalf("ended %q, %v", end, err)
		}
		if got := notices(); got != c.notices {
			t.Errorf("after %d trials it was said %d times, want %d", c.trials, got, c.notices)
		}
	}
	if text, n := tuner.LittleRoom(b.store.history()); n != 14 || !strings.HasPrefix(text, "the first 14 trials") {
		t.Errorf("%d: %s", n, text)
	}
	one := b.store.trials[7]
	one.Outcome = measured(1)
	b.store.trials[7] = one
	if text, _ := tuner.LittleRoom(b.store.history()); text != "" {
		t.Errorf("one has run: %s", text)
	}
}
