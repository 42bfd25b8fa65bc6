package main

import (
	"fmt"
	"strings"

	"autotune/search"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// ranker says who leads in this study.
func (o *opened) ranker() tuner.Ranker {
	return calibrated{ranker: search.RankerOf(o.spec.Sampler), assembly: o.assembly}
}

// leftOut says which trial would lead and does not, because it was not measured on every guard.
func (o *opened) leftOut() []string {
	top, ok := tuner.LeftOut(o.problem, o.history, o.ranker(), nil)
	if !ok {
		return nil
	}
	s := fmt.Sprintf("trial %d with %s would lead, and does not count: %s", top.Trial.Number, metric.Format(o.problem.Goal.Metric, top.Value), o.unguarded(top.Trial))
	for _, t := range o.history {
		if t.Proposal.Kind == tuner.KindGuard && t.Told() && t.Point.Key() == top.Trial.Point.Key() {
			return []string{fmt.Sprintf("%s; it was asked again as trial %d, which gave no measurement there", s, t.Number)}
		}
	}
	return []string{s + "; the study's next trial, by a higher budget if need be, measures it there"}
}

// unguarded says on which guards a measured trial was not measured; empty where it was on all.
func (o *opened) unguarded(t tuner.Trial) string {
	missing := o.problem.Goal.Missing(t.Outcome.Measured)
	if t.Outcome.Kind != tuner.Measured || len(missing) == 0 {
		return ""
	}
	return "it was not measured on " + strings.Join(missing, ", ") + ", and nothing tells what it loses there"
}

// unjudged says of which guards nothing tells what a trial loses there.
func (o *opened) unjudged(t tuner.Trial) []string {
	words := tuner.Unjudged(o.problem, o.history, t)
	if word := o.unguarded(t); word != "" {
		words = append(words, word)
	}
	return words
}
