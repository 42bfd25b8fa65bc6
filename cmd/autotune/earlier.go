package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"autotune/runner/engine"
	"autotune/space"
	"autotune/store"
	"autotune/tuner"
	"autotune/tuner/memory"
	"autotune/tuner/studyfile"
)

// earlier is what an earlier study file says, as it was read when this study began. It is stored with the study: a resume needs no other file.
type earlier struct {
	Path string `json:"path"` // as the spec names it
	UUID string `json:"uuid"`
	Name string `json:"name"`
	// Reference is the engine whose baseline the values are counted from; empty when no baseline ran there.
	Reference string `json:"reference,omitempty"`
	// Fixed are the parameters that have one value in the whole study.
	Fixed  []string       `json:"fixed,omitempty"`
	Trials []earlierTrial `json:"trials"`
}

// earlierTrial is a trial of an earlier study that was measured or failed.
type earlierTrial struct {
	Number  int                    `json:"number"`
	Point   map[string]space.Value `json:"point"` // in that study's parameters, its checkpoint left out
	Model   string                 `json:"model"`
	Version string                 `json:"version,omitempty"` // of the engine
	Differs tuner.Differences      `json:"differs"`
	Kind    tuner.Kind             `json:"kind"`
	Reason  tuner.Reason           `json:"reason,omitempty"`
	// Objective is this study's objective as measured there, Kept whether this study's bounds were kept.
	Objective float64 `json:"objective,omitempty"`
	Kept      bool    `json:"kept,omitempty"`
	// Value is the logarithm of how much better the objective is than the reference's, as in tuner.Evidence.
	Value float64 `json:"value,omitempty"`
	// Memory is what the log said of it.
	Memory *memory.Facts `json:"memory,omitempty"`
}

// readEarlier reads the study files that the spec starts from, and takes them into the problem. Errors are the spec's.
func (a *assembly) readEarlier(ctx context.Context) error {
	var wrong studyfile.Errors
	for _, path := range a.spec.StartFrom {
		e, err := a.readOne(ctx, path)
		if err != nil {
			problem := err.Error()
			if f := (*store.FileError)(nil); errors.As(err, &f) {
				problem = f.Path + " " + f.Problem // what helps there is meant for a study of one's own
			}
			wrong = append(wrong, a.spec.Fault("the earlier study cannot be read: "+problem, "search", "start_from"))
			continue
		}
		a.inputs.Earlier = append(a.inputs.Earlier, e)
	}
	if len(wrong) > 0 {
		return &exitError{code: exitUsage, err: wrong}
	}
	a.recall()
	return nil
}

func (a *assembly) readOne(ctx context.Context, path string) (e earlier, err error) {
	where := path
	if !filepath.IsAbs(where) {
		where = filepath.Join(a.inputs.Folder, where)
	}
	o, err := look(ctx, where)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, o.db.Close()) }()
	return a.extract(o, path), nil
}

// extract keeps what this study can use of another one, in that study's own parameters.
func (a *assembly) extract(o *opened, path string) earlier {
	e := earlier{Path: path, UUID: o.study.UUID, Name: o.study.Name, Trials: []earlierTrial{}}
	for _, q := range o.problem.Space.Params() {
		if q.Fixed {
			e.Fixed = append(e.Fixed, q.Name)
		}
	}
	goal := a.problem.Goal
	ref, based := tuner.Reference(tuner.Problem{Reference: a.spec.Reference, Baselines: o.problem.Baselines, Goal: tuner.Goal{Metric: goal.Metric, Direction: goal.Direction}}, o.history)
	if based = based && ref.Value > 0; based {
		e.Reference = ref.Trial.Point.Engine()
	}
	for _, t := range o.history {
		v, measured := goal.Value(t.Outcome.Measured)
		measured = measured && t.Outcome.Kind == tuner.Measured && v > 0
		failed := t.Outcome.Kind == tuner.Infeasible && t.Outcome.Signature != "interrupted"
		if !t.Told() || !measured && !failed {
			continue
		}
		found := earlierTrial{Number: t.Number, Point: t.Point.Map(), Model: o.assembly.model(t.Point), Version: t.Outcome.Run.EngineVersion, Kind: t.Outcome.Kind, Reason: t.Outcome.Reason}
		found.Differs = a.differences(o.assembly, found.Model)
		delete(found.Point, space.CheckpointParam)
		if f := engine.Measured(t.Outcome.Run.Facts); f != (memory.Facts{}) {
			found.Memory = &f
		}
		if measured {
			found.Objective, found.Kept = v, goal.Feasible(t)
			if based {
				found.Value = math.Log(1 + goal.Gain(v, ref.Value))
			}
		}
		e.Trials = append(e.Trials, found)
	}
	return e
}

