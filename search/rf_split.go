package search

import (
	"cmp"
	"slices"
)

// question parts a node's observations by one feature.
type question struct {
	feature int
	left    []bool // by level
	gain    float64
}

// heap is the observations that a cut cannot part: those at one level, or of one class.
type heap struct {
	what       int // the level, or the class
	count, sum float64
}

// ask finds the best question about one feature, and keeps it if it is better than what there is; false when all are alike in the feature.
func (g *grower) ask(i int, drawn []int, best *question) (differ bool) {
	f := g.features[i]
	levels := make([]heap, len(f.classes))
	for _, k := range drawn {
		h := &levels[g.points[k][i]]
		h.count++
		h.sum += g.values[k]
	}
	seen := 0
	for _, h := range levels {
		if h.count > 0 {
			seen++
		}
	}
	if seen < 2 {
		return false
	}
	g.askNumbers(i, levels, best)
	g.askWords(i, levels, best)
	return true
}

// askNumbers cuts the levels by place, at a point drawn between two of them, so that what lies between them is parted differently from tree to tree.
func (g *grower) askNumbers(i int, levels []heap, best *question) {
	f := g.features[i]
	var row []heap
	for _, level := range f.order {
		if h := levels[level]; h.count > 0 {
			h.what = level
			row = append(row, h)
		}
	}
	k, gain := g.cut(row, best.gain, func(a, b heap) bool { return f.places[a.what] < f.places[b.what] })
	if k == 0 {
		return
	}
	low, high := f.places[row[k-1].what], f.places[row[k].what]
	at := low + (high-low)*g.random.Float64()
	if at >= high { // by rounding
		at = low
	}
	left := make([]bool, len(levels))
	for level, place := range f.places {
		left[level] = place <= at
	}
	*best = question{i, left, gain}
}

// askWords parts the classes in two. With the classes in the order of their means, the best subset is a cut (Breiman et al., Classification and
// Regression Trees, 1984, section 8.8). A class that was not seen goes to either side.
func (g *grower) askWords(i int, levels []heap, best *question) {
	f := g.features[i]
	classes := make([]heap, slices.Max(f.classes)+1)
	for level, h := range levels {
		c := &classes[f.classes[level]]
		c.what = f.classes[level]
		c.count += h.count
		c.sum += h.sum
	}
	var row []heap
	for _, c := range classes {
		if c.count > 0 {
			row = append(row, c)
		}
	}
	slices.SortStableFunc(row, func(a, b heap) int { return cmp.Compare(a.sum/a.count, b.sum/b.count) })
	k, gain := g.cut(row, best.gain, func(heap, heap) bool { return true })
	if k == 0 {
		return
	}
	side := make([]bool, len(classes))
	for c := range side {
		side[c] = g.random.IntN(2) == 0
	}
	for j, c := range row {
		side[c.what] = j < k
	}
	left := make([]bool, len(levels))
	for level := range left {
		left[level] = side[f.classes[level]]
	}
	*best = question{i, left, gain}
}

// cut finds where a row of heaps is best parted: before heap k, 0 for nowhere. The gain is by how much the sum of squares about the means falls.
func (g *grower) cut(row []heap, atLeast float64, between func(a, b heap) bool) (k int, gain float64) {
	var count, sum float64
	for _, h := range row {
		count += h.count
		sum += h.sum
	}
	var n, s float64
	for j := 1; j < len(row); j++ {
		n += row[j-1].count
		s += row[j-1].sum
		if n < float64(g.leaf) || count-n < float64(g.leaf) || !between(row[j-1], row[j]) {
			continue
		}
		if v := s*s/n + (sum-s)*(sum-s)/(count-n) - sum*sum/count; v > atLeast {
			k, gain, atLeast = j, v, v
		}
	}
	return k, gain
}
