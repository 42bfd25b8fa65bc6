package search

import (
	"fmt"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// The modes of a stopper, as a spec names them.
const (
	StopOn     = "on"     // trials are cut short
	StopOff    = "off"    // every trial is measured whole
	StopReport = "report" // every trial is measured whole, and what would have been cut short is noted
)

// StopModes lists the modes, the default first.
func StopModes() []string { return []string{StopOn, StopOff, StopReport} }

// NewStopper makes what cuts trials short. gate is the success rate, above 0 and at most 1, below which a trial has no score. It is nil for
// StopOff; the error says which modes there are.
func NewStopper(mode string, gate float64) (tuner.Stopper, error) {
	switch mode {
	case StopOn, StopReport:
		return stopper{report: mode == StopReport, gate: gate}, nil
	case StopOff:
		return nil, nil
	default:
		return nil, fmt.Errorf("no mode of the stoppers is called %q; there are %s, %s, %s", mode, StopOn, StopOff, StopReport)
	}
}

// stopper ends a trial by one of two rules.
//
// Broken: a bound, or the gate, is broken whatever may still come. This is arithmetic on the requests so far (see certain): it has no error.
//
// Hopeless: an upper bound of what the trial can still reach lies below the best feasible measurement by more than the noise. The bound rests on one
// assumption: that for the rest of its run a server is never faster than in the best window of the run so far, whatever a prompt's
// token is worth against a generated one; it is not made before the server has settled (see outlook). The margin is that of two measurements of one configuration,
// stopSure standard deviations of their difference, so that a configuration as good as the best is stopped in at most 1 % of cases even if
// the bound had no slack at all. That the assumption holds within the margin is for a benchmark to show. Of several targets one that was not
// measured yet has no bound, and is hoped to be better than any so far: see records for what that is worth.
type stopper struct {
	report bool
	gate   float64
}

// Stop implements tuner.Stopper.
func (s stopper) Stop(p tuner.Problem, h tuner.History, now tuner.Partial) tuner.Verdict {
	if now.Phase != tuner.PhaseBench || len(now.Requests) == 0 || len(now.Pace) == 0 {
		return tuner.Verdict{}
	}
	reason, rule := s.broken(p, now), tuner.RuleBroken
	if reason == "" {
		reason, rule = s.hopeless(p, h, now), tuner.RuleHopeless
	}
	if reason == "" {
		return tuner.Verdict{}
	}
	v := tuner.Verdict{Stop: !s.report, Report: s.report, Rule: rule, Reason: reason}
	v.Share, v.Expected = expect(now)
	return v
}

// searched tells whether a trial is one of many of which only the best counts. Gains are counted from baselines, a confirmation compares
// the best few, and what a person has asked for by hand is wanted whole.
func isSearched(t tuner.Trial) bool {
	return (t.Origin == tuner.OriginSearch || t.Origin == tuner.OriginRecipe) && t.Proposal.Kind != tuner.KindGuard
}

// seconds writes a duration in whole seconds: for a benchmark that is fine enough.
func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// broken says which bound or gate a trial has certainly broken; empty when none. Trials that others are compared with are let go on past a
// broken bound: their figures are wanted all the same. In a search for a rate what is cut is one probe, and a rate that broke a bound is not what counts.
func (s stopper) broken(p tuner.Problem, now tuner.Partial) string {
	c := newCertain(now, s.gate)
	if n := len(now.Requests); c.mostSuccess() < s.gate {
		return fmt.Sprintf("after %s: %d of %d requests have failed, so that at most %s can succeed, and the gate is %s", seconds(now.Elapsed), c.failed, n,
			metric.Format("success_rate", c.mostSuccess()), metric.Format("success_rate", s.gate))
	}
	if !isSearched(now.Trial) && p.Goal.Metric != metric.RequestRate {
		return ""
	}
	for _, b := range p.Goal.SubjectTo {
		if b.Workload != "" && b.Workload != now.Workload || b.Workload == "" && p.Goal.Guarded(now.Workload) {
			continue // it is on another workload
		}
		if word := c.breaks(b); word != "" {
			return fmt.Sprintf("after %s: %s, whatever still comes, and the bound is %s", seconds(now.Elapsed), word, b)
		}
	}
	return ""
}
