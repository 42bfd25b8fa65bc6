package search

import (
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// grid goes through the whole space in the spec's order, the last flag turning fastest, like an odometer. Its seed changes nothing: it
// is for spaces that are small enough to be measured completely.
type grid struct{}

// gridPatience is how many points in a row may be refused before the next slower flag is turned instead: a rule that excludes the first value
// of a slow flag excludes everything beside it, which in a large space is too much to look at. What is skipped so is looked at in the end.
const gridPatience = 500

// Suggest proposes an opening move, else what follows the last point of the grid that was asked; after the last of all, what was left out.
func (grid) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	refused := unwanted(p, h)
	o := newOdometer(p.Space)
	if o.setToLast(p, h) {
		if point, ok := o.turn(refused); ok {
			return tuner.Proposal{Point: point, Kind: tuner.KindSweep, Why: "next point of the grid"}, nil
		}
	}
	o.reset()
	if point, ok := o.turn(refused); ok {
		return tuner.Proposal{Point: point, Kind: tuner.KindSweep, Why: "next point of the grid, from its start"}, nil
	}
	return drawRandom(p, source(ask), refused, "random: one of the points that the grid left out")
}

// odometer has a digit a parameter, each with the parameter's values as its figures.
type odometer struct {
	space  *space.Space
	params []space.Param  // the last turns fastest
	place  map[string]int // of a parameter in params
	digits []int64        // the index of the value; off where the parameter is not active
}

// off marks a digit that counts for nothing.
const off = -1

func newOdometer(s *space.Space) *odometer {
	o := &odometer{space: s, params: s.Ordered(), place: map[string]int{}}
	for k, p := range o.params {
		o.place[p.Name] = k
	}
	o.reset()
	return o
}

// reset stands before the first point.
func (o *odometer) reset() { o.digits = slices.Repeat([]int64{off}, len(o.params)) }

// setToLast stands on the last point of the grid that was asked, opening moves aside, which may lie anywhere; false when there is none.
func (o *odometer) setToLast(p tuner.Problem, h tuner.History) (any bool) {
	opening := openingKeys(p)
	for _, t := range h {
		if !t.Told() || opening[t.Point.Key()] {
			continue
		}
		if digits, ok := o.read(t.Point); ok && (!any || slices.Compare(digits, o.digits) > 0) {
			o.digits, any = digits, true
		}
	}
	return any
}

// read gives a point's digits; false when it has a value that is not proposed.
func (o *odometer) read(p space.Point) (digits []int64, ok bool) {
	digits = make([]int64, len(o.params))
	for k, q := range o.params {
		v, active := p.Get(q.Name)
		if digits[k] = q.Domain.Index(v); !active {
			digits[k] = off
		} else if digits[k] < 0 {
			return nil, false
		}
	}
	return digits, true
}

// turn goes on to the next point that is not refused and keeps the rules; false at the end.
func (o *odometer) turn(refused func(space.Point) bool) (p space.Point, ok bool) {
	for n := 1; ; n++ {
		if p, ok = o.next(len(o.digits) - 1 - n/gridPatience); !ok {
			return p, false
		}
		if !refused(p) && o.space.Keeps(p) {
			return p, true
		}
	}
}

// next turns the last digit at or before place k that has a figure left, and sets all behind it to their first.
func (o *odometer) next(k int) (p space.Point, ok bool) {
	if !o.atStart() {
		for k >= 0 && (o.digits[k] == off || o.digits[k]+1 >= o.params[k].Domain.Size()) {
			k--
		}
		if k < 0 {
			return p, false
		}
		o.digits[k]++
		for i := k + 1; i < len(o.digits); i++ {
			o.digits[i] = off
		}
	}
	// What is active beside the digits so far is known only on the way down.
	return o.space.Build(func(q space.Param, _ space.Lookup) space.Value {
		i := o.place[q.Name]
		o.digits[i] = max(0, o.digits[i])
		return q.Domain.At(o.digits[i])
	}), true
}

// atStart tells whether no point was reached yet: the first digit, of a parameter without conditions, is off.
func (o *odometer) atStart() bool {
	for _, d := range o.digits {
		if d != off {
			return false
		}
	}
	return true
}
