package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// model is what one suggestion is drawn from: the two estimates over the parameters of one engine.
type model struct {
	tpe
	engine     space.Value
	space      *space.Space
	good, rest []observation
	dims       []*dimension // of the engine's parameters that have more than one value
	joint      *pair        // of those that every point of the engine has
	single     map[string]*pair
}

// pair is the two estimates over some dimensions.
type pair struct {
	dims       []*dimension
	good, rest *mixture
}

func (s tpe) model(p tuner.Problem, h tuner.History, engine space.Value) *model {
	m := &model{tpe: s, engine: engine, space: p.Space, single: map[string]*pair{}}
	m.good, m.rest = s.split(p.Goal, slices.DeleteFunc(slices.Clone(h), func(t tuner.Trial) bool { return t.Point.Engine() != engine.String() }))
	var group []*dimension
	for _, q := range p.Space.Ordered() {
		if q.Domain.Size() < 2 || q.Name == space.EngineParam || q.Engine != "" && q.Engine != engine.String() {
			continue
		}
		d := newDimension(q)
		m.dims = append(m.dims, d)
		if q.When == nil {
			group = append(group, d)
		} else {
			m.single[q.Name] = m.pair([]*dimension{d})
		}
	}
	m.joint = m.pair(group)
	return m
}

func (m *model) pair(dims []*dimension) *pair {
	return &pair{dims, estimate(dims, m.good), estimate(dims, m.rest)}
}

// estimate is made from the points that have all of the dimensions.
func estimate(dims []*dimension, points []observation) *mixture {
	var observed [][]int
	var weights []float64
	for _, o := range points {
		atoms := make([]int, 0, len(dims))
		for _, d := range dims {
			if v, ok := o.point.Get(d.param.Name); ok {
				atoms = append(atoms, d.index(v))
			}
		}
		if len(atoms) == len(dims) {
			observed, weights = append(observed, atoms), append(weights, o.weight)
		}
	}
	return newMixture(dims, observed, weights)
}

// ratio is how much likelier the atoms are among the good, as a logarithm.
func (q *pair) ratio(atoms []int) float64 { return q.good.logDensity(atoms) - q.rest.logDensity(atoms) }

// score is how much likelier a point is among the good: the joint parameters together, the others one by one where they are active.
func (m *model) score(p space.Point) float64 {
	atoms := make([]int, len(m.joint.dims))
	for j, d := range m.joint.dims {
		v, _ := p.Get(d.param.Name)
		atoms[j] = d.index(v)
	}
	sum := m.joint.ratio(atoms)
	for _, d := range m.dims {
		if q := m.single[d.param.Name]; q != nil {
			if v, ok := p.Get(d.param.Name); ok {
				sum += q.ratio([]int{d.index(v)})
			}
		}
	}
	return sum
}

// best is the candidate with the highest score that may be asked.
func (m *model) best(candidates []space.Point, refused func(space.Point) bool) (best space.Point, ok bool) {
	top := math.Inf(-1)
	for _, q := range candidates {
		if v := m.score(q); v > top && !refused(q) && m.space.Keeps(q) {
			best, top, ok = q, v, true
		}
	}
	return best, ok
}

// draw makes one point from the good side, down the tree of conditions.
func (m *model) draw(r *rand.Rand) space.Point {
	atoms := make([]int, len(m.joint.dims))
	m.joint.good.draw(r, atoms)
	set := make(map[string]space.Value, len(atoms))
	for j, d := range m.joint.dims {
		set[d.param.Name] = d.value(atoms[j], r)
	}
	return m.change(space.Point{}, set, r)
}

// change makes a point of some values, and of another point's for the rest; what that does not have is drawn from the good side.
func (m *model) change(base space.Point, set map[string]space.Value, r *rand.Rand) space.Point {
	return m.space.Build(func(p space.Param, _ space.Lookup) space.Value {
		if p.Name == space.EngineParam {
			return m.engine
		}
		if v, ok := set[p.Name]; ok {
			return v
		}
		if v, ok := base.Get(p.Name); ok && p.Domain.Contains(v) {
			return v
		}
		if q := m.single[p.Name]; q != nil {
			atom := make([]int, 1)
			q.good.draw(r, atom)
			return q.dims[0].value(atom[0], r)
		}
		return p.Domain.Sample(r) // the only value, or in place of a baseline's own
	})
}

func (m *model) why() string {
	return fmt.Sprintf("resembles the best %d of %d trials of %s", len(m.good), len(m.good)+len(m.rest), m.engine)
}
