package search

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"autotune/search/searchtest"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// TestViolations: a trial tells of the bounds on what was measured of it; what was cut short tells nothing of what nobody foresaw, and a search for a rate
// tells of no bound.
func TestViolations(t *testing.T) {
	measured := &tuner.Measurement{Workload: "a", Metrics: map[string]float64{"p95_ttft": 2 * math.E}}
	bounds := []tuner.Bound{{Workload: "a", Metric: "p95_ttft", Op: "<=", Limit: 2}, {Workload: "b", Metric: "p95_ttft", Op: "<=", Limit: 2}, {Workload: "a", Metric: "p95_itl", Op: "<=", Limit: 1}}
	unknown := math.NaN()
	for _, c := range []struct {
		objective string
		kind      tuner.Kind
		want      []float64
	}{
		{"total_token_throughput", tuner.Measured, []float64{1, unknown, violationMost}},
		{"total_token_throughput", tuner.Stopped, []float64{1, unknown, unknown}},
		{metric.RequestRate, tuner.Measured, []float64{unknown, unknown, unknown}},
	} {
		g := tuner.Goal{Metric: c.objective, Direction: tuner.Maximize, SubjectTo: bounds}
		for i, got := range violations(g, tuner.Trial{Outcome: tuner.Outcome{Kind: c.kind, Measured: measured}}) {
			if same := math.Abs(got-c.want[i]) < 1e-12 || math.IsNaN(got) && math.IsNaN(c.want[i]); !same {
				t.Errorf("%s, %s: bound %d is %v, want %v", c.objective, c.kind, i, got, c.want[i])
			}
		}
	}
}

// TestCutShortInTheFirstTarget: a trial that broke a bound in the first of two targets has no value, and is learned from all the same.
func TestCutShortInTheFirstTarget(t *testing.T) {
	surface := searchtest.TwoEngines()
	p := surface.Problem
	p.Goal = tuner.Goal{Metric: "x", Direction: tuner.Maximize, Targets: []tuner.Target{{Workload: "a", Weight: 1}, {Workload: "b", Weight: 1}},
		SubjectTo: []tuner.Bound{{Workload: "a", Metric: "p95_ttft", Op: "<=", Limit: 2}}}
	good, bad := tuner.Trial{Number: 0, Point: p.Baselines[0], Outcome: tuner.Outcome{Kind: tuner.Measured}}, tuner.Trial{Number: 1, Point: p.Baselines[1], Outcome: tuner.Outcome{Kind: tuner.Stopped}}
	good.Outcome.Measured = &tuner.Measurement{Workload: "a", Share: 1, Metrics: map[string]float64{"x": 1, "p95_ttft": 1}, Also: []*tuner.Measurement{{Workload: "b", Share: 1, Metrics: map[string]float64{"x": 1}}}}
	bad.Outcome.Measured = &tuner.Measurement{Workload: "a", Share: 0.5, Metrics: map[string]float64{"x": 1, "p95_ttft": 8}}
	b := believed(t, p, tuner.History{good, bad})
	if len(b.ranked) != 1 || len(b.broken) != 1 {
		t.Fatalf("%d trials are ranked, %d bounds are known", len(b.ranked), len(b.broken))
	}
	holds, _ := b.broken[0](b.cell(good.Point))
	breaks, _ := b.broken[0](b.cell(bad.Point))
	if holds >= breaks || breaks <= 0 {
		t.Errorf("violations of %v where the bound holds and %v where it broke", holds, breaks)
	}
}

// TestForesee by hand: a violation of ln 2 is twice the limit of what is to be small, and half of that of what is to be large.
func TestForesee(t *testing.T) {
	got := map[string]tuner.Prediction{"x": {Mean: 7}}
	for _, b := range []tuner.Bound{
		{Metric: "p95_ttft", Op: "<=", Limit: 2}, {Workload: "chat", Metric: "output_token_throughput", Op: ">=", Limit: 100},
		{Metric: "failed_requests", Op: "<=", Limit: 0}, {Metric: "success_rate", Op: ">=", Limit: 0.99}, {Metric: "x", Op: "<=", Limit: 1},
	} {
		foresee(got, b, math.Ln2, 0.09)
	}
	want := map[string]tuner.Prediction{"x": {Mean: 7}, "p95_ttft": {Mean: 4, SD: 0.3}, "chat.output_token_throughput": {Mean: 50, SD: 0.3}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("predictions (-want +got):\n%s", diff)
	}
}

// TestBoundsAreForeseen: what gp and rf propose says what the bounded metric will be, too, and mostly holds.
func TestBoundsAreForeseen(t *testing.T) {
	surface := searchtest.Bounded()
	bound := surface.Problem.Goal.SubjectTo[0]
	for name, s := range map[string]tuner.Sampler{"gp": newGP(), "rf": newRF()} {
		predicted, near := 0, 0
		for _, trial := range searchtest.Study(t, s, surface, 2, 40) {
			p, ok := trial.Proposal.Predicted[bound.Name()]
			v, measured := surface.Problem.Goal.Metered(trial.Outcome.Measured, bound.Name())
			if !ok || !measured {
				continue
			}
			predicted++
			if math.Abs(math.Log(v/p.Mean)) <= 3*p.SD {
				near++
			}
		}
		if predicted < 15 || float64(near) < 0.7*float64(predicted) {
			t.Errorf("%s: %d of %d predictions of %s hold", name, near, predicted, bound.Name())
		}
	}
}
