package main

import (
	"fmt"

	"autotune/runner/engine"
	"autotune/search"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/memory"
)

// The planner's estimates are wide where nothing was measured. What the logs of a study's launches say of weights, caches and graphs narrows them for what
// is asked next: a function of the study file alone, so that a resume asks what the study would have.

// launch is a launch of the study, or of an earlier one, as the planner sees it.
type launch struct {
	memory.Launch
	checkpoint string
	source     string // "trial 3", "earlier.db, trial 3"
	trial      int    // of this study; -1: of an earlier one
}

// trialSource names a trial of this study as the source of sizes.
func trialSource(number int) string { return fmt.Sprintf("trial %d", number) }

// launches are those of a history that tell something of memory, after those of earlier studies on the same machine.
func (a *assembly) launches(h tuner.History) []launch {
	var all []launch
	for _, e := range a.inputs.Earlier {
		for _, t := range e.Trials {
			if t.Memory == nil || t.Differs.Model || t.Differs.Machine || t.Differs.Clock {
				continue
			}
			look := func(name string) (space.Value, bool) { v, ok := t.Point[name]; return v, ok }
			if l, ok := a.launch(t.Model, a.problem.Space.Resolve(look), *t.Memory, t.Kind); ok {
				l.source, l.trial = e.Path+", "+trialSource(t.Number), -1
				all = append(all, l)
			}
		}
	}
	for _, t := range h {
		if !t.Told() {
			continue
		}
		if l, ok := a.launch(a.model(t.Point), a.problem.Space.Resolved(t.Point), engine.Measured(t.Outcome.Run.Facts), t.Outcome.Kind); ok {
			l.source, l.trial = trialSource(t.Number), t.Number
			all = append(all, l)
		}
	}
	return all
}

// launch is one launch; ok is false where it tells nothing.
func (a *assembly) launch(checkpoint string, look space.Lookup, f memory.Facts, kind tuner.Kind) (l launch, ok bool) {
	name, _ := look(space.EngineParam)
	d := a.engines[name.String()]
	ran := kind == tuner.Measured || kind == tuner.Stopped || kind == tuner.Invalid
	if d == nil || f == (memory.Facts{}) && !ran {
		return l, false
	}
	s, unknown := d.MemorySetup(a.planner.host, look, a.planner.longest)
	return launch{Launch: memory.Launch{Setup: s, Facts: f, Ran: ran}, checkpoint: checkpoint}, unknown == ""
}

// after is the planner that knows of launches.
func (p planner) after(all []launch) planner {
	by := map[string][]memory.Launch{}
	for _, l := range all {
		by[l.checkpoint] = append(by[l.checkpoint], l.Launch)
	}
	p.sizes, p.launches = map[string]*memory.Calibration{}, all
	for name, m := range p.models {
		if len(by[name]) > 0 {
			p.sizes[name] = memory.Calibrate(m, by[name])
		}
	}
	return p
}

// source is the first launch of an engine with a checkpoint whose log told sizes.
func (p planner) source(engine, checkpoint string) string {
	for _, l := range p.launches {
		if l.Setup.Engine == engine && l.checkpoint == checkpoint && l.Facts != (memory.Facts{}) {
			return l.source
		}
	}
	return ""
}

// correct is a problem with what cannot fit, and how much room there is, as this planner knows it.
func (p planner) correct(of tuner.Problem) tuner.Problem {
	if p.on() {
		of.Space = of.Space.Substitute(p.rules())
		of.Capacity = p.capacity(of.Space)
	}
	return of
}

// plannerAfter is the planner that knows what was measured in a history.
func (a *assembly) plannerAfter(h tuner.History) planner {
	if !a.planner.on() {
		return a.planner
	}
	return a.planner.after(a.launches(h))
}

// corrected is the problem as it is after a history.
func (a *assembly) corrected(p tuner.Problem, h tuner.History) tuner.Problem {
	return a.plannerAfter(h).correct(p)
}

// learn makes the study's own planner and problem those after a history.
func (a *assembly) learn(h tuner.History) {
	a.planner = a.plannerAfter(h)
	a.problem = a.planner.correct(a.problem)
}

// calibrated asks a sampler and a ranker with the planner corrected by the history: the earlier points' room is computed with the same planner as that
// of those which might be next. No configuration that ran is asked again under another spelling.
type calibrated struct {
	sampler  tuner.Sampler
	ranker   tuner.Ranker
	assembly *assembly
}

// newCalibrated makes the study's own sampler and ranker.
func (a *assembly) newCalibrated() (calibrated, error) {
	sampler, err := search.New(a.spec.Sampler)
	return calibrated{sampler, search.RankerOf(a.spec.Sampler), a}, err
}

// Suggest implements tuner.Sampler.
func (c calibrated) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	p = c.assembly.corrected(p, h)
	p.Space = p.Space.Substitute([]space.Constraint{c.assembly.respelled(p, h)})
	return c.sampler.Suggest(p, h, ask)
}

// Rank implements tuner.Ranker.
func (c calibrated) Rank(p tuner.Problem, h tuner.History) []tuner.Ranked {
	return c.ranker.Rank(c.assembly.corrected(p, h), h)
}
