package engine

import (
	"autotune/space"
)

// ruleContext is what an engine's rules are made from.
type ruleContext struct {
	d       *Definition
	host    Host
	model   Model
	longest int // input + output of the longest request; 0: unknown
}

// Rules are the engine's rules between flags for a machine, a model and the longest request (input + output; 0: unknown), over full
// names ENGINE.flag. A constraint is what the engine is known to refuse; a rewrite is what it would silently do.
func (d *Definition) Rules(h Host, m Model, longest int) ([]space.Constraint, []space.Rewrite) {
	return d.rules(ruleContext{d, h, m, longest})
}

// view reads the settings of a point as the engine would resolve them.
type view struct {
	c    ruleContext
	look space.Lookup
}

func (v view) full(flag string) string { return v.c.d.Name + "." + flag }

// value is a flag's value; a default or absent flag gives the engine's own, where known.
func (v view) value(flag string) (space.Value, bool) {
	if x, ok := v.look(v.full(flag)); ok && !x.IsDefault() {
		return x, true
	}
	return v.c.d.ResolvedDefault(flag, v.c.host)
}

// given is a flag's value where it is set, not left to the engine.
func (v view) given(flag string) (space.Value, bool) {
	x, ok := v.look(v.full(flag))
	return x, ok && !x.IsDefault()
}

// int is a flag's integer; ok is false where it is unknown.
func (v view) int(flag string) (int, bool) {
	x, ok := v.value(flag)
	if !ok || x.Kind() != space.KindInt {
		return 0, false
	}
	return int(x.AsInt()), true
}

// size is an integer that counts something: 1 where it is unknown.
func (v view) size(flag string) int {
	if n, ok := v.int(flag); ok && n > 0 {
		return n
	}
	return 1
}

func (v view) on(flag string) bool { x, ok := v.value(flag); return ok && x.AsBool() }

// text is a flag's word; empty where it is unknown.
func (v view) text(flag string) string {
	if x, ok := v.value(flag); ok {
		return x.String()
	}
	return ""
}

// any tells whether one of the flags is set.
func (v view) any(flags ...string) bool {
	for _, f := range flags {
		if _, ok := v.given(f); ok {
			return true
		}
	}
	return false
}

// forbid makes a constraint from what the engine refuses.
func (c ruleContext) forbid(id, reason string, refuses func(view) bool) space.Constraint {
	return space.Constraint{ID: c.d.Name + "_" + id, Reason: reason, Engine: c.d.Name, Holds: func(look space.Lookup) bool { return !refuses(view{c, look}) }}
}

// resolve makes a rewrite; change is given only flags that the point has, and returns them by their short names.
func (c ruleContext) resolve(id, reason string, change func(view) map[string]space.Value) space.Rewrite {
	return space.Rewrite{ID: c.d.Name + "_" + id, Reason: reason, Engine: c.d.Name, Apply: func(look space.Lookup) map[string]space.Value {
		v := view{c, look}
		var out map[string]space.Value
		for flag, to := range change(v) {
			if now, ok := look(v.full(flag)); ok && now != to {
				if out == nil {
					out = map[string]space.Value{}
				}
				out[v.full(flag)] = to
			}
		}
		return out
	}}
}

// unset drops the flags: the engine takes no notice of them.
func unset(flags ...string) map[string]space.Value {
	out := map[string]space.Value{}
	for _, f := range flags {
		out[f] = space.Value{}
	}
	return out
}
