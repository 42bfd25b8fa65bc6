package gaussian

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// threeObservations are few enough for the posterior of the hyper-parameters to be summed up over a grid.
func threeObservations() ([]Dim, []Observation) {
	return []Dim{{Levels: 2}}, []Observation{{Point: []int{0}, Value: 0.9}, {Point: []int{1}, Value: 0.1}, {Point: []int{1}, Value: 0.2}}
}

// TestDrawsFollowThePosterior compares the moments of many draws with those of the density exp(-cost), summed over a grid of four dimensions.
func TestDrawsFollowThePosterior(t *testing.T) {
	dims, data := threeObservations()
	f := newFitter(dims, data)
	const cells, wide = 17, 4.0 // of each dimension, and how many standard deviations of the prior to each side
	n := len(f.priors)
	theta, gradient := make([]float64, n), make([]float64, n)
	weights, values := []float64{}, make([][]float64, n)
	var sum func(d int)
	sum = func(d int) {
		if d == n {
			weights = append(weights, math.Exp(-f.cost(theta, gradient)))
			for i, x := range theta {
				values[i] = append(values[i], x)
			}
			return
		}
		for k := range cells {
			theta[d] = f.priors[d].Mean + wide*f.priors[d].SD*(2*float64(k)/(cells-1)-1)
			sum(d + 1)
		}
	}
	sum(0)
	drawn := make([][]float64, n)
	for _, x := range f.draw(f.mode(), 20000) {
		for i := range x {
			drawn[i] = append(drawn[i], x[i])
		}
	}
	for i, p := range f.priors {
		mean, sd := stat.MeanStdDev(values[i], weights)
		gotMean, gotSD := stat.MeanStdDev(drawn[i], nil)
		if math.Abs(gotMean-mean) > 0.06*p.SD || math.Abs(gotSD/sd-1) > 0.06 {
			t.Errorf("hyper-parameter %d: draws have mean %.3f and spread %.3f, the posterior %.3f and %.3f", i, gotMean, gotSD, mean, sd)
		}
	}
}

// TestMixtureIsTheAverageOfItsMembers: moments of the mixed normal distributions, summed over their densities.
func TestMixtureIsTheAverageOfItsMembers(t *testing.T) {
	dims, data := orderedAndWords()
	m, err := Mix(dims, data)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.members) != mixtureMembers {
		t.Fatalf("%d members", len(m.members))
	}
	point := []int{3, 1}
	var mass, first, second float64
	for x := -4.0; x <= 4; x += 1e-3 {
		density := 0.0
		for _, g := range m.members {
			mean, variance := g.Predict(point)
			density += math.Exp(-(x-mean)*(x-mean)/2/variance) / math.Sqrt(variance)
		}
		mass, first, second = mass+density, first+density*x, second+density*x*x
	}
	mean, variance := m.Predict(point)
	if want := first / mass; math.Abs(mean-want) > 1e-4 {
		t.Errorf("mean %.6f, of the densities %.6f", mean, want)
	}
	if want := second/mass - first/mass*first/mass; math.Abs(variance-want) > 1e-4 {
		t.Errorf("variance %.6f, of the densities %.6f", variance, want)
	}
}

func TestMixtureIsTheSameForTheSameData(t *testing.T) {
	dims, data := orderedAndWords()
	var means []float64
	for range 2 {
		m, err := Mix(dims, data)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := m.Predict([]int{5, 0})
		means = append(means, mean, variance)
	}
	if means[0] != means[2] || means[1] != means[3] {
		t.Errorf("predictions differ: %v", means)
	}
}

// TestMixtureOfFewIsTheLikeliest: nothing is drawn from next to no data, and a mixture of none is the process that it is made around.
func TestMixtureOfFewIsTheLikeliest(t *testing.T) {
	dims, data := threeObservations()
	m, err := Mix(dims, data)
	if err != nil {
		t.Fatal(err)
	}
	mean, variance := m.Predict([]int{0})
	g, err := Regress(dims, data)
	if err != nil {
		t.Fatal(err)
	}
	if wantMean, wantVariance := g.Predict([]int{0}); mean != wantMean || variance != wantVariance {
		t.Errorf("%v %v, not %v %v", mean, variance, wantMean, wantVariance)
	}
}

// orderedAndWords is a made-up function of a number and a word.
func orderedAndWords() ([]Dim, []Observation) {
	dims := []Dim{{Levels: 8, Place: make([]float64, 8)}, {Levels: 3}}
	for i := range 8 {
		dims[0].Place[i] = float64(i) / 7
	}
	var data []Observation
	for i := range 12 {
		point := []int{i * 5 % 8, i % 3}
		data = append(data, Observation{Point: point, Value: math.Sin(dims[0].Place[point[0]]*3) / 3, Noise: 1})
	}
	return dims, data
}
