package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"autotune/runner"
	"autotune/runner/engine"
	"autotune/runner/fake"
	"autotune/runner/place"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/studyfile"
)

// guardCommand is a hidden command: it outlives a run that is killed, and ends the server that the run could not end any more.
const guardCommand = "guard"

func newGuard(w *world) *cobra.Command {
	return &cobra.Command{
		Use: guardCommand, Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error { return runner.Guard(w.in, args) },
	}
}

// newRunner makes what carries out the trials of a study on this machine.
func (w *world) newRunner(s *opened, at sitting) (*runner.Runner, error) {
	here, err := place.NewLocal(place.LocalConfig{GPUs: visibleGPUs(s.spec.GPUs, w.getenv("CUDA_VISIBLE_DEVICES")), Guard: []string{w.exe, guardCommand}})
	if err != nil {
		return nil, err
	}
	t := s.spec.Timeouts
	var rate *tuner.Goal
	if s.problem.Goal.Metric == metric.RequestRate {
		rate = &s.problem.Goal
	}
	return runner.New(runner.Config{
		Place:   here,
		Plan:    func(t tuner.Trial) (runner.Plan, error) { return s.plan(t), nil },
		Traffic: at.traffic, RateGoal: rate, ThinRecords: s.spec.Records == studyfile.RecordsRequests,
		External: s.external([]string{w.exe, guardCommand}),
		Gate:     s.spec.Gate, Timeouts: runner.Timeouts{Start: t.Start, Silence: t.Silence, Stop: t.Stop, Hang: t.Hang}, GPUs: s.spec.GPUs,
		StudyID: s.study.UUID, Seed: s.spec.Seed, Logs: logFolder(at.path),
		Environ: w.environ, Self: w.exe, Host: w.host, Now: w.now,
	})
}

// plan is how a trial's configuration is launched.
func (a *assembly) plan(t tuner.Trial) runner.Plan {
	p := runner.Plan{Engine: a.engines[t.Point.Engine()], Model: a.model(t.Point)}
	p.Settings, p.Searched = a.settings(t.Point)
	e := a.engine(t.Point.Engine())
	p.Command = e.Command
	p.Env = environment(e)
	if a.inputs.Rehearse && !ownFake(e.Command) {
		p.Command = a.rehearsal(e.Name)
	}
	return p
}

// environment is what the spec adds to an engine's (NAME=VALUE).
func environment(e studyfile.Engine) []string {
	var env []string
	for _, v := range e.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// settings are the flags of a point as its engine takes them, and those of them that the study varies.
func (a *assembly) settings(p space.Point) (all, searched []engine.Setting) {
	for _, q := range a.problem.Space.Params() {
		v, ok := p.Get(q.Name)
		if !ok || q.Flag == "" || q.Engine != p.Engine() {
			continue
		}
		setting := engine.Setting{Flag: q.Flag, Value: v}
		all = append(all, setting)
		if !q.Fixed {
			searched = append(searched, setting)
		}
	}
	return all, searched
}

// ownFake tells whether a spec's command is a fake engine already, with a hardware of its own.
func ownFake(command []string) bool {
	return len(command) > 1 && command[0] == "autotune" && command[1] == fake.Command
}

// missingPrograms says which commands of the spec name a program that cannot be started here.
func (a *assembly) missingPrograms() []string {
	var missing []string
	for _, e := range a.spec.Engines {
		if len(e.Command) == 0 || e.Command[0] == "autotune" || slices.ContainsFunc(e.Env, func(v studyfile.EnvVar) bool { return v.Name == "PATH" }) {
			continue
		}
		if _, err := exec.LookPath(e.Command[0]); err != nil && !errors.Is(err, exec.ErrDot) {
			missing = append(missing, fmt.Sprintf("the program of engines.%s.command cannot be started: %v", e.Name, err))
		}
	}
	return missing
}

// rehearsal is the command of the fake engine that stands in for a real one.
func (a *assembly) rehearsal(engine string) []string {
	command := []string{"autotune", fake.Command, "--clock=law", "--noise=" + strconv.FormatFloat(a.inputs.Noise, 'g', -1, 64)}
	if a.spec.GPUs > 0 {
		command = append(command, "--gpus="+strconv.Itoa(a.spec.GPUs))
	}
	return append(command, engine)
}

func (a *assembly) engine(name string) studyfile.Engine {
	for _, e := range a.spec.Engines {
		if e.Name == name {
			return e
		}
	}
	return studyfile.Engine{Name: name}
}

// visibleGPUs are the numbers of the first n GPUs that this process may use. Nil leaves the choice to the engine: there are none, or they have names.
func visibleGPUs(n int, visible string) []int {
	var numbers []int
	if visible == "" {
		for i := range n {
			numbers = append(numbers, i)
		}
		return numbers
	}
	for word := range strings.SplitSeq(visible, ",") {
		number, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return nil
		}
		if len(numbers) < n {
			numbers = append(numbers, number)
		}
	}
	return numbers
}
