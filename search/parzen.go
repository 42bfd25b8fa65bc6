package search

import (
	"math"
	"math/rand/v2"
	"slices"
)

// stranger marks an observation whose value has no atom: it tells nothing about the dimension.
const stranger = -1

// mixture is a Parzen estimate over one or several dimensions: a kernel for each observation, each a product of
// distributions over atoms, and a uniform component. It is the estimator of Bergstra et al. (see tpe), section 4, over whole points instead of one
// parameter at a time, as Optuna's multivariate sampler has it (Falkner, Klein and Hutter, BOHB, ICML 2018, section 3.1).
type mixture struct {
	dims    []*dimension
	kernels [][][]float64 // by component, dimension and atom; the last component is the uniform one
	weights []float64     // of the components; they add up to 1
}

// newMixture makes the estimate from observations, each the index of an atom in every dimension, with the weight of each; the uniform component has
// the mean of their weights.
func newMixture(dims []*dimension, observed [][]int, weights []float64) *mixture {
	m := &mixture{dims: dims, kernels: make([][][]float64, len(observed)+1), weights: append(slices.Clone(weights), 1)}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if len(weights) > 0 {
		m.weights[len(weights)] = sum / float64(len(weights))
		sum += m.weights[len(weights)]
	} else {
		sum = 1
	}
	for k := range m.weights {
		m.weights[k] /= sum
	}
	for k := range m.kernels {
		m.kernels[k] = make([][]float64, len(dims))
	}
	column := make([]int, len(observed))
	for j, d := range dims {
		for k, o := range observed {
			column[k] = o[j]
		}
		for k, kernel := range d.kernels(column) {
			m.kernels[k][j] = kernel
		}
	}
	return m
}

// kernels gives the distribution around each observation, and last the uniform one.
func (d *dimension) kernels(observed []int) [][]float64 {
	prior := make([]float64, len(d.atoms))
	for i, a := range d.atoms {
		prior[i] = a.prior
	}
	widths := d.widths(observed)
	out := make([][]float64, len(observed)+1)
	for k, o := range observed {
		if o == stranger {
			out[k] = prior
			continue
		}
		out[k] = d.kernel(o, widths[k], 1/float64(len(observed)+1), prior)
	}
	out[len(observed)] = prior
	return out
}

// kernel is the distribution around one observation: for a number the mass of a normal distribution in each cell, for
// a word the word alone. Beside words, extra is added to the count of every class, so that none is ever impossible: all n kernels together add n/(n+1) counts
// to each, about the one that Bergstra et al. give every choice.
func (d *dimension) kernel(observed int, width, extra float64, prior []float64) []float64 {
	kernel := make([]float64, len(d.atoms))
	if at := d.atoms[observed]; at.word {
		kernel[observed] = 1
	} else {
		sum := 0.0
		for i, a := range d.atoms {
			if !a.word {
				kernel[i] = a.share * (phi((a.hi-at.place)/width) - phi((a.lo-at.place)/width))
				sum += kernel[i]
			}
		}
		for i := range kernel {
			kernel[i] /= sum
		}
	}
	if d.classes == 1 && !d.atoms[observed].word {
		return kernel
	}
	extra *= float64(d.classes)
	for i := range kernel {
		kernel[i] = (kernel[i] + extra*prior[i]) / (1 + extra)
	}
	return kernel
}

// phi is the standard normal distribution function.
func phi(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// widths gives each number's kernel the larger gap to its neighbours (other observations and the middle of the range),
// at least 1/min(100, n+2). The gap is that of Bergstra et al., section 4.2, who clip it "to remain in a reasonable range"; the floor is the one of
// hyperopt's and Optuna's programs, by which kernels narrow as observations come.
func (d *dimension) widths(observed []int) []float64 {
	places := []float64{0.5}
	for _, o := range observed {
		if o != stranger && !d.atoms[o].word {
			places = append(places, d.atoms[o].place)
		}
	}
	slices.Sort(places)
	floor := 1 / math.Min(100, float64(len(observed)+2))
	widths := make([]float64, len(observed))
	for k, o := range observed {
		if o == stranger || d.atoms[o].word {
			continue
		}
		i, _ := slices.BinarySearch(places, d.atoms[o].place)
		j := i
		for j+1 < len(places) && places[j+1] == places[i] {
			j++
		}
		gap := 0.0
		if i > 0 {
			gap = places[i] - places[i-1]
		}
		if j+1 < len(places) {
			gap = math.Max(gap, places[j+1]-places[j])
		}
		widths[k] = math.Max(floor, gap)
	}
	return widths
}

// draw takes a component, and from it an atom in every dimension.
func (m *mixture) draw(r *rand.Rand, atoms []int) {
	component := m.kernels[pick(m.weights, r)]
	for j, kernel := range component {
		atoms[j] = pick(kernel, r)
	}
}

func pick(weights []float64, r *rand.Rand) int {
	x := r.Float64()
	last := 0
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		if last = i; x < w {
			return i
		}
		x -= w
	}
	return last
}

// logDensity is the logarithm of the probability of a combination of atoms.
func (m *mixture) logDensity(atoms []int) float64 {
	sum := 0.0
	for k, component := range m.kernels {
		product := m.weights[k]
		for j, a := range atoms {
			product *= component[j][a]
		}
		sum += product
	}
	return math.Log(sum)
}
