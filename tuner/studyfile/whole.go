package studyfile

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"autotune/space"
)

// whole checks what only the spec as a whole can get wrong. It does so once every part is right by itself.
func (r *reader) whole(s *Spec, recipes *node) {
	if len(r.errs) > 0 {
		return
	}
	sp, err := s.space(nil, nil)
	if err != nil {
		at := r.places["engines"]
		r.failAt(at, path{"engines"}, FieldError{Problem: err.Error()})
		return
	}
	for _, p := range sp.Params() {
		r.live(sp, p)
	}
	for _, e := range s.Engines {
		r.baselineActive(s, sp, e)
	}
	if recipes != nil {
		r.recipes(s, sp, recipes)
	}
	if len(r.errs) > 0 {
		return
	}
	r.somethingToSearch(s)
	for _, e := range s.Engines {
		r.satisfiable(s, e)
	}
}

// liveLimit bounds how many combinations of values a condition is tried with.
const liveLimit = 20_000

// live refuses a condition that no values of the parameters that it names can make true: a misspelt choice, mostly.
func (r *reader) live(sp *space.Space, p space.Param) {
	names := p.When.Names()
	if len(names) == 0 {
		return
	}
	options := make([][]space.Value, len(names))
	total := 1
	for i, name := range names {
		q, _ := sp.Param(name)
		if name == space.EngineParam {
			options[i] = []space.Value{space.String(p.Engine)}
			continue
		}
		if q.Domain.Size() > liveLimit {
			return
		}
		for k := range q.Domain.Size() {
			options[i] = append(options[i], q.Domain.At(k))
		}
		options[i] = append(options[i], q.Domain.Extra()...)
		if q.When != nil {
			options[i] = append(options[i], space.Value{})
		}
		if total *= len(options[i]); total > liveLimit {
			return
		}
	}
	for k := range total {
		assigned := map[string]space.Value{}
		for i, name := range names {
			assigned[name] = options[i][k%len(options[i])]
			k /= len(options[i])
		}
		look := func(name string) (space.Value, bool) {
			v := assigned[name]
			return v, v.Kind() != space.KindNone
		}
		if p.When.Holds(look) {
			return
		}
	}
	var allowed []string
	for _, name := range names {
		q, _ := sp.Param(name)
		allowed = append(allowed, fmt.Sprintf("%s is %s", name, describeDomain(q.Domain)))
	}
	at := path{"engines", p.Engine, "space", p.Flag, "when"}
	r.failAt(r.places[at.id()], at, FieldError{Problem: "the condition never holds", Found: p.When.String(), Allowed: strings.Join(allowed, "; ")})
}

// baselineActive refuses a baseline's flag that has no place in the baseline.
func (r *reader) baselineActive(s *Spec, sp *space.Space, e Engine) {
	point, err := sp.Point(s.values(e, "", e.Baseline))
	if err != nil {
		at := path{"engines", e.Name}
		r.failAt(r.places[at.id()], at, FieldError{Problem: "the baseline: " + err.Error()})
		return
	}
	for _, b := range e.Baseline {
		if _, ok := point.Get(e.Name + "." + b.Flag); !ok {
			q, _ := sp.Param(e.Name + "." + b.Flag)
			at := path{"engines", e.Name, "baseline", b.Flag}
			r.failAt(r.places[at.id()], at, FieldError{Problem: fmt.Sprintf("the flag is not there in the baseline: its condition is %s", q.When)})
		}
	}
}

// recipes reads the configurations that the author wants tried.
func (r *reader) recipes(s *Spec, sp *space.Space, n *node) {
	const shape = "a list of {engine: NAME, flags: {FLAG: VALUE}}"
	if n.kind != listNode {
		r.fail(n, path{"recipes"}, "wrong type", shape)
		return
	}
	var names []string
	for _, e := range s.Engines {
		names = append(names, e.Name)
	}
	for i, item := range n.items {
		p := path{recipeKey(i)}
		r.places[p.id()] = item.at
		recipe := Recipe{Engine: names[0]}
		need := ""
		if len(names) > 1 {
			need = "one of " + strings.Join(names, ", ")
		}
		var flags *node
		before := len(r.errs)
		r.fields(item, p,
			field{name: "engine", read: r.oneOf(&recipe.Engine, names...), need: need},
			field{name: "checkpoint", read: r.oneOf(&recipe.Checkpoint, s.Models...)},
			field{name: "flags", read: keep(&flags), need: "{FLAG: VALUE}"},
		)
		if len(r.errs) == before && r.recipe(s, sp, &recipe, flags, p) {
			s.Recipes = append(s.Recipes, recipe)
		}
	}
}

