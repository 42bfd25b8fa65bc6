package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"autotune/space"
)

// TestForestOfTwoLeaves: means 1 and 3 with variances 4 and 0 inside make mean 2 and, between and within, variance (4+0)/2 + 1.
func TestForestOfTwoLeaves(t *testing.T) {
	f := forest{trees: [][]branch{
		{{feature: -1, mean: 1, variance: 4, count: 3}},
		{{feature: -1, mean: 3, count: 1}},
	}}
	if mean, variance := f.predict(nil); mean != 2 || variance != 3 {
		t.Errorf("mean %g and variance %g, want 2 and 3", mean, variance)
	}
	ones := forest{trees: [][]branch{{{feature: -1, mean: 1, count: 3}}, {{feature: -1, mean: 0, count: 1}}}}
	if got, want := ones.probability(nil), (3.5/4+0.5/2)/2; got != want {
		t.Errorf("probability %g, want %g", got, want)
	}
}

// squares is how far values lie from their mean, squared and added up.
func squares(values []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return sum
}

// left of all ways to part the classes, by trying each, the one that leaves the least squares: by how much they fall.
func bestSubset(points [][]int, values []float64, classes, leaf int) float64 {
	best := 0.0
	for set := 1; set < 1<<classes-1; set++ {
		var left, right []float64
		for i, p := range points {
			if set>>p[0]&1 == 1 {
				left = append(left, values[i])
			} else {
				right = append(right, values[i])
			}
		}
		if len(left) >= leaf && len(right) >= leaf {
			best = math.Max(best, squares(values)-squares(left)-squares(right))
		}
	}
	return best
}

func words(t *testing.T, names ...string) *dimension {
	t.Helper()
	var values []space.Value
	for _, n := range names {
		values = append(values, space.String(n))
	}
	d, err := space.Choices(values...)
	if err != nil {
		t.Fatal(err)
	}
	return newDimension(space.Param{Name: "e.word", Domain: d})
}

// TestWordsArePartedAsWellAsCanBe compares with every subset.
func TestWordsArePartedAsWellAsCanBe(t *testing.T) {
	f := newFeature(words(t, "a", "b", "c", "d", "e", "f"))
	if f.places != nil {
		t.Error("words have places")
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		var s sample
		var all []int
		for i := range 20 {
			s.add(cell{r.IntN(6)}, r.NormFloat64())
			all = append(all, i)
		}
		g := &grower{forestSettings: forestSettings{leaf: 1}, features: []feature{f}, sample: s, random: r}
		best := question{}
		g.ask(0, all, &best)
		if want := bestSubset(s.points, s.values, 6, 1); math.Abs(best.gain-want) > 1e-9 {
			t.Errorf("the question takes %g off the squares, the best subset %g", best.gain, want)
		}
	}
}

// TestNumbersAreCut: values that jump between 6 and 9 are cut there, below and above in their order.
func TestNumbersAreCut(t *testing.T) {
	d, err := space.Ints(0, 15, 1, false, space.Default())
	if err != nil {
		t.Fatal(err)
	}
	dim := newDimension(space.Param{Name: "e.n", Domain: d})
	f := newFeature(dim)
	var s sample
	for _, n := range []int64{1, 3, 6, 9, 12, 15} {
		s.add(cell{dim.index(space.Int(n))}, map[bool]float64{true: 5, false: 1}[n > 8])
	}
	at := map[int64]int{}
	for seed := range uint64(40) {
		g := &grower{forestSettings: forestSettings{leaf: 2}, features: []feature{f}, sample: s, random: rand.New(rand.NewPCG(seed, 1))}
		best := question{}
		g.ask(0, []int{0, 1, 2, 3, 4, 5}, &best)
		if want := squares(s.values); math.Abs(best.gain-want) > 1e-9 {
			t.Fatalf("the cut takes %g off the squares, want all %g", best.gain, want)
		}
		first := int64(-1)
		for n := range int64(16) {
			if !best.left[dim.index(space.Int(n))] && first < 0 {
				first = n
			}
			if first >= 0 && best.left[dim.index(space.Int(n))] {
				t.Errorf("%d lies left of the cut and %d right", n, first)
			}
		}
		at[first]++
	}
	if len(at) != 3 || at[7] == 0 || at[8] == 0 || at[9] == 0 {
		t.Errorf("the first number right of the cut, by how often: %v, want 7, 8 and 9", at)
	}
}

// TestDefaultIsAWordToo: where it is not known what default stands for, a tree can part it from the numbers on both sides of it.
func TestDefaultIsAWordToo(t *testing.T) {
	d, err := space.Ints(0, 8, 1, false, space.Default())
	if err != nil {
		t.Fatal(err)
	}
	dim := newDimension(space.Param{Name: "e.n", Domain: d})
	var s sample
	for _, n := range []int64{0, 2, 4, 6, 8} {
		s.add(cell{dim.index(space.Int(n))}, 1)
	}
	s.add(cell{dim.index(space.Default())}, 9)
	g := &grower{forestSettings: forestSettings{leaf: 1}, features: []feature{newFeature(dim)}, sample: s, random: rand.New(rand.NewPCG(1, 1))}
	best := question{}
	g.ask(0, []int{0, 1, 2, 3, 4, 5}, &best)
	if math.Abs(best.gain-squares(s.values)) > 1e-9 {
		t.Errorf("the question takes %g off the squares, want all %g", best.gain, squares(s.values))
	}
}

// TestForestLearnsAPairOfFlags: a value that two flags make together, and a third that means nothing.
func TestForestLearnsAPairOfFlags(t *testing.T) {
	var features []feature
	for range 3 {
		features = append(features, newFeature(words(t, "a", "b", "c")))
	}
	r := rand.New(rand.NewPCG(7, 7))
	truth := func(c cell) float64 {
		return map[bool]float64{true: 10, false: 0}[c[0] == 1 && c[1] == 2] + float64(c[0])
	}
	var s sample
	for range 120 {
		c := cell{r.IntN(3), r.IntN(3), r.IntN(3)}
		s.add(c, truth(c))
	}
	f := newRF().value.grow(features, s, r)
	for a := range 3 {
		for b := range 3 {
			for c := range 3 {
				point := cell{a, b, c}
				if mean, variance := f.predict(point); math.Abs(mean-truth(point)) > 1 || variance > 4 {
					t.Errorf("%v: mean %.2f, variance %.2f, truth %g", point, mean, variance, truth(point))
				}
			}
		}
	}
	again := newRF().value.grow(features, s, rand.New(rand.NewPCG(8, 8)))
	other := newRF().value.grow(features, s, rand.New(rand.NewPCG(8, 8)))
	x, v := again.predict(cell{1, 2, 0})
	if y, w := other.predict(cell{1, 2, 0}); x != y || v != w {
		t.Error("one source made two forests")
	}
}
