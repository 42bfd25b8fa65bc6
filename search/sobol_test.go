package search

import (
	"math"
	"slices"
	"testing"

	goptunasobol "github.com/c-bata/goptuna/sobol"

	"autotune/space"
)

// TestSobolByHand: the first points in three dimensions, worked out on paper from the polynomials x+1 and x^2+x+1.
func TestSobolByHand(t *testing.T) {
	want := [][]float64{
		{0, 0, 0}, {0.5, 0.5, 0.5}, {0.75, 0.25, 0.25}, {0.25, 0.75, 0.75},
		{0.375, 0.375, 0.625}, {0.875, 0.875, 0.125}, {0.625, 0.125, 0.875}, {0.125, 0.625, 0.375},
	}
	s := newSobolSequence(3)
	for n, w := range want {
		if got := s.at(uint64(n)); !slices.Equal(got, w) {
			t.Errorf("point %d is %v, want %v", n, got, w)
		}
	}
}

// TestSobolAgainstAnotherProgram compares every coordinate but the second, which the other program leaves out.
func TestSobolAgainstAnotherProgram(t *testing.T) {
	const dims = 64
	mine, theirs := newSobolSequence(dims), goptunasobol.NewEngine(dims-1)
	for n := range uint64(3000) {
		// Theirs begins after the origin.
		got, want := slices.Delete(mine.at(n+1), 1, 2), theirs.Draw()
		if !slices.Equal(got, want) {
			t.Fatalf("point %d is %v, want %v", n+1, got, want)
		}
	}
}

// TestSobolIsEven: in every coordinate each of 256 intervals has exactly one of the first 256 points, and of any 256 that follow.
func TestSobolIsEven(t *testing.T) {
	s := newSobolSequence(1000)
	if len(s.directions) != 64 {
		t.Fatalf("%d coordinates, want 64", len(s.directions))
	}
	for _, first := range []uint64{0, 256, 256 * 4099} {
		for j := range s.directions {
			seen := map[int]bool{}
			for n := range uint64(256) {
				seen[int(256*s.at(first + n)[j])] = true
			}
			if len(seen) != 256 {
				t.Errorf("coordinate %d from point %d on: %d of 256 intervals", j, first, len(seen))
			}
		}
	}
}

func TestQuantileReachesEveryValue(t *testing.T) {
	ints := func(lo, hi, step int64, log bool, before ...space.Value) space.Domain {
		d, err := space.Ints(lo, hi, step, log, before...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	floats, err := space.Floats(0.5, 0.95, 0.05, false, space.Default())
	if err != nil {
		t.Fatal(err)
	}
	top := math.Nextafter(1, 0)
	for name, c := range map[string]struct {
		d           space.Domain
		first, last space.Value
	}{
		"bools":   {space.Bools(), space.Bool(false), space.Bool(true)},
		"floats":  {floats, space.Default(), space.Float(0.95)},
		"range":   {ints(2, 20, 3, false), space.Int(2), space.Int(20)},
		"listed":  {ints(1, 64, 1, false, space.Default(), space.String("off")), space.Default(), space.Int(64)},
		"log":     {ints(1, 64, 1, true, space.Default()), space.Default(), space.Int(64)},
		"huge":    {ints(1, math.MaxInt64, 1, false), space.Int(1), space.Int(math.MaxInt64)},
		"lowest":  {ints(math.MinInt64, math.MinInt64+300, 3, false), space.Int(math.MinInt64), space.Int(math.MinInt64 + 300)},
		"longest": {ints(1, math.MaxInt64, 1, true), space.Int(1), space.Int(math.MaxInt64)},
	} {
		if got := quantile(c.d, 0); got != c.first {
			t.Errorf("%s: at 0 %s, want %s", name, got, c.first)
		}
		// The shares near 1 are 2^-53 apart: of 2^63 values the last thousands share one.
		if got := quantile(c.d, top); got != c.last && !(c.d.Size() > 1<<53 && got.AsFloat()/c.last.AsFloat() > 1-1e-13) {
			t.Errorf("%s: at the top %s, want %s", name, got, c.last)
		}
		if c.d.Size() > 1000 {
			continue
		}
		counts := make([]int, c.d.Size())
		for k := range 20_000 {
			i := c.d.Index(quantile(c.d, float64(k)/20_000))
			if i < 0 {
				t.Fatalf("%s: %s is not in the domain", name, quantile(c.d, float64(k)/20_000))
			}
			counts[i]++
		}
		if slices.Min(counts) == 0 {
			t.Errorf("%s: counts %v", name, counts)
		}
	}
	// Of a log range the halves of the logarithm are equally likely: 1 to 8 and 8 to 64.
	low := 0
	for k := range 10_000 {
		if quantile(ints(1, 64, 1, true), (float64(k)+0.5)/10_000).AsInt() <= 7 {
			low++
		}
	}
	if want := 10_000 * math.Log(7.5/0.5) / math.Log(64.5/0.5); math.Abs(float64(low)-want) > 1 {
		t.Errorf("%d of 10,000 lie below 8, want %.0f", low, want)
	}
}
