package search

import (
	"math"

	"autotune/search/gaussian"
	"autotune/tuner"
)

// failureKind is one way in which a trial does not run, with a model of its own: that more of a flag helps against one way and makes another likelier
// is no contradiction then.
type failureKind struct {
	prior  func(c cell) float64 // of the logit that it does not happen
	avoids func(point []int, prior float64) float64
}

// The kinds of failures.
const (
	tooSmall = iota // the pool set aside for weights and cache: a larger share of the GPU helps
	tooMuch         // memory elsewhere: asking for less helps
	refused         // all others
	kinds
)

func kindOf(o tuner.Outcome) int {
	switch {
	case o.Reason != tuner.ReasonMemory:
		return refused
	case poolTooSmall(o):
		return tooSmall
	}
	return tooMuch
}

// The logit that nothing goes wrong before anything was seen: for each kind some nineteen of twenty points, less what asks for much memory.
const (
	logitPrior  = 3
	logitHungry = 2
	trendHungry = 3 // standard deviation of what the whole range of a flag of weight 1 may do to the logit
)

// classify learns each kind of failure from the trials that ran and those that failed so: one that failed otherwise says nothing of it.
func (b *belief) classify(dims []gaussian.Dim) {
	for kind := range kinds {
		k := failureKind{prior: func(cell) float64 { return logitPrior }}
		own := append([]gaussian.Dim(nil), dims...)
		if kind == tooMuch {
			k.prior = b.logitMemory
		}
		if kind != refused {
			for i, w := range b.hungry {
				own[i].Trend = trendHungry * w
			}
		}
		var labels []gaussian.Label
		for _, s := range b.seen {
			if s.ran || s.trial.Outcome.Kind == tuner.Infeasible && kindOf(s.trial.Outcome) == kind {
				labels = append(labels, gaussian.Label{Point: s.cell, Ran: s.ran, Prior: k.prior(s.cell)})
			}
		}
		k.avoids = gaussian.Classify(own, labels).Predictor()
		b.kinds = append(b.kinds, k)
	}
}

// logitMemory is the prior mean of the logit of having memory enough.
func (b *belief) logitMemory(c cell) float64 {
	logit := float64(logitPrior)
	for i, w := range b.hungry {
		if w > 0 && c[i] < len(b.dims[i].atoms) {
			if a := b.dims[i].atoms[c[i]]; !a.word {
				logit -= logitHungry * w * math.Max(0, a.place-0.5)
			}
		}
	}
	return logit
}

// logRun is the logarithm of the probability that a point runs: that it avoids every kind of failure.
func (b *belief) logRun(c cell) float64 {
	if b.dominated(c) {
		return doomed
	}
	sum := 0.0
	for _, k := range b.kinds {
		sum += math.Log(math.Max(k.avoids(c, k.prior(c)), 1e-12))
	}
	return sum
}

// doomed is the logarithm of the probability that a point runs that asks for no less memory than one that had too little.
var doomed = math.Log(1e-9)

// dominated tells whether the cell asks for at least as much memory as a trial that ran out of it, and is otherwise equal to it.
func (b *belief) dominated(c cell) bool {
	for _, s := range b.oom {
		if b.asksForMore(c, s) {
			return true
		}
	}
	return false
}

func (b *belief) asksForMore(c cell, failed sight) bool {
	small := poolTooSmall(failed.trial.Outcome)
	for i, level := range c {
		other := failed.cell[i]
		if level == other {
			continue
		}
		d := b.dims[i]
		if b.hungry[i] == 0 || level >= len(d.atoms) || other >= len(d.atoms) || d.atoms[level].word || d.atoms[other].word {
			return false
		}
		more := d.atoms[level].place >= d.atoms[other].place
		if small && isShare(b.params[i]) {
			more = d.atoms[level].place <= d.atoms[other].place
		}
		if !more {
			return false
		}
	}
	return true
}
