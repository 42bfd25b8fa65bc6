package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"autotune/runner"
	"autotune/runner/bench"
	"autotune/search"
	"autotune/tuner/metric"
	"autotune/tuner/studyfile"
	"autotune/tuner/workload"
)

// tool is the benchmark tool that measures this study; ok is false where the built-in load generator does.
func (a *assembly) tool() (t bench.Tool, ok bool) { return toolOf(a.spec) }

func toolOf(s *studyfile.Spec) (t bench.Tool, ok bool) {
	if !s.Bench.External() {
		return t, false
	}
	return bench.Find(s.Bench.Tool)
}

// external is how the runner is told of the tool; nil for the built-in load generator.
func (a *assembly) external(guard []string) *runner.External {
	t, ok := a.tool()
	if !ok {
		return nil
	}
	paths, needs := map[string]string{}, map[string][]string{}
	for _, traffic := range a.spec.Traffic {
		paths[traffic.Name] = a.datasetPath(traffic.Spec)
		needs[traffic.Name] = []string{a.spec.Goal.Metric}
	}
	for _, b := range a.spec.Goal.SubjectTo {
		name := cmp.Or(b.Workload, a.spec.Traffic[0].Name)
		if b.Metric != metric.Retained {
			needs[name] = append(needs[name], b.Metric)
		}
	}
	return &runner.External{Tool: t, Command: a.spec.Bench.Command, Args: a.spec.Bench.Args, Paths: paths, Needs: needs, Guard: guard}
}

// questionOf is what a workload asks, and who measures it: only equal ones are compared.
func questionOf(s *studyfile.Spec, w workload.Spec, fileHash string) string {
	identity := w.Identity(fileHash)
	if t, ok := toolOf(s); ok {
		return t.Identity(identity, s.Bench.Args)
	}
	return identity
}

// stoppers is what becomes of a trial that is certainly not worth finishing. A tool tells nothing before its end.
func (a *assembly) stoppers() string {
	if a.spec.Bench.External() {
		return search.StopOff
	}
	return a.spec.Stoppers
}

// checkBench refuses what the study asks of its benchmark tool and the tool cannot do, and warns of what is otherwise with it.
func (a *assembly) checkBench() studyfile.Errors {
	t, ok := a.tool()
	if !ok {
		return nil
	}
	var wrong studyfile.Errors
	if a.spec.Goal.Metric == metric.RequestRate {
		wrong = append(wrong, a.fieldError("a rate is searched for by the built-in load generator alone: it sees each request", metric.RequestRate, "bench: {tool: builtin}, or another objective", "objective", "maximize"))
	} else {
		wrong = append(wrong, a.lacking(t)...)
	}
	wrong = append(wrong, a.unmeasured(t)...)
	for _, e := range a.spec.Engines {
		if problem := a.simulated(e); problem != "" {
			wrong = append(wrong, a.fieldError(fmt.Sprintf("%s measures in real time, and %s", t.Title, problem), "", "builtin", "bench", "tool"))
			break
		}
	}
	slices.SortStableFunc(wrong, func(x, y studyfile.FieldError) int { return cmp.Or(x.Line-y.Line, x.Column-y.Column) })
	if a.spec.Stoppers != search.StopOff {
		a.warnings = append(a.warnings, fmt.Sprintf("%s says nothing before its end: the stoppers are off, and no requests are stored", t.Title))
	}
	return wrong
}

// lacking lists what the tool cannot do of the workloads.
func (a *assembly) lacking(t bench.Tool) (wrong studyfile.Errors) {
	for _, w := range a.spec.Traffic {
		for _, lack := range t.Lacks(w.Spec) {
			path := []string{"workloads", w.Name, lack.Key}
			if line, _ := a.spec.Place(path...); line == 0 {
				path = path[:2]
			}
			wrong = append(wrong, a.fieldError(lack.Problem, "", lack.Allowed, path...))
		}
		for _, note := range t.Notes(w.Spec) {
			a.warnings = append(a.warnings, fmt.Sprintf("workload %s: %s", w.Name, note))
		}
	}
	return wrong
}

// unmeasured lists the metrics of the objective and its bounds that the tool does not give.
func (a *assembly) unmeasured(t bench.Tool) (wrong studyfile.Errors) {
	check := func(name string, path ...string) {
		if name == metric.Retained || name == metric.RequestRate || t.Gives(name) {
			return
		}
		e := a.fieldError(t.Title+" does not give this", name, strings.Join(t.Metrics(), ", "), path...)
		if near := t.Nearest(name); near != "" {
			e.Allowed, e.Near = "", near
		}
		if !slices.ContainsFunc(wrong, func(o studyfile.FieldError) bool { return o == e }) {
			wrong = append(wrong, e)
		}
	}
	check(a.spec.Goal.Metric, "objective", string(a.spec.Goal.Direction))
	for _, b := range a.spec.Goal.SubjectTo {
		check(b.Metric, "objective", "subject_to")
	}
	return wrong
}

// simulated says why an engine of the study keeps no real time; empty when it does.
func (a *assembly) simulated(e studyfile.Engine) string {
	own := ownFake(e.Command)
	switch {
	case own && lawClock(e.Command):
		return fmt.Sprintf("the fake engine of engines.%s.command keeps simulated time", e.Name)
	case a.inputs.Rehearse && !own:
		return "a rehearsal runs in simulated time"
	default:
		return ""
	}
}

// lawClock tells whether the words of a fake engine ask for simulated time.
func lawClock(words []string) bool {
	for i, word := range words {
		word = strings.TrimLeft(word, "-")
		if word == "clock=law" || word == "clock" && i+1 < len(words) && words[i+1] == "law" {
			return true
		}
	}
	return false
}

// missingTool says that the benchmark tool cannot be started here; empty when it can.
func (a *assembly) missingTool() string {
	t, ok := a.tool()
	if !ok {
		return ""
	}
	program := t.Program
	if len(a.spec.Bench.Command) > 0 {
		program = a.spec.Bench.Command
	}
	if _, err := exec.LookPath(program[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		return fmt.Sprintf("%s cannot be started: %v", t.Title, err)
	}
	return ""
}
