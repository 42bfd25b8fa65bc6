package space

import (
	"iter"
	"math/rand/v2"
)

// drawTries bounds the rejection of points that are taken or break a rule.
const drawTries = 2000

// EnumerationLimit bounds how many points are looked at when rejection has failed, and when a space is counted.
const EnumerationLimit = 1 << 20

// Random draws a point uniformly down the tree of conditions, without a look at the rules.
func (s *Space) Random(r *rand.Rand) Point {
	return s.Build(func(p Param, _ Lookup) Value { return p.Domain.Sample(r) })
}

// Draw returns a random point that keeps the rules and is not refused (as taken, say): by bounded rejection, then by
// enumeration from the start. ok is false when none is left (or none within EnumerationLimit points).
func (s *Space) Draw(r *rand.Rand, refused func(Point) bool) (p Point, ok bool) {
	for range drawTries {
		p := s.Random(r)
		if !refused(p) && s.Keeps(p) {
			return p, true
		}
	}
	// The few that are left: choose among them, lest the first in order be always taken.
	var left []Point
	seen := 0
	for p := range s.Enumerate() {
		if seen++; seen > EnumerationLimit || len(left) == 1024 {
			break
		}
		if !refused(p) && s.Keeps(p) {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return Point{}, false
	}
	return left[r.IntN(len(left))], true
}

// Keeps tells whether a point keeps every rule.
func (s *Space) Keeps(p Point) bool { _, broken := s.Broken(p); return !broken }

// Enumerate yields every point, rules not looked at: the last declared parameter turns fastest, and an inactive one does not multiply.
func (s *Space) Enumerate() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		chosen := map[string]Value{}
		look := func(name string) (Value, bool) { v, ok := chosen[name]; return v, ok }
		var walk func(k int) bool
		walk = func(k int) bool {
			if k == len(s.order) {
				return yield(s.seal(chosen))
			}
			p := s.params[s.order[k]]
			if !s.Active(p, look) {
				return walk(k + 1)
			}
			for i := range p.Domain.Size() {
				chosen[p.Name] = p.Domain.At(i)
				if !walk(k + 1) {
					return false
				}
			}
			delete(chosen, p.Name)
			return true
		}
		walk(0)
	}
}

// Census counts the distinct configurations that keep the rules, and for each rule how many points it removes (the first rule that a point breaks).
// exact is false when the space has more than limit points: then only the first limit were looked at.
func (s *Space) Census(limit int) (kept int, removed map[string]int, exact bool) {
	removed = map[string]int{}
	keys := map[string]bool{}
	n := 0
	for p := range s.Enumerate() {
		if n++; n > limit {
			return kept, removed, false
		}
		if c, broken := s.Broken(p); broken {
			removed[c.ID]++
		} else if !keys[p.Key()] {
			keys[p.Key()] = true
			kept++
		}
	}
	return kept, removed, true
}
