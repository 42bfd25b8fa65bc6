package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"autotune/runner"
	"autotune/search"
	"autotune/store"
	"autotune/tuner"
	"autotune/tuner/report"
)

// sitting is one call of run or resume.
type sitting struct {
	path         string
	traffic      []runner.Traffic
	acceptEngine bool
}

// tune goes on with an opened study until it ends, and says how it stands. It closes the study file.
func (w *world) tune(ctx context.Context, s *opened, at sitting) (err error) {
	defer func() { err = errors.Join(err, s.db.Close()) }()
	s.db.Waiting = func(message string) { fmt.Fprintf(w.err, "autotune: %s\n", message) }
	ctx, stop := w.untilSignal(ctx)
	defer stop()
	defer w.twice(ctx)()
	t, err := w.newTuner(s, at)
	if err != nil {
		return err
	}
	if err := s.db.Restate(ctx, tuner.Requeue(s.history, w.now())); err != nil {
		return err
	}
	for _, warning := range s.warnings {
		fmt.Fprintf(w.out, "Warning: %s\n", warning)
	}
	w.introduce(s, at)
	history, end, runErr := t.Run(ctx, s.study, s.problem, s.history)
	s.history = history
	return w.conclude(context.WithoutCancel(ctx), s, at, end, runErr)
}

func (w *world) newTuner(s *opened, at sitting) (*tuner.Tuner, error) {
	asking, err := s.newCalibrated()
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	stopper, err := search.NewStopper(s.stoppers(), s.spec.Gate)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	r, err := w.newRunner(s, at)
	if err != nil {
		return nil, err
	}
	return &tuner.Tuner{Sampler: asking, Ranker: asking, Stopper: stopper, Runner: resolving{r, s.newJoiner(s.history)}, Store: s.db, Observer: newWatcher(w), Now: w.now,
		AcceptEngineChange: at.acceptEngine, Pinned: s.pinned(), StopGain: s.stopGain()}, nil
}

func (w *world) introduce(s *opened, at sitting) {
	fmt.Fprintf(w.out, "Study %s in %s: %s\n", s.study.Name, at.path, s.problem.Goal)
	if s.inputs.Rehearse {
		fmt.Fprintln(w.out, "A rehearsal: the fake engine stands in for the real ones, in simulated time.")
		for _, e := range s.spec.Engines {
			if ownFake(e.Command) {
				fmt.Fprintf(w.out, "The command of %s is a fake engine already: it is kept as the spec has it, with its own clock, hardware and noise.\n", e.Name)
			}
		}
	}
	if len(s.history) > 0 {
		switch done := completed(s.history); done {
		case 0:
			fmt.Fprintln(w.out, "Going on: no trial is complete yet.")
		case 1:
			fmt.Fprintln(w.out, "Going on after 1 trial.")
		default:
			fmt.Fprintf(w.out, "Going on after %d trials.\n", done)
		}
		return
	}
	for _, e := range s.recalled {
		fmt.Fprintf(w.out, "Earlier study %s.\n", e)
	}
}

// conclude stores how the study stands, says it, and gives the exit status. Of a file that is no longer at its path only the error can tell, since it
// names where the results are.
func (w *world) conclude(ctx context.Context, s *opened, at sitting, end tuner.End, runErr error) error {
	if errors.Is(runErr, store.ErrMoved) {
		return runErr
	}
	if study, err := s.db.ReadStudy(ctx); err == nil {
		s.study = study // with the time that was spent
	}
	v := verdict{End: end}
	if end == tuner.EndNoGain {
		v.Reason, _ = tuner.NoGain(s.problem, s.history, s.stopGain())
	}
	ranked := s.ranking()
	if len(ranked) > 0 {
		v.Best, v.Value = &ranked[0].Trial.Number, ranked[0].Value
		if ref, ok := tuner.Reference(s.problem, s.history); ok {
			if gain, ok := s.problem.Goal.GainOver(ranked[0].Value, ref.Value); ok {
				v.Gain = &gain
			}
		}
	}
	if text, err := json.Marshal(v); err != nil {
		return errors.Join(runErr, err)
	} else if err := s.db.SetVerdict(ctx, text); err != nil {
		runErr = errors.Join(runErr, fmt.Errorf("storing how the study stands: %w", err))
	}
	w.summarise(s, at, v)
	var machine *tuner.MachineError
	switch {
	case errors.Is(runErr, tuner.ErrEngineChanged):
		return &exitError{code: exitUsage, err: runErr, try: fmt.Sprintf("autotune resume %s --accept-engine-change keeps the earlier trials, marked stale, and measures the baseline again", at.path)}
	case errors.Is(runErr, tuner.ErrEnginePinned):
		return &exitError{code: exitUsage, err: runErr, try: fmt.Sprintf("install that release and autotune resume %s; or another version: in the spec, and a new study", at.path)}
	case errors.As(runErr, &machine):
		return &exitError{code: machineCode(machine), err: fmt.Errorf("the study has stopped: %s", machine.Outcome.Evidence), try: machine.Outcome.Hint + fmt.Sprintf("; then autotune resume %s", at.path)}
	case runErr != nil:
		return runErr
	case len(ranked) == 0:
		return &exitError{code: exitNone, err: errors.New("no feasible configuration"), try: fmt.Sprintf("autotune show %s N looks at one trial; a wider space or looser bounds in a new study", at.path)}
	default:
		return nil
	}
}

// machineCode is 2 where the study asks for something impossible, 1 where the machine failed.
func machineCode(m *tuner.MachineError) int {
	if m.Outcome.Reason == tuner.ReasonUser {
		return exitUsage
	}
	return exitFailed
}

// summarise prints the last lines of a sitting: the best, its gain, what failed, and what to do next.
func (w *world) summarise(s *opened, at sitting, v verdict) {
	state := "ended"
	if v.End == tuner.EndInterrupted || v.End == tuner.EndMachine {
		state = "interrupted"
	}
	m := report.New(s.problem, s.history, s.ranking(), report.Facts{Study: s.study, State: state, End: v.End, Reason: v.Reason, Memory: s.memoryReport()})
	m.Warnings = append(m.Warnings, s.leftOut()...)
	fmt.Fprintln(w.out)
	if err := m.Text(w.out); err != nil {
		fmt.Fprintf(w.err, "autotune: %v\n", err)
	}
	fmt.Fprint(w.out, nextStep(m, at.path))
	if v.End == tuner.EndNoGain {
		fmt.Fprintf(w.out, "More      autotune resume %s --trials N goes on all the same\n", at.path)
	}
}

// nextStep is the line that says how to go on with a study that is not being run; empty when there is nothing to do with it.
func nextStep(m report.Model, path string) string {
	switch {
	case m.State == "interrupted" || m.State == "new":
		return fmt.Sprintf("Resume    autotune resume %s\n", path)
	case m.State == "ended" && m.Best != nil:
		return fmt.Sprintf("Next      autotune export %s\n", path)
	default:
		return ""
	}
}

// completed counts the trials that have ended and are not asked again.
func completed(h tuner.History) int {
	c := h.Count()
	return c.Total - c.Running - c.Interrupted
}

// logFolder is where a study's engine logs lie: beside its file.
func logFolder(path string) string { return filepath.Clean(path) + ".d" }
