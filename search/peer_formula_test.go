package search

import (
	"math"
	"testing"

	"autotune/search/searchtest"
	"autotune/space"
	"autotune/tuner"
)

// TestBadValue by hand: half of the worst that was measured where much is good, twice where little is; below 0 it is worse still.
func TestBadValue(t *testing.T) {
	for _, c := range []struct {
		direction tuner.Direction
		values    []float64
		want      float64
	}{
		{tuner.Maximize, []float64{8, 4, 6}, 2}, {tuner.Minimize, []float64{8, 4, 6}, 16}, {tuner.Maximize, []float64{-4, 2}, -6}, {tuner.Minimize, []float64{-4, -2}, 0}, {tuner.Maximize, nil, 0},
	} {
		g := tuner.Goal{Metric: "x", Direction: c.direction}
		var h tuner.History
		for n, v := range c.values {
			h = append(h, measuredTrial(n, "a", map[string]float64{"x": v}))
		}
		near(t, "a bad value", badValue(g, h), c.want, 0)
	}
}

// TestCostOfCMAES: an objective in its order, asinh of it; a bound that is broken above every objective, a failure above that.
func TestCostOfCMAES(t *testing.T) {
	d, err := space.Ints(0, 9, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New([]space.Param{{Name: "x", Domain: d}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := tuner.Problem{Space: s, Goal: tuner.Goal{Metric: "tps", Direction: tuner.Maximize, SubjectTo: []tuner.Bound{{Metric: "ttft", Op: "<=", Limit: 1}}}}
	at := func(x int64) space.Point {
		q, err := s.Point(map[string]space.Value{"x": space.Int(x)})
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	ran := func(tps, ttft float64) tuner.Outcome {
		return tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Share: 1, Metrics: map[string]float64{"tps": tps, "ttft": ttft}}}
	}
	var h tuner.History
	for x, o := range []tuner.Outcome{ran(math.Sinh(3), 0.5), ran(math.MaxFloat64, math.E*math.E), {Kind: tuner.Infeasible}, {Kind: tuner.Running}} {
		h = append(h, tuner.Trial{Number: x, Point: at(int64(x)), Outcome: o})
	}
	e := newEvolution(p, h, 1)
	for x, want := range []float64{-3, costBroken + 2, costFailed} {
		cost, known := e.cost(at(int64(x)))
		if near(t, "cost", cost, want, 1e-12); !known {
			t.Errorf("nothing is known of point %d", x)
		}
	}
	if _, known := e.cost(at(3)); known {
		t.Error("the cost of a running trial is known")
	}
	if top := math.Asinh(math.MaxFloat64); top > 750 || top < 700 {
		t.Errorf("an objective may cost %g, more than what a broken bound is set apart by", top)
	}
}

// TestRemotenessByHand: the nearest trial differs in one word and by a part u of a number's range; draft=true was tried once: log(0.1 + 1 + u) - 0.7 log 2.
func TestRemotenessByHand(t *testing.T) {
	surface := searchtest.TwoEngines()
	s := surface.Problem.Space
	set := func(fraction float64, cache string, draft bool) space.Point {
		values := map[string]space.Value{space.EngineParam: space.String("fast"), "fast.tp": space.Int(2), "fast.chunk": space.Int(2048), "fast.fraction": space.Float(fraction),
			"fast.cache": space.String(cache), "fast.draft": space.Bool(draft)}
		if draft {
			values["fast.draft-tokens"] = space.Int(4)
		}
		p, err := s.Point(values)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var dims []*dimension
	for _, q := range s.Ordered() {
		if q.Engine == "fast" {
			dims = append(dims, newDimension(q))
		}
	}
	tried := []space.Point{set(0.5, "auto", true), set(0.5, "auto", false)}
	u, _ := newDimension(mustParam(t, s, "fast.fraction")).placeOf(space.Float(0.7))
	near(t, "remoteness", remoteness(set(0.7, "fp8", true), tried, dims, structuralNames(s)), math.Log(0.1+1+u)-0.7*math.Ln2, 1e-12)
}

func mustParam(t *testing.T, s *space.Space, name string) space.Param {
	t.Helper()
	p, ok := s.Param(name)
	if !ok {
		t.Fatalf("no parameter %s", name)
	}
	return p
}

// TestWeightOfAGoodTrial by hand: with a least of 0.2 the best counts 1, the worst good one more than 0.2 by its place between the best of the rest and the best, in logarithms.
func TestWeightOfAGoodTrial(t *testing.T) {
	s := newTPE()
	s.least = 0.2
	var measured []tuner.Trial
	for n, v := range []float64{8, 4, 2, 1} {
		measured = append(measured, measuredTrial(n, "a", map[string]float64{"x": v}))
	}
	g := tuner.Goal{Metric: "x", Direction: tuner.Maximize}
	near(t, "weight of the best", s.weight(g, measured, 0, 2), 1, 1e-12)
	near(t, "weight of the second", s.weight(g, measured, 1, 2), 0.6, 1e-12) // half way from 2 to 8
}
