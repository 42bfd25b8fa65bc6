package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
)

// modelGrid is how many numbers of one range a model tells apart; a longer range is thinned to so many.
const modelGrid = 33

// rangeWeight is how many listed values an integer range counts for, as in space.Domain.Sample.
const rangeWeight = 8

// atom is one value that a model tells apart. A number has a place in [0, 1] and the cell [lo, hi] of what lies
// nearer to it than to its neighbours; a word (a choice, a boolean, a default of unknown value) is a category of its own.
type atom struct {
	value         space.Value
	word          bool
	place, lo, hi float64
	share         float64 // of the cell: below 1 where default lies on a listed number
	prior         float64 // its probability when nothing is known
}

// dimension is one parameter as a model sees it: a finite list of atoms.
type dimension struct {
	param   space.Param
	atoms   []atom
	classes int  // the words, and one for all numbers together
	thinned bool // the range has more values than atoms
}

func newDimension(p space.Param) *dimension {
	d := &dimension{param: p}
	for _, v := range p.Domain.Listed() {
		d.add(v, 1)
	}
	listed := len(d.atoms)
	d.addRange()
	d.makeCells()
	d.makePrior(listed)
	return d
}

// placeOf gives the position of a value; default lies where the number does that it stands for.
func (d *dimension) placeOf(v space.Value) (u float64, ok bool) {
	if v.IsDefault() && d.param.Resolved.IsNumber() {
		v = d.param.Resolved
	}
	return d.param.Domain.Position(v)
}

func (d *dimension) add(v space.Value, prior float64) {
	u, ok := d.placeOf(v)
	d.atoms = append(d.atoms, atom{value: v, word: !ok, place: u, prior: prior})
}

// addRange adds the values of an integer range, or modelGrid of them.
func (d *dimension) addRange() {
	lo, hi, step, ok := d.param.Domain.Range()
	if !ok {
		return
	}
	cells := (uint64(hi)-uint64(lo))/uint64(step) + 1
	d.thinned = cells > modelGrid
	var last space.Value
	for k := range min(cells, modelGrid) {
		v := space.Int(lo + int64(k)*step)
		if d.thinned {
			v = d.nearest(float64(k) / (modelGrid - 1))
		}
		if v != last { // a log range is dense at its low end
			d.add(v, 0)
		}
		last = v
	}
}

// nearest is the value of the integer range at a share of the way from its lower end to its upper one.
func (d *dimension) nearest(share float64) space.Value {
	lo, hi, step, _ := d.param.Domain.Range()
	last := (uint64(hi) - uint64(lo)) / uint64(step)
	k := share * float64(last)
	if d.param.Domain.Log() {
		k = float64(lo) * math.Expm1(share*math.Log(float64(hi)/float64(lo)))
	}
	if k = math.Round(k); k >= float64(last) {
		return space.Int(hi)
	}
	return space.Int(lo + int64(max(0, k))*step)
}

// makeCells gives every place the interval up to the middle of the gap to the next one; the outermost are as wide outwards as inwards.
func (d *dimension) makeCells() {
	var places []float64
	for _, a := range d.atoms {
		if a.word {
			d.classes++
		} else {
			places = append(places, a.place)
		}
	}
	if len(places) == 0 {
		return
	}
	d.classes++
	slices.Sort(places)
	all := places
	places = slices.Compact(slices.Clone(places))
	for i := range d.atoms {
		a := &d.atoms[i]
		if a.word {
			continue
		}
		k, _ := slices.BinarySearch(places, a.place)
		first, _ := slices.BinarySearch(all, a.place)
		same := 0
		for first+same < len(all) && all[first+same] == a.place {
			same++
		}
		a.share = 1 / float64(same)
		a.lo, a.hi = cellAround(places, k)
	}
}

func cellAround(places []float64, k int) (lo, hi float64) {
	u, last := places[k], len(places)-1
	if last == 0 {
		return u - 0.5, u + 0.5
	}
	left, right := 0.0, 0.0
	if k > 0 {
		left = (u - places[k-1]) / 2
	}
	if k < last {
		right = (places[k+1] - u) / 2
	}
	if k == 0 {
		left = right
	}
	if k == last {
		right = left
	}
	return u - left, u + right
}

// makePrior gives listed values equal weights, and the range its weight spread over its cells.
func (d *dimension) makePrior(listed int) {
	width := 0.0
	for _, a := range d.atoms[listed:] {
		width += a.hi - a.lo
	}
	weight := float64(min(rangeWeight, len(d.atoms)-listed))
	sum := 0.0
	for i := range d.atoms {
		a := &d.atoms[i]
		if i >= listed {
			a.prior = weight * (a.hi - a.lo) / width
		}
		sum += a.prior
	}
	for i := range d.atoms {
		d.atoms[i].prior /= sum
	}
}

// index finds the atom that stands for a value. A number outside of the grid (of a baseline) goes to the nearest atom;
// any other stranger gives -1.
func (d *dimension) index(v space.Value) int {
	for i, a := range d.atoms {
		if a.value == v {
			return i
		}
	}
	u, ok := d.placeOf(v)
	if !ok {
		return -1
	}
	best, gap := -1, math.Inf(1)
	for i, a := range d.atoms {
		if g := math.Abs(a.place - u); !a.word && g < gap {
			best, gap = i, g
		}
	}
	return best
}

// value draws a value of the domain for which an atom stands: of a thinned range, any value of the atom's cell.
func (d *dimension) value(i int, r *rand.Rand) space.Value {
	a := d.atoms[i]
	if !d.thinned || a.word || i < len(d.param.Domain.Listed()) {
		return a.value
	}
	return d.nearest(min(1, max(0, a.lo+(a.hi-a.lo)*r.Float64())))
}
