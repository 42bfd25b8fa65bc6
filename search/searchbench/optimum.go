package searchbench

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
)

// How hard Best looks, for each engine.
const (
	bestRandom  = 3000 // random points
	bestClimbs  = 12   // of them, the best so many are climbed from
	bestTops    = 4    // tops that are kept
	bestKicks   = 48   // times that one of them is shaken and climbed from again
	pairLevels  = 7    // values of a flag that pairs are made of
	quickRandom = 600  // the same for an engine's quick best
	quickClimbs = 2
	climbLevels = 17 // values of a long range that a climb looks at
	climbPasses = 12
)

// findBest looks for the best feasible point, for each engine by itself, since a climb never leaves one: random points, climbs from the best of them, from
// the baseline and from known structures, and from shaken versions of the best so far.
func findBest(s *Surface) (float64, space.Point) {
	r := rand.New(rand.NewPCG(s.mixed, 0x62657374))
	top, at := math.Inf(-1), space.Point{}
	for _, baseline := range s.Problem.Baselines {
		if p, v := s.bestOf(baseline, r); v > top {
			top, at = v, p
		}
	}
	for range climbPasses {
		p, v := s.bestPair(at, top, r)
		if v <= top {
			break
		}
		top, at = v, p
	}
	v, _ := s.value(s.truth(at))
	return v, at
}

// bestOf is the best point of a baseline's engine. What is shaken is, in turn, each of the best few tops that the climbs came to.
func (s *Surface) bestOf(baseline space.Point, r *rand.Rand) (space.Point, float64) {
	var tops []scored
	climb := func(p space.Point) {
		q, v := s.climb(p, r)
		if !slices.ContainsFunc(tops, func(t scored) bool { return t.point.Key() == q.Key() }) {
			tops = best(append(tops, scored{q, v}), bestTops)
		}
	}
	climb(baseline)
	for _, p := range s.starts {
		if p.Engine() == baseline.Engine() {
			climb(p)
		}
	}
	for _, p := range s.topRandom(bestRandom, bestClimbs, baseline.Engine(), r) {
		climb(p)
	}
	for k := range bestKicks {
		p := tops[k%len(tops)].point
		for range 2 + r.IntN(4) {
			p = s.shake(p, r)
		}
		climb(p)
	}
	return tops[0].point, tops[0].score
}

// scored is a point and what it is worth in a climb.
type scored struct {
	point space.Point
	score float64
}

// best keeps the n highest, the highest first; of equals the earlier.
func best(all []scored, n int) []scored {
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	return all[:min(n, len(all))]
}

// bestPair looks at every change of two flags, and climbs from the best of those that are better.
func (s *Surface) bestPair(at space.Point, best float64, r *rand.Rand) (space.Point, float64) {
	open := slices.DeleteFunc(tunable(s.Problem.Space), func(q space.Param) bool { _, active := at.Get(q.Name); return !active })
	found := at
	for i, a := range open {
		for _, x := range thin(levels(a.Domain), pairLevels) {
			p := s.change(at, a.Name, x)
			for _, b := range open[i+1:] {
				for _, y := range thin(levels(b.Domain), pairLevels) {
					q := s.change(p, b.Name, y)
					if v := s.score(q); v > best {
						found, best = q, v
					}
				}
			}
		}
	}
	if found.Key() == at.Key() {
		return at, best
	}
	return s.climb(found, r)
}

