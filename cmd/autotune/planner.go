package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"autotune/runner/checkpoint"
	"autotune/runner/engine"
	"autotune/runner/place"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/memory"
	"autotune/tuner/studyfile"
)

// planner says of a configuration whether it fits: a function of the study file alone. After launches whose logs told sizes it is another one: see
// calibrated.
type planner struct {
	engines  map[string]*engine.Definition
	models   map[string]memory.Model        // by checkpoint; what is not known is not in it
	sizes    map[string]*memory.Calibration // by checkpoint: the models after what logs said; nil where none has said anything
	first    string                         // checkpoint of a study that has only one
	launches []launch                       // whose logs they are
	host     engine.Host
	longest  int     // request of the workloads, in tokens; 0: unknown
	typical  float64 // request of the first workload, in tokens
	clients  float64 // most requests of it in flight
}

// newPlanner knows the geometries that the spec tells in numbers, and those that were read when the study began.
func (a *assembly) newPlanner() planner {
	p := planner{engines: a.engines, models: map[string]memory.Model{}, first: a.spec.Models[0], host: a.inputs.Host}
	for _, t := range a.spec.Traffic {
		p.longest = max(p.longest, t.Longest())
	}
	first := a.spec.Traffic[0]
	p.typical, p.clients = first.MeanTokens(), float64(first.Requests)
	if first.MaxConcurrency > 0 {
		p.clients = min(p.clients, float64(first.MaxConcurrency))
	}
	if a.spec.Plan.MemoryGiB > 0 {
		p.host.GPU, p.host.MemoryGiB = a.spec.Plan.GPU, a.spec.Plan.MemoryGiB
	}
	for _, name := range a.spec.Models {
		if told, ok := a.spec.Plan.Of(name); ok && len(told.Config) > 0 {
			if m, err := memory.ReadConfig(told.Config); err == nil { // the parser has read it already
				p.models[name] = m
			}
		} else if m, ok := a.inputs.Models[name]; ok && m.Known() {
			p.models[name] = m
		}
	}
	return p
}

// on tells whether there is anything to plan with.
func (p planner) on() bool { return len(p.models) > 0 && p.host.MemoryGiB > 0 && p.host.GPUs > 0 }

// geometry is what the engines' rules may rely on: what all checkpoints of the study have in common.
func (p planner) geometry() engine.Model {
	if !p.on() {
		return engine.Model{}
	}
	var common engine.Model
	first := true
	for _, m := range p.models {
		g := engine.Geometry(m)
		if first {
			common, first = g, false
		} else if g != common {
			return engine.Model{}
		}
	}
	return common
}

// estimate of a configuration, of which look gives the flags by full name.
func (p planner) estimate(look space.Lookup) memory.Estimate {
	_, e := p.plan(look)
	return e
}

func (p planner) plan(look space.Lookup) (memory.Setup, memory.Estimate) {
	name := p.first
	if v, several := look(space.CheckpointParam); several {
		name = v.String()
	}
	v, _ := look(space.EngineParam)
	d := p.engines[v.String()]
	if d == nil {
		return memory.Setup{}, memory.Estimate{Answer: memory.Unknown}
	}
	s, unknown := d.MemorySetup(p.host, look, p.longest)
	if unknown != "" {
		return s, memory.Estimate{Answer: memory.Unknown, Reason: "the planner does not follow the flag " + unknown}
	}
	if c := p.sizes[name]; c != nil {
		return s, c.Plan(s)
	}
	return s, memory.Plan(p.models[name], s)
}

// rules exclude what cannot fit.
func (p planner) rules() []space.Constraint {
	if !p.on() {
		return nil
	}
	var rules []space.Constraint
	for _, name := range engine.Names() {
		if d := p.engines[name]; d != nil {
			rules = append(rules, d.MemoryRule(p.estimate))
		}
	}
	return rules
}

// capacity is what samplers may know of a configuration of a space.
func (p planner) capacity(of *space.Space) func(space.Lookup) (tuner.Capacity, bool) {
	return func(look space.Lookup) (tuner.Capacity, bool) {
		s, e := p.plan(of.Resolve(look))
		room, ok := e.Headroom()
		return tuner.Capacity{Headroom: room, Sequences: math.Min(e.Sequences(s, p.typical), p.clients)}, ok
	}
}

