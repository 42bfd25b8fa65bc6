package runner_test

import (
	"strings"
	"testing"
	"time"

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

// TestFindRateKeepsProbes: what a search has measured is kept, and its minutes are counted, also where it comes to no rate; and what a reader should know of the
// probe that counts is said, of that one alone.
func TestFindRateKeepsProbes(t *testing.T) {
	kept := tuner.Bound{Metric: "p95_ttft", Op: "<=", Limit: 60}
	for _, c := range []struct {
		name, words string
		rate        float64
		kind        tuner.Kind
		signature   string
		probes      int // at least
		warning     string
	}{
		{"the server dies in the third probe", "--clock law --fault oom-load=60", 20, tuner.Infeasible, "cuda_oom_torch", 2, ""},
		{"the server hangs in the third probe", "--start-time 0s --fault hang-serve=60", 200, tuner.Infeasible, "hang", 2, ""},
		{"below the gate at any rate", "--clock law --fault refuse=0.5", 4, tuner.Infeasible, "low_success", 2, ""},
		{"two tokens an event", "--clock law --fault bundle=2", 1, tuner.Measured, "", 3, "an event carries"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTrial(t, "vllm", strings.Fields(c.words)...)
			r.config.Timeouts.Hang = time.Second
			goal := tuner.Goal{Metric: metric.RequestRate, Direction: tuner.Maximize, SubjectTo: []tuner.Bound{kept}}
			r.config.RateGoal, r.config.Traffic[0].Workload.Rate = &goal, c.rate
			o, err := r.run(t.Context())
			if err != nil || o.Kind != c.kind || o.Signature != c.signature || len(o.Measured.All()) < c.probes || o.Cost <= 0 {
				t.Fatalf("%s, %q, %q, %d probes, cost %v, %v", o.Kind, o.Signature, o.Evidence, len(o.Measured.All()), o.Cost, err)
			}
			law := 0.0
			for _, m := range o.Measured.All() {
				if _, ok := m.Metrics[metric.RequestRate]; !ok || len(m.Records) != 24 {
					t.Errorf("a probe of %d requests at %v", len(m.Records), m.Metrics)
				}
				law += m.Metrics["duration"]
			}
			if o.Measured.Clock == metric.Law && o.Cost.Seconds() < law-1e-3 {
				t.Errorf("the probes took %v s, the trial is said to have cost %v", law, o.Cost)
			}
			said := 0
			for _, w := range o.Warnings {
				if c.warning != "" && strings.Contains(w, c.warning) {
					said++
				}
				if strings.Contains(w, "below the knee") {
					t.Errorf("of a rate: %s", w)
				}
			}
			if want := map[bool]int{true: 1}[c.warning != ""]; said != want {
				t.Errorf("said %d times, want %d: %q", said, want, o.Warnings)
			}
		})
	}
}
