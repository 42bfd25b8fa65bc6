package gaussian

import "math"

// Kernel is the covariance
//
//	k(x, x') = s² Π_i (1 + a_i κ_i(x_i, x'_i)) / (1 + a_i)  +  v Σ_i q_i κ_i(x_i, x'_i),   q_i = a_i / (1 + a_i)
//
// with κ_i = 1 for equal levels, m(|u-u'|/ℓ_i) for two positions, 0 otherwise, and m Matérn's function for smoothness 5/2 (GPML 4.17).
// Multiplied out the product is a constant, every main effect with weight a_i, every pair of effects with a_i a_j, and so on (Duvenaud et al., Additive
// Gaussian Processes, NIPS 2011, use the same expansion term by term): of many dimensions the interactions outweigh the main effects by far, since there are so
// many more. The sum gives main effects, which hold everywhere, a variance of their own, that the data decides on.
type Kernel struct {
	Scale    float64   // s², the variance of the product
	Additive float64   // v, the variance of the sum per unit of q; 0: there is only the product
	Weight   []float64 // a_i
	Length   []float64 // ℓ_i, of ordered dimensions
}

// table holds, for each pair of one dimension's levels, its factor of the product and its term of the sum. Both hang on the distance alone, and so do their
// derivatives, which are kept by distance.
type table struct {
	*gaps
	factor, term []float64 // by pair: (1 + aκ)/(1 + a), and qκ
	at           []entry   // by distance
}

// gaps are the distances between a dimension's levels.
type gaps struct {
	levels int
	of     []int32   // by pair: which of the distances
	sizes  []float64 // the different distances; the first stands for that of different words
}

// entry is what a table has for a distance.
type entry struct{ factor, term part }

// part is a value with its derivatives by log a and log ℓ; of a factor, those of its logarithm.
type part struct{ value, byWeight, byLength float64 }

func newTable(d Dim) *table {
	g := d.gaps
	if g == nil {
		g = newGaps(d)
	}
	n := g.levels * g.levels
	return &table{gaps: g, factor: make([]float64, n), term: make([]float64, n), at: make([]entry, len(g.sizes))}
}

func newGaps(d Dim) *gaps {
	g := &gaps{levels: d.Levels, of: make([]int32, d.Levels*d.Levels), sizes: []float64{math.Inf(1)}}
	known := map[float64]int32{}
	for i := range d.Levels {
		for j := range i + 1 {
			r, ok := d.distance(i, j)
			if !ok {
				continue
			}
			k, seen := known[r]
			if !seen {
				k = int32(len(g.sizes))
				known[r], g.sizes = k, append(g.sizes, r)
			}
			g.of[i*d.Levels+j], g.of[j*d.Levels+i] = k, k
		}
	}
	return g
}

// fill computes the table for a weight and a length.
func (t *table) fill(a, length float64) {
	q := a / (1 + a)
	for k, r := range t.sizes {
		kappa, slope := 0.0, 0.0
		if k > 0 {
			kappa, slope = matern(r / length)
		}
		t.at[k] = entry{
			factor: part{(1 + a*kappa) / (1 + a), a*kappa/(1+a*kappa) - q, a * slope / (1 + a*kappa)},
			term:   part{q * kappa, q * (1 - q) * kappa, q * slope},
		}
	}
	for i, k := range t.of {
		t.factor[i], t.term[i] = t.at[k].factor.value, t.at[k].term.value
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
		out[d].fill(k.Weight[d], k.Length[d])
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
func (x design) covariance(tables []*table, scale, additive float64, point []int, row []float64) {
	x.products(tables, scale, point, row)
	x.addTerms(tables, additive, point, row)
}

// products fills row with the kernel's product.
func (x design) products(tables []*table, scale float64, point []int, row []float64) {
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

// addTerms adds the kernel's sum.
func (x design) addTerms(tables []*table, additive float64, point []int, row []float64) {
	if additive == 0 {
		return
	}
	for d, t := range tables {
		terms := t.term[point[d]*t.levels : (point[d]+1)*t.levels]
		for i, level := range x.levels[d][:len(row)] {
			row[i] += additive * terms[level]
		}
	}
}

// variance is k(x, x), the same at every point.
func (k Kernel) variance() float64 {
	v := k.Scale
	for _, a := range k.Weight {
		v += k.Additive * a / (1 + a)
	}
	return v
}

// at is the design's point i.
func (x design) at(i int, into []int) []int {
	for d := range x.levels {
		into[d] = int(x.levels[d][i])
	}
	return into
}
