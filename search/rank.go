package search

import (
	"cmp"
	"slices"

	"autotune/tuner"
)

// Best ranks by measurement: the best feasible trial leads, and of equals the earlier one.
type Best struct{}

// Rank lists the configurations that were measured and keep every bound, the best first: trials that turned out to be one count as one, by their mean.
func (Best) Rank(p tuner.Problem, h tuner.History) []tuner.Ranked {
	var ranked []tuner.Ranked
	for _, t := range h.Joined() {
		if t.Told() && !t.Twin && p.Goal.Feasible(t) {
			v, _ := p.Goal.Value(t.Outcome.Measured)
			ranked = append(ranked, tuner.Ranked{Trial: t, Value: v})
		}
	}
	slices.SortStableFunc(ranked, func(a, b tuner.Ranked) int {
		c := cmp.Compare(b.Value, a.Value)
		if p.Goal.Direction == tuner.Minimize {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a.Trial.Number, b.Trial.Number))
	})
	return ranked
}
