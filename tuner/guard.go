package tuner

import (
	"autotune/tuner/metric"
)

// guardMargin is how far below the leader a trial may lie, as a share of it, that its guards are still measured: as far as two measurements of equal
// configurations may well differ.
const guardMargin = 0.10

// couldWin tells whether a trial may come to lead by what its targets gave. Only then are its guards worth their time; a baseline's always are, because
// others are compared with them.
func (s *sitting) couldWin(t Trial, targets *Measurement) bool {
	if t.Origin == OriginBaseline || t.Origin == OriginHand {
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
	if leader := s.lead(); leader != nil && (t.Origin == OriginSearch || t.Origin == OriginRecipe) {
		return leader.Value
	}
	return 0
}

// compare gives each guard of a trial its share of the reference's value, and says where there is none.
func (s *sitting) compare(t Trial, o *Outcome) {
	for _, workload := range s.retain(t, o.Measured) {
		if t.Origin != OriginBaseline {
			o.Warnings = append(o.Warnings, "no baseline was measured on "+workload+": nothing tells what this configuration loses there")
		}
	}
}

// retain gives each guard of a measurement its share of the reference's value. The reference is the first baseline with that guard measured, the
// reference engine's before the others'; on the guards that are returned there is none, and the trial is compared with itself.
func (s *sitting) retain(t Trial, all *Measurement) (alone []string) {
	for _, m := range all.All() {
		if !s.problem.Goal.Guarded(m.Workload) {
			continue
		}
		v, ok := s.problem.Goal.valueOf(m)
		if !ok {
			continue
		}
		reference, known := s.guardReference(t, m.Workload)
		if !known {
			reference, alone = v, append(alone, m.Workload)
		}
		m.Metrics[metric.Retained] = 1 + s.problem.Goal.Gain(v, reference)
	}
	return alone
}

// guardReference is the value of the objective's metric that a guard is compared with.
func (s *sitting) guardReference(current Trial, workload string) (v float64, ok bool) {
	engines := []string{s.problem.Reference}
	for _, b := range s.problem.Baselines {
		engines = append(engines, b.Engine())
	}
	for _, engine := range engines {
		if current.Origin == OriginBaseline && current.Point.Engine() == engine {
			return 0, false // itself
		}
		for _, t := range s.history {
			if t.Origin == OriginBaseline && t.Told() && t.Outcome.Kind == Measured && t.Point.Engine() == engine {
				if v, ok := s.problem.Goal.ValueOn(t.Outcome.Measured, workload); ok {
					return v, true
				}
			}
		}
	}
	return 0, false
}
