package tuner

import (
	"fmt"
	"slices"

	"autotune/tuner/metric"
)

// guardMargin is how far below the leader a trial may lie, as a share of it, that its guards are still measured: as far as two measurements of equal
// configurations may well differ.
const guardMargin = 0.10

// couldWin tells whether a trial may come to lead by what its targets gave. Only then are its guards worth their time; a baseline's always are, because
// others are compared with them, and so are those of a trial that is asked for their sake.
func (s *sitting) couldWin(t Trial, targets *Measurement) bool {
	if t.Origin == OriginBaseline || t.Origin == OriginHand || t.Proposal.Kind == KindGuard {
		return true
	}
	g := s.problem.Goal
	s.retain(t, targets) // a guard before this one may have decided it already
	v, ok := g.Value(targets)
	if !ok || g.TotalViolation(targets) > 0 {
		return false
	}
	leader := s.lead()
	return leader == nil || g.Gain(v, leader.Value) > -guardMargin
}

// toBeat is the value that a trial has to reach to lead; 0 for one that is wanted whole whatever it comes to, or while nothing leads.
func (s *sitting) toBeat(t Trial) float64 {
	if leader := s.lead(); leader != nil && (t.Origin == OriginSearch || t.Origin == OriginRecipe) && t.Proposal.Kind != KindGuard {
		return leader.Value
	}
	return 0
}

// compare gives each guard of a trial its share of the reference's value, and says where that is not a baseline's.
func (s *sitting) compare(t Trial, o *Outcome) {
	s.retain(t, o.Measured)
	if h := s.with(t, o.Measured); o.Kind == Measured {
		t.Outcome = *o
		o.Warnings = append(o.Warnings, Unjudged(s.problem, h, t)...)
	}
}

// Unjudged says, for people, of which guards of a measured trial nothing tells what it loses against a baseline, since none was measured there; empty where
// its guards were judged as the study asks for.
func Unjudged(p Problem, h History, t Trial) (words []string) {
	for _, guard := range p.Goal.Guards {
		ref, known := GuardReference(p, h, guard)
		switch {
		case !known || ref.Trial.Origin == OriginBaseline || t.Outcome.Measured.Of(guard) == nil:
		case ref.Trial.Number == t.Number:
			words = append(words, fmt.Sprintf("no baseline was measured on %s: trial %d stands in for it, and nothing tells what it loses there", guard, t.Number))
		default:
			words = append(words, fmt.Sprintf("no baseline was measured on %s: this is held against trial %d instead, of which nothing tells what it loses there", guard, ref.Trial.Number))
		}
	}
	return words
}

// retain gives each guard of a measurement its share of the reference's value. What is itself the reference is compared with itself, and where the reference
// has nothing, a goodput of 0, there is nothing to lose.
func (s *sitting) retain(t Trial, all *Measurement) {
	h := s.with(t, all)
	for _, m := range all.All() {
		if !s.problem.Goal.Guarded(m.Workload) {
			continue
		}
		v, ok := s.problem.Goal.valueOf(m)
		if !ok {
			continue
		}
		m.Metrics[metric.Retained] = 1
		if ref, known := GuardReference(s.problem, h, m.Workload); known && ref.Trial.Number != t.Number {
			if gain, known := s.problem.Goal.GainOver(v, ref.Value); known {
				m.Metrics[metric.Retained] = 1 + gain
			}
		}
	}
}

// with is the history as it would be had the trial ended with this measurement.
func (s *sitting) with(t Trial, m *Measurement) History {
	t.Outcome = Outcome{Kind: Measured, Measured: m}
	h := slices.Clone(s.history)
	for i := range h {
		if h[i].Number == t.Number && !h[i].Foreign {
			h[i] = t
			return h
		}
	}
	return append(h, t)
}

// GuardReference is the trial that a guard's figures are compared with, and its value there. It is the first baseline that was measured on the guard, the
// reference engine's before the others'. Where none was, the first trial that was measured there stands in for it: so that what leads has lost no more than
// the guard allows against something, and not whatever it likes. ok is false when there is none of either.
func GuardReference(p Problem, h History, guard string) (ref Ranked, ok bool) {
	engines := []string{p.Reference}
	for _, b := range p.Baselines {
		engines = append(engines, b.Engine())
	}
	for _, engine := range engines {
		if ref, ok = firstOn(p.Goal, h, guard, func(t Trial) bool { return t.Origin == OriginBaseline && t.Point.Engine() == engine }); ok {
			return ref, true
		}
	}
	return firstOn(p.Goal, h, guard, func(t Trial) bool { return t.Origin != OriginBaseline })
}

// firstOn is the first measured trial of some that has a value on a workload.
func firstOn(g Goal, h History, workload string, wanted func(Trial) bool) (Ranked, bool) {
	for _, t := range h {
		if !t.Told() || t.Outcome.Kind != Measured || !wanted(t) {
			continue
		}
		if v, ok := g.ValueOn(t.Outcome.Measured, workload); ok {
			return Ranked{Trial: t, Value: v}, true
		}
	}
	return Ranked{}, false
}
