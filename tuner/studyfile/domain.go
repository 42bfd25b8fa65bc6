package studyfile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"autotune/space"
)

const dimensionShape = "bool, a list of values, {ints: [LO, HI]}, {floats: [LO, HI]} or {choices: [...]}, each of these with when: CONDITION"

// dimension reads what stands beside a flag under space: its values, and the condition under which it is there.
func (r *reader) dimension(n *node, p path) (d space.Domain, when *node, ok bool) {
	switch {
	case n.kind == listNode:
		d, ok = r.choices(n, p)
		return d, nil, ok
	case n.kind == mapNode:
		return r.dimensionMap(n, p)
	case n.text == "bool" && !n.quoted:
		return space.Bools(), nil, true
	case n.isNull():
		r.fail(n, p, "nothing stands here", dimensionShape)
	default:
		r.fail(n, p, "one value is no space: it belongs under fixed, or in a list", dimensionShape)
	}
	return d, nil, false
}

// dimensionMap reads {choices: ..., when: ...}, {ints: ..., log: true, when: ...} and their kin.
func (r *reader) dimensionMap(n *node, p path) (d space.Domain, when *node, ok bool) {
	var choices *node
	var span span
	before := len(r.errs)
	r.fields(n, p, append(span.fields(), field{name: "choices", read: keep(&choices)}, field{name: "when", read: keep(&when)})...)
	switch {
	case len(r.errs) > before:
		return d, when, false
	case choices == nil:
		d, ok = r.span(span, nil, n, p)
	case span.given():
		r.fail(n, p, "choices and a range stand side by side", "the range inside the list: choices: [default, {ints: [LO, HI]}]")
	case choices.kind == listNode:
		d, ok = r.choices(choices, p.child("choices"))
	case choices.kind == scalarNode && choices.text == "bool" && !choices.quoted:
		d, ok = space.Bools(), true
	default:
		r.fail(choices, p.child("choices"), "wrong type", "a list of values, or bool")
	}
	return d, when, ok
}

// choices reads a list of values, among which one range may stand.
func (r *reader) choices(n *node, p path) (d space.Domain, ok bool) {
	if len(n.items) == 0 {
		r.fail(n, p, "the list is empty", "one value at least")
		return d, false
	}
	var values []space.Value
	var nodes []*node
	var ranged *node
	ok = true
	r.each(n, p, func(i int, item *node, p path) {
		if item.isRange() {
			if ranged != nil {
				r.fail(item, p, "a second range in one list", "one range, and values")
				ok = false
			}
			ranged = item
			return
		}
		v, good := r.flagValue(item, p)
		if !good {
			ok = false
			return
		}
		if j := slices.IndexFunc(values, func(w space.Value) bool { return space.Equal(v, w) }); j >= 0 {
			at := nodes[j].at
			r.fail(item, p, fmt.Sprintf("the value is listed twice: the first stands on line %d, column %d", at.line, at.column), "")
			ok = false
			return
		}
		if j := slices.IndexFunc(values, func(w space.Value) bool { return sameWord(v, w) }); j >= 0 {
			at := nodes[j].at
			r.fail(item, p, fmt.Sprintf("the number and the text are one word on a command line: the first stands on line %d, column %d", at.line, at.column), "")
			ok = false
			return
		}
		values, nodes = append(values, v), append(nodes, item)
	})
	if !ok {
		return d, false
	}
	if ranged == nil {
		d, err := space.Choices(values...)
		if err != nil {
			r.fail(n, p, err.Error(), "")
		}
		return d, err == nil
	}
	return r.rangeAmong(values, nodes, ranged, p)
}

// sameWord tells whether one of two values is a number and the other the text that it is written as: to an engine they are the same.
func sameWord(v, w space.Value) bool {
	return v.IsNumber() && w.Kind() == space.KindString && v.String() == w.String() || w.IsNumber() && v.Kind() == space.KindString && v.String() == w.String()
}

// rangeAmong joins a range with the values that stand beside it in a list.
func (r *reader) rangeAmong(values []space.Value, nodes []*node, ranged *node, p path) (d space.Domain, ok bool) {
	var span span
	before := len(r.errs)
	r.fields(ranged, p, append(span.fields(), field{name: "when", read: func(n *node, p path) {
		r.fail(n, p, "a condition is on the whole parameter, not on one of its values", "{choices: [...], when: CONDITION}")
	}})...)
	if len(r.errs) > before {
		return d, false
	}
	alone, ok := r.span(span, nil, ranged, p)
	if !ok {
		return d, false
	}
	for i, v := range values {
		if alone.Contains(v) || v.IsNumber() && slices.ContainsFunc(alone.Listed(), func(w space.Value) bool { return space.Equal(v, w) }) {
			r.fail(nodes[i], p, "the value is listed twice: it is in the range too", "")
			ok = false
		}
	}
	if !ok {
		return d, false
	}
	return r.span(span, values, ranged, p)
}

// rangeKeys tell a range from a JSON value in a list; meantAsRange are words that people write for them.
var (
	rangeKeys    = []string{"ints", "floats", "step", "log", "when", "choices"}
	meantAsRange = []string{"range", "min", "max", "low", "high", "lo", "hi", "from", "to", "type"}
)

// isRange tells whether a list's item is a range, or was meant to be one.
func (n *node) isRange() bool {
	if n.kind != mapNode {
		return false
	}
	meant := 0
	for _, e := range n.entries {
		if nearest(e.key, rangeKeys) != "" && (e.value.kind == listNode || slices.Contains(rangeKeys, e.key)) {
			return true
		}
		if slices.Contains(meantAsRange, e.key) {
			meant++
		}
	}
	return meant > 0 && meant == len(n.entries)
}

