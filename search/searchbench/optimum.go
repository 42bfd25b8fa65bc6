package searchbench

import (
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
)

// How hard Best looks.
const (
	bestRandom  = 3000 // random points
	bestClimbs  = 10   // of them, the best so many are climbed from
	bestKicks   = 40   // times that the best is shaken and climbed from again
	quickRandom = 600  // the same for an engine's quick best
	quickClimbs = 2
	climbLevels = 17 // values of a range that a climb looks at
	climbPasses = 12
)

// findBest looks for the best feasible point: random points, climbs from the best of them, from the baselines and from known structures, and shaken
// versions of the best so far.
func findBest(s *Surface) (float64, space.Point) {
	r := rand.New(rand.NewPCG(s.mixed, 0x62657374))
	starts := slices.Concat(s.Problem.Baselines, s.starts, s.topRandom(bestRandom, bestClimbs, "", r))
	best, at := math.Inf(-1), space.Point{}
	for _, p := range starts {
		if q, v := s.climb(p, r); v > best {
			best, at = v, q
		}
	}
	for range bestKicks {
		p := at
		for range 2 + r.IntN(3) {
			p = s.shake(p, r)
		}
		if q, v := s.climb(p, r); v > best {
			best, at = v, q
		}
	}
	v, _ := s.value(s.truth(at))
	return v, at
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

// score orders points for a climb: the log of the value, less five times what it breaks of the constraints; -Inf for what does not run.
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

// topRandom are the best of n random points, of one engine or (empty) of all.
func (s *Surface) topRandom(n, keep int, engine string, r *rand.Rand) []space.Point {
	type scored struct {
		p space.Point
		v float64
	}
	var all []scored
	for range n {
		p := s.Problem.Space.Random(r)
		if engine != "" && p.Engine() != engine {
			continue
		}
		all = append(all, scored{p, s.score(p)})
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.v > b.v:
			return -1
		case a.v < b.v:
			return 1
		}
		return 0
	})
	var out []space.Point
	for _, a := range all[:min(keep, len(all))] {
		out = append(out, a.p)
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
			for _, v := range levels(q.Domain) {
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
