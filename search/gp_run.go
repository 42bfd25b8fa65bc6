package search

import (
	"math"
	"slices"

	"autotune/search/gaussian"
	"autotune/tuner"
)

// failureKind is one way in which memory does not suffice, with a model of its own: that more of a flag helps against one way and makes another likelier
// is no contradiction then. What fails otherwise is learned as rules.
type failureKind struct {
	prior  func(c cell) float64 // of the logit that it does not happen
	avoids func(point []int, prior float64) float64
}

// The kinds of failures.
const (
	tooSmall = iota // the pool set aside for weights and cache: a larger share of the GPU helps
	tooMuch         // memory elsewhere: asking for less helps
	refused         // all others, by rules
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
func (b *belief) classify() {
	b.rules = b.learnRules()
	for kind := range refused {
		k := failureKind{prior: func(cell) float64 { return logitPrior }}
		own := slices.Clone(b.axes)
		if kind == tooMuch {
			k.prior = b.logitMemory
		}
		for i, w := range b.hungry {
			own[i].Trend = trendHungry * w
		}
		var labels []gaussian.Label
		for _, s := range b.seen {
			if s.ran || s.trial.Outcome.Kind == tuner.Infeasible && kindOf(s.trial.Outcome) == kind {
				labels = append(labels, gaussian.Label{Point: b.stored(s.cell), Ran: s.ran, Prior: k.prior(s.cell)})
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
	sum := b.rules.logAvoids(c, b.active(c))
	for _, k := range b.kinds {
		sum += math.Log(math.Max(k.avoids(b.stored(c), k.prior(c)), 1e-12))
	}
	return sharpen(sum)
}

// confidence is the factor by which the classifiers' log odds are too small. Laplace's approximation puts the mode too near to the prior's mean (Kuss and
// Rasmussen, Assessing Approximate Inference for Binary Gaussian Process Classification, JMLR 2005). On the development seeds of the search benchmark, of the
// points that were asked with probabilities about 0.15, 0.35, 0.65 and 0.85 to run, 0, 18, 65 and 96 % ran.
const confidence = 1.8

// sharpen multiplies the log odds of a probability by confidence; both are logarithms.
func sharpen(logP float64) float64 {
	logP = math.Min(logP, -1e-9)
	odds := confidence * (logP - math.Log(-math.Expm1(logP)))
	return math.Min(odds, 0) - math.Log1p(math.Exp(-math.Abs(odds)))
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
