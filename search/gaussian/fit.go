package gaussian

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

// fitIterations bounds the optimiser; a fit that has not converged by then differs by less than the data can tell.
const fitIterations = 60

// fitMost is how many observations the hyper-parameters are fitted to: the best and the latest half of it. More tell them little, and cost the cube.
const fitMost = 160

// telling are the observations for a fit, in their order.
func telling(data []Observation) []Observation {
	if len(data) <= fitMost {
		return data
	}
	order := make([]int, len(data)-fitMost/2)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(data[j].Value, data[i].Value) })
	best := slices.Sorted(slices.Values(order[:fitMost/2]))
	out := make([]Observation, 0, fitMost)
	for _, i := range best {
		out = append(out, data[i])
	}
	return append(out, data[len(data)-fitMost/2:]...)
}

// fitter maximises log likelihood + log prior over the logarithms of the hyper-parameters, in the order: s², σ², v, a_i, ℓ_i of ordered dimensions.
type fitter struct {
	dims    []Dim
	data    []Observation
	x       design
	y       []float64
	priors  []Prior
	lengths []int // dimensions that have a length, in the order of theta's tail
	tables  []*table
	cov     *mat.SymDense
	factor  factor
	product []float64 // n×n, row before column: the kernel's product alone, as the last evaluation left it
	// By dimension and pair of levels, the sum over all pairs of points with these levels of the cost's derivative by the kernel: times the product, and plain.
	buckets, plain [][]float64
}

func newFitter(dims []Dim, data []Observation) *fitter {
	f := &fitter{dims: dims, data: data, x: newDesign(dims, pointsOf(data)), cov: mat.NewSymDense(len(data), nil), product: make([]float64, len(data)*len(data))}
	var mean float64
	f.y = centred(data, &mean)
	sd := 0.0
	if len(f.y) > 1 {
		sd = stat.StdDev(f.y, nil)
	}
	// The prior of s² and of v has the variance of the data at its middle, 0.1² where they vary less, and a factor of two to either side within one standard deviation.
	spread := Prior{2 * math.Log(math.Max(sd, 0.1)), 0.7}
	f.priors = append(f.priors, spread, Noises, spread)
	for _, d := range dims {
		f.tables = append(f.tables, newTable(d))
		f.buckets = append(f.buckets, make([]float64, d.Levels*d.Levels))
		f.plain = append(f.plain, make([]float64, d.Levels*d.Levels))
		prior := d.Weight
		if prior == (Prior{}) {
			prior = Weights
		}
		f.priors = append(f.priors, prior)
	}
	for i, d := range dims {
		if d.ordered() {
			f.lengths = append(f.lengths, i)
			f.priors = append(f.priors, Lengths)
		}
	}
	return f
}

// best are the likeliest hyper-parameters.
func (f *fitter) best() (Kernel, float64) { return f.unpack(f.mode()) }

// mode runs the optimiser from the priors' means. What it ends with is used also when it has not converged.
func (f *fitter) mode() []float64 {
	theta := make([]float64, len(f.priors))
	for i, p := range f.priors {
		theta[i] = p.Mean
	}
	gradient := make([]float64, len(theta))
	last := make([]float64, len(theta))
	value, known := 0.0, false
	evaluate := func(x []float64) {
		if known && equal(last, x) {
			return
		}
		value = f.cost(x, gradient)
		known = true
		copy(last, x)
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { evaluate(x); return value },
		Grad: func(into, x []float64) { evaluate(x); copy(into, gradient) },
	}
	settings := optimize.Settings{MajorIterations: fitIterations, GradientThreshold: 1e-3, Converger: &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 3}}
	// An error is a line search that found nothing better: the result is still the best point seen.
	if result, _ := optimize.Minimize(problem, theta, &settings, &optimize.LBFGS{}); result != nil && finite(result.X) && f.cost(result.X, gradient) <= f.cost(theta, gradient) {
		return slices.Clone(result.X)
	}
	return theta
}

