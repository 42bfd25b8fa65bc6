package space

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Domain is the set of values that may be proposed for a parameter: a list, or a range of integers on a grid.
// Every domain is a finite grid. The zero Domain is empty.
type Domain struct {
	list       []Value // choices; for a range, what stands before it (default, mostly)
	lo, hi     int64
	step       int64 // of the integer range; 0 when there is none
	logScale   bool
	ordered    bool
	extra      []Value // may stand in a baseline, is never proposed
	fromFloats bool
}

// FloatGrid is how many values a range of floats without a step has: the grid is the space.
const FloatGrid = 33

// Choices makes a domain of listed values, without duplicates. It is ordered when every value but default is a number, and there are two or more.
func Choices(values ...Value) (Domain, error) {
	if len(values) == 0 {
		return Domain{}, fmt.Errorf("a list of choices is empty")
	}
	d := Domain{list: slices.Clone(values)}
	numbers := 0
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return Domain{}, fmt.Errorf("choice %s is listed twice", v)
		}
		if v.IsNumber() {
			numbers++
		}
	}
	d.ordered = numbers >= 2 && numbers == len(values)-b2i(slices.Contains(values, Default()))
	d.logScale = d.ordered && widelySpread(d.list)
	return d, nil
}

// widelySpread tells whether positive numbers span a factor of 8 or more, as sizes in powers of two do: they are then placed by their logarithm.
func widelySpread(values []Value) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v.IsNumber() {
			lo, hi = min(lo, v.AsFloat()), max(hi, v.AsFloat())
		}
	}
	return lo > 0 && hi/lo >= 8
}

// Bools is the domain {false, true}.
func Bools() Domain { return Domain{list: []Value{Bool(false), Bool(true)}} }

// Ints makes the domain lo, lo+step, ... up to hi, hi included; before holds listed values in front of it (default, mostly).
func Ints(lo, hi, step int64, logScale bool, before ...Value) (Domain, error) {
	switch {
	case step < 1:
		return Domain{}, fmt.Errorf("step %d is below 1", step)
	case lo > hi:
		return Domain{}, fmt.Errorf("range [%d, %d] is empty", lo, hi)
	case logScale && lo < 1:
		return Domain{}, fmt.Errorf("a log range starts at %d, below 1", lo)
	case logScale && step != 1:
		return Domain{}, fmt.Errorf("a log range has no step")
	}
	if n := uint64(hi) - uint64(lo); n%uint64(step) != 0 {
		return Domain{}, fmt.Errorf("the top of range [%d, %d] is not reached by steps of %d", lo, hi, step)
	}
	if (uint64(hi)-uint64(lo))/uint64(step) >= math.MaxInt64-uint64(len(before)) {
		return Domain{}, fmt.Errorf("range [%d, %d] has more than %d values", lo, hi, int64(math.MaxInt64))
	}
	d := Domain{list: slices.Clone(before), lo: lo, hi: hi, step: step, logScale: logScale, ordered: true}
	for i, v := range before {
		if slices.Contains(before[:i], v) || d.inRange(v) {
			return Domain{}, fmt.Errorf("choice %s is listed twice", v)
		}
	}
	return d, nil
}

// Floats makes a grid from lo to hi, both included: by step, or, when step is 0, of FloatGrid values, spaced evenly (in the logarithm for a log range).
func Floats(lo, hi, step float64, logScale bool, before ...Value) (Domain, error) {
	switch {
	case !(lo <= hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0):
		return Domain{}, fmt.Errorf("range [%g, %g] is empty", lo, hi)
	case logScale && lo <= 0:
		return Domain{}, fmt.Errorf("a log range starts at %g, not above 0", lo)
	case logScale && step != 0:
		return Domain{}, fmt.Errorf("a log range has no step")
	case step < 0:
		return Domain{}, fmt.Errorf("step %g is negative", step)
	}
	grid, err := floatGrid(lo, hi, step, logScale)
	if err != nil {
		return Domain{}, err
	}
	d, err := Choices(append(slices.Clone(before), grid...)...)
	if err != nil {
		return Domain{}, err
	}
	d.ordered, d.logScale, d.fromFloats = true, logScale, true
	return d, nil
}

func floatGrid(lo, hi, step float64, logScale bool) ([]Value, error) {
	if lo == hi {
		return []Value{Float(lo)}, nil
	}
	n := FloatGrid - 1
	if step > 0 {
		exact := (hi - lo) / step
		n = int(math.Round(exact))
		if n < 1 || n > 100_000 || math.Abs(exact-float64(n)) > 1e-6 {
			return nil, fmt.Errorf("the top of range [%g, %g] is not reached by steps of %g", lo, hi, step)
		}
	}
	grid := make([]Value, 0, n+1)
	for k := 0; k <= n; k++ {
		share := float64(k) / float64(n)
		f := lo + (hi-lo)*share
		if logScale {
			f = lo * math.Pow(hi/lo, share)
		}
		if k == n {
			f = hi
		}
		// Ten significant decimals: 0.7000000000000001 is not what a person wants to deploy.
		grid = append(grid, Float(math.Round(f*1e10)/1e10))
	}
	return grid, nil
}