// because is why a rule excludes a point of a space: of the planner's the sum of that very point.
func (p planner) because(c space.Constraint, of *space.Space, q space.Point) string {
	if memoryRule(c.ID) {
		if e := p.estimate(of.Resolved(q)); e.Answer == memory.Cannot {
			return e.Reason
		}
	}
	return c.Reason
}

// memoryRule tells whether a rule is the planner's, by its name.
func memoryRule(id string) bool { return strings.HasSuffix(id, "_memory") }

// assembleNew assembles a study that begins: the checkpoints' folders are read now, and this machine's GPUs are asked for, and never again.
func (w *world) assembleNew(ctx context.Context, spec *studyfile.Spec, in inputs) (*assembly, error) {
	models, doubts, err := w.readModels(spec, in.Folder)
	if err != nil {
		return nil, err
	}
	in.Models = models
	if !in.Rehearse && spec.GPUs > 0 && spec.Plan.MemoryGiB == 0 {
		doubts = append(doubts, w.readHost(ctx, &in.Host)...)
	}
	a, err := assemble(spec, in)
	if a != nil {
		a.warnings = append(a.warnings, doubts...)
	}
	return a, err
}

// readHost learns the type and memory of the GPUs that a study will have. Where this machine cannot tell, nothing is planned with them.
func (w *world) readHost(ctx context.Context, h *engine.Host) (doubts []string) {
	found, err := place.GPUs(ctx, w.environ)
	if err != nil {
		return nil // a machine to write specs on has none
	}
	if len(found) < h.GPUs {
		doubts = append(doubts, fmt.Sprintf("this machine has %d GPUs, and the spec asks for %d", len(found), h.GPUs))
	}
	h.GPU, h.MemoryGiB = found[0].Name, found[0].MemoryGiB
	for _, g := range found[:min(len(found), h.GPUs)] {
		h.MemoryGiB = math.Min(h.MemoryGiB, g.MemoryGiB)
	}
	return doubts
}

// readModels reads the geometries of the study's checkpoints, where they lie on this machine: the folder that the spec names, the checkpoint itself, or
// the cache that it was downloaded to. A folder that the spec names must be readable; of any other the doubts say what is wrong with it.
func (w *world) readModels(spec *studyfile.Spec, folder string) (models map[string]memory.Model, doubts []string, err error) {
	models = map[string]memory.Model{}
	var wrong studyfile.Errors
	for _, name := range spec.Models {
		told, ok := spec.Plan.Of(name)
		where := told.Folder
		switch {
		case ok && where == "":
			continue // in numbers
		case ok && !filepath.IsAbs(where):
			where = filepath.Join(folder, where)
		case !ok && (filepath.IsAbs(name) || strings.HasPrefix(name, ".")):
			where = name
		case !ok:
			where = checkpoint.Cached(w.hub(), name)
		}
		if where == "" {
			continue
		}
		m, err := checkpoint.Read(where)
		switch {
		case err == nil:
			models[name] = m
		case ok:
			fault := spec.Fault("the checkpoint's geometry cannot be read: "+err.Error(), "plan", "models", name)
			fault.Allowed = "a folder with the checkpoint's config.json, or numbers of it: {hidden_size: 4096, ...}"
			wrong = append(wrong, fault)
		case !errors.Is(err, checkpoint.ErrNone):
			doubts = append(doubts, fmt.Sprintf("the geometry of %s cannot be read, so nothing is planned with it: %v", name, err))
		}
	}
	if len(wrong) > 0 {
		return nil, nil, &exitError{code: exitUsage, err: wrong}
	}
	return models, doubts, nil
}

// hub is the folder that Hugging Face libraries download checkpoints to.
func (w *world) hub() string {
	for _, place := range []struct{ variable, below string }{{"HF_HUB_CACHE", ""}, {"HF_HOME", "hub"}, {"XDG_CACHE_HOME", "huggingface/hub"}, {"HOME", ".cache/huggingface/hub"}} {
		if v := w.getenv(place.variable); v != "" {
			return filepath.Join(v, place.below)
		}
	}
	return ""
}
