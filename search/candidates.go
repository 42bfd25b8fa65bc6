package search

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// candidates are draws from the good side, and the best trials changed in one parameter, or in two or three.
func (m *model) candidates(r *rand.Rand) []space.Point {
	var out []space.Point
	for range m.draws {
		out = append(out, m.draw(r))
	}
	for _, parent := range m.good[:min(len(m.good), m.parents)] {
		for _, d := range m.dims {
			if _, active := parent.point.Get(d.param.Name); !active {
				continue
			}
			for a := range d.atoms {
				out = append(out, m.change(parent.point, map[string]space.Value{d.param.Name: d.value(a, r)}, r))
			}
		}
		for range m.jumps {
			set := map[string]space.Value{}
			m.scatter(set, 2+r.IntN(2), r)
			out = append(out, m.change(parent.point, set, r))
		}
	}
	return out
}

// scatter sets some parameters that are not set yet to any of their values; fewer when a draw repeats.
func (m *model) scatter(set map[string]space.Value, n int, r *rand.Rand) {
	if len(m.dims) == 0 {
		return
	}
	for range n {
		d := m.dims[r.IntN(len(m.dims))]
		if v := d.value(r.IntN(len(d.atoms)), r); set[d.param.Name].Kind() == space.KindNone {
			set[d.param.Name] = v
		}
	}
}

// structure proposes the structural value that the engine's leader does not have and that ran least, in a point near the best that are known with
// it: a search by small changes does not leave the layout in which it has tuned everything else, because another layout
// loses at first. ok is false when every value ran often enough, or nothing has run.
func (m *model) structure(h tuner.History, r *rand.Rand, refused func(space.Point) bool) (p space.Point, what string, ok bool) {
	if len(m.good) == 0 {
		return p, "", false
	}
	name, value := m.littleKnown(h)
	if name == "" {
		return p, "", false
	}
	var candidates []space.Point
	for i, o := range slices.Concat(m.good, m.rest) {
		if v, _ := o.point.Get(name); i >= m.parents && (v != value || i >= 2*m.shy) {
			continue
		}
		for range m.jumps / 2 {
			set := map[string]space.Value{name: value}
			m.scatter(set, r.IntN(3), r)
			candidates = append(candidates, m.change(o.point, set, r))
		}
	}
	// A value whose condition does not hold beside the others is dropped from the point.
	candidates = slices.DeleteFunc(candidates, func(p space.Point) bool { v, _ := p.Get(name); return v != value })
	p, ok = m.best(candidates, refused)
	return p, fmt.Sprintf("%s=%s", name, value), ok
}

// littleKnown is the structural value with the fewest trials that ran; none when each has as many as is enough.
func (m *model) littleKnown(h tuner.History) (name string, value space.Value) {
	structural := structuralNames(m.space)
	least := m.shy
	for _, d := range m.dims {
		if !slices.Contains(structural, d.param.Name) || d.thinned {
			continue
		}
		leaders, _ := m.good[0].point.Get(d.param.Name)
		for _, a := range d.atoms {
			if n := ran(h, d.param.Name, a.value); a.value != leaders && n < least {
				name, value, least = d.param.Name, a.value, n
			}
		}
	}
	return name, value
}

// ran counts the trials with a value whose server ran.
func ran(h tuner.History, name string, value space.Value) int {
	n := 0
	for _, t := range h {
		if v, ok := t.Point.Get(name); ok && v == value && t.Told() && t.Ran() {
			n++
		}
	}
	return n
}
