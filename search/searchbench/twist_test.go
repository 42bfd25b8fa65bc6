package searchbench

import (
	"math"
	"math/rand/v2"
	"testing"

	"autotune/space"
	"autotune/tuner"
)

func domain(t *testing.T) func(space.Domain, error) space.Domain {
	return func(d space.Domain, err error) space.Domain {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

func lookAt(name string, v space.Value) space.Lookup {
	return func(n string) (space.Value, bool) { return v, n == name }
}

// TestEffectByHand: a half wave of amplitude 2 and a whole one of amplitude 1 over [0, 1], both from 0, are 0, 2 sin 45° + 1, 2, 2 sin 45° - 1 and 0 at the quarters of the range.
func TestEffectByHand(t *testing.T) {
	p := space.Param{Name: "x", Domain: domain(t)(space.Ints(0, 4, 1, false, space.Default())), Resolved: space.Int(2)}
	e := &effect{param: p, half: [2]float64{2, 0}, one: [2]float64{1, 0}, words: map[space.Value]float64{}}
	for v, want := range map[space.Value]float64{space.Int(0): 0, space.Int(1): math.Sqrt2 + 1, space.Int(2): 2, space.Default(): 2, space.Int(3): math.Sqrt2 - 1, space.Int(4): 0} {
		if got := e.at(lookAt("x", v)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s has the effect %g, want %g", v, got, want)
		}
	}
	if got := e.at(lookAt("y", space.Int(1))); got != 0 {
		t.Errorf("an inactive parameter has the effect %g", got)
	}
	product := pair{e, e}
	if got := product.at(lookAt("x", space.Int(2))); math.Abs(got-4) > 1e-12 {
		t.Errorf("the interaction is %g, want 4", got)
	}
	f := &field{effects: []*effect{e}, weights: []float64{0.1}, pairs: []pair{product}, both: 0.01}
	if got := f.at(lookAt("x", space.Int(2))); math.Abs(got-0.24) > 1e-12 {
		t.Errorf("the field is %g, want 0.1·2 + 0.01·4", got)
	}
}

// TestEffectsAreOfSizeOne: over many draws an effect has a mean of about 0 and a spread of about 1, of numbers (√((1.1² + 0.6²)/2) = 0.89) and of words (1).
func TestEffectsAreOfSizeOne(t *testing.T) {
	for name, c := range map[string]struct {
		domain space.Domain
		spread float64
	}{"numbers": {domain(t)(space.Ints(0, 10, 1, false)), 0.886}, "words": {domain(t)(space.Choices(words("a", "b", "c")...)), 1}} {
		r := rand.New(rand.NewPCG(1, 1))
		sum, squares, n := 0.0, 0.0, 0.0
		for range 4000 {
			e := newEffect(space.Param{Name: "x", Domain: c.domain}, r)
			x := e.at(lookAt("x", c.domain.Sample(r)))
			sum, squares, n = sum+x, squares+x*x, n+1
		}
		if mean, spread := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.05 || math.Abs(spread-c.spread) > 0.05 {
			t.Errorf("%s: mean %.3f and spread %.3f, want 0 and %.3f", name, mean, spread, c.spread)
		}
	}
}

// TestCrashesAreRareAndSpareBaselines: where a big model is served a hidden crash takes some random points, few, and no baseline.
func TestCrashesAreRareAndSpareBaselines(t *testing.T) {
	s, engines, err := bigSpace()
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem(s, engines, tuner.Goal{Metric: Objective, Direction: tuner.Maximize}, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 8 {
		c := newCrash(s, tunable(s), r)
		hits := 0
		for range 800 {
			if c.holds(s.Random(r).Get) {
				hits++
			}
		}
		if share := float64(hits) / 800; share > 2*crashMost || share < crashLeast/4 {
			t.Errorf("a crash takes %.1f %% of the random points", 100*share)
		}
		for _, b := range p.Baselines {
			if c.holds(b.Get) {
				t.Errorf("a crash takes the baseline %s", b.Key())
			}
		}
	}
}