// span is a range of numbers as it is written.
type span struct{ ints, floats, step, log *node }

func (s *span) given() bool { return s.ints != nil || s.floats != nil || s.step != nil || s.log != nil }

func (s *span) fields() []field {
	return []field{
		{name: "ints", read: keep(&s.ints)}, {name: "floats", read: keep(&s.floats)},
		{name: "step", read: keep(&s.step)}, {name: "log", read: keep(&s.log)},
	}
}

// span makes the domain of a range; n is the mapping that holds it.
func (r *reader) span(s span, before []space.Value, n *node, p path) (d space.Domain, ok bool) {
	logScale := false
	if s.log != nil {
		v, _, _ := s.log.value()
		if s.log.kind != scalarNode || v.Kind() != space.KindBool {
			r.fail(s.log, p.child("log"), "wrong type", "true or false")
			return d, false
		}
		logScale = v.AsBool()
	}
	if logScale && s.step != nil {
		r.fail(s.step, p.child("step"), "a log range has no step", "either log: true or a step")
		return d, false
	}
	switch {
	case s.ints != nil && s.floats != nil:
		r.fail(n, p, "two ranges stand side by side", "ints or floats")
		return d, false
	case s.ints != nil:
		return r.ints(s, logScale, before, p)
	case s.floats != nil:
		return r.floats(s, logScale, before, p)
	}
	r.fail(n, p, "no values are given", dimensionShape)
	return d, false
}

func (r *reader) ints(s span, logScale bool, before []space.Value, p path) (d space.Domain, ok bool) {
	const allowed = "two integers [LO, HI]"
	ends, ok := r.ends(s.ints, p.child("ints"), allowed)
	if !ok {
		return d, false
	}
	lo, okLo := r.int64(ends[0], p.child("ints"), "an integer")
	hi, okHi := r.int64(ends[1], p.child("ints"), "an integer")
	step := int64(1)
	if s.step != nil {
		var good bool
		if step, good = r.int64(s.step, p.child("step"), "an integer of 1 or more"); !good {
			return d, false
		}
	}
	if !okLo || !okHi {
		return d, false
	}
	d, err := space.Ints(lo, hi, step, logScale, before...)
	switch {
	case err == nil:
		return d, true
	case step < 1:
		r.fail(s.step, p.child("step"), "out of range", "an integer of 1 or more")
	case lo <= hi && s.step != nil && (uint64(hi)-uint64(lo))%uint64(step) != 0:
		below := int64(uint64(hi) - (uint64(hi)-uint64(lo))%uint64(step))
		r.fail(s.step, p.child("step"), fmt.Sprintf("the steps from %d do not end at %d", lo, hi), fmt.Sprintf("a top of %d, say", below))
	default:
		r.fail(s.ints, p.child("ints"), err.Error(), allowed+rangeHint(logScale))
	}
	return d, false
}

func (r *reader) floats(s span, logScale bool, before []space.Value, p path) (d space.Domain, ok bool) {
	const allowed = "two numbers [LO, HI]"
	ends, ok := r.ends(s.floats, p.child("floats"), allowed)
	if !ok {
		return d, false
	}
	lo, okLo := r.float(ends[0], p.child("floats"), "a number")
	hi, okHi := r.float(ends[1], p.child("floats"), "a number")
	step := 0.0
	if s.step != nil {
		var good bool
		if step, good = r.float(s.step, p.child("step"), "a number above 0"); !good {
			return d, false
		}
		if step <= 0 {
			r.fail(s.step, p.child("step"), "out of range", "a number above 0")
			return d, false
		}
	}
	if !okLo || !okHi {
		return d, false
	}
	if !(math.Abs(lo) < 1e100 && math.Abs(hi) < 1e100) {
		r.fail(s.floats, p.child("floats"), "out of range", "numbers within 1e100 of zero")
		return d, false
	}
	d, err := space.Floats(lo, hi, step, logScale, before...)
	switch {
	case err == nil:
		return d, true
	case s.step != nil && lo <= hi:
		r.fail(s.step, p.child("step"), err.Error(), "a step that reaches the top, in at most 100000 steps")
	case lo < hi && strings.Contains(err.Error(), "twice"):
		r.fail(s.floats, p.child("floats"), fmt.Sprintf("the range is too narrow for %d values", space.FloatGrid), "a wider range, or a step")
	default:
		r.fail(s.floats, p.child("floats"), err.Error(), allowed+rangeHint(logScale))
	}
	return d, false
}

func rangeHint(logScale bool) string {
	if logScale {
		return " with 0 < LO <= HI"
	}
	return " with LO <= HI"
}

// ends returns the two ends of a range.
func (r *reader) ends(n *node, p path, allowed string) ([]*node, bool) {
	if n.kind != listNode || len(n.items) != 2 {
		r.fail(n, p, "not a range", allowed)
		return nil, false
	}
	return n.items, true
}

// flagValue reads one value of a flag: a scalar, or a mapping, which is written as JSON.
func (r *reader) flagValue(n *node, p path) (space.Value, bool) {
	switch n.kind {
	case listNode:
		r.fail(n, p, "a list is no value", "one value; a flag that takes a list gets it in quotes, as on the command line")
		return space.Value{}, false
	case mapNode:
		var b strings.Builder
		if bad, problem := n.json(&b); bad != nil {
			r.fail(bad, p, problem, "JSON")
			return space.Value{}, false
		}
		return space.String(b.String()), true
	}
	if n.text == "bool" && !n.quoted {
		r.fail(n, p, "bool is a space, no value", "true or false; or bool alone, under space")
		return space.Value{}, false
	}
	v, problem, allowed := n.value()
	if problem != "" {
		r.fail(n, p, problem, allowed)
		return v, false
	}
	return v, true
}
