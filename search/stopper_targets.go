package search

import (
	"math"

	"autotune/tuner"
)

// recordFrom is how many trials must have been measured on a target before the best of them says anything of the next one.
const recordFrom = 10

// records are what the trials so far have reached on each target of a study with several.
//
// While a target has not been measured nothing bounds a trial there: a configuration may be poor on short prompts and better than all others on long ones.
// So it is hoped to be better there than every trial so far, bounds kept or not, by as much as the allowance, the margin for noise. That is no bound, and no
// error can be given for it as for a bound on the workload that runs: were trials drawn at random, the next one would be the best of n+1 on a target, by any
// amount, in one case of n+1, and a search is not at random. A trial is wrongly ended only if it is, on what is still to come, ahead of all trials by more
// than the allowance, and by so much that this makes up for what it lacks on what was measured by more than the margin. On the law, with
// configurations drawn at random and two quite different targets, that was so of none of 1755 trials that ended, or would have ended, better than all
// before them (at most 0.2 %, Wilson's interval at 95 %), and 46 % of all trials ended as the second target began: TestBenchStopTargets. Real configurations may trade
// one target for another more than the law does.
type records struct {
	goal      tuner.Goal
	history   tuner.History
	allowance float64 // as a logarithm
}

// hope is the best that is thought possible on a target; ok is false while too few trials have been measured there.
func (r records) hope(workload string) (v float64, ok bool) {
	n, sign := 0, 1.0
	if r.goal.Direction == tuner.Minimize {
		sign = -1
	}
	for _, t := range r.history {
		m := t.Outcome.Measured.Of(workload)
		if !t.Told() || t.Outcome.Kind == tuner.Invalid || m == nil || m.Share < 1 {
			continue
		}
		x, measured := r.goal.ValueOn(m, workload)
		if !measured || x <= 0 {
			continue
		}
		if n++; n == 1 || sign*(x-v) > 0 {
			v = x
		}
	}
	return v * math.Exp(sign*r.allowance), n >= recordFrom
}

// level is what a trial needs on the workload that it is at to come out as good as the best, and the share of that workload in the objective, by which
// a lack there counts. The targets that have not been measured are taken at what is hoped for; hoped names them.
func (r records) level(best *tuner.Measurement, now tuner.Partial) (need, weight float64, hoped []string, ok bool) {
	v, ok := r.goal.Value(best)
	if len(r.goal.Targets) == 0 || !ok {
		return v, 1, nil, ok
	}
	all, rest := 0.0, 0.0
	for _, t := range r.goal.Targets {
		all += t.Weight
		if t.Workload == now.Workload {
			weight = t.Weight
			continue
		}
		x, measured := r.goal.ValueOn(now.Measured, t.Workload)
		if !measured {
			hoped = append(hoped, t.Workload)
			x, measured = r.hope(t.Workload)
		}
		if !measured || x <= 0 {
			return 0, 0, nil, false
		}
		rest += t.Weight * math.Log(x)
	}
	if weight == 0 {
		return 0, 0, nil, false
	}
	return math.Exp((all*math.Log(v) - rest) / weight), weight / all, hoped, true
}
