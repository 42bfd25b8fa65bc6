package tuner_test

import (
	"context"
	"math"
	"testing"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

func TestSaved(t *testing.T) {
	g := tuner.Goal{Metric: "total_token_throughput", Direction: tuner.Maximize}
	trial := func(kind tuner.Kind, value, share float64) tuner.Trial {
		return tuner.Trial{Outcome: tuner.Outcome{Kind: kind, Share: share, Measured: &tuner.Measurement{Metrics: map[string]float64{g.Metric: value, "duration": 600}}}}
	}
	h := tuner.History{trial(tuner.Measured, 100, 0), trial(tuner.Stopped, 50, 0.2), trial(tuner.Infeasible, 0, 0.5), trial(tuner.Infeasible, 0, 0),
		trial(tuner.Measured, 90, 0.4), trial(tuner.Measured, 110, 0.9), {Outcome: tuner.Outcome{Kind: tuner.Stopped, Share: 0.1}}}
	foreign := trial(tuner.Stopped, 1, 0.5)
	foreign.Foreign = true
	saved, reported := tuner.Saved(g, append(h, foreign))
	if saved.Trials != 2 || math.Abs(saved.Minutes-(8+5)) > 1e-9 {
		t.Errorf("saved %+v, want 8 and 5 minutes", saved)
	}
	if reported.Trials != 2 || math.Abs(reported.Minutes-(6+1)) > 1e-9 || reported.Best != 1 {
		t.Errorf("reported %+v, want 6 and 1 minutes, and one that ended best", reported)
	}
}

// TestSavedOfSeveralTargets: what was not even begun is saved too, at its mean length; of a trial that would have been cut, what came after that instant.
func TestSavedOfSeveralTargets(t *testing.T) {
	g := tuner.Goal{Metric: "x", Direction: tuner.Maximize, Targets: []tuner.Target{{Workload: "a", Weight: 1}, {Workload: "b", Weight: 1}}}
	in := func(workload string, seconds float64, also ...*tuner.Measurement) *tuner.Measurement {
		return &tuner.Measurement{Workload: workload, Share: 1, Metrics: map[string]float64{"x": 1, "duration": seconds}, Also: also}
	}
	whole := tuner.Trial{Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: in("a", 600, in("b", 1200))}}
	first := tuner.Trial{Outcome: tuner.Outcome{Kind: tuner.Stopped, Share: 0.5, Measured: in("a", 600)}}
	second := tuner.Trial{Outcome: tuner.Outcome{Kind: tuner.Stopped, Share: 0.01, Measured: in("a", 600, &tuner.Measurement{Workload: "b", Share: 0.01})}} // nothing was foreseen
	would := whole
	would.Outcome.Share = 0.25
	saved, reported := tuner.Saved(g, tuner.History{whole, first, second, would})
	if want := 5 + 20 + 0.99*20; saved.Trials != 2 || math.Abs(saved.Minutes-want) > 1e-9 {
		t.Errorf("saved %+v, want %v minutes", saved, want)
	}
	if reported.Trials != 1 || math.Abs(reported.Minutes-0.75*30) > 1e-9 {
		t.Errorf("reported %+v, want %v minutes", reported, 0.75*30)
	}
}

// TestSavedOfARate: a search that was left after one probe saves the rest of a search of the usual length, also where that probe was whole.
func TestSavedOfARate(t *testing.T) {
	g := tuner.Goal{Metric: metric.RequestRate, Direction: tuner.Maximize}
	probe := func(share float64, also ...*tuner.Measurement) *tuner.Measurement {
		return &tuner.Measurement{Workload: "w", Share: share, Metrics: map[string]float64{metric.RequestRate: 1, "duration": 300}, Also: also}
	}
	h := tuner.History{{Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: probe(1, probe(1), probe(0.5))}}}
	for _, share := range []float64{1, 0.2} {
		h = append(h, tuner.Trial{Outcome: tuner.Outcome{Kind: tuner.Stopped, Share: share, Measured: probe(share)}})
	}
	if saved, _ := tuner.Saved(g, h); saved.Trials != 2 || math.Abs(saved.Minutes-(12.5-5+12.5-1)) > 1e-9 {
		t.Errorf("saved %+v", saved)
	}
}

// severally is a stopper that speaks once the second workload runs.
type severally struct{}

func (severally) Stop(_ tuner.Problem, _ tuner.History, p tuner.Partial) tuner.Verdict {
	return tuner.Verdict{Report: p.Workload == "b", Rule: map[bool]string{true: tuner.RuleHopeless}[p.Workload == "b"], Share: 0.5}
}

// twice measures two workloads on a launch, 100 s and 300 s long, and asks in each.
type twice struct{ clock *time.Time }

func (r twice) Run(_ context.Context, t tuner.Trial, observe func(tuner.Partial) tuner.Verdict) (tuner.Outcome, error) {
	*r.clock = r.clock.Add(time.Minute)
	for _, workload := range []string{"a", "b"} {
		observe(tuner.Partial{Trial: t, Phase: tuner.PhaseBench, Workload: workload})
	}
	return tuner.Outcome{Kind: tuner.Measured, Measured: on("a", map[string]float64{"total_token_throughput": 1, "duration": 100}, on("b", map[string]float64{"duration": 300}))}, nil
}

// TestReportInTheSecondWorkload: the share at which a trial would have been cut short is that of all its workloads.
func TestReportInTheSecondWorkload(t *testing.T) {
	b := newBench(t)
	b.Runner, b.Stopper = twice{b.runner.clock}, severally{}
	h, _, err := b.Run(t.Context(), b.study, b.problem, nil)
	if err != nil || len(h) == 0 {
		t.Fatal(err)
	}
	for _, trial := range h {
		if o := trial.Outcome; o.Kind != tuner.Measured || o.Signature != tuner.RuleHopeless || math.Abs(o.Share-250./400) > 1e-12 {
			t.Errorf("%s, %q, %v", o.Kind, o.Signature, o.Share)
		}
	}
}
