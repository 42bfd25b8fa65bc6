package gaussian

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Label is one seen success or failure.
type Label struct {
	Point []int
	Ran   bool
	Prior float64 // mean of the logit before anything was seen
}

// Classifier is a Gaussian process classifier: the probability of success at a point, by Laplace's approximation for the logistic function (GPML 3.4).
type Classifier struct {
	Kernel   Kernel
	Evidence float64 // log of the approximate marginal likelihood (GPML 3.32)

	x      design
	tables []*table
	slope  []float64 // ∇ log p(y|f) at the mode
	root   []float64 // √W, W the negative Hessian
	lower  mat.TriDense
}

// The hyper-parameters that a classifier chooses from, by evidence: one weight for all dimensions, and the variance of the logit.
var (
	classifierWeights = []float64{0.3, 1, 3}
	classifierScales  = []float64{4, 16}
)

// classifierLength is the length of ordered dimensions: a limit on memory lies somewhere in a range, not at one value.
const classifierLength = 0.4

// Classify learns from successes and failures. With none it knows the priors alone.
func Classify(dims []Dim, labels []Label) *Classifier {
	points := make([][]int, len(labels))
	for i, l := range labels {
		points[i] = l.Point
	}
	x := newDesign(dims, points)
	var best *Classifier
	for _, a := range classifierWeights {
		k := Kernel{Scale: 1, Weight: make([]float64, len(dims)), Length: make([]float64, len(dims))}
		for d := range dims {
			k.Weight[d], k.Length[d] = a, classifierLength
		}
		tables := k.tables(dims)
		unit := mat.NewSymDense(max(1, x.n), nil)
		x.fillCovariance(unit, tables, 1)
		for _, scale := range classifierScales {
			k.Scale = scale
			c := &Classifier{Kernel: k, x: x, tables: tables}
			if c.fit(unit, labels) && (best == nil || c.Evidence > best.Evidence) {
				best = c
			}
		}
	}
	if best == nil { // nothing seen, or no mode was found
		return &Classifier{Kernel: Kernel{Scale: classifierScales[0]}, x: newDesign(dims, nil)}
	}
	return best
}

const (
	newtonSteps     = 50
	newtonTolerance = 1e-6
)

// fit finds the mode of the posterior by Newton's method (GPML algorithm 3.1), for f less its prior mean.
func (c *Classifier) fit(unit *mat.SymDense, labels []Label) bool {
	n := len(labels)
	if n == 0 {
		return false
	}
	f, a, b := make([]float64, n), make([]float64, n), mat.NewVecDense(n, nil)
	c.slope, c.root = make([]float64, n), make([]float64, n)
	inner := mat.NewSymDense(n, nil)
	objective := math.Inf(-1)
	var chol mat.Cholesky
	for range newtonSteps {
		c.differentiate(labels, f)
		c.setB(inner, unit)
		if !chol.Factorize(inner) {
			return false
		}
		// b = W f + ∇; a = b - √W B⁻¹ √W K b; f = K a
		for i := range n {
			b.SetVec(i, c.root[i]*c.root[i]*f[i]+c.slope[i])
		}
		c.newton(unit, &chol, b, a)
		multiply(unit, c.Kernel.Scale, a, f)
		next := logLikelihood(labels, f)
		for i := range n {
			next -= a[i] * f[i] / 2
		}
		if math.IsNaN(next) {
			return false
		}
		if math.Abs(next-objective) < newtonTolerance {
			objective = next
			break
		}
		objective = next
	}
	c.differentiate(labels, f)
	c.setB(inner, unit)
	if !chol.Factorize(inner) {
		return false
	}
	chol.LTo(&c.lower)
	c.Evidence = objective - chol.LogDet()/2
	return true
}

// newton computes a = b - √W B⁻¹ √W K b.
func (c *Classifier) newton(unit *mat.SymDense, chol *mat.Cholesky, b *mat.VecDense, a []float64) {
	n := len(a)
	kb, solved := make([]float64, n), mat.NewVecDense(n, nil)
	multiply(unit, c.Kernel.Scale, b.RawVector().Data, kb)
	for i := range n {
		kb[i] *= c.root[i]
	}
	if err := chol.SolveVecTo(solved, mat.NewVecDense(n, kb)); err != nil && !finite(solved.RawVector().Data) {
		copy(a, b.RawVector().Data) // ill-conditioned beyond use: a step without curvature
		return
	}
	for i := range n {
		a[i] = b.AtVec(i) - c.root[i]*solved.AtVec(i)
	}
}

// differentiate sets the slope and the root of the curvature of the log likelihood at f.
func (c *Classifier) differentiate(labels []Label, f []float64) {
	for i, l := range labels {
		p := sigmoid(f[i] + l.Prior)
		t := 0.0
		if l.Ran {
			t = 1
		}
		c.slope[i], c.root[i] = t-p, math.Sqrt(math.Max(p*(1-p), 1e-12))
	}
}

// setB sets B = I + √W K √W.
func (c *Classifier) setB(inner, unit *mat.SymDense) {
	for i := range c.root {
		for j := range i + 1 {
			v := c.root[i] * c.root[j] * c.Kernel.Scale * unit.At(i, j)
			if i == j {
				v += 1 + jitter
			}
			inner.SetSym(i, j, v)
		}
	}
}

func multiply(unit *mat.SymDense, scale float64, v, into []float64) {
	out := mat.NewVecDense(len(v), into)
	out.MulVec(unit, mat.NewVecDense(len(v), v))
	out.ScaleVec(scale, out)
}

func logLikelihood(labels []Label, f []float64) float64 {
	sum := 0.0
	for i, l := range labels {
		x := f[i] + l.Prior
		if !l.Ran {
			x = -x
		}
		sum -= math.Log1p(math.Exp(-math.Abs(x))) + math.Max(-x, 0)
	}
	return sum
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Predictor gives the probability of success at many points, each with its prior mean of the logit: σ(μ / √(1 + πv/8)) (MacKay's approximation,
// GPML 3.4.2). Not for use by several goroutines.
func (c *Classifier) Predictor() func(point []int, prior float64) float64 {
	row := make([]float64, c.x.n)
	return func(point []int, prior float64) float64 {
		mean, variance := prior, c.Kernel.Scale
		if c.x.n > 0 {
			c.x.covariance(c.tables, c.Kernel.Scale, point, row)
			for i, k := range row {
				mean += k * c.slope[i]
				row[i] = k * c.root[i]
			}
			solveLower(&c.lower, row)
			variance -= floats.Dot(row, row)
		}
		return sigmoid(mean / math.Sqrt(1+math.Pi*math.Max(variance, 0)/8))
	}
}
