package search

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// How many candidates of each kind the acquisition is asked about, and how it climbs.
const (
	leaders     = 4   // measured points around which candidates are made
	jumps       = 100 // changes of two or three parameters of each
	uniform     = 400 // random points
	climbers    = 5   // candidates from which it climbs
	climbSteps  = 8   // steps of one parameter at most
	screenDraws = 256 // random changes of a baseline of which a screen is the best
)

// scored is a candidate and its score.
type scored struct {
	cell  cell
	score float64
}

// best is the candidate with the highest acquisition that may be asked.
func (b *belief) best(r *rand.Rand) (cell, bool) {
	q := &queue{bounded: b.rate(b.candidates(r), b.highest), score: b.score}
	var starts []scored
	for len(starts) < climbers {
		s, ok := q.next()
		if !ok {
			break
		}
		starts = append(starts, s)
	}
	q.exact = append(slices.Clone(starts), q.exact...)
	for _, s := range starts {
		for _, on := range b.climb(s) {
			q.add(on)
		}
	}
	for s, ok := q.next(); ok; s, ok = q.next() {
		if b.allowed(s.cell) {
			return s.cell, true
		}
	}
	return nil, false
}

// candidates are neighbours and changes of the leaders, and random points.
func (b *belief) candidates(r *rand.Rand) []cell {
	var out []cell
	for _, s := range b.ranked[:min(leaders, len(b.ranked))] {
		base := b.settle(slices.Clone(s.cell))
		out = append(out, b.neighbours(base)...)
		for range jumps {
			out = append(out, b.shake(base, 2+r.IntN(2), r))
		}
	}
	for range uniform {
		out = append(out, b.random(r))
	}
	return out
}

// rate scores every cell once, the best first; of equals the first drawn.
func (b *belief) rate(cells []cell, score func(cell) float64) []scored {
	known := make(map[string]bool, len(cells))
	out := make([]scored, 0, len(cells))
	for _, c := range cells {
		if key := c.hash(); !known[key] {
			known[key] = true
			out = append(out, scored{c, score(c)})
		}
	}
	byScore(out)
	return out
}

func byScore(all []scored) {
	slices.SortStableFunc(all, func(x, y scored) int { return cmp.Compare(y.score, x.score) })
}

// climb goes to the best neighbour that is better, again and again, and returns the cells on its way.
func (b *belief) climb(from scored) []scored {
	var way []scored
	for range climbSteps {
		next := from
		for _, c := range b.neighbours(from.cell) {
			highest := b.highest(c)
			if highest <= next.score {
				continue
			}
			if s := b.score(highest, c); s > next.score && b.allowed(c) {
				next = scored{c, s}
			}
		}
		if next.score == from.score {
			break
		}
		way = append(way, next)
		from = next
	}
	return way
}

// first is the highest scored cell that may be asked.
func (b *belief) first(all []scored) (cell, bool) {
	byScore(all)
	for _, s := range all {
		if b.allowed(s.cell) {
			return s.cell, true
		}
	}
	return nil, false
}

// allowed tells whether a cell's point keeps the rules and was not asked before.
func (b *belief) allowed(c cell) bool {
	p := b.point(c)
	return b.space.Keeps(p) && !b.refused(p)
}

// likeliest is the most probable to run of what is near the baselines and of random points: for a history in which nothing has run.
func (b *belief) likeliest(r *rand.Rand) (cell, bool) {
	var cells []cell
	for _, base := range b.problem.Baselines {
		c := b.settle(b.cell(base))
		for range jumps {
			cells = append(cells, b.shake(c, 1+r.IntN(4), r))
		}
	}
	for range uniform {
		cells = append(cells, b.random(r))
	}
	return b.first(b.rate(cells, b.logRun))
}

// whyBest says in a line why a point is proposed.
func (b *belief) whyBest(c cell) string {
	leader := b.ranked[0]
	diff := leader.trial.Point.Diff(b.point(c))
	if len(diff) > 4 {
		diff = append(diff[:4:4], fmt.Sprintf("and %d more", len(diff)-4))
	}
	return fmt.Sprintf("expected gain %.1f %% over trial %d, by %s", 100*b.gain(c), leader.trial.Number, strings.Join(diff, " "))
}
