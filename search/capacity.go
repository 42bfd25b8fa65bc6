package search

import (
	"math"
	"slices"

	"autotune/search/gaussian"
	"autotune/tuner"
)

// What the arithmetic of memory says of a point are two further dimensions of the models: how many requests run at once, which throughput follows over a wide
// range, and the headroom, below which memory runs out. They are dimensions like any other: the data says how much they count, so that arithmetic that is
// wrong for this engine or model costs little.

// capacityLevels is how finely a dimension is cut; the level after them stands for a point of which nothing is known.
const capacityLevels = 24

// The ranges of the dimensions: beyond their ends nothing changes any more.
const (
	sequencesMost = 1024.0
	headroomLeast = -10.0 // GiB
	headroomMost  = 20.0
)

// trendHeadroom is the standard deviation of what the whole range of headroom may do to the logit of having memory enough.
const trendHeadroom = 4

// withCapacity adds the dimensions to a grid.
func (b *belief) withCapacity(dims []gaussian.Dim) []gaussian.Dim {
	if b.problem.Capacity == nil {
		return dims
	}
	d := gaussian.Dim{Levels: capacityLevels + 1, Place: make([]float64, capacityLevels+1)}
	for i := range capacityLevels {
		d.Place[i] = float64(i) / (capacityLevels - 1)
	}
	d.Place[capacityLevels] = math.NaN()
	return append(dims, d, d)
}

// full is a cell with the levels of its capacity.
func (b *belief) full(c cell) []int {
	if b.problem.Capacity == nil {
		return c
	}
	key := c.hash()
	known, ok := b.capacities[key]
	if !ok {
		known = append(slices.Clone([]int(c)), levelsOf(b.problem.Capacity(b.point(c)))...)
		b.capacities[key] = known
	}
	return known
}

// remember keeps the capacity of a trial's own point: a baseline may have words that its cell has no values for.
func (b *belief) remember(s sight) {
	if key := s.cell.hash(); b.problem.Capacity != nil && b.capacities[key] == nil {
		b.capacities[key] = append(slices.Clone([]int(s.cell)), levelsOf(b.problem.Capacity(s.trial.Point))...)
	}
}

func levelsOf(c tuner.Capacity, ok bool) []int {
	if !ok {
		return []int{capacityLevels, capacityLevels}
	}
	cut := func(share float64) int {
		return int(math.Round(math.Min(1, math.Max(0, share)) * (capacityLevels - 1)))
	}
	return []int{cut(math.Log2(math.Max(1, c.Sequences)) / math.Log2(sequencesMost)), cut((c.Headroom - headroomLeast) / (headroomMost - headroomLeast))}
}

// overFull gives a model cells with their capacity.
func (b *belief) overFull(model func([]int) (mean, variance float64)) func([]int) (mean, variance float64) {
	return func(c []int) (mean, variance float64) { return model(b.full(c)) }
}
