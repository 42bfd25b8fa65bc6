package search

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"autotune/search/searchtest"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// on is a whole measurement of a workload, and of others on the same launch.
func on(workload string, v float64, also ...*tuner.Measurement) *tuner.Measurement {
	return &tuner.Measurement{Workload: workload, Share: 1, Metrics: map[string]float64{"x": v}, Also: also}
}

// twoTargets weighs b thrice as much as a.
var twoTargets = tuner.Goal{Metric: "x", Direction: tuner.Maximize, Targets: []tuner.Target{{Workload: "a", Weight: 1}, {Workload: "b", Weight: 3}}}

// told are trials that were measured on both targets of twoTargets.
func told(values ...[2]float64) (h tuner.History) {
	for n, v := range values {
		h = append(h, tuner.Trial{Number: n, Point: pointNamed("a"), Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: on("a", v[0], on("b", v[1]))}})
	}
	return h
}

// TestLevelOfSeveralTargets: what a trial needs on the target that it is at is what makes its geometric mean that of the best; a target that is still to come is
// taken at the best of all trials and the allowance, once there are ten.
func TestLevelOfSeveralTargets(t *testing.T) {
	best := on("a", 16, on("b", 81))
	r := records{goal: twoTargets, allowance: math.Log(1.5)}
	if _, _, _, ok := r.level(best, tuner.Partial{Workload: "a"}); ok {
		t.Error("a level although nothing is known of b")
	}
	need, weight, hoped, ok := r.level(best, tuner.Partial{Workload: "b", Measured: on("a", 2)})
	if v, _ := twoTargets.Value(on("a", 2, on("b", need))); !ok || weight != 0.75 || len(hoped) > 0 || math.Abs(v/54-1) > 1e-12 {
		t.Errorf("needs %v (weight %v, hoped %v): the mean would be %v, the best's is 54", need, weight, hoped, v)
	}
	if _, _, _, ok := r.level(best, tuner.Partial{Workload: "guard", Measured: best}); ok {
		t.Error("a level on a workload that is no target")
	}
	if need, weight, _, ok := (records{goal: tuner.Goal{Metric: "x"}}).level(best, tuner.Partial{}); !ok || need != 16 || weight != 1 {
		t.Errorf("with one target: %v, %v, %v", need, weight, ok)
	}
	r.history = told([2]float64{16, 81}, [2]float64{1, 100})
	for range recordFrom - 3 {
		r.history = append(r.history, told([2]float64{1, 1})...)
	}
	if _, _, _, ok := r.level(best, tuner.Partial{Workload: "a"}); ok {
		t.Error("nine trials say what is possible on b")
	}
	cut := told([2]float64{1, 1000})[0] // what a run that was cut short was expected to come to is no record
	cut.Outcome.Kind, cut.Outcome.Measured.Also[0].Share = tuner.Stopped, 0.5
	r.history = append(r.history, cut, told([2]float64{1, 1})[0])
	need, _, hoped, ok = r.level(best, tuner.Partial{Workload: "a"})
	if v, _ := twoTargets.Value(on("a", need, on("b", 150))); !ok || len(hoped) != 1 || math.Abs(v/54-1) > 1e-12 {
		t.Errorf("needs %v, hoped %v: the mean would be %v, the best's is 54", need, hoped, v)
	}
	r.goal.Direction = tuner.Minimize
	if v, ok := r.hope("b"); !ok || math.Abs(v*1.5-1) > 1e-12 {
		t.Errorf("at least %v is hoped for, want 1/1.5", v)
	}
}

