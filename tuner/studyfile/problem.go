package studyfile

import (
	"fmt"
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// Problem makes what a sampler sees of the spec, under its own rules and these further ones, the engines'. Hungry is left to the caller.
// The error is Errors when a recipe breaks a rule.
func (s *Spec) Problem(constraints []space.Constraint, rewrites []space.Rewrite) (tuner.Problem, error) {
	sp, err := s.space(constraints, rewrites)
	if err != nil {
		return tuner.Problem{}, err
	}
	p := tuner.Problem{Space: sp, Goal: s.Goal, Seed: s.Seed, Reference: s.Reference}
	for _, e := range s.Engines {
		point, err := sp.Point(s.values(e, "", e.Baseline))
		if err != nil {
			return tuner.Problem{}, fmt.Errorf("the baseline of %s: %w", e.Name, err)
		}
		p.Baselines = append(p.Baselines, point)
	}
	if len(s.Goal.Guards) > 0 { // what guards are compared with is measured first
		at := slices.IndexFunc(p.Baselines, func(b space.Point) bool { return b.Engine() == s.Reference })
		p.Baselines = slices.Insert(slices.Delete(slices.Clone(p.Baselines), at, at+1), 0, p.Baselines[at])
	}
	var faults Errors
	for i, recipe := range s.Recipes {
		point, err := s.recipe(sp, recipe)
		if err != nil {
			return tuner.Problem{}, fmt.Errorf("recipe %d: %w", i+1, err)
		}
		if c, broken := sp.Broken(point); broken {
			fault := s.Fault(fmt.Sprintf("breaks rule %s: %s", c.ID, c.Reason), recipeKey(i))
			faults = append(faults, fault)
			continue
		}
		p.Recipes = append(p.Recipes, point)
	}
	if len(faults) > 0 {
		return tuner.Problem{}, faults
	}
	return p, nil
}

func recipeKey(i int) string { return fmt.Sprintf("recipes[%d]", i) }

// space joins the parameters of every engine under the root choices.
func (s *Spec) space(constraints []space.Constraint, rewrites []space.Rewrite) (*space.Space, error) {
	var engines, checkpoints []space.Value
	for _, e := range s.Engines {
		engines = append(engines, space.String(e.Name))
	}
	for _, m := range s.Models {
		checkpoints = append(checkpoints, space.String(m))
	}
	domain, err := space.Choices(engines...)
	if err != nil {
		return nil, err
	}
	params := []space.Param{{Name: space.EngineParam, Domain: domain}}
	if len(checkpoints) > 1 {
		domain, err := space.Choices(checkpoints...)
		if err != nil {
			return nil, err
		}
		params = append(params, space.Param{Name: space.CheckpointParam, Domain: domain})
	}
	for _, e := range s.Engines {
		params = append(params, e.Params...)
	}
	return space.New(params, append(s.rules(), constraints...), rewrites)
}

// rules turns what the spec requires into rules of the space.
func (s *Spec) rules() []space.Constraint {
	var out []space.Constraint
	add := func(engine, prefix string, rules []Rule) {
		for i, rule := range rules {
			c := space.Constraint{ID: fmt.Sprintf("%srequire.%d", prefix, i+1), Engine: engine, Holds: rule.That.Holds}
			c.Reason = "the spec requires " + rule.That.String()
			if rule.Reason != "" {
				c.Reason += ": " + rule.Reason
			}
			out = append(out, c)
		}
	}
	add("", "", s.Require)
	for _, e := range s.Engines {
		add(e.Name, e.Name+".", e.Require)
	}
	return out
}

// values gives every parameter of an engine a value: the fixed ones theirs, those that are set, and default for everything else.
func (s *Spec) values(e Engine, checkpoint string, set []Setting) map[string]space.Value {
	values := map[string]space.Value{space.EngineParam: space.String(e.Name)}
	if len(s.Models) > 1 {
		if checkpoint == "" {
			checkpoint = s.Models[0]
		}
		values[space.CheckpointParam] = space.String(checkpoint)
	}
	for _, p := range e.Params {
		values[p.Name] = space.Default()
	}
	for _, f := range append(e.Fixed[:len(e.Fixed):len(e.Fixed)], set...) {
		values[e.Name+"."+f.Flag] = f.Value
	}
	return values
}

func (s *Spec) recipe(sp *space.Space, r Recipe) (space.Point, error) {
	for _, e := range s.Engines {
		if e.Name == r.Engine {
			return sp.Point(s.values(e, r.Checkpoint, r.Settings))
		}
	}
	return space.Point{}, fmt.Errorf("no engine is called %s", r.Engine)
}

// Resolve returns the spec with each parameter's Resolved set to what lookup says that default stands for.
func (s *Spec) Resolve(lookup func(engine, flag string) (space.Value, bool)) *Spec {
	c := *s
	c.Engines = append([]Engine(nil), s.Engines...)
	for i := range c.Engines {
		e := &c.Engines[i]
		e.Params = append([]space.Param(nil), e.Params...)
		for j, p := range e.Params {
			if v, ok := lookup(p.Engine, p.Flag); ok {
				e.Params[j].Resolved = v
			}
		}
	}
	return &c
}
