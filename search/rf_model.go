package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"autotune/tuner"
)

// woods is what a history says of a problem, as forests.
type woods struct {
	*lattice
	goal    tuner.Goal
	value   *forest       // of log(value), signed so that more is better; nil when nothing was measured
	run     *forest       // of 1 for what ran and 0 for what did not; nil when nothing has ended
	bounds  []forest      // of log(metric/limit), signed so that 0 and below is kept
	bounded []tuner.Bound // what each of them is of
	target  float64       // what an improvement is counted from; -Inf while no measured point is likely to keep the bounds
	ranked  []seen        // the measured points, the best first
}

// seen is a measured trial and what the forests make of it.
type seen struct {
	trial tuner.Trial
	cell  cell
	mean  float64
	keeps float64 // probability that every bound is kept
}

// sample is points and one number of each, for a forest to grow on.
type sample struct {
	points [][]int
	values []float64
}

func (s *sample) add(c cell, v float64) {
	s.points, s.values = append(s.points, c), append(s.values, v)
}

// grow learns from the trials that have ended.
func (s rf) grow(p tuner.Problem, h tuner.History, r *rand.Rand) *woods {
	w := &woods{lattice: newLattice(p.Space), goal: p.Goal, target: math.Inf(-1)}
	var features []feature
	for _, d := range w.dims {
		features = append(features, newFeature(d))
	}
	var runs, values sample
	bounds := make([]sample, len(p.Goal.SubjectTo))
	like := bestWhole(p.Goal, h)
	for _, t := range h.Joined() {
		if !t.Told() {
			continue
		}
		c := w.cell(t.Point)
		switch {
		case t.Ran():
			runs.add(c, 1)
		case t.Outcome.Kind == tuner.Infeasible:
			runs.add(c, 0)
		}
		if t.Outcome.Measured == nil || !t.Ran() || t.Twin {
			continue
		}
		for i, violation := range violations(p.Goal, t) {
			if !math.IsNaN(violation) {
				bounds[i].add(c, violation)
			}
		}
		if v, _, ok := objective(p.Goal, t, like); ok {
			values.add(c, logObjective(p.Goal, v))
		}
		if _, ok := p.Goal.Value(t.Outcome.Measured); ok {
			w.ranked = append(w.ranked, seen{trial: t, cell: c})
		}
	}
	if len(runs.points) > 0 {
		f := s.run.grow(features, runs, r)
		w.run = &f
	}
	if len(values.points) > 0 {
		f := s.value.grow(features, values, r)
		w.value = &f
		for i, b := range bounds {
			if len(b.points) == 0 {
				continue
			}
			w.bounds, w.bounded = append(w.bounds, s.value.grow(features, b, r)), append(w.bounded, p.Goal.SubjectTo[i])
		}
	}
	w.rank()
	return w
}

// rank orders the measured points by what the forest expects there, those that are likelier than not to break a bound further down, and sets the target.
func (w *woods) rank() {
	for i := range w.ranked {
		s := &w.ranked[i]
		s.mean, _ = w.value.predict(s.cell)
		s.keeps = math.Exp(w.logKeep(s.cell))
		if s.keeps >= 0.5 {
			w.target = math.Max(w.target, s.mean)
		}
	}
	worth := func(s seen) float64 { return s.mean + 2*math.Min(0, s.keeps-0.5) }
	slices.SortStableFunc(w.ranked, func(a, b seen) int {
		return cmp.Or(cmp.Compare(worth(b), worth(a)), cmp.Compare(a.trial.Number, b.trial.Number))
	})
}

// pRun is the probability that a point runs.
func (w *woods) pRun(c cell) float64 {
	if w.run == nil {
		return 0.5
	}
	return w.run.probability(c)
}

// logKeep is the logarithm of the probability that every bound is kept.
func (w *woods) logKeep(c cell) float64 {
	sum := 0.0
	for _, f := range w.bounds {
		mean, variance := f.predict(c)
		sum += logCDF(-mean / math.Sqrt(variance+varianceLeast))
	}
	return sum
}

// varianceLeast stands for what a forest does not know of itself: where all its leaves agree its variance is 0. It is that of 2 % of a value.
const varianceLeast = 4e-4

// score is log EI + log P(run) + Σ log P(bound kept); without a point that likely keeps the bounds it is the probabilities alone.
func (w *woods) score(c cell) float64 {
	sum := math.Log(w.pRun(c)) + w.logKeep(c)
	if math.IsInf(w.target, -1) {
		return sum
	}
	mean, variance := w.value.predict(c)
	return sum + logEI(mean, variance+varianceLeast, w.target+margin)
}

// proposal of a cell, with what the forests expect of it.
func (w *woods) proposal(c cell) tuner.Proposal {
	p := tuner.Proposal{Point: w.point(c), Kind: tuner.KindRandom, PRun: w.pRun(c), Why: "likeliest to run and to keep the bounds"}
	if w.value == nil {
		return p
	}
	mean, variance := w.value.predict(c)
	p.Predicted = map[string]tuner.Prediction{w.goal.Metric: {Mean: valueOf(w.goal, mean), SD: math.Sqrt(variance + varianceLeast)}}
	for i, f := range w.bounds {
		mean, variance := f.predict(c)
		foresee(p.Predicted, w.bounded[i], mean, variance+varianceLeast)
	}
	if math.IsInf(w.target, -1) {
		return p
	}
	p.Kind = tuner.KindGain
	p.Gain = math.Expm1(math.Min(math.Exp(w.score(c)), 10))
	leader := w.ranked[0].trial
	diff := leader.Point.Diff(p.Point)
	if len(diff) > 4 {
		diff = append(diff[:4:4], fmt.Sprintf("and %d more", len(diff)-4))
	}
	p.Why = fmt.Sprintf("expected gain %.1f %% over trial %d, by %s", 100*p.Gain, leader.Number, strings.Join(diff, " "))
	return p
}
