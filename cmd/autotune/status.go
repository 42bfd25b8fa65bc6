package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

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

With --json: state (running, interrupted, ended, new), end, end_reason, trials (counts by outcome), baseline and best (trial, joins: the trials that turned out to be one configuration, value: their mean, metric, unit, engine,
flags, command, workloads (name, value, guard, retained), unjudged (guards that no baseline was measured on)), gain, failures (counts by reason), failure_kinds, predictions (null, or how well the model's predictions held: interval, metrics,
run, judgement, sentence), clock, spent_seconds, pace (start_up_seconds, benchmark_seconds, failure_seconds, start_ups (by kind of
configuration: like, seconds, cold_seconds, trials),
trials_left, seconds_left), saved (trials, minutes: what cutting trials short has saved), would_save (the same, and best, where stoppers only
report), memory (launches whose logs told sizes; sizes: engine, trial, what, unit, planned before any log, measured, now; doubts), warnings. These keys stay.` + exitStatuses(statusDone, statusFailed, statusUsage),
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
	m := report.New(o.problem, o.history, o.ranking(), report.Facts{Study: o.study, State: state, End: v.End, Reason: v.Reason, Memory: o.memoryReport(),
		Command: func(t tuner.Trial) string { return deploy.Shell(o.export(t.Point)) }})
	m.Warnings = slices.Concat(m.Warnings, o.leftOut(), o.notAsAsked(m), o.untried())
	return m, nil
}

// notAsAsked says where engines ran something else than they were asked for: of the best trial what, of the others how many.
func (o *opened) notAsAsked(m report.Model) []string {
	var said []string
	others := 0
	for _, t := range o.history {
		differences := o.otherwise(t)
		if len(differences) == 0 || !t.Ran() {
			continue
		}
		if m.Best == nil || m.Best.Trial != t.Number {
			others++
			continue
		}
		for _, x := range differences {
			said = append(said, fmt.Sprintf("trial %d, the best: %s", t.Number, x))
		}
	}
	switch {
	case others == 1:
		said = append(said, "in 1 other trial the engine ran something else than it was asked for; show tells which")
	case others > 1:
		said = append(said, fmt.Sprintf("in %d other trials the engine ran something else than it was asked for; show tells which", others))
	}
	return said
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
