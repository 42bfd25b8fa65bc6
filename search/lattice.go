package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"autotune/search/gaussian"
	"autotune/space"
)

// cell is a point as a model sees it: one level for each parameter, in the lattice's order. An inactive parameter is at its idle level, so that two
// points of one engine differ in a parameter only if both have it, and nothing is learned from an absent flag.
type cell []int

// lattice turns points into cells and back. Ranges are thinned, so that several points may share a cell.
type lattice struct {
	space      *space.Space
	params     []space.Param // conditions after what they name
	dims       []*dimension
	idle       cell
	structural []bool // the parameters that others' conditions name, the engine included
	place      map[string]int
}

func newLattice(s *space.Space) *lattice {
	l := &lattice{space: s, params: s.Ordered(), place: map[string]int{}}
	names := structuralNames(s)
	for i, p := range l.params {
		d := newDimension(p)
		l.dims = append(l.dims, d)
		l.idle = append(l.idle, max(0, d.level(space.Default())))
		l.structural = append(l.structural, p.Name == space.EngineParam || slices.Contains(names, p.Name))
		l.place[p.Name] = i
	}
	return l
}

// grid describes the lattice to a model. The level after a dimension's atoms stands for a value that is none of them: a baseline's own word.
func (l *lattice) grid() []gaussian.Dim {
	dims := make([]gaussian.Dim, len(l.dims))
	for i, d := range l.dims {
		dims[i].Levels = len(d.atoms) + 1
		if d.classes == len(d.atoms) && len(d.atoms) > 0 && !d.hasOrder() {
			continue
		}
		dims[i].Place = make([]float64, dims[i].Levels)
		for j, a := range d.atoms {
			dims[i].Place[j] = a.place
			if a.word {
				dims[i].Place[j] = unknownPlace(a.value)
			}
		}
		dims[i].Place[len(d.atoms)] = math.NaN()
	}
	return dims
}

// unknownPlace is where a word stands among numbers: default, of which it is not known what it stands for, in their middle; another word nowhere.
func unknownPlace(v space.Value) float64 {
	if v.IsDefault() {
		return 0.5
	}
	return math.NaN()
}

// hasOrder tells whether at least two atoms are numbers with places.
func (d *dimension) hasOrder() bool {
	n := 0
	for _, a := range d.atoms {
		if !a.word {
			n++
		}
	}
	return n > 1
}

// cell of a point.
func (l *lattice) cell(p space.Point) cell {
	c := slices.Clone(l.idle)
	for i, q := range l.params {
		if v, ok := p.Get(q.Name); ok {
			if c[i] = l.dims[i].level(v); c[i] < 0 {
				c[i] = len(l.dims[i].atoms)
			}
		}
	}
	return c
}

// level is the atom of a value; default that is not listed is at what it stands for.
func (d *dimension) level(v space.Value) int {
	i := d.index(v)
	if i < 0 && v.IsDefault() && d.param.Resolved.Kind() != space.KindNone {
		i = d.index(d.param.Resolved)
	}
	return i
}

// settle gives every inactive parameter its idle level, and likewise a value that cannot be proposed. A parameter that has become active is at
// its idle level, the default, already.
func (l *lattice) settle(c cell) cell {
	active := make([]bool, len(c))
	look := func(name string) (space.Value, bool) {
		i, ok := l.place[name]
		if !ok || !active[i] {
			return space.Value{}, false
		}
		return l.dims[i].atoms[c[i]].value, true
	}
	for i, p := range l.params {
		if c[i] >= len(l.dims[i].atoms) {
			c[i] = l.idle[i]
		}
		active[i] = l.space.Active(p, look)
		if !active[i] {
			c[i] = l.idle[i]
		}
	}
	return c
}

// active tells which parameters of a settled cell are active.
func (l *lattice) active(c cell) []bool {
	active := make([]bool, len(c))
	look := func(name string) (space.Value, bool) {
		i, ok := l.place[name]
		if !ok || !active[i] || c[i] >= len(l.dims[i].atoms) {
			return space.Value{}, false
		}
		return l.dims[i].atoms[c[i]].value, true
	}
	for i, p := range l.params {
		active[i] = l.space.Active(p, look)
	}
	return active
}

// point of a settled cell.
func (l *lattice) point(c cell) space.Point {
	return l.space.Build(func(p space.Param, _ space.Lookup) space.Value {
		i := l.place[p.Name]
		return l.dims[i].atoms[c[i]].value
	})
}

// random draws a cell as Space.Random draws a point.
func (l *lattice) random(r *rand.Rand) cell {
	c := slices.Clone(l.idle)
	for i := range c {
		c[i] = l.draw(i, r)
	}
	return l.settle(c)
}

func (l *lattice) draw(i int, r *rand.Rand) int {
	weights := make([]float64, len(l.dims[i].atoms))
	for j, a := range l.dims[i].atoms {
		weights[j] = a.prior
	}
	return pick(weights, r)
}

// with is the cell with one level changed.
func (l *lattice) with(c cell, i, level int) cell {
	next := slices.Clone(c)
	next[i] = level
	return l.settle(next)
}

// hash tells cells apart in a map.
func (c cell) hash() string {
	b := make([]byte, 0, 2*len(c))
	for _, level := range c {
		b = append(b, byte(level), byte(level>>8))
	}
	return string(b)
}

// neighbours are the cells that differ in one active parameter.
func (l *lattice) neighbours(c cell) []cell {
	var out []cell
	for i, on := range l.active(c) {
		if !on {
			continue
		}
		for level := range l.dims[i].atoms {
			if level != c[i] {
				out = append(out, l.with(c, i, level))
			}
		}
	}
	return out
}

// shake changes n active parameters (fewer when a draw repeats); an ordered one moves, half of the time, by at most a sixth of its levels.
func (l *lattice) shake(c cell, n int, r *rand.Rand) cell {
	next := slices.Clone(c)
	for range n {
		i := l.anyActive(next, r)
		if i < 0 {
			return next
		}
		levels := len(l.dims[i].atoms)
		level := r.IntN(levels)
		if step := max(1, levels/6); l.dims[i].hasOrder() && r.IntN(2) == 0 {
			level = min(levels-1, max(0, next[i]-step+r.IntN(2*step+1)))
		}
		next[i] = level
		next = l.settle(next)
	}
	return next
}

// anyActive draws an active parameter that has more than one value; -1 when there is none.
func (l *lattice) anyActive(c cell, r *rand.Rand) int {
	var open []int
	for i, on := range l.active(c) {
		if on && len(l.dims[i].atoms) > 1 {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[r.IntN(len(open))]
}

// distance adds up, over the parameters, how far two cells lie apart: the distance of two positions, else 1 for two levels.
func (l *lattice) distance(a, b cell) float64 {
	sum := 0.0
	for i, d := range l.dims {
		switch {
		case a[i] == b[i]:
		case a[i] < len(d.atoms) && b[i] < len(d.atoms) && !d.atoms[a[i]].word && !d.atoms[b[i]].word:
			sum += math.Abs(d.atoms[a[i]].place - d.atoms[b[i]].place)
		default:
			sum++
		}
	}
	return sum
}
