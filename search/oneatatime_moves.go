package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// pass changes each flag in turn, in a random order; it tells whether anything improved.
func (w *walk) pass(idle int) (improved bool) {
	for _, i := range w.random.Perm(len(w.dims)) {
		if _, active := w.current.point.Get(w.dims[i].param.Name); !active {
			continue
		}
		improved = w.sweep(w.dims[i], idle) || improved
		if w.found {
			break
		}
	}
	return improved
}

// sweep changes one flag: a number up, else down, and on while it improves; then it tries every value that is no number.
func (w *walk) sweep(d *dimension, idle int) (improved bool) {
	numbers, words := d.stops()
	stride := max(1, int(math.Round(strideShare*float64(len(numbers))))>>idle)
	for _, way := range []int{stride, -stride} {
		for w.move(d, numbers, way) {
			improved = true
		}
		if improved {
			break
		}
	}
	for _, v := range words {
		improved = w.try(d, v) || improved
	}
	return improved
}

// move tries the number that lies so many places further up, or the last one on the way.
func (w *walk) move(d *dimension, numbers []atom, way int) (improved bool) {
	if len(numbers) < 2 {
		return false
	}
	now, _ := w.current.point.Get(d.param.Name)
	from := (len(numbers) - 1) / 2 // of a default that stands for an unknown number, and of a word
	if u, placed := d.placeOf(now); placed {
		from = nearestPlace(numbers, u)
	}
	to := min(len(numbers)-1, max(0, from+way))
	return to != from && w.try(d, numbers[to].value)
}

func nearestPlace(numbers []atom, u float64) int {
	best := 0
	for i, a := range numbers {
		if math.Abs(a.place-u) < math.Abs(numbers[best].place-u) {
			best = i
		}
	}
	return best
}

// stops are the numbers of a dimension in their order, and its other values in the domain's.
func (d *dimension) stops() (numbers []atom, words []space.Value) {
	for _, a := range d.atoms {
		if a.word || !a.value.IsNumber() {
			words = append(words, a.value)
		} else {
			numbers = append(numbers, a)
		}
	}
	slices.SortStableFunc(numbers, func(a, b atom) int { return cmp.Compare(a.place, b.place) })
	return numbers, words
}

// try gives a flag a value and stays there if that is better.
func (w *walk) try(d *dimension, v space.Value) (improved bool) {
	if w.found {
		return false
	}
	now, _ := w.current.point.Get(d.param.Name)
	why := fmt.Sprintf("%s: %s in place of %s, the rest as in %s", d.param.Name, v, now, name(w.current))
	s, ok := w.visit(w.change(w.current.point, d.param.Name, v), tuner.KindSweep, why)
	if !ok || !w.better(s, w.current) {
		return false
	}
	w.stand(s)
	return true
}

// randomChange gives one active flag another value. A point without anything to change stays as it is.
func (w *walk) randomChange(p space.Point) space.Point {
	var active []*dimension
	for _, d := range w.dims {
		if _, ok := p.Get(d.param.Name); ok {
			active = append(active, d)
		}
	}
	if len(active) == 0 {
		return p
	}
	d := active[w.random.IntN(len(active))]
	now, _ := p.Get(d.param.Name)
	var others []space.Value
	for _, a := range d.atoms {
		if a.value != now {
			others = append(others, a.value)
		}
	}
	return w.change(p, d.param.Name, others[w.random.IntN(len(others))])
}

// change makes a point of another one's values but for one flag. A flag that is newly active takes its default, and so does one that
// has a value which only a baseline may have.
func (w *walk) change(base space.Point, flag string, v space.Value) space.Point {
	return w.problem.Space.Build(func(q space.Param, _ space.Lookup) space.Value {
		if q.Name == flag {
			return v
		}
		old, _ := base.Get(q.Name)
		if q.Domain.Contains(old) {
			return old
		}
		return usual(q, old)
	})
}

// usual is the value that a flag takes when nothing is known of it: default where that may be proposed, else the number next to the one it had
// or that default stands for, else the first.
func usual(q space.Param, old space.Value) space.Value {
	if q.Domain.Contains(space.Default()) {
		return space.Default()
	}
	if old.Kind() == space.KindNone {
		old = space.Default()
	}
	d := newDimension(q)
	if _, placed := d.placeOf(old); placed {
		if i := d.index(old); i >= 0 {
			return d.atoms[i].value
		}
	}
	return q.Domain.At(0)
}
