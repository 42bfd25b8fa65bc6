package gaussian

import (
	"math"
	"slices"
)

// Dim is one dimension of a grid: a finite number of levels.
type Dim struct {
	Levels int
	// Place gives each level's position in [0, 1]; NaN for a level that is a word beside numbers. Nil: no level is nearer to one than to another.
	Place []float64
	// Weight is the prior of log a, the dimension's weight in the kernel; the zero Prior stands for Weights.
	Weight Prior
	// Trend is the standard deviation of a linear effect over the whole range on a classifier's logit; 0: none.
	Trend float64

	gaps *gaps // nil: not measured yet
}

// Measured are the dimensions with the distances of their levels, so that several models over them need not measure each by itself.
func Measured(dims []Dim) []Dim {
	out := slices.Clone(dims)
	for i := range out {
		out[i].gaps = newGaps(out[i])
	}
	return out
}

// ordered tells whether any two levels have a distance.
func (d Dim) ordered() bool {
	n := 0
	for _, u := range d.Place {
		if !math.IsNaN(u) {
			n++
		}
	}
	return n > 1
}

// distance between two levels; ok is false for different words, or a word and a number.
func (d Dim) distance(i, j int) (r float64, ok bool) {
	if i == j {
		return 0, true
	}
	if d.Place == nil || math.IsNaN(d.Place[i]) || math.IsNaN(d.Place[j]) {
		return 0, false
	}
	return math.Abs(d.Place[i] - d.Place[j]), true
}

// Prior is a normal distribution of a hyper-parameter's natural logarithm.
type Prior struct{ Mean, SD float64 }

// The priors of the kernel's hyper-parameters. Most dimensions matter little and a few much, which a small weight with a wide prior says; a length of half the
// range lets an ordered dimension bend once or twice.
var (
	Weights = Prior{-2, 1.5}
	Lengths = Prior{math.Log(0.5), 0.5}
	Noises  = Prior{2 * math.Log(0.04), 1} // of a variance: the standard deviation of one measurement's logarithm is about 4 %
)

// cost is minus the log density, without its constant, and its derivative.
func (p Prior) cost(x float64) (value, slope float64) {
	d := (x - p.Mean) / p.SD
	return d * d / 2, d / p.SD
}
