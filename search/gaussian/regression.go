package gaussian

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Observation is one measured value at a point.
type Observation struct {
	Point []int
	Value float64
	// Noise is the variance of this observation's error, as a multiple of that of a whole measurement: 1 for one, more for a part of one. 0 counts as 1.
	Noise float64
}

// Regression is a Gaussian process conditioned on observations.
type Regression struct {
	Kernel Kernel
	Noise  float64 // σ², the variance of a whole measurement's error

	dims   []Dim
	x      design
	mean   float64
	tables []*table
	factor factor
	alpha  []float64 // K⁻¹ (y - mean)
}

// jitter is added to the diagonal, so that equal points stay apart numerically.
const jitter = 1e-6

// ErrNoData says that there is nothing to learn from.
var ErrNoData = errors.New("a Gaussian process needs an observation")

// ErrSingular says that the covariance could not be factorised, whatever was added to its diagonal.
var ErrSingular = errors.New("the covariance matrix cannot be factorised")

// Regress fits the kernel's hyper-parameters to the observations: those that maximise likelihood times prior. See fit.go.
func Regress(dims []Dim, data []Observation) (*Regression, error) {
	if len(data) == 0 {
		return nil, ErrNoData
	}
	f := newFitter(dims, telling(data))
	kernel, noise := f.best()
	return condition(dims, data, kernel, noise)
}

// With returns the process conditioned on further observations, under the same hyper-parameters.
func (g *Regression) With(data []Observation) (*Regression, error) {
	return condition(g.dims, data, g.Kernel, g.Noise)
}

func condition(dims []Dim, data []Observation, k Kernel, noise float64) (*Regression, error) {
	g := &Regression{Kernel: k, Noise: noise, dims: dims, x: newDesign(dims, pointsOf(data)), tables: k.tables(dims)}
	y := centred(data, &g.mean)
	cov := mat.NewSymDense(g.x.n, nil)
	g.x.fillCovariance(cov, g.tables, k.Scale, k.Additive)
	if !factorise(&g.factor, cov, diagonal(data, noise)) {
		return nil, ErrSingular
	}
	g.factor.keepLower()
	g.factor.solve(y)
	if !finite(y) {
		return nil, ErrSingular
	}
	g.alpha = y
	return g, nil
}

// Predict gives the posterior mean and variance of the noise-free value at a point (GPML 2.25 and 2.26).
func (g *Regression) Predict(point []int) (mean, variance float64) {
	row := make([]float64, g.x.n)
	return g.predict(point, row)
}

// Predictor predicts many points without allocating for each. Not for use by several goroutines.
func (g *Regression) Predictor() func(point []int) (mean, variance float64) {
	row := make([]float64, g.x.n)
	return func(point []int) (float64, float64) { return g.predict(point, row) }
}

func (g *Regression) predict(point []int, row []float64) (mean, variance float64) {
	g.x.covariance(g.tables, g.Kernel.Scale, g.Kernel.Additive, point, row)
	mean = g.mean + floats.Dot(row, g.alpha)
	g.factor.solveLower(row)
	variance = g.Kernel.variance() - floats.Dot(row, row)
	return mean, math.Max(variance, 0)
}

// fillCovariance sets the kernel between every two points of the design.
func (x design) fillCovariance(cov *mat.SymDense, tables []*table, scale, additive float64) {
	row, point := make([]float64, x.n), make([]int, len(x.levels))
	for i := range x.n {
		part := row[:i+1]
		x.covariance(tables, scale, additive, x.at(i, point), part)
		for j, v := range part {
			cov.SetSym(i, j, v)
		}
	}
}

// factorise adds the diagonal to cov and factorises it, with ten times the jitter again while that fails.
func factorise(f *factor, cov *mat.SymDense, diagonal []float64) bool {
	for i, v := range diagonal {
		cov.SetSym(i, i, cov.At(i, i)+v)
	}
	for extra := jitter; extra < 1; extra *= 10 {
		for i := range diagonal {
			cov.SetSym(i, i, cov.At(i, i)+extra)
		}
		if f.of(cov) {
			return true
		}
	}
	return false
}

func diagonal(data []Observation, noise float64) []float64 {
	out := make([]float64, len(data))
	for i, o := range data {
		out[i] = noise * o.factor()
	}
	return out
}

func (o Observation) factor() float64 {
	if o.Noise <= 0 {
		return 1
	}
	return o.Noise
}

func pointsOf(data []Observation) [][]int {
	points := make([][]int, len(data))
	for i, o := range data {
		points[i] = o.Point
	}
	return points
}

// centred returns the values less their mean.
func centred(data []Observation, mean *float64) []float64 {
	y := make([]float64, len(data))
	for i, o := range data {
		y[i] = o.Value
	}
	*mean = stat.Mean(y, nil)
	for i := range y {
		y[i] -= *mean
	}
	return y
}

func finite(values []float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
