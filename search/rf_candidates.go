package search

import (
	"math/rand/v2"
	"slices"

	"autotune/space"
)

// best is the point with the highest score that may be asked: among the neighbours of the best measured points, changes of a few of their flags and random points,
// and what is found from the best of those by climbing.
func (w *woods) best(r *rand.Rand, refused func(space.Point) bool) (cell, bool) {
	allowed := func(c cell) bool {
		p := w.point(c)
		return w.space.Keeps(p) && !refused(p)
	}
	known := map[string]bool{}
	var all []scored
	rate := func(c cell) {
		if key := c.hash(); !known[key] {
			known[key] = true
			all = append(all, scored{c, w.score(c)})
		}
	}
	for _, s := range w.ranked[:min(leaders, len(w.ranked))] {
		base := w.settle(slices.Clone(s.cell))
		for _, c := range w.neighbours(base) {
			rate(c)
		}
		for range jumps {
			rate(w.shake(base, 2+r.IntN(2), r))
		}
	}
	for range uniform {
		rate(w.random(r))
	}
	byScore(all)
	for _, start := range slices.Clone(all[:min(climbers, len(all))]) {
		all = append(all, w.climb(start, allowed)...)
	}
	byScore(all)
	for _, s := range all {
		if allowed(s.cell) {
			return s.cell, true
		}
	}
	return nil, false
}

// climb goes to the best neighbour that may be asked, as long as that is better, and returns the cells on its way.
func (w *woods) climb(from scored, allowed func(cell) bool) (way []scored) {
	for range climbSteps {
		next := from
		for _, c := range w.neighbours(from.cell) {
			if s := w.score(c); s > next.score && allowed(c) {
				next = scored{c, s}
			}
		}
		if next.score == from.score {
			return way
		}
		way = append(way, next)
		from = next
	}
	return way
}
