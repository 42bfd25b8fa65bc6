package search

import (
	"math"

	"autotune/search/gaussian"
	"autotune/space"
	"autotune/tuner"
)

// belief is what a history says of a problem: the models, and the points that were seen.
type belief struct {
	*lattice
	gpSettings
	problem   tuner.Problem
	history   tuner.History
	refused   func(space.Point) bool
	axes      []gaussian.Dim // of the models
	seen      []sight
	objective *gaussian.Mixture   // of log(value), signed so that more is better; nil when nothing was measured
	bounds    []*gaussian.Mixture // of log(metric/limit), signed so that 0 and below is kept
	bounded   []tuner.Bound       // what each of them is of
	kinds     []failureKind       // of lack of memory
	rules     *rules              // by which others fail
	hungry    []float64           // by parameter
	oom       []sight             // trials that ran out of memory

	capacities map[string]capacity // by cell, as they were needed

	value  func([]int) (mean, variance float64)
	broken []func([]int) (mean, variance float64)
	target float64 // what an improvement is counted from
	ranked []sight // measured points, the leader first
}

// sight is a told trial as the models see it.
type sight struct {
	cell  cell
	trial tuner.Trial
	ran   bool
	mean  float64 // posterior mean of the objective
	keeps float64 // probability that every bound is kept
}

// believe fits the models of what a trial gives. It fails only where a matrix cannot be factorised.
func (s gp) believe(p tuner.Problem, h tuner.History) (*belief, error) {
	h = h.Joined()
	b := &belief{lattice: newLattice(p.Space), gpSettings: s.gpSettings, problem: p, history: h, refused: unwanted(p, h), capacities: map[string]capacity{}}
	b.hungry = make([]float64, len(b.params))
	for i, q := range b.params {
		b.hungry[i] = p.Hungry[q.Name]
	}
	b.sort()
	b.axes = gaussian.Measured(b.withCapacity(b.grid()))
	if err := b.regress(); err != nil {
		return nil, err
	}
	b.rank()
	return b, nil
}

// sort sorts the trials that may be learned from.
func (b *belief) sort() {
	for _, t := range b.history {
		if !t.Told() {
			continue
		}
		s := sight{cell: b.cell(t.Point), trial: t, ran: t.Ran()}
		b.seen = append(b.seen, s)
		b.remember(s)
		if t.Outcome.Kind == tuner.Infeasible && t.Outcome.Reason == tuner.ReasonMemory {
			b.oom = append(b.oom, s)
		}
	}
}

// regress fits the objective and every bound, and conditions them on the running trials as if these had come out as expected: so that a
// batch spreads.
func (b *belief) regress() error {
	goal := b.problem.Goal
	values := make([][]gaussian.Observation, 1+len(goal.SubjectTo))
	like := bestWhole(goal, b.history)
	for _, s := range b.seen {
		m := s.trial.Outcome.Measured
		if !s.ran || m == nil || s.trial.Twin {
			continue
		}
		repeats := float64(s.trial.Repeats())
		if v, share, ok := objective(goal, s.trial, like); ok {
			values[0] = append(values[0], gaussian.Observation{Point: b.worked(s.cell), Value: logObjective(goal, v), Noise: noiseOfShare(share) / repeats})
		}
		noise := noiseOfShare(goal.Share(m)) / repeats
		for i, violation := range violations(goal, s.trial) { // also of one that was cut short in the first of several targets, and has no value
			if !math.IsNaN(violation) {
				values[1+i] = append(values[1+i], gaussian.Observation{Point: b.worked(s.cell), Value: violation, Noise: noise})
			}
		}
	}
	if len(values[0]) == 0 {
		return nil
	}
	values[0] = clipLow(append(values[0], b.recalled()...))
	for i, data := range values {
		if len(data) == 0 {
			continue // a bound that no trial tells of
		}
		g, err := gaussian.Mix(b.axes, data)
		if err == nil {
			g, err = b.pretend(g, data)
		}
		if err != nil {
			return err
		}
		if i == 0 {
			b.objective, b.value = g, b.overWorked(g.Predictor())
		} else {
			b.bounds, b.bounded = append(b.bounds, g), append(b.bounded, goal.SubjectTo[i-1])
			b.broken = append(b.broken, b.overWorked(g.Predictor()))
		}
	}
	return nil
}

// recalled is what earlier studies measured, from this study's own baseline, as observations with the noise that their weight gives them.
func (b *belief) recalled() []gaussian.Observation {
	var out []gaussian.Observation
	for _, e := range b.problem.Evidence {
		reference, ok := b.baseline(e.Reference)
		weight := e.WeightIn(b.history)
		if e.Kind != tuner.Measured || !ok || !(weight > 0) {
			continue
		}
		out = append(out, gaussian.Observation{Point: b.worked(b.cell(e.Point)), Value: reference + e.Value, Noise: 1 / weight})
	}
	return out
}

// baseline is the logarithm of what an engine's baseline measured here.
func (b *belief) baseline(engine string) (v float64, ok bool) {
	for _, p := range b.problem.Baselines {
		for _, s := range b.seen {
			if p.Engine() == engine && s.trial.Point.Key() == p.Key() && s.ran {
				if v, ok := b.problem.Goal.Value(s.trial.Outcome.Measured); ok {
					return logObjective(b.problem.Goal, v), true
				}
			}
		}
	}
	return 0, false
}

// pretend adds the running trials at their posterior means.
func (b *belief) pretend(g *gaussian.Mixture, data []gaussian.Observation) (*gaussian.Mixture, error) {
	all := data
	for _, s := range b.seen {
		if s.trial.Outcome.Kind == tuner.Running || s.trial.Outcome.Kind == tuner.Interrupted {
			mean, _ := g.Predict(b.worked(s.cell))
			all = append(all[:len(all):len(all)], gaussian.Observation{Point: b.worked(s.cell), Value: mean})
		}
	}
	if len(all) == len(data) {
		return g, nil
	}
	return g.With(all)
}

// noiseOfShare is the variance of a measurement's error, as a multiple of that of a whole one: a benchmark that was cut short at a share of its
// workload says less. Were nothing but the number of requests to count it were 1/share; what is expected of the rest errs too (see expect), and what is left out
// counts three times. Twice the noise whatever the share was no better on the search benchmark.
func noiseOfShare(share float64) float64 {
	if share <= 0 || share >= 1 {
		return 1
	}
	return 1 + 3*(1/share-1)
}

// smallestValue stands in for a value of 0 or less, which has no logarithm.
const smallestValue = 1e-9

func logObjective(g tuner.Goal, v float64) float64 {
	v = math.Log(math.Max(v, smallestValue))
	if g.Direction == tuner.Minimize {
		return -v
	}
	return v
}

// lowest is how far below the best the model still tells values apart: a factor of 20. How bad the hopeless are does not matter.
const lowest = 3.0

func clipLow(data []gaussian.Observation) []gaussian.Observation {
	best := math.Inf(-1)
	for _, o := range data {
		best = math.Max(best, o.Value)
	}
	for i := range data {
		data[i].Value = math.Max(data[i].Value, best-lowest)
	}
	return data
}
