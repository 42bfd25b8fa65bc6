package search

import (
	"math"
	"testing"

	"autotune/search/searchtest"
	"autotune/space"
	"autotune/tuner"
)

// twoFlags is a problem of one engine with two flags of two words, and a history of it: of what ran and what did not.
func twoFlags(t *testing.T, ran map[[2]string]bool) *belief {
	t.Helper()
	params := []space.Param{{Name: space.EngineParam}, {Name: "one.a", Engine: "one", Flag: "a"}, {Name: "one.b", Engine: "one", Flag: "b"}}
	for i, words := range [][]space.Value{{space.String("one")}, {space.String("x"), space.String("y")}, {space.String("x"), space.String("y")}} {
		domain, err := space.Choices(words...)
		if err != nil {
			t.Fatal(err)
		}
		params[i].Domain = domain
	}
	s, err := space.New(params, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := tuner.Problem{Space: s, Goal: tuner.Goal{Metric: "tps", Direction: tuner.Maximize}}
	var h tuner.History
	for _, ab := range [][2]string{{"x", "x"}, {"x", "y"}, {"y", "x"}, {"y", "y"}} {
		live, tried := ran[ab]
		if !tried {
			continue
		}
		point, err := s.Point(map[string]space.Value{space.EngineParam: space.String("one"), "one.a": space.String(ab[0]), "one.b": space.String(ab[1])})
		if err != nil {
			t.Fatal(err)
		}
		o := tuner.Outcome{Kind: tuner.Infeasible, Reason: tuner.ReasonInfeasible, Signature: "exit"}
		if live {
			o = tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Share: 1, Metrics: map[string]float64{"tps": 1}}}
		}
		h = append(h, tuner.Trial{Number: len(h), Point: point, Outcome: o})
	}
	return believed(t, p, h)
}

// TestRulesByHand: the weights of every rule of two flags with two words, worked out by hand. A rule on one flag has the prior 0.3/(2·2), the rule on both
// 0.7/(1·2·2), and 0.05 is left for no rule.
func TestRulesByHand(t *testing.T) {
	for name, c := range map[string]struct {
		ran  map[[2]string]bool
		want map[[2]int]float64 // suspicion by levels of a and b
	}{
		// a=y and b=y each ran once in spite of itself: 0.075 · 0.05; both together, never.
		"a pair": {map[[2]string]bool{{"x", "x"}: true, {"x", "y"}: true, {"y", "x"}: true, {"y", "y"}: false},
			map[[2]int]float64{{0, 0}: 0, {1, 0}: 0.00375 / 0.2325, {0, 1}: 0.00375 / 0.2325, {1, 1}: 0.1825 / 0.2325}},
		// nothing ran: a=y, b=y and both are open.
		"alone": {map[[2]string]bool{{"y", "y"}: false},
			map[[2]int]float64{{0, 0}: 0, {1, 0}: 0.075 / 0.375, {0, 1}: 0.075 / 0.375, {1, 1}: 0.325 / 0.375}},
	} {
		b := twoFlags(t, c.ran)
		a, second := b.place["one.a"], b.place["one.b"]
		for levels, want := range c.want {
			cell := make(cell, len(b.params))
			cell[a], cell[second] = levels[0], levels[1]
			if got := b.rules.causes[0].at(cell, b.active(cell)); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: the suspicion against %v is %.9f, want %.9f", name, levels, got, want)
			}
		}
	}
}