// TestHopelessInAnEarlierTarget: a trial ends in the first of two targets, or right at the beginning of the second, when it could not lead were it better than
// all others on what is to come; one that could is let go on.
func TestHopelessInAnEarlierTarget(t *testing.T) {
	g := twoTargets
	g.Metric, g.Targets = "total_token_throughput", []tuner.Target{{Workload: "w", Weight: 1}, {Workload: "b", Weight: 1}}
	in := func(workload string, v float64, also ...*tuner.Measurement) *tuner.Measurement {
		return &tuner.Measurement{Workload: workload, Share: 1, Metrics: map[string]float64{g.Metric: v}, Also: also}
	}
	run := slow.records()
	final := metric.Compute(run, 2)[g.Metric]
	s := mustStopper(t, StopOn, 0.99)
	for _, c := range []struct {
		behind float64 // of the best on the first target, as a ratio
		record float64 // of all trials on the second, over the best's there
		first  bool    // ended in the first
		second bool    // or as the second begins
	}{
		{2, 1, true, true}, {2, 1.3, true, true}, {2, 1.5, false, false}, {2, 2, false, false}, {1.3, 1, false, false}, {1.4, 1, true, true},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			h := tuner.History{{Point: pointNamed("a"), Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: in("w", final*c.behind, in("b", 1000))}}}
			for range recordFrom - 1 {
				h = append(h, tuner.Trial{Point: pointNamed("b"), Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: in("w", 1, in("b", 1000*c.record))}})
			}
			p := tuner.Problem{Goal: g}
			v, _ := firstStop(s, p, h, run, tuner.OriginSearch)
			if v.Stop != c.first || v.Stop && !strings.Contains(v.Reason, "% ahead of every trial so far on b, it would come to at most ") {
				t.Errorf("in the first: %v, %q", v.Stop, v.Reason)
			}
			now := shownAfter(run, 5)
			now.Workload, now.Measured = "b", in("w", final)
			if v := s.Stop(p, h, now); v.Stop != c.second {
				t.Errorf("as the second begins: %v, %q", v.Stop, v.Reason)
			}
			if v := s.Stop(p, h[:recordFrom-1], now); v.Stop {
				t.Errorf("of nine trials: %q", v.Reason)
			}
		})
	}
}

// TestObjectiveOfATrialCutShort: where targets are missing a trial counts as far from the best there as it is on those that it has, and with less weight.
func TestObjectiveOfATrialCutShort(t *testing.T) {
	h := told([2]float64{4, 9}, [2]float64{16, 81}, [2]float64{2, 2})
	like := bestWhole(twoTargets, h)
	if v, _ := twoTargets.Value(like); math.Abs(v/54-1) > 1e-12 {
		t.Fatalf("the best has %v", v)
	}
	cut := on("a", 4)
	cut.Share = 0.5
	trial := tuner.Trial{Outcome: tuner.Outcome{Kind: tuner.Stopped, Measured: cut}}
	if v, share, ok := objective(twoTargets, trial, like); !ok || math.Abs(v/(54./4)-1) > 1e-12 || share != 0.125 {
		t.Errorf("%v of a share of %v, %v; want a quarter of 54, of an eighth", v, share, ok)
	}
	if v, share, ok := objective(twoTargets, h[2], like); !ok || math.Abs(v/2-1) > 1e-12 || share != 1 {
		t.Errorf("a whole one: %v, %v, %v", v, share, ok)
	}
	if _, _, ok := objective(twoTargets, trial, nil); ok {
		t.Error("a guess from nothing")
	}
	trial.Outcome.Kind = tuner.Measured
	if _, _, ok := objective(twoTargets, trial, like); ok {
		t.Error("a measured trial without a target has a value")
	}
}

// TestBeliefOfATrialCutShort: a model expects less of a configuration that was cut short in the first of two targets.
func TestBeliefOfATrialCutShort(t *testing.T) {
	p := searchtest.TwoEngines().Problem
	p.Goal = twoTargets
	good := tuner.Trial{Number: 0, Point: p.Baselines[0], Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: on("a", 16, on("b", 81))}}
	bad := tuner.Trial{Number: 1, Point: p.Baselines[1], Outcome: tuner.Outcome{Kind: tuner.Stopped, Measured: on("a", 1)}}
	bad.Outcome.Measured.Share = 0.5
	b := believed(t, p, tuner.History{good, bad})
	high, _ := b.value(b.cell(good.Point))
	low, _ := b.value(b.cell(bad.Point))
	if !(low < high) || len(b.ranked) != 1 {
		t.Errorf("expected %v of the good one and %v of the bad one; %d are ranked", high, low, len(b.ranked))
	}
}
