package search_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"autotune/search"
	"autotune/search/searchtest"
	"autotune/space"
	"autotune/tuner"
)

// TestCMAESClimbs: on a smooth hill of four numbers, the strategy's own kind of problem, it ends closer to the top than random does, and the
// generations get better.
func TestCMAESClimbs(t *testing.T) {
	searchtest.NotShort(t)
	surface := searchtest.Numbers()
	regret := func(name string) (whole, first, last float64) {
		const seeds, trials = 6, 120
		for seed := range uint64(seeds) {
			h := searchtest.Study(t, sampler(t, name), surface, seed, trials)
			best, _ := searchtest.Best(surface.Problem.Goal, h)
			whole += (100 - best) / seeds
			for i, trial := range h[1:] {
				v, _ := surface.Problem.Goal.Value(trial.Outcome.Measured)
				if i < 20 {
					first += v / 20 / seeds
				}
				if i >= trials-21 {
					last += v / 20 / seeds
				}
			}
		}
		return whole, first, last
	}
	mine, first, last := regret("goptuna-cmaes")
	theirs, _, _ := regret("random")
	t.Logf("mean regret after 120 trials: %.1f, random %.1f; mean of the first 20 %.1f, of the last 20 %.1f", mine, theirs, first, last)
	if !(mine < 0.7*theirs) {
		t.Errorf("mean regret %.1f, random's is %.1f", mine, theirs)
	}
	if !(last > 1.5*first) {
		t.Errorf("the last 20 trials give %.1f, the first 20 %.1f", last, first)
	}
}

// TestCMAESRunsASmallSpaceDry: 30 points of which 5 break a rule; 25 are asked, then nothing is left.
func TestCMAESRunsASmallSpaceDry(t *testing.T) {
	surface := numbers(t, 6, "")
	s := sampler(t, "goptuna-cmaes")
	h := searchtest.Study(t, s, surface, 1, 100)
	keys := map[string]bool{}
	for _, trial := range h {
		keys[trial.Point.Key()] = true
		if !surface.Problem.Space.Keeps(trial.Point) {
			t.Errorf("%s breaks a rule", trial.Point.Key())
		}
	}
	if len(h) != 25 || len(keys) != 25 {
		t.Errorf("%d trials of %d points, want 25", len(h), len(keys))
	}
	if _, err := s.Suggest(surface.Problem, h, tuner.Ask{Number: 25, Seed: 1}); !errors.Is(err, tuner.ErrExhausted) {
		t.Errorf("in the end: %v", err)
	}
}

// numbers is a space of two ranges, 5 values by so many, without the points where both are equal, and a further flag, by its kind.
func numbers(t *testing.T, size int64, further string) searchtest.Surface {
	t.Helper()
	domain := func(d space.Domain, err error) space.Domain {
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	params := []space.Param{
		{Name: space.EngineParam, Domain: domain(space.Choices(space.String("e")))},
		{Name: "e.a", Engine: "e", Flag: "a", Domain: domain(space.Ints(0, 4, 1, false))},
		{Name: "e.b", Engine: "e", Flag: "b", Domain: domain(space.Ints(0, size-1, 1, false))},
	}
	last := space.Param{Name: "e.c", Engine: "e", Flag: "c", Domain: domain(space.Choices(space.Int(1), space.Int(2)))}
	switch further {
	case "bool":
		last.Domain = space.Bools()
	case "choice":
		last.Domain = domain(space.Choices(space.String("x"), space.String("y"), space.String("z"), space.String("w")))
	case "default":
		last.Domain = domain(space.Ints(0, 9, 1, false, space.Default()))
	case "condition":
		e, err := space.ParseExpr("a > 2")
		if err == nil {
			e, err = e.Bind(func(n string) (string, bool) { return "e." + n, n == "a" })
		}
		if err != nil {
			t.Fatal(err)
		}
		last.When = e
	}
	if further != "" {
		params = append(params, last)
	}
	rule := space.Constraint{ID: "differ", Reason: "a and b differ", Engine: "e", Holds: func(look space.Lookup) bool {
		a, _ := look("e.a")
		b, _ := look("e.b")
		return a != b
	}}
	s, err := space.New(params, []space.Constraint{rule}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return searchtest.Surface{
		Name:    "small numbers",
		Problem: tuner.Problem{Space: s, Goal: tuner.Goal{Metric: "output_token_throughput", Direction: tuner.Minimize}},
		Truth: func(p space.Point) tuner.Outcome {
			a, _ := p.Get("e.a")
			b, _ := p.Get("e.b")
			return value(1 + math.Abs(a.AsFloat()-3) + math.Abs(b.AsFloat()-1))
		},
	}
}

// TestCMAESSaysWhatItCannotSearch names the parameter and what is wrong with it.
func TestCMAESSaysWhatItCannotSearch(t *testing.T) {
	for _, c := range []struct{ further, param, reason string }{
		{"bool", "e.c", "it may be false, true;"},
		{"choice", "e.c", "it may be x, y, z, and more;"},
		{"default", "e.c", "it may be default;"},
		{"condition", "e.c", "it is there only when"},
		{"numbers", "", ""},
		{"", "", ""},
	} {
		p := numbers(t, 6, c.further).Problem
		err := search.Accepts("goptuna-cmaes", p)
		if c.reason == "" {
			if err != nil {
				t.Errorf("%q: %v", c.further, err)
			}
			continue
		}
		var unfit *search.UnfitError
		if !errors.As(err, &unfit) || unfit.Param != c.param || !strings.HasPrefix(unfit.Reason, c.reason) {
			t.Errorf("%q: %v", c.further, err)
		}
		if _, err := sampler(t, "goptuna-cmaes").Suggest(p, nil, tuner.Ask{}); !errors.As(err, &unfit) {
			t.Errorf("%q: a suggestion all the same (%v)", c.further, err)
		}
	}
	var unfit *search.UnfitError
	if err := search.Accepts("goptuna-cmaes", numbers(t, 1, "").Problem); !errors.As(err, &unfit) || unfit.Param != "" || !strings.Contains(unfit.Error(), "1 of its flags may vary") {
		t.Errorf("a line is accepted: %v", err)
	}
	if err := search.Accepts("goptuna-cmaes", searchtest.TwoEngines().Problem); !errors.As(err, &unfit) || unfit.Param != space.EngineParam {
		t.Errorf("two engines are accepted: %v", err)
	}
	for _, name := range search.Names() {
		if err := search.Accepts(name, searchtest.TwoEngines().Problem); (err != nil) != (name == "goptuna-cmaes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if search.Accepts("nobody", searchtest.TwoEngines().Problem) == nil {
		t.Error("a sampler that does not exist accepts a space")
	}
}
