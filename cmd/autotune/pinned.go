package main

import (
	"fmt"

	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner/studyfile"
)

// pinned are the releases that the spec is for, by engine; none in a rehearsal, whose engine is a fake.
func (a *assembly) pinned() map[string]string {
	out := map[string]string{}
	for _, e := range a.spec.Engines {
		if e.Version != "" && !a.inputs.Rehearse {
			out[e.Name] = e.Version
		}
	}
	return out
}

// checkRelease holds a flag against the release that the spec is for: one that it lacks is refused, one that only the releases around it tell of is noted.
func (a *assembly) checkRelease(e studyfile.Engine, d *engine.Definition, p space.Param) (studyfile.FieldError, bool) {
	if e.Version == "" || d.IsInstalled() || p.Domain.Size() == 1 && p.Domain.Contains(space.Default()) {
		return studyfile.FieldError{}, false
	}
	is, releases := d.InRelease(p.Flag, e.Version), d.FlagReleases(p.Flag)
	switch {
	case is == engine.Absent:
		return a.fieldError(fmt.Sprintf("%s %s has no such flag: %s", d.Title, e.Version, releases), p.Flag, "", "engines", e.Name, sectionOf(p), p.Flag), true
	case is == engine.NotKnown && releases != "":
		a.warnings = append(a.warnings, fmt.Sprintf("%s: it is not known whether %s %s has the flag %s (releases: %s)", e.Name, d.Title, e.Version, p.Flag, releases))
	}
	return studyfile.FieldError{}, false
}

func sectionOf(p space.Param) string {
	if p.Fixed {
		return "fixed"
	}
	return "space"
}

// unserved says which checkpoints' architectures an engine has no code for, in the release that the spec is for or else in the newest known.
func (a *assembly) unserved() []string {
	var said []string
	for _, name := range a.spec.Models {
		for _, e := range a.spec.Engines {
			if lacks := a.engines[e.Name].LacksArchitecture(a.planner.models[name].Architecture, e.Version); lacks != "" {
				said = append(said, name+": "+lacks)
			}
		}
	}
	return said
}