// Allowing returns the domain with values that may stand in a baseline although they are never proposed.
func (d Domain) Allowing(extra ...Value) Domain {
	d.extra = slices.Clone(d.extra)
	for _, v := range extra {
		if !d.Contains(v) && !slices.Contains(d.extra, v) {
			d.extra = append(d.extra, v)
		}
	}
	return d
}

// Extra returns the values that Allowing added.
func (d Domain) Extra() []Value { return slices.Clone(d.extra) }

// Size is how many values can be proposed.
func (d Domain) Size() int64 {
	n := uint64(len(d.list))
	if d.step > 0 {
		n += d.cells()
	}
	return int64(n)
}

// cells is how many values the integer range has.
func (d Domain) cells() uint64 { return (uint64(d.hi)-uint64(d.lo))/uint64(d.step) + 1 }

// At returns value number i of the grid, 0 <= i < Size.
func (d Domain) At(i int64) Value {
	if i < int64(len(d.list)) {
		return d.list[i]
	}
	return Int(d.lo + (i-int64(len(d.list)))*d.step)
}

// Index is the place of v in the grid, or -1.
func (d Domain) Index(v Value) int64 {
	if i := slices.Index(d.list, v); i >= 0 {
		return int64(i)
	}
	if !d.inRange(v) {
		return -1
	}
	return int64(len(d.list)) + int64((uint64(v.i)-uint64(d.lo))/uint64(d.step))
}

func (d Domain) inRange(v Value) bool {
	return d.step > 0 && v.kind == KindInt && v.i >= d.lo && v.i <= d.hi && (uint64(v.i)-uint64(d.lo))%uint64(d.step) == 0
}

// Contains tells whether v can be proposed.
func (d Domain) Contains(v Value) bool { return d.Index(v) >= 0 }

// Allows tells whether v may stand in a point: proposed, or in a baseline.
func (d Domain) Allows(v Value) bool { return d.Contains(v) || slices.Contains(d.extra, v) }

// Ordered tells whether the numbers of the domain have an order that means something.
func (d Domain) Ordered() bool { return d.ordered }

// Log tells whether numbers are placed by their logarithm.
func (d Domain) Log() bool { return d.logScale }

// Range returns the integer range, and whether there is one; what Listed returns stands before it.
func (d Domain) Range() (lo, hi, step int64, ok bool) { return d.lo, d.hi, d.step, d.step > 0 }

// IsFloatGrid tells whether the domain was declared as a range of floats.
func (d Domain) IsFloatGrid() bool { return d.fromFloats }

// Listed returns the values that are listed one by one.
func (d Domain) Listed() []Value { return slices.Clone(d.list) }

// Bounds returns the smallest and the largest number of the domain; ok is false when there is none.
func (d Domain) Bounds() (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	if d.step > 0 {
		lo, hi = float64(d.lo), float64(d.hi)
	}
	for _, v := range d.list {
		if v.IsNumber() {
			lo, hi = min(lo, v.AsFloat()), max(hi, v.AsFloat())
		}
	}
	return lo, hi, lo <= hi
}

// Position places a number of an ordered domain in [0, 1], by its logarithm in a log domain; a number outside is clamped.
// ok is false for what has no place of its own: default, a word, a domain without order.
func (d Domain) Position(v Value) (u float64, ok bool) {
	lo, hi, any := d.Bounds()
	if !d.ordered || !any || !v.IsNumber() {
		return 0, false
	}
	x := v.AsFloat()
	if d.logScale {
		lo, hi, x = math.Log(lo), math.Log(hi), math.Log(max(x, math.SmallestNonzeroFloat64))
	}
	if lo == hi {
		return 0.5, true
	}
	return min(1, max(0, (x-lo)/(hi-lo))), true
}

// Sample draws a value: each listed value as likely as the next, and a whole integer range as likely as eight of them,
// uniformly inside it, or by its logarithm. So `default` before a range of a thousand values is still tried.
func (d Domain) Sample(r *rand.Rand) Value {
	if d.step == 0 {
		return d.list[r.IntN(len(d.list))]
	}
	const rangeWeight = 8
	if n := len(d.list); n > 0 && r.IntN(n+rangeWeight) < n {
		return d.list[r.IntN(n)]
	}
	if d.logScale {
		return Int(sampleLog(d.lo, d.hi, r))
	}
	return Int(int64(uint64(d.lo) + r.Uint64N(d.cells())*uint64(d.step)))
}

// sampleLog draws from the integers of [lo, hi], each with the share of log space from half below it to half above, so that both ends are reached.
func sampleLog(lo, hi int64, r *rand.Rand) int64 {
	a, b := math.Log(float64(lo)-0.5), math.Log(float64(hi)+0.5)
	x := math.Round(math.Exp(a + (b-a)*r.Float64()))
	if x <= float64(lo) {
		return lo
	}
	if x >= float64(hi) {
		return hi
	}
	return int64(x)
}
