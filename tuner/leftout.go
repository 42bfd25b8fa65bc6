package tuner

import (
	"fmt"
	"slices"
	"strings"
)

// LeftOut is the trial that would lead if it kept the bounds of the guards that it was not measured on, which were left out while another led by far: that one
// has since fallen, measured again or by the model, or was found to break a bound itself. ok is false where what leads was measured on every guard. asked
// tells of which configurations that is not to be said, by their key; nil for none.
func LeftOut(p Problem, h History, r Ranker, asked func(key string) bool) (leftOut Ranked, ok bool) {
	if !mayBeLeftOut(p.Goal, h) {
		return Ranked{}, false // without a ranking, which may take a model's while
	}
	q := p
	q.Goal.Guards = nil
	for _, ranked := range r.Rank(q, h) {
		switch {
		case p.Goal.Complete(ranked.Trial.Outcome.Measured):
			return Ranked{}, false
		case asked == nil || !asked(ranked.Trial.Point.Key()):
			return ranked, true
		}
	}
	return Ranked{}, false
}

// mayBeLeftOut tells whether a trial without all of its guards comes near the best measurement with all of them: twice as near as guards are measured, since what
// leads by a model is not always the highest measurement.
func mayBeLeftOut(g Goal, h History) bool {
	var without, with []float64
	for _, t := range h.Joined() {
		v, ok := g.Value(t.Outcome.Measured)
		switch {
		case !ok || !t.Told() || t.Twin || t.Outcome.Kind != Measured || g.TotalViolation(t.Outcome.Measured) > 0:
		case g.Complete(t.Outcome.Measured):
			with = append(with, v)
		default:
			without = append(without, v)
		}
	}
	return slices.ContainsFunc(without, func(v float64) bool {
		return !slices.ContainsFunc(with, func(w float64) bool { return g.Gain(v, w) <= -2*guardMargin })
	})
}

// leftOut proposes the configuration that was left out of the guards and would lead, once.
func (s *sitting) leftOut() (Proposal, bool) {
	asked := map[string]bool{}
	for _, t := range s.history {
		if t.Told() && t.Proposal.Kind == KindGuard {
			asked[t.Point.Key()] = true
		}
	}
	top, ok := LeftOut(s.problem, s.history, s.Ranker, func(key string) bool { return asked[key] })
	if !ok {
		return Proposal{}, false
	}
	why := fmt.Sprintf("trial %d would lead, and was not measured on %s, while another led by far", top.Trial.Number, strings.Join(s.problem.Goal.Missing(top.Trial.Outcome.Measured), ", "))
	return Proposal{Point: top.Trial.Point, Kind: KindGuard, Why: why}, true
}