// recipe reads a recipe's flags: each is searched, takes one of its values, and has a place in the configuration.
func (r *reader) recipe(s *Spec, sp *space.Space, recipe *Recipe, flags *node, p path) bool {
	before := len(r.errs)
	if flags.kind != mapNode {
		r.fail(flags, p.child("flags"), "wrong type", "{FLAG: VALUE}")
		return false
	}
	for _, e := range flags.entries {
		child := p.child("flags").child(e.key)
		param, known := sp.Param(recipe.Engine + "." + e.key)
		if !known {
			r.failAt(e.at, child, FieldError{Problem: "the flag is not in the space of " + recipe.Engine, Near: nearest(e.key, flagsOf(sp, recipe.Engine))})
			continue
		}
		if param.Fixed {
			r.failAt(e.at, child, FieldError{Problem: "the flag is fixed: it is in every recipe"})
			continue
		}
		v, ok := r.flagValue(e.value, child)
		switch {
		case !ok:
		case !v.IsDefault() && !param.Domain.Contains(v):
			r.fail(e.value, child, "not in the space", describeDomain(param.Domain))
		default:
			recipe.Settings = append(recipe.Settings, Setting{e.key, v})
		}
	}
	if len(r.errs) > before {
		return false
	}
	point, err := s.recipe(sp, *recipe)
	if err != nil {
		r.fail(flags, p, err.Error(), "")
		return false
	}
	for _, e := range flags.entries {
		if _, there := point.Get(recipe.Engine + "." + e.key); !there {
			q, _ := sp.Param(recipe.Engine + "." + e.key)
			r.failAt(e.at, p.child("flags").child(e.key), FieldError{Problem: fmt.Sprintf("the flag is not there beside the others: its condition is %s", q.When)})
		}
	}
	if c, broken := sp.Broken(point); broken {
		r.failAt(r.places[p.id()], p, FieldError{Problem: fmt.Sprintf("breaks rule %s: %s", c.ID, c.Reason)})
	}
	return len(r.errs) == before
}

func flagsOf(sp *space.Space, engine string) []string {
	var flags []string
	for _, p := range sp.Params() {
		if p.Engine == engine {
			flags = append(flags, p.Flag)
		}
	}
	return flags
}

// somethingToSearch refuses a space of one point.
func (r *reader) somethingToSearch(s *Spec) {
	if len(s.Engines) > 1 || len(s.Models) > 1 {
		return
	}
	for _, p := range s.Engines[0].Params {
		if !p.Fixed && (p.Domain.Size() > 1 || !p.Domain.Contains(space.Default())) {
			return
		}
	}
	at := path{"engines", s.Engines[0].Name}
	r.failAt(r.places[at.id()], at, FieldError{Problem: "the space is empty: there is nothing to search", Allowed: "flags with their values under space"})
}

// How long a configuration that keeps the spec's rules is looked for: by chance, then one after the other.
const (
	satisfyDraws = 2000
	satisfyWalk  = 100_000
)

// satisfiable refuses rules that leave an engine nothing.
func (r *reader) satisfiable(s *Spec, e Engine) {
	if len(s.Require)+len(e.Require) == 0 {
		return
	}
	alone := *s
	alone.Engines = []Engine{e}
	sp, err := alone.space(nil, nil)
	if err != nil {
		return // the whole space was made of the same parts
	}
	random := rand.New(rand.NewPCG(DefaultSeed, 0))
	for range satisfyDraws {
		if sp.Keeps(sp.Random(random)) {
			return
		}
	}
	seen := 0
	for p := range sp.Enumerate() {
		if seen++; seen > satisfyWalk || sp.Keeps(p) {
			return
		}
	}
	at := path{"engines", e.Name}
	r.failAt(r.places[at.id()], at, FieldError{
		Problem: "the space is empty: no configuration of this engine keeps what the spec requires",
		Allowed: "rules that can be kept; comparing a flag that is not there is false, and default equals only default",
	})
}