// around are the values of a long range at distances of 1, 2, 4, ... from one: throughput has edges there, where one more request makes one wave less.
func around(d space.Domain, at space.Value) []space.Value {
	lo, hi, step, ok := d.Range()
	if !ok || !at.IsNumber() || d.Size() <= 2*climbLevels {
		return nil
	}
	var out []space.Value
	for k := step; k <= (hi-lo)/4; k *= 2 {
		for _, x := range []int64{at.AsInt() - k, at.AsInt() + k} {
			if v := space.Int(x); d.Contains(v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// thin keeps at most so many values, evenly spread.
func thin(values []space.Value, most int) []space.Value {
	if len(values) <= most {
		return values
	}
	out := make([]space.Value, most)
	for i := range out {
		out[i] = values[i*(len(values)-1)/(most-1)]
	}
	return out
}

// quickBest is an engine's best objective as a short search finds it, whatever the constraints; 0 when nothing runs.
func (s *Surface) quickBest(engine string, r *rand.Rand) float64 {
	best := 0.0
	for _, p := range slices.Concat(s.topRandom(quickRandom, quickClimbs, engine, r), slices.DeleteFunc(slices.Clone(s.starts), func(p space.Point) bool { return p.Engine() != engine })) {
		q, _ := s.climb(p, r)
		if v, _ := s.value(s.truth(q)); q.Engine() == engine {
			best = max(best, v)
		}
	}
	return best
}

// score orders points for a climb: the log of the value, less five times what it breaks of the constraints, and less 1 besides; -Inf for what does not run. So a
// climb comes back from outside, and what is outside comes before what is inside only if it is more than e times as fast.
func (s *Surface) score(p space.Point) float64 {
	if !s.Problem.Space.Keeps(p) {
		return math.Inf(-1)
	}
	t := s.truth(p)
	if !t.Runs {
		return math.Inf(-1)
	}
	v, violation := s.value(t)
	if violation > 0 {
		return math.Log(v) - 1 - 5*violation
	}
	return math.Log(v)
}

// topRandom are the best of n random points, those of other engines left out.
func (s *Surface) topRandom(n, keep int, engine string, r *rand.Rand) []space.Point {
	var all []scored
	for range n {
		if p := s.Problem.Space.Random(r); p.Engine() == engine {
			all = append(all, scored{p, s.score(p)})
		}
	}
	var out []space.Point
	for _, t := range best(all, keep) {
		out = append(out, t.point)
	}
	return out
}

// climb changes one flag after another to its best value, until a whole pass changes nothing.
func (s *Surface) climb(p space.Point, r *rand.Rand) (space.Point, float64) {
	open := tunable(s.Problem.Space)
	best := s.score(p)
	for range climbPasses {
		before := best
		r.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		for _, q := range open {
			if _, active := p.Get(q.Name); !active {
				continue
			}
			current, _ := p.Get(q.Name)
			for _, v := range append(levels(q.Domain), around(q.Domain, current)...) {
				if n := s.change(p, q.Name, v); n.Key() != p.Key() {
					if score := s.score(n); score > best {
						p, best = n, score
					}
				}
			}
		}
		if best <= before {
			break
		}
	}
	return p, best
}

// shake gives an active parameter a random value.
func (s *Surface) shake(p space.Point, r *rand.Rand) space.Point {
	open := tunable(s.Problem.Space)
	for {
		q := open[r.IntN(len(open))]
		if _, active := p.Get(q.Name); active {
			return s.change(p, q.Name, q.Domain.Sample(r))
		}
	}
}

// change is a point with one value changed; what becomes active by it takes its first value, mostly default.
func (s *Surface) change(p space.Point, name string, v space.Value) space.Point {
	return s.Problem.Space.Build(func(q space.Param, _ space.Lookup) space.Value {
		if q.Name == name {
			return v
		}
		if old, ok := p.Get(q.Name); ok {
			return old
		}
		return q.Domain.At(0)
	})
}

// levels are a domain's values, a long range thinned.
func levels(d space.Domain) []space.Value {
	n := d.Size()
	lo, hi, step, isRange := d.Range()
	if !isRange || n <= 2*climbLevels {
		out := make([]space.Value, n)
		for i := range out {
			out[i] = d.At(int64(i))
		}
		return out
	}
	out := d.Listed()
	for k := range climbLevels {
		share := float64(k) / (climbLevels - 1)
		x := float64(lo) + share*float64(hi-lo)
		if d.Log() {
			x = float64(lo) * math.Pow(float64(hi)/float64(lo), share)
		}
		v := space.Int(lo + int64(math.Round((x-float64(lo))/float64(step)))*step)
		if d.Contains(v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
