package searchbench

import (
	"math/rand/v2"
	"testing"

	"autotune/space"
)

// A surface is the same every time, its baselines run and keep the bounds, and not too many of the random points that keep the rules fail: between 10 and 50 % on each
// of these, the bounds left out.
func TestSurfacesAreSoundAndRepeat(t *testing.T) {
	for _, name := range Families() {
		for _, seed := range []uint64{7} {
			s, err := New(name, seed)
			if err != nil {
				t.Fatal(err)
			}
			again, err := New(name, seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range s.Problem.Baselines {
				if truth := s.Truth(b); s.Bad(truth) {
					t.Errorf("%s %d: the baseline of %s is bad: %+v", name, seed, b.Engine(), truth)
				}
				if c, broken := s.Problem.Space.Broken(b); broken {
					t.Errorf("%s %d: the baseline of %s breaks %s", name, seed, b.Engine(), c.ID)
				}
			}
			r := rand.New(rand.NewPCG(seed, 1))
			lost, best := 0, 0.0
			const n = 250
			for range n {
				p, ok := s.Problem.Space.Draw(r, func(space.Point) bool { return false })
				if !ok {
					t.Fatalf("%s: the space is empty", name)
				}
				a, b := s.Truth(p), again.Truth(p)
				if a.Runs != b.Runs || a.Metrics[Objective] != b.Metrics[Objective] || a.Minutes != b.Minutes {
					t.Fatalf("%s %d: two answers for one point: %+v, %+v", name, seed, a, b)
				}
				if !a.Runs {
					lost++
				} else if !s.Bad(a) {
					best = max(best, a.Metrics[Objective])
				}
			}
			if share := float64(lost) / n; share < 0.10 || share > 0.50 {
				t.Errorf("%s %d: %.0f %% of the random points do not run", name, seed, 100*share)
			}
			if best > s.Best() {
				t.Errorf("%s %d: a random point gives %.0f, Best %.0f", name, seed, best, s.Best())
			}
		}
	}
}
