package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// tpe is the tree-structured Parzen estimator: it estimates where the good trials lie and where the rest does, and
// proposes what is likelier among the good. Trials that did not run are among the rest, so failures are learned from.
// Bergstra et al., Algorithms for Hyper-Parameter Optimization, NIPS 2011, with categories smoothed and the parameters
// that every trial has drawn jointly, as in Optuna's multivariate mode.
type tpe struct {
	startup    int     // random trials before the model is asked
	candidates int     // draws from the good side, of which the best ratio is taken
	share      float64 // of the trials that are good
	most       int     // good trials at most
	joint      bool    // draw the parameters that every trial has together
	tries      int     // how often a point that may not be asked is drawn anew
}

func newTPE() tpe {
	return tpe{startup: 10, candidates: 24, share: 0.1, most: 25, joint: true, tries: 64}
}

// Suggest proposes an opening move, then startup random points, then what the model thinks best.
func (s tpe) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	r := source(ask)
	taken, hopeless := asked(h), outOfMemory(p, h)
	refused := func(q space.Point) bool { return taken(q) || hopeless(q) }
	if n := searched(p, h); n < s.startup {
		return drawRandom(p, r, refused, fmt.Sprintf("random start %d of %d", n+1, s.startup))
	}
	m := s.model(p, h)
	for range s.tries {
		if point := m.draw(r); !refused(point) && p.Space.Keeps(point) {
			return tuner.Proposal{Point: point, Why: m.why()}, nil
		}
	}
	return drawRandom(p, r, refused, "random: what the model proposes was tried or is not allowed")
}

// searched counts the trials that were not opening moves.
func searched(p tuner.Problem, h tuner.History) int {
	opening, n := openingKeys(p), 0
	for _, t := range h {
		if t.Told() && !opening[t.Point.Key()] {
			n++
		}
	}
	return n
}

// split parts the finished trials: the best share of them by (violation, value), and the rest, those that did not run included.
func (s tpe) split(g tuner.Goal, h tuner.History) (good, rest []space.Point) {
	var measured []tuner.Trial
	for _, t := range h {
		if !t.Told() {
			continue
		}
		switch t.Outcome.Kind {
		case tuner.Measured:
			if _, ok := g.Value(t.Outcome.Measured); ok {
				measured = append(measured, t)
			}
		case tuner.Infeasible, tuner.Stopped:
			rest = append(rest, t.Point)
		case tuner.Running, tuner.Interrupted, tuner.Invalid:
			// Nothing is known of them.
		}
	}
	slices.SortStableFunc(measured, func(a, b tuner.Trial) int {
		switch {
		case g.Better(a.Outcome.Measured, b.Outcome.Measured):
			return -1
		case g.Better(b.Outcome.Measured, a.Outcome.Measured):
			return 1
		default:
			return cmp.Compare(a.Point.Key(), b.Point.Key())
		}
	})
	n := len(measured) + len(rest)
	k := min(len(measured), s.most, int(math.Ceil(s.share*float64(n))))
	for i, t := range measured {
		if i < k {
			good = append(good, t.Point)
		} else {
			rest = append(rest, t.Point)
		}
	}
	return good, rest
}

// model is what one suggestion is drawn from.
type model struct {
	space      *space.Space
	candidates int
	good, rest []space.Point
	dims       map[string]*dimension // of the parameters that have more than one value
	group      []*dimension          // drawn jointly
	joint      *pair
	single     map[string]*pair // made when first needed
}

// pair is the two estimates over some dimensions.
type pair struct {
	dims       []*dimension
	good, rest *mixture
}

func (s tpe) model(p tuner.Problem, h tuner.History) *model {
	m := &model{space: p.Space, candidates: s.candidates, dims: map[string]*dimension{}, single: map[string]*pair{}}
	m.good, m.rest = s.split(p.Goal, h)
	for _, q := range p.Space.Ordered() {
		if q.Domain.Size() > 1 {
			d := newDimension(q)
			m.dims[q.Name] = d
			if s.joint && everywhere(q.Name, m.good) && everywhere(q.Name, m.rest) {
				m.group = append(m.group, d)
			}
		}
	}
	m.joint = m.pair(m.group)
	return m
}

func everywhere(name string, points []space.Point) bool {
	return !slices.ContainsFunc(points, func(p space.Point) bool { _, ok := p.Get(name); return !ok })
}

func (m *model) pair(dims []*dimension) *pair {
	return &pair{dims, newMixture(dims, observe(dims, m.good)), newMixture(dims, observe(dims, m.rest))}
}

// observe reads off the points that have all of the dimensions.
func observe(dims []*dimension, points []space.Point) [][]int {
	var observed [][]int
	for _, p := range points {
		atoms := make([]int, 0, len(dims))
		for _, d := range dims {
			if v, ok := p.Get(d.param.Name); ok {
				atoms = append(atoms, d.index(v))
			}
		}
		if len(atoms) == len(dims) {
			observed = append(observed, atoms)
		}
	}
	return observed
}

// best draws candidates from the good side and returns the one with the best ratio.
func (q *pair) best(n int, r *rand.Rand) []int {
	var best []int
	top := math.Inf(-1)
	for range n {
		atoms := make([]int, len(q.dims))
		q.good.draw(r, atoms)
		if ratio := q.good.logDensity(atoms) - q.rest.logDensity(atoms); ratio > top || best == nil {
			best, top = atoms, ratio
		}
	}
	return best
}

// draw makes one point down the tree of conditions: the joint parameters together, the others one by one.
func (m *model) draw(r *rand.Rand) space.Point {
	together := map[string]int{}
	for j, a := range m.joint.best(m.candidates, r) {
		together[m.group[j].param.Name] = a
	}
	return m.space.Build(func(p space.Param, _ space.Lookup) space.Value {
		d, ok := m.dims[p.Name]
		if !ok {
			return p.Domain.At(0)
		}
		a, ok := together[p.Name]
		if !ok {
			if m.single[p.Name] == nil {
				m.single[p.Name] = m.pair([]*dimension{d})
			}
			a = m.single[p.Name].best(m.candidates, r)[0]
		}
		return d.value(a, r)
	})
}

func (m *model) why() string {
	return fmt.Sprintf("resembles the best %d of %d trials", len(m.good), len(m.good)+len(m.rest))
}
