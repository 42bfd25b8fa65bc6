package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"autotune/runner"
	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/memory"
	"autotune/tuner/studyfile"
)

// inputs is what a study's problem is made from besides its spec. It is stored with the study, so that a resume sees the same problem.
type inputs struct {
	Autotune string      `json:"autotune"` // version that began the study
	Catalog  string      `json:"catalog"`  // of the engine definitions
	Folder   string      `json:"folder"`   // of the spec: relative dataset paths start there
	Host     engine.Host `json:"host"`
	Sampler  string      `json:"sampler,omitempty"` // that the study began with
	Rehearse bool        `json:"rehearse,omitempty"`
	Noise    float64     `json:"noise,omitempty"`     // of a rehearsal
	FileHash string      `json:"file_hash,omitempty"` // of the first workload's dataset file
	// FileHashes are those of the further workloads' files, by the workload's name.
	FileHashes map[string]string `json:"file_hashes,omitempty"`
	Earlier    []earlier         `json:"earlier,omitempty"` // the studies that this one started from
	// Models are the checkpoints' geometries as they were read from their folders, by the checkpoint's name: a resume plans with the same numbers.
	Models map[string]memory.Model `json:"models,omitempty"`
	// Help is what the installed engines said of their flags before the first launch, by engine.
	Help  map[string]engine.Help `json:"help,omitempty"`
	RunOn bool                   `json:"run_on,omitempty"` // a person has raised the budget after the stop rule had ended the study: it ends it no more
}

// assembly is a study ready to be looked at or run.
type assembly struct {
	spec     *studyfile.Spec
	inputs   inputs
	engines  map[string]*engine.Definition
	problem  tuner.Problem
	planner  planner
	warnings []string
	recalled []recalled // what became of earlier studies
}

// assemble makes the problem from a spec and what is known of the machine. Errors are the spec's.
func assemble(spec *studyfile.Spec, in inputs) (*assembly, error) {
	a := &assembly{spec: spec, inputs: in, engines: map[string]*engine.Definition{}}
	var wrong studyfile.Errors
	for _, e := range spec.Engines {
		d, ok := engine.Find(e.Name)
		if !ok {
			wrong = append(wrong, a.fieldError("unknown engine", e.Name, engineNames(), "engines", e.Name))
			continue
		}
		d = in.installed(d)
		a.engines[e.Name] = d
		wrong = append(wrong, a.checkFlags(e, d)...)
	}
	wrong = append(wrong, a.checkBench()...)
	if len(wrong) > 0 {
		return nil, &exitError{code: exitUsage, err: wrong}
	}
	if err := a.makeProblem(); err != nil {
		return nil, err
	}
	a.warnings = append(a.warnings, a.unserved()...)
	return a, a.checkSampler()
}

func engineNames() string {
	var names []string
	for _, d := range engine.Catalog() {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

func (a *assembly) fieldError(problem, found, allowed string, path ...string) studyfile.FieldError {
	line, column := a.spec.Place(path...)
	return studyfile.FieldError{File: a.spec.Source, Line: line, Column: column, Key: strings.Join(path, "."), Problem: problem, Found: found, Allowed: allowed}
}

// checkFlags refuses other spellings of known flags (rules and exports go by the long name) and values that the engine's parser would refuse, and notes unknown flags.
func (a *assembly) checkFlags(e studyfile.Engine, d *engine.Definition) studyfile.Errors {
	var wrong studyfile.Errors
	for _, p := range e.Params {
		f, known := d.Flag(p.Flag)
		section := sectionOf(p)
		if fault, lacks := a.checkRelease(e, d, p); lacks {
			wrong = append(wrong, fault)
			continue
		}
		releases := d.FlagReleases(p.Flag)
		if releases != "" {
			releases = " (releases that have it: " + releases + ")"
		}
		switch {
		case !known && d.IsInstalled():
			fault := a.fieldError(fmt.Sprintf("%s as it is installed has no such flag%s", d.Title, releases), p.Flag, "", "engines", e.Name, section, p.Flag)
			fault.Near = d.Near(p.Flag)
			wrong = append(wrong, fault)
		case !known:
			note := fmt.Sprintf("%s: the catalog does not know the flag %s%s: only the installed engine can tell whether it has it; run asks its --help before the first launch", e.Name, p.Flag, releases)
			if near := d.Near(p.Flag); near != "" {
				note += fmt.Sprintf(" (did you mean %s?)", near)
			}
			a.warnings = append(a.warnings, note)
		case f.Name != p.Flag && !strings.Contains(p.Flag, "."):
			wrong = append(wrong, a.fieldError("another spelling of a flag", p.Flag, f.Name, "engines", e.Name, section, p.Flag))
		default:
			if err := d.CheckDomain(p.Flag, p.Domain); err != nil {
				wrong = append(wrong, a.fieldError(err.Error(), "", "", "engines", e.Name, section, p.Flag))
			}
		}
	}
	return wrong
}

func (a *assembly) makeProblem() error {
	var constraints []space.Constraint
	var rewrites []space.Rewrite
	a.planner = a.newPlanner()
	for _, e := range a.spec.Engines {
		c, r := a.engines[e.Name].Rules(a.inputs.Host, a.planner.geometry(), a.planner.longest)
		constraints, rewrites = append(constraints, c...), append(rewrites, r...)
	}
	constraints = append(constraints, a.planner.rules()...)
	resolved := a.spec.Resolve(func(name, flag string) (space.Value, bool) {
		return a.engines[name].ResolvedDefault(flag, a.inputs.Host)
	})
	p, err := resolved.Problem(constraints, rewrites)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	p.Hungry = map[string]float64{}
	for name, d := range a.engines {
		for flag, weight := range d.Hungry() {
			p.Hungry[name+"."+flag] = weight
		}
	}
	for _, b := range p.Baselines {
		if c, broken := p.Space.Broken(b); broken {
			a.warnings = append(a.warnings, fmt.Sprintf("the baseline of %s cannot run: %s", b.Engine(), a.planner.because(c, p.Space, b)))
		}
	}
	if a.planner.on() {
		p.Capacity = a.planner.capacity(p.Space)
	}
	a.problem = p
	a.recall()
	return nil
}

// model is the checkpoint of a point.
func (a *assembly) model(p space.Point) string {
	if v, ok := p.Get("checkpoint"); ok {
		return v.String()
	}
	return a.spec.Models[0]
}

// hashFiles keeps the hashes of the workloads' files.
func (in *inputs) hashFiles(traffic []runner.Traffic) {
	for i, t := range traffic {
		switch {
		case i == 0:
			in.FileHash = t.FileHash
		case t.FileHash != "":
			if in.FileHashes == nil {
				in.FileHashes = map[string]string{}
			}
			in.FileHashes[t.Workload.Name] = t.FileHash
		}
	}
}

// fileHash is the hash of a workload's file when the study began; empty when it has none.
func (in inputs) fileHash(s *studyfile.Spec, workload string) string {
	if workload == s.Workload().Name {
		return in.FileHash
	}
	return in.FileHashes[workload]
}

func (in inputs) encode() []byte {
	text, err := json.Marshal(in)
	if err != nil {
		panic("inputs without JSON: " + err.Error()) // numbers are finite
	}
	return text
}
