package search

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"autotune/tuner"
)

// forecast is what the models say of a cell.
type forecast struct {
	mean, variance float64 // of the objective's logarithm, more is better
	logRun         float64 // log P(run)
	logKeep        float64 // Σ log P(bound kept)
}

func (b *belief) forecast(c cell) forecast {
	f := forecast{logRun: b.logRun(c), logKeep: b.logKeep(c)}
	if b.value != nil {
		f.mean, f.variance = b.value(c)
	}
	return f
}

// logKeep is the sum over the bounds of log Φ(-μ/√v), the probability that a violation's logarithm is 0 or less (Gardner et al., Bayesian Optimization with
// Inequality Constraints, ICML 2014).
func (b *belief) logKeep(c cell) float64 {
	sum := 0.0
	for _, bound := range b.broken {
		mean, variance := bound(c)
		sum += logCDF(-mean / math.Sqrt(variance+1e-9))
	}
	return sum
}

// margin is what an improvement has to be at least, as a logarithm: less than a fifth of a percent is none.
const margin = 0.002

// The acquisition is log EI + log P(run) + Σ log P(bound kept), the expected improvement over points that may not count (Gardner et al., as above; Gelbart, Snoek and
// Adams, Bayesian Optimization with Unknown Constraints, UAI 2014), less what caution takes. 1e-6 of variance keeps what is known for certain from having none. While
// no measured point is likely to keep the bounds there is no target, and it is the probabilities alone.

// highest is what the score of a cell can be at most: that of one which runs and keeps its bounds for certain.
func (b *belief) highest(c cell) float64 {
	if b.aimless() {
		return 0
	}
	mean, variance := b.value(c)
	return logEI(mean, visible(variance, b.objective.Noise)+1e-6, b.target+margin)
}

// visible is the variance of what the posterior mean at a point will be once it is measured with a noise of some variance: v²/(v + σ²). A point is chosen by that mean,
// so that a gain which one noisy trial cannot show counts for little (Frazier, Powell and Dayanik, The Knowledge-Gradient Policy for Correlated Normal Beliefs,
// INFORMS Journal on Computing 2009, here for the point itself alone).
func visible(variance, noise float64) float64 { return variance * variance / (variance + noise) }

// score is the acquisition at a cell of which the highest is known.
func (b *belief) score(highest float64, c cell) float64 {
	logRun := b.logRun(c)
	return highest + logRun + b.logKeep(c) - b.caution(logRun)
}

// A failure early in a study teaches much; late it costs a trial. And of the points that were asked then because little spoke for them but a high gain, fewer
// ran than their P(run) said: the highest of many scores is high by an error in it too.
const (
	cautious = 30  // trials that were told, from which on there is caution
	doubtful = 0.9 // the P(run) below which it counts
	weighed  = 4   // how many times the logarithm of a lower P(run) counts besides
)

// aimless tells whether there is no target.
func (b *belief) aimless() bool { return math.IsInf(b.target, -1) }

// caution is what the acquisition loses for a point that may well not run.
func (b *belief) caution(logRun float64) float64 {
	if len(b.seen) < cautious || b.aimless() {
		return 0
	}
	return weighed * math.Max(0, math.Log(doubtful)-logRun)
}

// gain is the expected improvement of a point over the leader, as a share of its value, with the probabilities that it runs and keeps the bounds: those alone while
// no measured point is likely to keep the bounds. It is that of the noise-free value, which several trials may come to show.
func (b *belief) gain(c cell) float64 {
	log := b.logRun(c) + b.logKeep(c)
	if !b.aimless() {
		mean, variance := b.value(c)
		log += logEI(mean, variance+1e-6, b.target+margin)
	}
	return math.Expm1(math.Min(math.Exp(log), 10))
}

// logEI is the logarithm of the expected improvement over a target of a normal variable (Jones et al., Efficient Global Optimization, 1998), in a form that does
// not underflow (Ament et al., Unexpected Improvements to Expected Improvement, NeurIPS 2023, section 4.1): below z = -6 by the first terms of its asymptotic series,
// which are 1 % off there and nearer below.
func logEI(mean, variance, target float64) float64 {
	sd := math.Sqrt(variance)
	z := (mean - target) / sd
	if z > -6 {
		return math.Log(z*distuv.UnitNormal.CDF(z)+distuv.UnitNormal.Prob(z)) + math.Log(sd)
	}
	return -z*z/2 - math.Log(2*math.Pi)/2 - 2*math.Log(-z) + math.Log1p(-3/(z*z)) + math.Log(sd)
}

// logCDF is log Φ(z), far down by its asymptotic series (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.12), of which the first terms are a
// quarter of a percent off at z = -6, and nearer below.
func logCDF(z float64) float64 {
	if z > -6 {
		return math.Log(distuv.UnitNormal.CDF(z))
	}
	return -z*z/2 - math.Log(2*math.Pi)/2 - math.Log(-z) + math.Log1p(-1/(z*z))
}

// rank orders the measured points by posterior mean, those that are likelier than not to break a bound further down, and sets the target: the
// highest mean among those that likely keep the bounds. Means, and not measurements: the highest measurement is high by luck.
func (b *belief) rank() {
	b.target = math.Inf(-1)
	if b.objective == nil {
		return
	}
	for i, s := range b.seen {
		if _, ok := b.problem.Goal.Value(s.trial.Outcome.Measured); !ok || !s.ran || s.trial.Twin {
			continue
		}
		s.mean, _ = b.value(s.cell)
		s.keeps = math.Exp(b.logKeep(s.cell))
		b.seen[i] = s
		b.ranked = append(b.ranked, s)
		if s.keeps >= 0.5 {
			b.target = math.Max(b.target, s.mean)
		}
	}
	slices.SortStableFunc(b.ranked, func(x, y sight) int {
		return cmp.Or(cmp.Compare(y.worth(), x.worth()), cmp.Compare(x.trial.Number, y.trial.Number))
	})
}

// worth is the mean, less twice what a probability to keep the bounds lacks to a half: that of a point that certainly breaks one falls by 1, a factor of e.
func (s sight) worth() float64 { return s.mean + 2*math.Min(0, s.keeps-0.5) }

// proposal of a cell, with what the models expect of it.
func (b *belief) proposal(c cell, kind tuner.ProposalKind, why string) tuner.Proposal {
	p := tuner.Proposal{Point: b.point(c), Kind: kind, Why: why, PRun: math.Exp(b.logRun(c))}
	if b.objective == nil {
		return p
	}
	mean, variance := b.value(c)
	p.Predicted = map[string]tuner.Prediction{b.problem.Goal.Metric: {Mean: valueOf(b.problem.Goal, mean), SD: math.Sqrt(variance + b.objective.Noise)}}
	for i, bound := range b.broken {
		mean, variance := bound(c)
		foresee(p.Predicted, b.bounded[i], mean, variance+b.bounds[i].Noise)
	}
	return p
}
