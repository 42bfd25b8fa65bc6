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
	trend  trend
	slope  []float64 // ∇ log p(y|f) at the mode
	root   []float64 // √W, W the negative Hessian
	factor factor    // of I + √W K √W
}

// The hyper-parameters that a classifier chooses from, by evidence: one weight for all dimensions (or weights as the labels have them), and the variance of the logit.
// A few dozen labels tell no more than this. Of a weight of 0.3 most is additive, of 3 hardly anything; a standard deviation of the logit of 2 lets most probabilities
// lie between 0.1 and 0.9, one of 4 most of them outside.
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
	for _, k := range classifierKernels(dims, labels) {
		tables := k.tables(dims)
		shape, trend := mat.NewSymDense(max(1, x.n), nil), newTrend(dims, x)
		x.fillCovariance(shape, tables, 1, 0)
		for _, scale := range classifierScales {
			k.Scale = scale
			c := &Classifier{Kernel: k, x: x, tables: tables, trend: trend}
			if c.fit(c.covariance(shape), labels) && (best == nil || c.Evidence > best.Evidence) {
				best = c
			}
		}
	}
	if best == nil { // nothing seen, or no mode was found
		return &Classifier{Kernel: Kernel{Scale: classifierScales[0]}, x: newDesign(dims, nil), trend: newTrend(dims, newDesign(dims, nil))}
	}
	return best
}

// classifierKernels are the shapes of which evidence chooses one: all dimensions alike, and the weights and lengths that a regression on the
// labels as numbers finds (least-squares classification, GPML 6.5), which tell the few flags that matter from the many that do not.
func classifierKernels(dims []Dim, labels []Label) []Kernel {
	var out []Kernel
	for _, a := range classifierWeights {
		k := Kernel{Weight: make([]float64, len(dims)), Length: make([]float64, len(dims))}
		for d := range dims {
			k.Weight[d], k.Length[d] = a, classifierLength
		}
		out = append(out, k)
	}
	data := make([]Observation, len(labels))
	ran := 0
	for i, l := range labels {
		data[i] = Observation{Point: l.Point, Value: -1}
		if l.Ran {
			data[i].Value = 1
			ran++
		}
	}
	if ran == 0 || ran == len(labels) || len(labels) < leastForWeights {
		return out
	}
	kernel, _ := newFitter(dims, telling(data)).best()
	kernel.Additive = 0
	return append(out, kernel)
}

// leastForWeights is how many labels it takes to tell flags apart.
const leastForWeights = 8

// trend is the part of the kernel in which some dimensions are linear: Σ b² (u - ½)(u' - ½). It does not fade with the distance in other dimensions: what is
// learned of asking for memory in one layout holds, to a degree, in all. (A Gaussian process with explicit basis functions, GPML 2.7.)
type trend struct {
	dims []Dim
	x    design
}

func newTrend(dims []Dim, x design) trend { return trend{dims, x} }

func (t trend) place(d, level int) float64 {
	if t.dims[d].Trend == 0 || t.dims[d].Place == nil || math.IsNaN(t.dims[d].Place[level]) {
		return 0
	}
	return t.dims[d].Trend * (t.dims[d].Place[level] - 0.5)
}

// add adds the trend between a point and the design's first points to row, and returns the point's own variance.
func (t trend) add(point []int, row []float64) (own float64) {
	for d := range t.dims {
		if t.dims[d].Trend == 0 {
			continue
		}
		u := t.place(d, point[d])
		own += u * u
		if u == 0 {
			continue
		}
		for i := range row {
			row[i] += u * t.place(d, int(t.x.levels[d][i]))
		}
	}
	return own
}

// covariance is scale times the shape, and the trend.
func (c *Classifier) covariance(shape *mat.SymDense) *mat.SymDense {
	n := c.x.n
	out := mat.NewSymDense(max(1, n), nil)
	row, point := make([]float64, n), make([]int, len(c.x.levels))
	for i := range n {
		for j := range i + 1 {
			row[j] = c.Kernel.Scale * shape.At(i, j)
		}
		c.trend.add(c.x.at(i, point), row[:i+1])
		for j := range i + 1 {
			out.SetSym(i, j, row[j])
		}
	}
	return out
}

