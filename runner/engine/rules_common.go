package engine

import (
	"slices"

	"autotune/space"
)

// plainDefaults says that a flag set to the default that stands in the catalog is the flag left out. Only flags whose default has been the same
// in every release are looked at: sizes, words, and switches that are off; a number that engines tune (a memory share) may differ in the one installed,
// and what an engine finds out at start (an unset batch size) is never the same configuration as the same number given.
func (c ruleContext) plainDefaults() space.Rewrite {
	var list []flagDefault
	for _, f := range slices.Concat(c.d.flags, c.d.keys) {
		if f.Help == "" || f.Default == "" || f.Default == "true" || f.Kind == Float || f.Kind == HumanInt || f.Kind == JSON {
			continue
		}
		if v, problem := c.d.value(f, f.Default); problem == "" {
			list = append(list, flagDefault{c.d.Name + "." + f.Name, v})
		}
	}
	return c.isLeftOut(list)
}

// flagDefault is a flag, by its full name, and its default.
type flagDefault struct {
	name  string
	value space.Value
}

func (c ruleContext) isLeftOut(list []flagDefault) space.Rewrite {
	return space.Rewrite{ID: c.d.Name + "_default", Reason: "does the same where the flag is left out", Engine: c.d.Name, Apply: func(look space.Lookup) map[string]space.Value {
		var out map[string]space.Value
		for _, k := range list {
			if v, ok := look(k.name); ok && v == k.value {
				if out == nil {
					out = map[string]space.Value{}
				}
				out[k.name] = space.Default()
			}
		}
		return out
	}, Among: func(has func(string) bool) (space.Rewrite, bool) {
		some := slices.DeleteFunc(slices.Clone(list), func(k flagDefault) bool { return !has(k.name) })
		return c.isLeftOut(some), len(some) > 0
	}}
}

// contextRules hold for every engine: requests fit into the context, and the context into the model.
func (c ruleContext) contextRules(flag, override string) []space.Constraint {
	return []space.Constraint{
		c.forbid("context_requests", "would refuse every request longer than its context: the workload's input and output must fit", func(v view) bool {
			length, given := v.given(flag)
			limit := c.model.ContextLen
			if given && length.Kind() == space.KindInt && length.AsInt() > 0 {
				limit = int(length.AsInt())
			}
			return c.longest > 0 && limit > 0 && c.longest > limit && (given || !v.any(override))
		}),
		c.forbid("context_model", "refuses a context longer than the model's", func(v view) bool {
			length, given := v.given(flag)
			return given && c.model.ContextLen > 0 && length.AsInt() > int64(c.model.ContextLen) && !v.any(override)
		}),
	}
}
