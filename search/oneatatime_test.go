package search_test

import (
	"strings"
	"testing"

	"autotune/search/searchtest"
	"autotune/space"
	"autotune/tuner"
)

// TestOneAtATimeBeatsRandom by little: on one of the surfaces what is gained takes two changes at once.
func TestOneAtATimeBeatsRandom(t *testing.T) {
	searchtest.BeatsRandom(t, sampler(t, "one-at-a-time"), sampler(t, "random"), 40, 10, 0.9)
}

// line is one engine with an ordered flag of 17 values, a choice and a flag that only one of its values brings, and a baseline.
func line(t testing.TB, truth func(n, extra int64, kind string) float64) searchtest.Surface {
	t.Helper()
	n, err := space.Ints(0, 16, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := space.Choices(space.String("a"), space.String("b"), space.String("c"))
	if err != nil {
		t.Fatal(err)
	}
	extra, err := space.Ints(1, 3, 1, false, space.Default())
	if err != nil {
		t.Fatal(err)
	}
	when, err := space.ParseExpr("kind == b")
	if err == nil {
		when, err = when.Bind(func(n string) (string, bool) { return "e." + n, n == "kind" })
	}
	if err != nil {
		t.Fatal(err)
	}
	engine, err := space.Choices(space.String("e"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New([]space.Param{
		{Name: space.EngineParam, Domain: engine},
		{Name: "e.n", Engine: "e", Flag: "n", Domain: n},
		{Name: "e.kind", Engine: "e", Flag: "kind", Domain: kinds},
		{Name: "e.extra", Engine: "e", Flag: "extra", Domain: extra, When: when},
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	base, err := s.Point(map[string]space.Value{space.EngineParam: space.String("e"), "e.n": space.Int(4), "e.kind": space.String("a")})
	if err != nil {
		t.Fatal(err)
	}
	return searchtest.Surface{
		Name:    "line",
		Problem: tuner.Problem{Space: s, Baselines: []space.Point{base}, Goal: tuner.Goal{Metric: "output_token_throughput", Direction: tuner.Maximize}},
		Truth: func(p space.Point) tuner.Outcome {
			n, _ := p.Get("e.n")
			kind, _ := p.Get("e.kind")
			extra, _ := p.Get("e.extra")
			v := truth(n.AsInt(), extra.AsInt(), kind.String())
			if v < 0 {
				return failed(tuner.ReasonUnknown)
			}
			return value(v)
		},
	}
}

// steps writes a study as "n kind extra" a trial.
func steps(h tuner.History) string {
	var out []string
	for _, trial := range h {
		words := []string{}
		for _, name := range []string{"e.n", "e.kind", "e.extra"} {
			if v, ok := trial.Point.Get(name); ok {
				words = append(words, v.String())
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, ", ")
}

// TestOneAtATimeStepByStep: a quarter of 17 values is 4. Up to 8 and 12 improves, 16 does not; b brings the extra flag at its default and
// fails, c does not help; the second pass moves by 2, then the third by 1.
func TestOneAtATimeStepByStep(t *testing.T) {
	surface := line(t, func(n, _ int64, kind string) float64 {
		if kind == "b" {
			return -1
		}
		return map[string]float64{"a": 100, "c": 90}[kind] - float64((n-11)*(n-11))
	})
	want := map[string]bool{
		// n first.
		"4 a, 8 a, 12 a, 16 a, 12 b default, 12 c, 14 a, 10 a, 13 a, 11 a": true,
		// kind first.
		"4 a, 4 b default, 4 c, 8 a, 12 a, 16 a, 12 b default, 12 c, 14 a, 10 a": true,
	}
	seen := map[string]bool{}
	for seed := range uint64(8) {
		got := steps(searchtest.Study(t, sampler(t, "one-at-a-time"), surface, seed, 10))
		if !want[got] {
			t.Errorf("seed %d: %s", seed, got)
		}
		seen[got] = true
	}
	if len(seen) != len(want) {
		t.Errorf("eight seeds gave %d orders, want %d", len(seen), len(want))
	}
}

// TestOneAtATimeKeepsWhatImproves: where b is better, the extra flag is swept too, and only there.
func TestOneAtATimeKeepsWhatImproves(t *testing.T) {
	surface := line(t, func(n, extra int64, kind string) float64 {
		return 100 + float64(n) + 10*float64(extra) + map[string]float64{"a": 0, "b": 50, "c": 20}[kind]
	})
	for seed := range uint64(8) {
		h := searchtest.Study(t, sampler(t, "one-at-a-time"), surface, seed, 15)
		if best, _ := searchtest.Best(surface.Problem.Goal, h); best != 100+16+30+50 {
			t.Errorf("seed %d: the best is %g: %s", seed, best, steps(h))
		}
	}
}

// TestOneAtATimeGoesOnBesideARunningTrial: what runs is no improvement yet; once it is one, the walk goes on from there.
func TestOneAtATimeGoesOnBesideARunningTrial(t *testing.T) {
	surface := line(t, func(n, _ int64, kind string) float64 {
		return float64(n) + map[string]float64{"a": 1, "b": 0, "c": 0}[kind]
	})
	s := sampler(t, "one-at-a-time")
	const seed = 1 // which begins with n
	h := searchtest.Study(t, s, surface, seed, 2)
	suggest := func(h tuner.History) space.Point {
		proposal, err := s.Suggest(surface.Problem, h, tuner.Ask{Number: len(h), Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return proposal.Point
	}
	if got := steps(h); got != "4 a, 8 a" {
		t.Fatalf("the study begins with %s", got)
	}
	ended := h[1].Outcome
	h[1].Outcome = tuner.Outcome{}
	if got := steps(tuner.History{{Point: suggest(h)}}); got != "0 a" {
		t.Errorf("beside a running trial: %s, want the other way, 0 a", got)
	}
	h[1].Outcome = ended
	if got := steps(tuner.History{{Point: suggest(h)}}); got != "12 a" {
		t.Errorf("after it improved: %s, want further on, 12 a", got)
	}
}

// TestOneAtATimeStartsAnew: when nothing improves any more the next trials lie up to three flags from the best, and the study ends only when
// the space does.
func TestOneAtATimeStartsAnew(t *testing.T) {
	surface := line(t, func(n, _ int64, _ string) float64 { return 100 - float64((n-4)*(n-4)) })
	h := searchtest.Study(t, sampler(t, "one-at-a-time"), surface, 0, 1000)
	if want := 17 * (1 + 4 + 1); len(h) != want {
		t.Errorf("%d trials, want all %d points", len(h), want)
	}
	starts := 0
	for _, trial := range h {
		if strings.HasPrefix(trial.Proposal.Why, "a new start: 3 random changes of trial 0") {
			starts++
		}
	}
	if starts == 0 {
		t.Error("the walk never started anew")
	}
}