// Newton's method doubles its digits with every step once it is near; a log posterior that still gains less than the tolerance is at its mode for all purposes.
const (
	newtonSteps     = 50
	newtonTolerance = 1e-6
)

// fit finds the mode of the posterior by Newton's method (GPML algorithm 3.1), for f less its prior mean. A full step may overshoot where labels
// contradict the prior mean; it is halved until the objective rises.
func (c *Classifier) fit(cov *mat.SymDense, labels []Label) bool {
	n := len(labels)
	if n == 0 {
		return false
	}
	f, a, step, b := make([]float64, n), make([]float64, n), make([]float64, n), mat.NewVecDense(n, nil)
	c.slope, c.root = make([]float64, n), make([]float64, n)
	inner := mat.NewSymDense(n, nil)
	objective := logLikelihood(labels, f)
	for range newtonSteps {
		c.differentiate(labels, f)
		c.setB(inner, cov)
		if !c.factor.of(inner) {
			return false
		}
		// b = W f + ∇; a = b - √W B⁻¹ √W K b; f = K a
		for i := range n {
			b.SetVec(i, c.root[i]*c.root[i]*f[i]+c.slope[i])
		}
		c.newton(cov, b, step)
		floats.Sub(step, a)
		gained := c.advance(cov, labels, a, step, f, objective)
		objective += gained
		if gained < newtonTolerance {
			break
		}
	}
	c.differentiate(labels, f)
	c.setB(inner, cov)
	if math.IsNaN(objective) || !c.factor.of(inner) {
		return false
	}
	c.factor.keepLower()
	c.Evidence = objective - c.factor.logDet()/2
	return true
}

// advance goes along a step, or a half of it, and so on, as far as the objective rises, and returns by how much.
func (c *Classifier) advance(cov *mat.SymDense, labels []Label, a, step, f []float64, objective float64) (gained float64) {
	tried, at := make([]float64, len(a)), make([]float64, len(a))
	for size := 1.0; size > 1e-3; size /= 2 {
		floats.AddScaledTo(tried, a, size, step)
		multiply(cov, tried, at)
		if gained = logLikelihood(labels, at) - floats.Dot(tried, at)/2 - objective; gained > 0 {
			copy(a, tried)
			copy(f, at)
			return gained
		}
	}
	return 0
}

// newton computes a = b - √W B⁻¹ √W K b.
func (c *Classifier) newton(cov *mat.SymDense, b *mat.VecDense, a []float64) {
	n := len(a)
	kb := make([]float64, n)
	multiply(cov, b.RawVector().Data, kb)
	for i := range n {
		kb[i] *= c.root[i]
	}
	c.factor.solve(kb)
	if !finite(kb) {
		copy(a, b.RawVector().Data) // ill-conditioned beyond use: a step without curvature
		return
	}
	for i := range n {
		a[i] = b.AtVec(i) - c.root[i]*kb[i]
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
func (c *Classifier) setB(inner, cov *mat.SymDense) {
	for i := range c.root {
		for j := range i + 1 {
			v := c.root[i] * c.root[j] * cov.At(i, j)
			if i == j {
				v += 1 + jitter
			}
			inner.SetSym(i, j, v)
		}
	}
}

func multiply(cov *mat.SymDense, v, into []float64) {
	mat.NewVecDense(len(v), into).MulVec(cov, mat.NewVecDense(len(v), v))
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
			c.x.covariance(c.tables, c.Kernel.Scale, 0, point, row)
			variance += c.trend.add(point, row)
			for i, k := range row {
				mean += k * c.slope[i]
				row[i] = k * c.root[i]
			}
			c.factor.solveLower(row)
			variance -= floats.Dot(row, row)
		}
		return sigmoid(mean / math.Sqrt(1+math.Pi*math.Max(variance, 0)/8))
	}
}
