package searchbench

import (
	"fmt"

	"autotune/space"
)

// flags collects the parameters of one engine.
type flags struct {
	engine string
	params []space.Param
	fixed  map[string]space.Value // by full name
	hungry map[string]float64     // by full name
	err    error
}

func newFlags(engine string, hungry map[string]float64) *flags {
	return &flags{engine: engine, fixed: map[string]space.Value{}, hungry: hungry}
}

// fix adds a flag of one value, which the baseline has too.
func (f *flags) fix(flag string, v space.Value) {
	d, err := space.Choices(v)
	f.add(flag, "", v, d, err)
	f.params[len(f.params)-1].Fixed = true
	f.fixed[f.engine+"."+flag] = v
}

// choice adds a flag with listed values; resolved is what default stands for, KindNone when nobody knows before the start.
func (f *flags) choice(flag, when string, resolved space.Value, values ...space.Value) {
	d, err := space.Choices(values...)
	f.add(flag, when, resolved, d, err)
}

// toggle adds a switch that is off by default.
func (f *flags) toggle(flag, when string) { f.add(flag, when, space.Bool(false), space.Bools(), nil) }

// integers adds a range by logarithm, with default in front.
func (f *flags) integers(flag string, resolved space.Value, lo, hi int64) {
	d, err := space.Ints(lo, hi, 1, true, space.Default())
	f.add(flag, "", resolved, d, err)
}

// share adds a range of floats, with default in front.
func (f *flags) share(flag string, resolved space.Value, lo, hi float64) {
	d, err := space.Floats(lo, hi, 0, false, space.Default())
	f.add(flag, "", resolved, d, err)
}

func (f *flags) add(flag, when string, resolved space.Value, d space.Domain, err error) {
	p := space.Param{Name: f.engine + "." + flag, Engine: f.engine, Flag: flag, Domain: d.Allowing(space.Default()), Resolved: resolved}
	if when != "" {
		expr, problem := space.ParseExpr(when)
		if problem == nil {
			p.When, problem = expr.Bind(func(name string) (string, bool) { return f.engine + "." + name, f.has(name) })
		}
		if err == nil {
			err = problem
		}
	}
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("parameter %s: %w", p.Name, err)
	}
	f.params = append(f.params, p)
}

func (f *flags) has(flag string) bool {
	for _, p := range f.params {
		if p.Flag == flag {
			return true
		}
	}
	return false
}

// plainDefaults makes one configuration of a flag that is left out and of the same flag set to what that stands for.
func plainDefaults(params []space.Param) space.Rewrite {
	return space.Rewrite{ID: "default", Reason: "is what the engine does anyway", Apply: func(look space.Lookup) map[string]space.Value {
		var out map[string]space.Value
		for _, p := range params {
			if v, ok := look(p.Name); ok && !p.Fixed && p.Resolved.Kind() != space.KindNone && v == p.Resolved {
				if out == nil {
					out = map[string]space.Value{}
				}
				out[p.Name] = space.Default()
			}
		}
		return out
	}}
}

func words(names ...string) []space.Value {
	out := make([]space.Value, len(names))
	for i, n := range names {
		out[i] = space.String(n)
	}
	return out
}

// numbers lists default and some integers.
func numbers(values ...int64) []space.Value {
	out := []space.Value{space.Default()}
	for _, v := range values {
		out = append(out, space.Int(v))
	}
	return out
}

// forbid is a rule that an engine enforces.
func forbid(engine, id, reason string, refuses func(read reader) bool) space.Constraint {
	return space.Constraint{ID: engine + "_" + id, Reason: reason, Engine: engine, Holds: func(look space.Lookup) bool {
		return !refuses(reader{engine, look})
	}}
}

// reader reads an engine's flags in a rule; what is default or inactive counts as otherwise.
type reader struct {
	engine string
	look   space.Lookup
}

func (r reader) number(flag string, otherwise int64) int64 {
	if v, ok := r.look(r.engine + "." + flag); ok && v.IsNumber() {
		return int64(v.AsFloat())
	}
	return otherwise
}

func (r reader) is(flag, word string) bool {
	v, ok := r.look(r.engine + "." + flag)
	return ok && v.String() == word
}
