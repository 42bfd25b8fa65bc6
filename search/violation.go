package search

import (
	"math"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// violationMost bounds the logarithm of a bound's violation: that it is broken by a factor of 50 says all.
const violationMost = 4

// violations is what a trial that ran tells of each bound, at most violationMost either way; NaN where it tells nothing: on a workload that was not measured,
// and of a metric that nothing foresaw when the trial was cut short. In a search for a rate no bound is told of: every trial has a rate at which it holds,
// and the objective is that rate.
func violations(g tuner.Goal, t tuner.Trial) []float64 {
	all := g.Violations(t.Outcome.Measured)
	for i, v := range all {
		if g.Metric == metric.RequestRate || t.Outcome.Kind == tuner.Stopped && math.IsInf(v, 1) {
			v = math.NaN()
		}
		all[i] = max(-violationMost, min(violationMost, v)) // NaN stays
	}
	return all
}

// foresee adds to predictions what a model of a bound's violation expects of the metric itself. A limit of 0 has no logarithm, and a success rate is 1 or nearly
// so, of which a log-normal distribution says nothing: these are left out.
func foresee(predicted map[string]tuner.Prediction, b tuner.Bound, mean, variance float64) {
	if b.Limit <= 0 || b.Metric == "success_rate" {
		return
	}
	if b.Op == ">=" {
		mean = -mean
	}
	if _, known := predicted[b.Name()]; !known {
		predicted[b.Name()] = tuner.Prediction{Mean: math.Min(b.Limit*math.Exp(mean), math.MaxFloat64), SD: math.Sqrt(variance)}
	}
}
