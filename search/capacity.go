package search

import (
	"math"
	"slices"

	"autotune/search/gaussian"
	"autotune/space"
	"autotune/tuner"
)

// What the arithmetic of memory says of a point is one more dimension of a model: of the objective and the bounds, how many requests run at once, which
// throughput follows over a wide range; of whether memory suffices, the headroom, below which it runs out. It is a dimension like any other: the data says how
// much it counts, so that arithmetic which is wrong for this engine or model costs little.

// capacityLevels is how finely the dimension is cut; the level after them stands for a point of which nothing is known.
const capacityLevels = 24

// The ranges: beyond their ends nothing changes any more.
const (
	sequencesMost = 1024.0
	headroomLeast = -10.0 // GiB
	headroomMost  = 20.0
)

// capacity is the level of a point's sequences, and of its headroom.
type capacity struct{ sequences, headroom int }

func levelsOf(c tuner.Capacity, ok bool) capacity {
	if !ok {
		return capacity{capacityLevels, capacityLevels}
	}
	cut := func(share float64) int {
		return int(math.Round(math.Min(1, math.Max(0, share)) * (capacityLevels - 1)))
	}
	return capacity{cut(math.Log2(math.Max(1, c.Sequences)) / math.Log2(sequencesMost)), cut((c.Headroom - headroomLeast) / (headroomMost - headroomLeast))}
}

// withCapacity adds the dimension to a grid.
func (b *belief) withCapacity(dims []gaussian.Dim) []gaussian.Dim {
	if b.problem.Capacity == nil {
		return dims
	}
	d := gaussian.Dim{Levels: capacityLevels + 1, Place: make([]float64, capacityLevels+1)}
	for i := range capacityLevels {
		d.Place[i] = float64(i) / (capacityLevels - 1)
	}
	d.Place[capacityLevels] = math.NaN()
	return append(dims, d)
}

// capacityOf a cell. A trial's own is remembered, since a baseline may have words that its cell has no values for.
func (b *belief) capacityOf(c cell) capacity {
	key := c.hash()
	known, ok := b.capacities[key]
	if !ok {
		known = levelsOf(b.problem.Capacity(b.look(c)))
		b.capacities[key] = known
	}
	return known
}

// look gives the values of a cell's active parameters, without the work of making a point of it.
func (b *belief) look(c cell) space.Lookup {
	active := b.active(c)
	return func(name string) (space.Value, bool) {
		i, ok := b.place[name]
		if !ok || !active[i] || c[i] >= len(b.dims[i].atoms) {
			return space.Value{}, false
		}
		return b.dims[i].atoms[c[i]].value, true
	}
}

func (b *belief) remember(s sight) {
	key := s.cell.hash()
	if _, known := b.capacities[key]; b.problem.Capacity != nil && !known {
		b.capacities[key] = levelsOf(b.problem.Capacity(s.trial.Point.Get))
	}
}

// worked is a cell as the models of the objective and the bounds see it.
func (b *belief) worked(c cell) []int {
	if b.problem.Capacity == nil {
		return c
	}
	return append(slices.Clone([]int(c)), b.capacityOf(c).sequences)
}

// stored is a cell as the models of memory see it.
func (b *belief) stored(c cell) []int {
	if b.problem.Capacity == nil {
		return c
	}
	return append(slices.Clone([]int(c)), b.capacityOf(c).headroom)
}

// overWorked gives a model of the objective, or of a bound, its cells.
func (b *belief) overWorked(model func([]int) (mean, variance float64)) func([]int) (mean, variance float64) {
	return func(c []int) (mean, variance float64) { return model(b.worked(c)) }
}
