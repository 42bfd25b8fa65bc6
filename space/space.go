package space

import (
	"fmt"
	"slices"
	"strings"
)

// Root parameters: they belong to no engine.
const (
	// EngineParam is the name of the root choice.
	EngineParam = "engine"
	// CheckpointParam is the name of the choice between checkpoints; it is there only when a study has several.
	CheckpointParam = "checkpoint"
)

// Param is one thing that can be turned.
type Param struct {
	// Name is unique in the space: "engine", "checkpoint", or ENGINE.FLAG, since two engines may share a flag's name.
	Name string
	// Engine is the engine under which alone the parameter is active; empty for a root parameter.
	Engine string
	// Flag is the engine's own name of it, without dashes in front; empty for a root parameter.
	Flag string
	// Domain holds the values.
	Domain Domain
	// When must hold for the parameter to be active; nil means always. Its names are bound to full names.
	When *Expr
	// Fixed says that the value goes into every command, the baseline included; the domain has one value.
	Fixed bool
	// Resolved is the number that default stands for, where known: a position for models, never an equality.
	Resolved Value
}

// Constraint is a rule that every proposed point keeps.
type Constraint struct {
	// ID names the rule for people and scripts.
	ID string
	// Reason says why, as a sentence's end: "asserts that dp-size divides tp-size".
	Reason string
	// Engine is the engine for which alone it is checked; empty for all.
	Engine string
	// Holds tells whether an assignment keeps the rule. It sees resolved values.
	Holds func(Lookup) bool
}

// Rewrite is a rule by which an engine ignores or forces a flag: points that differ in it alone are one configuration.
type Rewrite struct {
	ID, Reason, Engine string
	// Apply returns what the engine makes of some parameters; KindNone drops one. It returns nil when the rule does not bite.
	Apply func(Lookup) map[string]Value
	// Among gives the rule for a space that has only some of the parameters that it is about, which is less work; ok is false where it cannot bite. Nil: as it is.
	Among func(has func(name string) bool) (r Rewrite, ok bool)
}

// Space is a set of points: parameters, in an order in which a condition stands after what it names. Immutable.
type Space struct {
	params      []Param
	index       map[string]int
	constraints []Constraint
	rewrites    []Rewrite
	order       []int // of params, conditions after what they name
}

// New makes a space. It fails on a parameter given twice, an empty domain, a condition on an unknown parameter and a cyclic one.
func New(params []Param, constraints []Constraint, rewrites []Rewrite) (*Space, error) {
	s := &Space{params: slices.Clone(params), index: map[string]int{}, constraints: slices.Clone(constraints)}
	for i, p := range s.params {
		if _, twice := s.index[p.Name]; twice {
			return nil, fmt.Errorf("parameter %s is given twice", p.Name)
		}
		if p.Domain.Size() == 0 {
			return nil, fmt.Errorf("parameter %s has no values", p.Name)
		}
		s.index[p.Name] = i
	}
	s.rewrites = s.biting(rewrites)
	return s, s.sort()
}

// biting are the rewrites that can bite in the space.
func (s *Space) biting(all []Rewrite) []Rewrite {
	has := func(name string) bool { _, ok := s.index[name]; return ok }
	var out []Rewrite
	for _, r := range all {
		ok := true
		if r.Among != nil {
			r, ok = r.Among(has)
		}
		if ok {
			out = append(out, r)
		}
	}
	return out
}