// TestTwoFailuresOfOneFlagAccuseIt: with a=y dead beside both values of b, a=y alone is likelier the rule than either pair; its weight is
// 0.075, a pair's 0.175 · 0.15, none's 0.05 · 0.15.
func TestTwoFailuresOfOneFlagAccuseIt(t *testing.T) {
	b := twoFlags(t, map[[2]string]bool{{"x", "x"}: true, {"x", "y"}: true, {"y", "x"}: false, {"y", "y"}: false})
	onB := 0.075 * 0.05 * 0.15 // b=x, under which one trial ran, explains one of the two
	total := 0.075 + 0.175*0.15 + onB + 0.05*0.15
	cell := make(cell, len(b.params))
	cell[b.place["one.a"]] = 1
	if got, want := b.rules.causes[0].at(cell, b.active(cell)), (0.075+0.175*0.15+onB)/total; math.Abs(got-want) > 1e-12 {
		t.Errorf("the suspicion against the first that failed is %.9f, want %.9f", got, want)
	}
	cell[b.place["one.b"]] = 1
	if got, want := b.rules.causes[0].at(cell, b.active(cell)), 0.075/total; math.Abs(got-want) > 1e-12 {
		t.Errorf("by the first failure alone, the suspicion against the second is %.9f, want %.9f", got, want)
	}
}

// TestHiddenPairIsFound: where a number from some value on and a word do not go together, the model tells points of both sides apart that it has not seen.
func TestHiddenPairIsFound(t *testing.T) {
	surface := searchtest.TwoEngines()
	broken := surface
	breaks := func(p space.Point) bool {
		cache, _ := p.Get("fast.cache")
		tp, ok := p.Get("fast.tp")
		return ok && cache == space.String("fp8") && tp.AsInt() >= 4
	}
	broken.Truth = func(p space.Point) tuner.Outcome {
		if breaks(p) {
			return tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseInit, Reason: tuner.ReasonInfeasible, Signature: "exit"}
		}
		return surface.Truth(p)
	}
	h := searchtest.Study(t, random{}, broken, 3, 40)
	b := believed(t, broken.Problem, h)
	seen := h.Taken()
	r := source(tuner.Ask{Seed: 9})
	var dead, alive, wrong int
	for range 2000 {
		c := b.random(r)
		p := b.point(c)
		if p.Engine() != "fast" || seen(p.Key()) {
			continue
		}
		avoids := math.Exp(b.rules.logAvoids(c, b.active(c)))
		switch {
		case breaks(p):
			dead++
			if avoids > 0.5 {
				wrong++
			}
		default:
			alive++
			if avoids < 0.5 {
				wrong++
			}
		}
	}
	if dead < 50 || alive < 50 {
		t.Fatalf("%d points under the rule and %d not: the test shows nothing", dead, alive)
	}
	if share := float64(wrong) / float64(dead+alive); share > 0.1 {
		t.Errorf("of %d unseen points under the rule and %d not, %.0f %% are taken for the other", dead, alive, 100*share)
	}
}

// TestConditions: a default that stands for a number is told apart from the number given, and a word from all others.
func TestConditions(t *testing.T) {
	s := searchtest.TwoEngines().Problem.Space
	l := newLattice(s)
	for name, want := range map[string]int{
		"fast.tp":    6, // from 2, 4, 8 on; up to 1, 2, 4
		"fast.cache": 2,
		"plain.mode": 3,
	} {
		d := l.dims[l.place[name]]
		if got := len(conditionsOf(d)); got != want {
			t.Errorf("%s has %d conditions, want %d: %v", name, got, want, conditionsOf(d))
		}
	}
	chunk := l.dims[l.place["fast.chunk"]]
	byDefault := chunk.level(space.Default())
	with, without := 0, 0
	for _, c := range conditionsOf(chunk) {
		if c[byDefault] {
			with++
		} else {
			without++
		}
	}
	if with == 0 || without == 0 {
		t.Errorf("%d conditions hold for the default and %d do not", with, without)
	}
}

func TestSharpen(t *testing.T) {
	for p, want := range map[float64]float64{0.5: 0.5, 0.85: 1 / (1 + math.Pow(0.15/0.85, confidence)), 0.15: 1 / (1 + math.Pow(0.85/0.15, confidence))} {
		if got := math.Exp(sharpen(math.Log(p))); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g becomes %.9f, want %.9f", p, got, want)
		}
	}
	last := math.Inf(-1)
	for x := -100.0; x <= 0; x += 0.25 {
		got := sharpen(x)
		if !(got >= last) || got > 0 || math.IsInf(got, 0) {
			t.Fatalf("sharpen(%g) is %g after %g", x, got, last)
		}
		last = got
	}
}
