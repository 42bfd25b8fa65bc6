package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// fewRuns is how often a structural value has to have run before it is known.
const fewRuns = 6

// What exploring looks at is an upper confidence bound (Srinivas et al., Gaussian Process Optimization in the Bandit Setting, ICML 2010): the mean and so many
// standard deviations. One parameter of the leader is looked at for what may be in it, and the probabilities to run and to keep bounds count by their roots: a
// trial that may fail also tells. A structure is looked at beside many other changes, of which the luckiest would win by a wide bound.
const (
	oneSure       = 2.5
	structureSure = 1.5
	shakes        = 60 // changes of one to four parameters of each start with a structure, beside all of one
)

// How a screen is chosen: by P(run), squared since a failure tells nothing of the objective; by the distance to the nearest trial, in parameters, of which
// screenNear is so little that it makes no difference; and against structural values that ran often, nearly in proportion to how often.
const (
	screenChanges = 4 // parameters of a baseline that are changed
	screenRun     = 2.0
	screenNear    = 0.1
	screenSeldom  = 0.7
)

// hope is how many standard deviations above its mean a structure has to lie to be as good as the leader, at most: one that is hopeless by more is not
// tried for the sake of knowing it.
const hope = 2.5

// explore proposes a look at what the model does not know: by turns one parameter of the leader, or a structure that was seldom tried. A search by
// single parameters cannot leave a layout in which everything else was tuned, since another layout loses at first; this step does.
func (b *belief) explore(turn int, r *rand.Rand) (c cell, kind tuner.ProposalKind, why string, ok bool) {
	if len(b.ranked) == 0 {
		return nil, "", "", false
	}
	if turn%2 == 0 {
		if c, why, ok = b.exploreStructure(r); ok {
			return c, tuner.KindStructure, why, true
		}
	}
	c, why, ok = b.exploreOne()
	return c, tuner.KindExplore, why, ok
}

// exploreOne is the neighbour of the leader of which most may be hoped.
func (b *belief) exploreOne() (cell, string, bool) {
	leader := b.settle(slices.Clone(b.ranked[0].cell))
	c, ok := b.first(b.rate(b.neighbours(leader), func(c cell) float64 {
		f := b.forecast(c)
		return f.mean + oneSure*math.Sqrt(f.variance) + (f.logRun+f.logKeep)/2
	}))
	if !ok {
		return nil, "", false
	}
	return c, fmt.Sprintf("exploring: one change of trial %d, %s", b.ranked[0].trial.Number, firstOf(b.ranked[0].trial.Point.Diff(b.point(c)))), true
}

func firstOf(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return words[0]
}

// exploreStructure tries the structural value with the fewest trials that ran, among those that the leader does not have, unless there is no hope in it.
func (b *belief) exploreStructure(r *rand.Rand) (cell, string, bool) {
	i, level, ok := b.seldom()
	if !ok {
		return nil, "", false
	}
	bases := []cell{b.ranked[0].cell}
	for _, p := range b.problem.Baselines {
		bases = append(bases, b.cell(p))
	}
	for _, s := range b.seen {
		if s.ran && s.cell[i] == level {
			bases = append(bases, s.cell)
		}
	}
	var cells []cell
	for _, base := range bases {
		start := b.with(base, i, level)
		cells = append(append(cells, start), b.neighbours(start)...)
		for range shakes {
			cells = append(cells, b.shake(start, 1+r.IntN(4), r))
		}
	}
	cells = slices.DeleteFunc(cells, func(c cell) bool { return c[i] != level || !b.active(c)[i] })
	c, found := b.first(b.rate(cells, func(c cell) float64 {
		f := b.forecast(c)
		return f.mean + structureSure*math.Sqrt(f.variance) + f.logRun + f.logKeep
	}))
	if found {
		f := b.forecast(c)
		found = f.mean+hope*math.Sqrt(f.variance) >= b.target
	}
	return c, fmt.Sprintf("exploring: little is known of %s=%s", b.params[i].Name, b.dims[i].atoms[level].value), found
}

// seldom is the structural value with the fewest trials that ran, of those that the leader does not have; ok is false when each ran often enough.
func (b *belief) seldom() (param, level int, ok bool) {
	least := fewRuns
	for i, d := range b.dims {
		if !b.structural[i] || d.thinned {
			continue
		}
		for l := range d.atoms {
			if n := b.ranWith(i, l); l != b.ranked[0].cell[i] && n < least {
				param, level, least, ok = i, l, n, true
			}
		}
	}
	return param, level, ok
}

// ranWith counts the trials that ran with a level where the parameter was active.
func (b *belief) ranWith(i, level int) int {
	n := 0
	for _, s := range b.seen {
		if _, has := s.trial.Point.Get(b.params[i].Name); has && s.ran && s.cell[i] == level {
			n++
		}
	}
	return n
}

// screen is the best of many random points made by changing four parameters of a baseline, engines in turn: likely to run, far from what was tried,
// with structural values that ran seldom.
func (b *belief) screen(turn int, r *rand.Rand) (cell, bool) {
	bases := b.problem.Baselines
	if len(bases) == 0 {
		return nil, false
	}
	counts := make([][]float64, len(b.dims))
	for i, d := range b.dims {
		if b.structural[i] {
			counts[i] = make([]float64, len(d.atoms))
			for l := range d.atoms {
				counts[i][l] = math.Log1p(float64(b.ranWith(i, l)))
			}
		}
	}
	engine, hasEngine := b.place[space.EngineParam]
	base := b.settle(b.cell(bases[turn%len(bases)]))
	var cells []cell
	for range screenDraws {
		cells = append(cells, b.shake(base, screenChanges, r))
	}
	return b.first(b.rate(cells, func(c cell) float64 {
		near := float64(len(b.dims))
		for _, s := range b.seen {
			near = math.Min(near, b.distance(c, s.cell))
		}
		score := screenRun*b.logRun(c) + math.Log(screenNear+near)
		if hasEngine && c[engine] != base[engine] {
			score--
		}
		active := b.active(c)
		for i := range counts {
			if counts[i] != nil && active[i] {
				score -= screenSeldom * counts[i][c[i]]
			}
		}
		return score
	}))
}
