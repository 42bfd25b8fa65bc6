package gaussian

import "math"

// Kernel is the covariance
//
//	k(x, x') = s² Π_i (1 + a_i κ_i(x_i, x'_i)) / (1 + a_i)
//
// with κ_i = 1 for equal levels, m(|u-u'|/ℓ_i) for two positions, 0 otherwise, and m Matérn's function for smoothness 5/2 (GPML 4.17).
// Multiplied out it is a constant, every main effect with weight a_i, every pair of effects with a_i a_j, and so on: small weights make
// it additive (Duvenaud et al., Additive Gaussian Processes, NIPS 2011, use the same expansion term by term).
type Kernel struct {
	Scale  float64   // s², the variance far from all data
	Weight []float64 // a_i
	Length []float64 // ℓ_i, of ordered dimensions
}

// table holds one dimension's factor of the kernel for each pair of levels, and the derivatives of its logarithm.
type table struct {
	levels   int
	factor   []float64 // (1 + aκ)/(1 + a)
	byWeight []float64 // by log a
	byLength []float64 // by log ℓ; nil for an unordered dimension
}

func newTable(d Dim) *table {
	n := d.Levels * d.Levels
	t := &table{levels: d.Levels, factor: make([]float64, n), byWeight: make([]float64, n)}
	if d.ordered() {
		t.byLength = make([]float64, n)
	}
	return t
}

// fill computes the table for a weight and a length.
func (t *table) fill(d Dim, a, length float64) {
	for i := range d.Levels {
		for j := range i + 1 {
			kappa, slope := 0.0, 0.0
			if r, ok := d.distance(i, j); ok {
				kappa, slope = matern(r / length)
			}
			at, mirrored := i*d.Levels+j, j*d.Levels+i
			t.factor[at] = (1 + a*kappa) / (1 + a)
			t.byWeight[at] = a*kappa/(1+a*kappa) - a/(1+a)
			t.factor[mirrored], t.byWeight[mirrored] = t.factor[at], t.byWeight[at]
			if t.byLength != nil {
				t.byLength[at] = a * slope / (1 + a*kappa)
				t.byLength[mirrored] = t.byLength[at]
			}
		}
	}
}

// matern is m(r) = (1 + √5 r + 5r²/3) e^(-√5 r) and its derivative by log ℓ, (5r²/3)(1 + √5 r) e^(-√5 r).
func matern(r float64) (value, byLogLength float64) {
	s := math.Sqrt(5) * r
	e := math.Exp(-s)
	return (1 + s + s*s/3) * e, s * s / 3 * (1 + s) * e
}

// tables of a kernel over dimensions.
func (k Kernel) tables(dims []Dim) []*table {
	out := make([]*table, len(dims))
	for d := range dims {
		out[d] = newTable(dims[d])
		out[d].fill(dims[d], k.Weight[d], k.Length[d])
	}
	return out
}

// design is a list of points, by dimension: levels[d][i] is the level of point i.
type design struct {
	n      int
	levels [][]int32
}

func newDesign(dims []Dim, points [][]int) design {
	x := design{n: len(points), levels: make([][]int32, len(dims))}
	for d := range dims {
		x.levels[d] = make([]int32, len(points))
		for i, p := range points {
			x.levels[d][i] = int32(p[d])
		}
	}
	return x
}

// covariance fills row with the kernel between a point and each point of the design, for n points.
func (x design) covariance(tables []*table, scale float64, point []int, row []float64) {
	for i := range row {
		row[i] = scale
	}
	for d, t := range tables {
		factors := t.factor[point[d]*t.levels : (point[d]+1)*t.levels]
		for i, level := range x.levels[d][:len(row)] {
			row[i] *= factors[level]
		}
	}
}

// at is the design's point i.
func (x design) at(i int, into []int) []int {
	for d := range x.levels {
		into[d] = int(x.levels[d][i])
	}
	return into
}
