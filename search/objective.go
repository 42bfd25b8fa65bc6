package search

import (
	"math"

	"autotune/tuner"
)

// objective is what a trial that ran tells of the objective, and how much of it was seen, 0 to 1. A trial that was cut short before all targets were
// measured is taken to be as far from like, a measurement of all of them, on the missing targets as it is on average on its own: a guess, and
// nothing else would tell a model that the trial was bad.
func objective(g tuner.Goal, t tuner.Trial, like *tuner.Measurement) (v, share float64, ok bool) {
	m := t.Outcome.Measured
	if v, ok = g.Value(m); ok {
		return v, g.Share(m), true
	}
	base, ok := g.Value(like)
	if !ok || t.Outcome.Kind != tuner.Stopped {
		return 0, 0, false
	}
	apart, seen, all := 0.0, 0.0, 0.0
	for _, target := range g.Targets {
		all += target.Weight
		mine, measured := g.ValueOn(m, target.Workload)
		theirs, _ := g.ValueOn(like, target.Workload)
		if measured && mine > 0 {
			apart += target.Weight * math.Log(mine/theirs)
			seen += target.Weight
			share += target.Weight * m.Of(target.Workload).Share
		}
	}
	if seen == 0 {
		return 0, 0, false
	}
	return base * math.Exp(apart/seen), share / all, true
}

// bestWhole is the best measurement of every target, whatever its bounds; nil while there is none.
func bestWhole(g tuner.Goal, h tuner.History) *tuner.Measurement {
	var best *tuner.Measurement
	most := 0.0
	for _, t := range h {
		if !t.Told() || t.Outcome.Kind != tuner.Measured {
			continue
		}
		if v, ok := g.Value(t.Outcome.Measured); ok && v > 0 && (best == nil || g.Gain(v, most) > 0) {
			best, most = t.Outcome.Measured, v
		}
	}
	return best
}

// valueOf is the objective of which logObjective makes a number, at most the largest that there is: a prediction is written to the study's file, which has no
// infinities.
func valueOf(g tuner.Goal, log float64) float64 {
	if g.Direction == tuner.Minimize {
		log = -log
	}
	return math.Min(math.Exp(log), math.MaxFloat64)
}