func equal(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Where in theta the hyper-parameters are.
const (
	atScale = iota
	atNoise
	atAdditive
	atWeights
)

func (f *fitter) atLengths() int { return atWeights + len(f.dims) }

func (f *fitter) unpack(theta []float64) (k Kernel, noise float64) {
	n := len(f.dims)
	k = Kernel{Scale: math.Exp(theta[atScale]), Additive: math.Exp(theta[atAdditive]), Weight: make([]float64, n), Length: make([]float64, n)}
	for d := range n {
		k.Weight[d], k.Length[d] = math.Exp(theta[atWeights+d]), 1
	}
	for i, d := range f.lengths {
		k.Length[d] = math.Exp(theta[f.atLengths()+i])
	}
	return k, math.Exp(theta[atNoise])
}

// farAway is the cost of hyper-parameters under which nothing can be computed: a wall that the optimiser turns back from.
const farAway = 1e10

// cost is minus (log likelihood + log prior), up to constants, and its gradient (GPML 5.8 and 5.9):
// ∂/∂θ log p(y) = ½ tr((αα' - K⁻¹) ∂K/∂θ), with α = K⁻¹y.
func (f *fitter) cost(theta, gradient []float64) float64 {
	clear(gradient)
	cost := 0.0
	for i, p := range f.priors {
		if math.Abs(theta[i]-p.Mean) > 20*p.SD {
			return farAway
		}
		c, slope := p.cost(theta[i])
		cost += c
		gradient[i] += slope
	}
	k, noise := f.unpack(theta)
	for d, t := range f.tables {
		t.fill(k.Weight[d], k.Length[d])
	}
	f.fillCovariance(k)
	if !factorise(&f.factor, f.cov, diagonal(f.data, noise)) {
		return farAway
	}
	alpha := slices.Clone(f.y)
	f.factor.solve(alpha)
	cost += floats.Dot(f.y, alpha)/2 + f.factor.logDet()/2
	inverse := f.factor.inverse()
	if !finite(alpha) || !finite(inverse) {
		return farAway
	}
	f.addGradient(gradient, k, noise, alpha, inverse)
	return cost
}

// fillCovariance sets the kernel of all pairs, and its product alone.
func (f *fitter) fillCovariance(k Kernel) {
	n, point := f.x.n, make([]int, len(f.dims))
	row := make([]float64, n)
	for i := range n {
		part := row[:i+1]
		f.x.at(i, point)
		f.x.products(f.tables, k.Scale, point, part)
		for j, v := range part {
			f.product[j*n+i] = v
		}
		f.x.addTerms(f.tables, k.Additive, point, part)
		for j, v := range part {
			f.cov.SetSym(i, j, v)
		}
	}
}

// addGradient adds the likelihood's part. What a dimension gives to the kernel depends on two levels alone, so the derivatives by the kernel of all pairs of
// points with the same two levels are summed first.
func (f *fitter) addGradient(gradient []float64, k Kernel, noise float64, alpha, inverse []float64) {
	n := f.x.n
	for d := range f.buckets {
		clear(f.buckets[d])
		clear(f.plain[d])
	}
	product, plain := make([]float64, n), make([]float64, n)
	for i := range n {
		diagonal := (alpha[i]*alpha[i] - inverse[i*n+i]) / 2
		gradient[atNoise] -= diagonal * noise * f.data[i].factor()
		gradient[atScale] -= diagonal * f.product[i*n+i]
		for j := i + 1; j < n; j++ {
			plain[j] = alpha[i]*alpha[j] - inverse[i*n+j]
			product[j] = plain[j] * f.product[i*n+j]
			gradient[atScale] -= product[j]
		}
		for d, levels := range f.x.levels {
			row := int(levels[i]) * f.dims[d].Levels
			buckets, terms := f.buckets[d][row:], f.plain[d][row:]
			terms[levels[i]] += diagonal // a factor is 1 here, whatever the hyper-parameters; a term is q
			for j := i + 1; j < n; j++ {
				buckets[levels[j]] += product[j]
				terms[levels[j]] += plain[j]
			}
		}
	}
	for d, t := range f.tables {
		for pair, w := range f.buckets[d] {
			u, e := k.Additive*f.plain[d][pair], &t.at[t.of[pair]]
			gradient[atAdditive] -= u * e.term.value
			gradient[atWeights+d] -= w*e.factor.byWeight + u*e.term.byWeight
		}
	}
	for i, d := range f.lengths {
		t := f.tables[d]
		for pair, w := range f.buckets[d] {
			e := &t.at[t.of[pair]]
			gradient[f.atLengths()+i] -= w*e.factor.byLength + k.Additive*f.plain[d][pair]*e.term.byLength
		}
	}
}
