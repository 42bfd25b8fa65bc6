package runner_test

import (
	"strings"
	"testing"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// TestFindRate: the rate that counts holds and is served, also where a bound alone would hold at any rate; a server that fails at every rate is no rate at
// all; a probe that is ended before anything came does not hold.
func TestFindRate(t *testing.T) {
	for _, c := range []struct {
		name, words string
		bound       tuner.Bound
		beat        float64
		cut         bool // end each probe in its first second
		kind        tuner.Kind
		signature   string
		feasible    bool
	}{
		{"a bound that nothing breaks", "--clock law", tuner.Bound{Metric: "p95_tpot", Op: "<=", Limit: 60}, 0, false, tuner.Measured, "", true},
		{"a bound that nothing keeps", "--clock law", tuner.Bound{Metric: "p95_ttft", Op: "<=", Limit: 1e-6}, 0, false, tuner.Measured, "", false},
		{"below the gate at any rate", "--clock law --fault refuse=0.5", tuner.Bound{Metric: "p95_ttft", Op: "<=", Limit: 60}, 0, false, tuner.Infeasible, "low_success", false},
		{"not what is to be beaten", "--clock law", tuner.Bound{Metric: "p95_ttft", Op: "<=", Limit: 60}, 1e6, false, tuner.Stopped, tuner.RuleHopeless, false},
		{"nothing foreseen", "--clock law", tuner.Bound{Metric: "p95_ttft", Op: "<=", Limit: 60}, 0, true, tuner.Measured, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTrial(t, "vllm", strings.Fields(c.words)...)
			goal := tuner.Goal{Metric: metric.RequestRate, Direction: tuner.Maximize, SubjectTo: []tuner.Bound{c.bound}}
			r.config.RateGoal, r.config.Traffic[0].Workload.Rate = &goal, 1
			r.observe = func(p tuner.Partial) tuner.Verdict {
				if p.Begins {
					return tuner.Verdict{Beat: c.beat}
				}
				return tuner.Verdict{Stop: c.cut && p.Phase == tuner.PhaseBench && p.Elapsed > 0, Rule: tuner.RuleBroken, Reason: "enough"}
			}
			o, err := r.run(t.Context())
			if err != nil || o.Kind != c.kind || o.Signature != c.signature || goal.Feasible(tuner.Trial{Outcome: o}) != c.feasible {
				t.Fatalf("%s, %q, %q, %v, feasible %v", o.Kind, o.Signature, o.Evidence, err, goal.Feasible(tuner.Trial{Outcome: o}))
			}
			if !c.feasible {
				return
			}
			m := o.Measured
			if rate := m.Metrics[metric.RequestRate]; !metric.Sustained(m.Metrics) || rate <= 1 || m.Metrics["request_throughput"] < rate/2 || len(m.Also) < 3 {
				t.Errorf("found %v requests/s, %v served, in %d probes", rate, m.Metrics["request_throughput"], len(m.All()))
			}
			if w := r.config.Traffic[0]; m.Identity != w.Workload.Identity("") {
				t.Errorf("asked %s", m.Identity)
			}
		})
	}
}
