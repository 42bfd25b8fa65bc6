package space

import "math"

// Nearest finds the value of the domain that stands for v: v itself where it may stand in a point, else, inside a range, the value of its grid
// that lies nearest (of two the smaller). ok is false for what lies outside a range and for what a list does not hold: a neighbour in a list is
// another configuration, a neighbour in a grid is the same to within its step.
func (d Domain) Nearest(v Value) (nearest Value, ok bool) {
	if d.Allows(v) {
		return v, true
	}
	if !v.IsNumber() {
		return Value{}, false
	}
	x := v.AsFloat()
	if d.step > 0 {
		return d.nearestInt(x)
	}
	if !d.fromFloats {
		return Value{}, false
	}
	lo, hi, _ := d.Bounds()
	if !(lo <= x && x <= hi) {
		return Value{}, false
	}
	least := math.Inf(1)
	for _, w := range d.list {
		if gap := math.Abs(w.AsFloat() - x); w.IsNumber() && gap < least {
			nearest, least = w, gap
		}
	}
	return nearest, true
}

func (d Domain) nearestInt(x float64) (Value, bool) {
	if !(float64(d.lo) <= x && x <= float64(d.hi)) {
		return Value{}, false
	}
	k := math.Round((x - float64(d.lo)) / float64(d.step))
	i := int64(min(max(k, 0), float64(d.cells()-1)))
	return Int(d.lo + i*d.step), true
}
