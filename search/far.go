package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// far proposes a start: of random points of the engine with the fewest trials, the one that lies farthest from its trials and has the
// structure that was tried least. ok is false when none of them may be asked.
func (s tpe) far(p tuner.Problem, h tuner.History, r *rand.Rand, refused func(space.Point) bool) (best space.Point, ok bool) {
	engine := fewest(p, h)
	var tried []space.Point
	for _, t := range h {
		if t.Told() && t.Point.Engine() == engine.String() {
			tried = append(tried, t.Point)
		}
	}
	var dims []*dimension
	for _, q := range p.Space.Ordered() {
		if q.Name != space.EngineParam && (q.Engine == "" || q.Engine == engine.String()) {
			dims = append(dims, newDimension(q))
		}
	}
	structural := structuralNames(p.Space)
	top := math.Inf(-1)
	for range s.spread {
		point := p.Space.Build(func(q space.Param, _ space.Lookup) space.Value {
			if q.Name == space.EngineParam {
				return engine
			}
			return q.Domain.Sample(r)
		})
		if v := remoteness(point, tried, dims, structural); v > top && !refused(point) && p.Space.Keeps(point) {
			best, top, ok = point, v, true
		}
	}
	return best, ok
}

// fewest is the engine with the fewest trials; of equals the first.
func fewest(p tuner.Problem, h tuner.History) space.Value {
	counts := map[string]int{}
	for _, t := range h {
		if t.Told() {
			counts[t.Point.Engine()]++
		}
	}
	all := engines(p.Space)
	fewest := all[0]
	for _, e := range all {
		if counts[e.String()] < counts[fewest.String()] {
			fewest = e
		}
	}
	return fewest
}

// structuralNames lists the parameters that other parameters' conditions name: what they are decides what else there is.
func structuralNames(s *space.Space) []string {
	var names []string
	for _, q := range s.Ordered() {
		for _, name := range q.When.Names() {
			if name != space.EngineParam && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// remoteness is high for a point far from all that were tried, whose structural values were seldom tried: a screen of gp (see screenNear), without its P(run).
func remoteness(p space.Point, tried []space.Point, dims []*dimension, structural []string) float64 {
	near := float64(len(dims))
	for _, o := range tried {
		near = math.Min(near, distance(dims, p, o))
	}
	score := math.Log(screenNear + near)
	for _, name := range structural {
		v, ok := p.Get(name)
		if !ok {
			continue
		}
		same := 0
		for _, o := range tried {
			if w, has := o.Get(name); has && w == v {
				same++
			}
		}
		score -= screenSeldom * math.Log(1+float64(same))
	}
	return score
}

// distance adds up, over the parameters, how far two values lie apart: 1 for different words, or where only one of the points has any.
func distance(dims []*dimension, a, b space.Point) float64 {
	sum := 0.0
	for _, d := range dims {
		x, okX := a.Get(d.param.Name)
		y, okY := b.Get(d.param.Name)
		if okX == okY && x == y {
			continue
		}
		u, placedU := d.placeOf(x)
		v, placedV := d.placeOf(y)
		if placedU && placedV {
			sum += math.Abs(u - v)
		} else {
			sum++
		}
	}
	return sum
}