// differences are what sets a trial of another study apart.
func (a *assembly) differences(o *assembly, model string) tuner.Differences {
	return tuner.Differences{
		Model:    !slices.Contains(a.spec.Models, model),
		Workload: !slices.Equal(a.question(o), o.question(o)),
		Machine:  a.inputs.Host != o.inputs.Host,
		Clock:    a.inputs.Rehearse != o.inputs.Rehearse,
	}
}

// question is what a study's targets ask. A check has not read its datasets: their files are then taken for those of the other study.
func (a *assembly) question(o *assembly) []string {
	var all []string
	for _, t := range a.spec.Traffic {
		if t.Role == studyfile.RoleTarget {
			all = append(all, questionOf(a.spec, t.Spec, cmp.Or(a.inputs.fileHash(a.spec, t.Name), o.inputs.fileHash(o.spec, t.Name))))
		}
	}
	slices.Sort(all)
	return all
}

// recall makes recipes and evidence of what was read of earlier studies: a function of the study file alone.
func (a *assembly) recall() {
	p := &a.problem
	p.Recipes, p.RecipeWhy, p.Evidence = slices.Clip(p.Recipes[:len(a.spec.Recipes)]), nil, nil
	for i := range p.Recipes {
		p.RecipeWhy = append(p.RecipeWhy, fmt.Sprintf("recipe %d of the spec", i+1))
	}
	seen := map[string]bool{}
	for _, q := range slices.Concat(p.Baselines, p.Recipes) {
		seen[q.Key()] = true
	}
	a.recalled = nil
	for _, e := range a.inputs.Earlier {
		r := recalled{path: e.Path, of: len(e.Trials)}
		for _, t := range e.best(p.Goal) {
			point, ok := a.translate(e, t)
			if ok && !seen[point.Key()] && r.recipes < recipesOfAStudy {
				seen[point.Key()] = true
				r.recipes++
				p.Recipes, p.RecipeWhy = append(p.Recipes, point), append(p.RecipeWhy, e.why(t, p.Goal))
			}
		}
		for _, t := range e.Trials {
			if t.Kind == tuner.Measured && e.Reference == "" {
				continue // nothing to count from
			}
			if point, ok := a.translate(e, t); ok {
				r.add(t.Differs)
				p.Evidence = append(p.Evidence, tuner.Evidence{Point: point, Kind: t.Kind, Reason: t.Reason, Value: t.Value, Reference: e.Reference,
					Weight: t.Differs.Weight(), EngineVersion: t.Version, Source: fmt.Sprintf("%s, trial %d", e.Path, t.Number)})
			}
		}
		a.recalled = append(a.recalled, r)
	}
	a.learn(nil)
}

// recipesOfAStudy is how many of an earlier study's configurations are tried at most: what they teach beyond the first is how far it carries over.
const recipesOfAStudy = 5

// best lists the trials that are worth trying again, best first: measured, this study's bounds kept, better than the reference there.
func (e earlier) best(g tuner.Goal) []earlierTrial {
	var out []earlierTrial
	for _, t := range e.Trials {
		if t.Kind == tuner.Measured && t.Kept && (e.Reference == "" || t.Value > 0) {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(x, y earlierTrial) int {
		c := cmp.Compare(y.Objective, x.Objective)
		if g.Direction == tuner.Minimize {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(x.Number, y.Number))
	})
	return out
}

// translate places a trial in this study's space; a checkpoint that this study does not have becomes its first.
func (a *assembly) translate(e earlier, t earlierTrial) (space.Point, bool) {
	values := t.Point
	if q, several := a.problem.Space.Param(space.CheckpointParam); several {
		values = make(map[string]space.Value, len(t.Point)+1)
		for name, v := range t.Point {
			values[name] = v
		}
		values[space.CheckpointParam] = q.Domain.At(0)
		if v := space.String(t.Model); q.Domain.Contains(v) {
			values[space.CheckpointParam] = v
		}
	}
	return tuner.Translate(a.problem.Space, values, func(name string) bool { return slices.Contains(e.Fixed, name) })
}
