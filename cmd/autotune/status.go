package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"autotune/runner/deploy"
	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/report"
)

func newStatus(w *world) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status STUDY", Short: "Show how a study stands, also while it runs",
		Long: `Show how a study stands: trials by outcome, the baseline, the best so far and its gain, what failed and why, and how well the model's
predictions held. It works while the study runs.

With --json: state (running, interrupted, ended, new), end, end_reason, trials (counts by outcome), baseline and best (trial, value, metric, unit, engine,
flags, command), gain, failures (counts by reason), failure_kinds, predictions (null, or how well the model's predictions held: interval, metrics,
run, judgement, sentence), clock, spent_seconds, pace (start_up_seconds, benchmark_seconds, failure_seconds,
trials_left, seconds_left), saved (trials, minutes: what cutting trials short has saved), would_save (the same, and best, where stoppers only
report), warnings. These keys stay.` + exitStatuses(statusDone, statusFailed, statusUsage),
		Example: "  autotune status glm.db\n  autotune status glm.db --json",
		Args:    exactArgs(1, "one study file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runStatus(cmd.Context(), w, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func runStatus(ctx context.Context, w *world, path string, asJSON bool) (err error) {
	o, err := look(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.db.Close()) }()
	m, err := o.model(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w.out, m)
	}
	if err := m.Text(w.out); err != nil {
		return err
	}
	_, err = io.WriteString(w.out, nextStep(m, path))
	return err
}

// model is how the study stands.
func (o *opened) model(ctx context.Context) (report.Model, error) {
	state, v, err := o.state(ctx)
	if err != nil {
		return report.Model{}, err
	}
	return report.New(o.problem, o.history, o.ranking(), report.Facts{Study: o.study, State: state, End: v.End, Reason: v.Reason,
		Command: func(t tuner.Trial) string { return deploy.Shell(o.export(t.Point)) }}), nil
}

// export is the command of a point as a person deploys it: what was measured, without what autotune added for itself.
func (a *assembly) export(p space.Point) deploy.Export {
	var e deploy.Export
	spec := a.engine(p.Engine())
	for _, v := range spec.Env {
		e.Env = append(e.Env, v.Name+"="+v.Value)
	}
	settings, _ := a.settings(p)
	e.Argv = a.engines[p.Engine()].Plain(engine.Launch{Executable: spec.Command, Model: a.model(p), Settings: settings})
	return e
}
