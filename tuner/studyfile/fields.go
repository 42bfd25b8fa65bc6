package studyfile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"autotune/space"
)

// path leads to a key: engines, vllm, space, max-num-seqs.
type path []string

func (p path) child(key string) path { return append(slices.Clip(p), key) }
func (p path) String() string        { return strings.Join(p, ".") }

// id is what a path is called in places: keys may hold dots.
func (p path) id() string { return strings.Join(p, "\x00") }

// reader reads the parts of a spec out of the nodes and collects everything that is wrong.
type reader struct {
	known  Known
	errs   Errors
	places places
}

// fail records an error at a node.
func (r *reader) fail(n *node, p path, problem, allowed string) {
	r.failAt(n.at, p, FieldError{Problem: problem, Found: n.describe(), Allowed: allowed})
}

func (r *reader) failAt(at place, p path, e FieldError) {
	e.Line, e.Column = at.line, at.column
	if e.Key == "" {
		e.Key = p.String()
	}
	r.errs = append(r.errs, e)
}

// field is a key of a mapping.
type field struct {
	name string
	read func(n *node, p path)
	// need says what to write when the key is missing; empty when it may be.
	need string
	// lacks says what the key would do, when this version cannot do it: the key is refused by name.
	lacks string
	// formerly marks a key of specs of before, which is still read and no longer told of.
	formerly bool
}

// fields reads a mapping strictly: an unknown key, a key of a later version and a missing one are errors.
func (r *reader) fields(n *node, p path, fields ...field) {
	if n.kind != mapNode {
		r.fail(n, p, "wrong type", "a mapping with the keys "+fieldNames(fields))
		return
	}
	seen := map[string]bool{}
	for _, e := range n.entries {
		child := p.child(e.key)
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == e.key })
		if i < 0 {
			r.unknownKey(e, child, fields)
			continue
		}
		seen[e.key] = true
		if fields[i].lacks != "" {
			r.failAt(e.at, child, FieldError{Problem: "not available in this version: " + fields[i].lacks})
			continue
		}
		r.places[child.id()] = e.at
		fields[i].read(e.value, child)
	}
	for _, f := range fields {
		if f.need != "" && !seen[f.name] {
			r.failAt(n.at, p.child(f.name), FieldError{Problem: "is missing", Allowed: f.need})
		}
	}
}

func (r *reader) unknownKey(e entry, p path, fields []field) {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	err := FieldError{Problem: "unknown key", Near: nearest(e.key, names)}
	if err.Near == "" {
		err.Allowed = fieldNames(fields)
	}
	r.failAt(e.at, p, err)
}

func fieldNames(fields []field) string {
	var names []string
	for _, f := range fields {
		if f.lacks == "" && !f.formerly {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}

// keep stores a node for a later step.
func keep(to **node) func(*node, path) { return func(n *node, _ path) { *to = n } }

// plain tells whether a node is a scalar with something in it, and complains if not.
func (r *reader) plain(n *node, p path, allowed string) bool {
	switch {
	case n.kind != scalarNode:
		r.fail(n, p, "wrong type", allowed)
	case n.isNull():
		r.failAt(n.at, p, FieldError{Problem: "nothing stands here", Allowed: allowed})
	default:
		return true
	}
	return false
}

// word reads a text that is not empty; a number is taken as it is written.
func (r *reader) word(n *node, p path, allowed string) (string, bool) {
	if !r.plain(n, p, allowed) {
		return "", false
	}
	if strings.TrimSpace(n.text) == "" {
		r.failAt(n.at, p, FieldError{Problem: "the text is empty", Allowed: allowed})
		return "", false
	}
	return n.text, true
}

// oneOf reads one of a few words.
func (r *reader) oneOf(to *string, words ...string) func(*node, path) {
	allowed := strings.Join(words, ", ")
	return func(n *node, p path) {
		s, ok := r.word(n, p, allowed)
		if !ok {
			return
		}
		if !slices.Contains(words, s) {
			r.failAt(n.at, p, FieldError{Problem: "unknown word", Found: n.describe(), Allowed: allowed, Near: nearest(s, words)})
			return
		}
		*to = s
	}
}

// integer reads an integer of [lo, hi].
func (r *reader) integer(to *int, lo, hi int64) func(*node, path) {
	allowed := fmt.Sprintf("an integer from %d to %d", lo, hi)
	return func(n *node, p path) {
		if i, ok := r.int64(n, p, allowed); ok && r.within(n, p, float64(i), float64(lo), float64(hi), allowed) {
			*to = int(i)
		}
	}
}

func (r *reader) int64(n *node, p path, allowed string) (int64, bool) {
	if !r.plain(n, p, allowed) {
		return 0, false
	}
	v, problem, more := n.value()
	switch {
	case problem != "":
		r.fail(n, p, problem, more)
	case v.Kind() != space.KindInt:
		r.fail(n, p, "wrong type", allowed)
	default:
		return v.AsInt(), true
	}
	return 0, false
}

// seed reads an unsigned integer of 64 bits, exactly.
func (r *reader) seed(to *uint64) func(*node, path) {
	const allowed = "an integer from 0 to 18446744073709551615"
	return func(n *node, p path) {
		if !r.plain(n, p, allowed) {
			return
		}
		i, err := strconv.ParseUint(n.text, 10, 64)
		if err != nil || n.quoted || !integerText.MatchString(n.text) {
			r.fail(n, p, "not a seed", allowed)
			return
		}
		*to = i
	}
}

// number reads a number of [lo, hi]; lo itself is excluded when open.
func (r *reader) number(to *float64, lo, hi float64, open bool, allowed string) func(*node, path) {
	return func(n *node, p path) {
		f, ok := r.float(n, p, allowed)
		if ok && open && f == lo {
			r.fail(n, p, "out of range", allowed)
		} else if ok && r.within(n, p, f, lo, hi, allowed) {
			*to = f
		}
	}
}

func (r *reader) float(n *node, p path, allowed string) (float64, bool) {
	if !r.plain(n, p, allowed) {
		return 0, false
	}
	v, problem, more := n.value()
	switch {
	case problem != "":
		r.fail(n, p, problem, more)
	case !v.IsNumber():
		r.fail(n, p, "wrong type", allowed)
	default:
		return v.AsFloat(), true
	}
	return 0, false
}

func (r *reader) within(n *node, p path, x, lo, hi float64, allowed string) bool {
	if x < lo || x > hi || math.IsNaN(x) {
		r.fail(n, p, "out of range", allowed)
		return false
	}
	return true
}

// duration reads a time with its unit, above 0 unless zero is allowed for "no limit".
func (r *reader) duration(to *time.Duration, zero bool) func(*node, path) {
	allowed := "a time such as 10h, 90m, 1h30m, 45s or 200ms"
	if zero {
		allowed += "; 0s for no limit"
	}
	return func(n *node, p path) {
		if !r.plain(n, p, allowed) {
			return
		}
		d, ok := parseDuration(n.text)
		switch {
		case !ok && floatText.MatchString(n.text):
			r.fail(n, p, "the unit is missing", allowed)
		case !ok:
			r.fail(n, p, "not a time", allowed)
		case d == 0 && !zero:
			r.fail(n, p, "out of range", allowed)
		default:
			*to = d
		}
	}
}

// each calls read for every item of a list; a single item may stand for a list of one.
func (r *reader) each(n *node, p path, read func(i int, item *node, p path)) {
	if n.kind != listNode {
		read(0, n, p)
		return
	}
	for i, item := range n.items {
		read(i, item, append(slices.Clip(p[:len(p)-1]), fmt.Sprintf("%s[%d]", p[len(p)-1], i)))
	}
}
