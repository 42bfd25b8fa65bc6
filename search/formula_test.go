package search

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"autotune/space"
)

// formulas is what testdata/make.py worked out with numpy and scipy.
type formulas struct {
	Z, LogEI, LogCDF, ParzenNumbers []float64
}

func reference(t *testing.T) (f formulas) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestTailsAgreeWithTheReference: above -6 to the last digits, below as near as the series' first terms are, which is 1 % of the expected improvement and a
// quarter of a percent of the probability.
func TestTailsAgreeWithTheReference(t *testing.T) {
	ref := reference(t)
	for i, z := range ref.Z {
		atEI, atCDF := 0.011, 0.0025
		if z > -6 {
			atEI, atCDF = 1e-9, 1e-12
		}
		if got := logEI(z, 1, 0); !(math.Abs(got-ref.LogEI[i]) <= atEI) {
			t.Errorf("log EI at %g is %.10f, want %.10f", z, got, ref.LogEI[i])
		}
		if got := logCDF(z); !(math.Abs(got-ref.LogCDF[i]) <= atCDF) {
			t.Errorf("log CDF at %g is %.10f, want %.10f", z, got, ref.LogCDF[i])
		}
	}
	// In other units: mean 3, standard deviation 2, target 4 is z = -1/2, and the improvement twice as large.
	if got, want := logEI(3, 4, 4), math.Log(2*(math.Exp(-0.125)/math.Sqrt(2*math.Pi)-0.5*phi(-0.5))); math.Abs(got-want) > 1e-12 {
		t.Errorf("log EI in other units is %.12f, want %.12f", got, want)
	}
}

func dimensionOf(t *testing.T, d space.Domain, err error) *dimension {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return newDimension(space.Param{Name: "one.x", Domain: d})
}

// TestParzenAgreesWithTheReference: numbers against scipy. Words by hand: of three, one seen in each of two observations, a kernel is its word and a third of a
// count for each class, so that the first has ((1 + 1/3)/2 + (1/3)/2 + 1/3)/3 of the mixture, and the one that nobody saw has (1/3/2 + 1/3/2 + 1/3)/3.
func TestParzenAgreesWithTheReference(t *testing.T) {
	ints, err := space.Ints(0, 4, 1, false)
	numbers := []*dimension{dimensionOf(t, ints, err)}
	m := newMixture(numbers, [][]int{{1}, {1}, {4}}, []float64{1, 1, 1})
	for atom, want := range reference(t).ParzenNumbers {
		if got := m.logDensity([]int{atom}); math.Abs(got-want) > 1e-12 {
			t.Errorf("the log density of %d is %.12f, want %.12f", atom, got, want)
		}
	}
	choices, err := space.Choices(space.String("a"), space.String("b"), space.String("c"))
	words := []*dimension{dimensionOf(t, choices, err)}
	m = newMixture(words, [][]int{{0}, {1}}, []float64{1, 1})
	for atom, want := range []float64{((1+1.0/3)/2 + (1.0/3)/2 + 1.0/3) / 3, ((1+1.0/3)/2 + (1.0/3)/2 + 1.0/3) / 3, (1.0/3/2 + 1.0/3/2 + 1.0/3) / 3} {
		if got := math.Exp(m.logDensity([]int{atom})); math.Abs(got-want) > 1e-12 {
			t.Errorf("the density of word %d is %.12f, want %.12f", atom, got, want)
		}
	}
	// Two dimensions: a component is the product of its kernels, so that what was seen together is likelier than what was not.
	m = newMixture([]*dimension{words[0], words[0]}, [][]int{{0, 0}, {1, 1}}, []float64{1, 1})
	seen, other := (1+1.0/3)/2, (1.0/3)/2
	for pair, want := range map[[2]int]float64{{0, 0}: (seen*seen + other*other + 1.0/9) / 3, {0, 1}: (2*seen*other + 1.0/9) / 3} {
		if got := math.Exp(m.logDensity(pair[:])); math.Abs(got-want) > 1e-12 {
			t.Errorf("the density of %v is %.12f, want %.12f", pair, got, want)
		}
	}
}