// sort finds an order in which every condition stands after what it names, and keeps the given order otherwise.
func (s *Space) sort() error {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(s.params))
	var visit func(i int, path []string) error
	visit = func(i int, path []string) error {
		p := s.params[i]
		path = append(path, p.Name)
		switch state[i] {
		case done:
			return nil
		case open:
			return fmt.Errorf("conditions form a cycle: %s", strings.Join(path, " needs "))
		}
		state[i] = open
		for _, name := range s.needs(p) {
			j, ok := s.index[name]
			if !ok {
				return fmt.Errorf("the condition of %s names an unknown parameter %s", p.Name, name)
			}
			if err := visit(j, path); err != nil {
				return err
			}
		}
		state[i] = done
		s.order = append(s.order, i)
		return nil
	}
	for i := range s.params {
		if err := visit(i, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *Space) needs(p Param) []string {
	names := p.When.Names()
	if p.Engine != "" {
		names = append([]string{EngineParam}, names...)
	}
	return names
}

// With returns the space with further rules: an engine's, say.
func (s *Space) With(constraints []Constraint, rewrites []Rewrite) *Space {
	c := *s
	c.constraints = append(slices.Clone(s.constraints), constraints...)
	c.rewrites = append(slices.Clone(s.rewrites), s.biting(rewrites)...)
	return &c
}

// Substitute returns the space with some of its rules in another version, by their IDs; a rule that the space has not is added. Points and their keys stay
// the same.
func (s *Space) Substitute(constraints []Constraint) *Space {
	c := *s
	c.constraints = slices.Clone(s.constraints)
	for _, rule := range constraints {
		if at := slices.IndexFunc(c.constraints, func(x Constraint) bool { return x.ID == rule.ID }); at >= 0 {
			c.constraints[at] = rule
		} else {
			c.constraints = append(c.constraints, rule)
		}
	}
	return &c
}

// Params returns the parameters in the order in which they were declared.
func (s *Space) Params() []Param { return slices.Clone(s.params) }

// Ordered returns the parameters in an order in which a condition stands after what it names.
func (s *Space) Ordered() []Param {
	params := make([]Param, len(s.order))
	for k, i := range s.order {
		params[k] = s.params[i]
	}
	return params
}

// Param finds a parameter by its full name.
func (s *Space) Param(name string) (Param, bool) {
	i, ok := s.index[name]
	if !ok {
		return Param{}, false
	}
	return s.params[i], true
}

// Constraints returns the rules.
func (s *Space) Constraints() []Constraint { return slices.Clone(s.constraints) }

// Rewrites returns the rules by which engines ignore or force flags.
func (s *Space) Rewrites() []Rewrite { return slices.Clone(s.rewrites) }

// Active tells whether a parameter exists beside the values that look gives.
func (s *Space) Active(p Param, look Lookup) bool {
	if p.Engine != "" {
		if v, ok := look(EngineParam); !ok || v != String(p.Engine) {
			return false
		}
	}
	return p.When.Holds(look)
}

// Broken returns the first rule that the point breaks.
func (s *Space) Broken(p Point) (Constraint, bool) {
	look := s.resolve(p.Get)
	engine, _ := p.Get(EngineParam)
	for _, c := range s.constraints {
		if (c.Engine == "" || String(c.Engine) == engine) && !c.Holds(look) {
			return c, true
		}
	}
	return Constraint{}, false
}

// Resolved gives the values of a point as its engine makes them; a parameter that the engine drops has none.
func (s *Space) Resolved(p Point) Lookup { return s.resolve(p.Get) }

// Resolve gives an assignment's values as its engine makes them.
func (s *Space) Resolve(look Lookup) Lookup { return s.resolve(look) }

// Resolutions are the ids of the rewrites that change something of the point, in order.
func (s *Space) Resolutions(p Point) []string {
	var ids []string
	changed := map[string]Value{}
	now := func(name string) (Value, bool) {
		if v, ok := changed[name]; ok {
			return v, v.kind != KindNone
		}
		return p.Get(name)
	}
	engine, _ := p.Get(EngineParam)
	for _, r := range s.rewrites {
		if r.Engine != "" && String(r.Engine) != engine {
			continue
		}
		bites := false
		for name, v := range r.Apply(now) {
			before, had := now(name)
			bites = bites || had && before != v
			changed[name] = v
		}
		if bites {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// resolve applies the rewrites, in order, over an assignment.
func (s *Space) resolve(look Lookup) Lookup {
	var changed map[string]Value
	now := func(name string) (Value, bool) {
		if v, ok := changed[name]; ok {
			return v, v.kind != KindNone
		}
		return look(name)
	}
	engine, _ := look(EngineParam)
	for _, r := range s.rewrites {
		if r.Engine != "" && String(r.Engine) != engine {
			continue
		}
		for name, v := range r.Apply(now) {
			if changed == nil {
				changed = map[string]Value{}
			}
			changed[name] = v
		}
	}
	return now
}
