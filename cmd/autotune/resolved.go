package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner"
)

// resolving is a runner whose outcomes name the configuration that the engine went by, so that no other spelling of it is tried, and trials that turn out to
// be one configuration are joined.
type resolving struct {
	tuner.Runner
	joiner *joiner
}

// Run implements tuner.Runner.
func (r resolving) Run(ctx context.Context, t tuner.Trial, observe func(tuner.Partial) tuner.Verdict) (tuner.Outcome, error) {
	out, err := r.Runner.Run(ctx, t, observe)
	t.Outcome = out
	if err == nil && t.Ran() {
		out.Run.ResolvedKey = r.joiner.join(t)
	}
	return out, err
}

// joiner finds the trials of a study that turned out to be one configuration.
type joiner struct {
	*assembly
	keys map[string]string // of the first trial with a fingerprint
}

// newJoiner knows of a study's trials so far, and names the configurations of those whose file was written before trials were joined.
func (a *assembly) newJoiner(h tuner.History) *joiner {
	j := &joiner{a, map[string]string{}}
	for i, t := range h {
		if t.Told() && t.Ran() {
			h[i].Outcome.Run.ResolvedKey = j.join(t)
		}
	}
	return j
}

// join is the key of the configuration that the engine of a trial that ran went by: of the point of the space that it reports, or of the first trial whose
// engine reported the very same, flag by flag; empty where it is what was asked.
func (j *joiner) join(t tuner.Trial) string {
	if t.Outcome.Run.ResolvedKey == "" {
		t.Outcome.Run.ResolvedKey = j.resolvedKey(t)
	}
	key := t.Effective()
	if mark := j.fingerprint(t); mark != "" {
		if first, known := j.keys[mark]; known {
			key = first
		} else {
			j.keys[mark] = key
		}
	}
	if key == t.Point.Key() {
		return ""
	}
	return key
}

// otherwise are the flags that a trial asked for and that its engine resolved to something else.
func (a *assembly) otherwise(t tuner.Trial) []engine.Difference {
	d := a.engines[t.Point.Engine()]
	if d == nil || len(t.Outcome.Run.Resolved) == 0 {
		return nil
	}
	all, _ := a.settings(t.Point)
	return d.Differences(all, d.Effective(t.Outcome.Run.Resolved))
}

// resolvedKey is the key of the point that the engine says it went by, where it is another one of the space; else empty.
func (a *assembly) resolvedKey(t tuner.Trial) string {
	values := t.Point.Map()
	changed := false
	for _, x := range a.otherwise(t) {
		name := t.Point.Engine() + "." + x.Flag
		p, ok := a.problem.Space.Param(name)
		runs, std := x.Runs, space.Default()
		switch {
		case !ok || p.Fixed:
			continue
		case p.Domain.Contains(runs):
			values[name] = runs
		case p.Domain.Contains(std) && a.isDefault(t.Point.Engine(), x):
			values[name] = std
		default:
			return "" // no point of the space is it
		}
		changed = true
	}
	if !changed {
		return ""
	}
	p, err := a.problem.Space.Point(values)
	if err != nil || p.Key() == t.Point.Key() {
		return ""
	}
	return p.Key()
}

// isDefault tells whether what the engine goes by is what it does with the flag left out.
func (a *assembly) isDefault(name string, x engine.Difference) bool {
	std, known := a.engines[name].ResolvedDefault(x.Flag, a.inputs.Host)
	return known && std == x.Runs
}

// fingerprint is what a study varies as a trial's engine reports it, with the checkpoint, and as it was asked where the report does not tell; empty where the engine has reported nothing.
func (a *assembly) fingerprint(t tuner.Trial) string {
	d := a.engines[t.Point.Engine()]
	if d == nil || !t.Ran() || t.Stale || len(t.Outcome.Run.Resolved) == 0 {
		return ""
	}
	effective := d.Effective(t.Outcome.Run.Resolved)
	if len(effective) == 0 {
		return ""
	}
	words := []string{d.Name, t.Outcome.Run.EngineVersion, a.model(t.Point)}
	for _, q := range a.problem.Space.Params() {
		if q.Engine != d.Name || q.Fixed || q.Flag == "" {
			continue
		}
		asked, _ := t.Point.Get(q.Name)
		if v, told := effective[q.Flag]; told {
			words = append(words, q.Flag+"="+v.String())
		} else {
			words = append(words, q.Flag+" asked "+asked.String())
		}
	}
	return strings.Join(words, " ")
}

// twins maps each trial to the first one that turned out to be the very same configuration, where there is one.
func (o *opened) twins() map[int]int {
	first, twins := map[string]int{}, map[int]int{}
	for _, t := range o.history {
		if !t.Told() || !t.Ran() {
			continue
		}
		key := t.Effective()
		if n, ok := first[key]; ok {
			twins[t.Number] = n
		} else {
			first[key] = t.Number
		}
	}
	return twins
}

// found says what the engine made of the searched flags that the trial left to it.
func (a *assembly) found(t tuner.Trial) string {
	d := a.engines[t.Point.Engine()]
	if d == nil || len(t.Outcome.Run.Resolved) == 0 {
		return ""
	}
	effective := d.Effective(t.Outcome.Run.Resolved)
	_, searched := a.settings(t.Point)
	words := map[string]bool{}
	for _, s := range searched {
		if v, told := effective[s.Flag]; told && (s.Value.IsDefault() || s.Value == space.String("auto")) && v != s.Value {
			words[s.Flag+"="+v.String()] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(words)), " ")
}
