package tuner_test

import (
	"math"
	"testing"

	"autotune/tuner"
)

func on(workload string, metrics map[string]float64, also ...*tuner.Measurement) *tuner.Measurement {
	return &tuner.Measurement{Workload: workload, Share: 1, Metrics: metrics, Also: also}
}

// TestGoalOverSeveralTargets: the objective orders measurements, and gives gains, as the weighted geometric mean of the values' ratios to a reference does.
func TestGoalOverSeveralTargets(t *testing.T) {
	g := tuner.Goal{Metric: "x", Direction: tuner.Maximize, Targets: []tuner.Target{{Workload: "a", Weight: 1}, {Workload: "b", Weight: 3}}}
	at := func(a, b float64) *tuner.Measurement {
		return on("a", map[string]float64{"x": a}, on("b", map[string]float64{"x": b}))
	}
	reference, _ := g.Value(at(100, 5))
	for _, c := range []struct{ a, b float64 }{{200, 5}, {100, 10}, {50, 6}} {
		v, ok := g.Value(at(c.a, c.b))
		want := math.Pow(c.a/100, 0.25)*math.Pow(c.b/5, 0.75) - 1
		if got := g.Gain(v, reference); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: a gain of %v, want %v", c, got, want)
		}
	}
	if _, ok := g.Value(on("a", map[string]float64{"x": 1})); ok {
		t.Error("a value although b was not measured")
	}
	if got := g.Share(on("a", nil, &tuner.Measurement{Workload: "b", Share: 0.25})); got != 0.25 {
		t.Errorf("share %v", got)
	}
}

// TestGuardNotMeasured: what was not measured on a guard breaks nothing there, and never leads.
func TestGuardNotMeasured(t *testing.T) {
	g := tuner.Goal{Metric: "x", Direction: tuner.Maximize, Guards: []string{"b"}, SubjectTo: []tuner.Bound{{Workload: "b", Metric: "retained", Op: ">=", Limit: 0.9}}}
	trial := func(m *tuner.Measurement) tuner.Trial {
		return tuner.Trial{Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: m}}
	}
	alone := on("a", map[string]float64{"x": 1})
	if v := g.Violations(alone); !math.IsNaN(v[0]) || g.TotalViolation(alone) != 0 || g.Feasible(trial(alone)) {
		t.Errorf("violations %v, feasible %v", v, g.Feasible(trial(alone)))
	}
	for retained, feasible := range map[float64]bool{0.95: true, 0.9: true, 0.85: false} {
		if got := g.Feasible(trial(on("a", map[string]float64{"x": 1}, on("b", map[string]float64{"retained": retained})))); got != feasible {
			t.Errorf("retained %v: feasible %v", retained, got)
		}
	}
}

func TestMetered(t *testing.T) {
	g := tuner.Goal{Metric: "x", Targets: []tuner.Target{{Workload: "a", Weight: 1}, {Workload: "b", Weight: 1}}}
	m := on("a", map[string]float64{"x": 4, "y": 1}, on("b", map[string]float64{"x": 9, "y": 2}))
	for name, want := range map[string]float64{"x": 6, "a.x": 4, "b.y": 2, "y": 1} {
		if got, ok := g.Metered(m, name); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if _, ok := g.Metered(m, "c.x"); ok {
		t.Error("a metric of a workload that is not there")
	}
}
