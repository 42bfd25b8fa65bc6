package tuner

import (
	"maps"
	"slices"

	"autotune/space"
)

// Translate places a configuration of an earlier study in this space, by the names and values of its parameters. constant tells which parameters
// had one value in the whole of that study: its reference had the same, so nothing that is relative to it hangs on them.
//
//   - What both have keeps its value; inside a range the nearest value of the grid stands for it. A value that this space does not have is no
//     translation, unless the flag is fixed here and was constant there: then this study's value stands.
//   - What only this space has is at its default, or at its fixed value, as it was there where nobody set it.
//   - What only that study had is dropped if it was at its default or constant there; otherwise there is no translation.
//   - What is set but has no place here beside the others (its condition does not hold) is no translation either.
//
// The point keeps every rule of the space; ok is false when there is none.
func Translate(s *space.Space, there map[string]space.Value, constant func(name string) bool) (p space.Point, ok bool) {
	values := map[string]space.Value{}
	for _, q := range s.Params() {
		v, given := there[q.Name]
		if values[q.Name], ok = carry(q, v, given, constant(q.Name)); !ok {
			return space.Point{}, false
		}
	}
	p, err := s.Point(values)
	if err != nil {
		return space.Point{}, false
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if _, placed := p.Get(name); !placed && !there[name].IsDefault() && !constant(name) {
			return space.Point{}, false
		}
	}
	return p, s.Keeps(p)
}

// carry is the value of one parameter here.
func carry(q space.Param, v space.Value, given, constant bool) (space.Value, bool) {
	switch {
	case q.Fixed:
		own := q.Domain.At(0)
		return own, !given || v == own || constant
	case given:
		return q.Domain.Nearest(v)
	case q.Domain.Allows(space.Default()):
		return space.Default(), true
	default:
		return q.Domain.At(0), true // a root choice that the earlier study did not have
	}
}
