package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"autotune/runner/deploy"
	"autotune/tuner"
	"autotune/tuner/metric"
)

type exportOptions struct {
	format string
	trial  int
	best   bool // no trial is named
	json   bool
}

func newExport(w *world) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use: "export STUDY", Short: "Print the best command, to deploy it",
		Long: `Print the command of the best trial, as it was measured, without what autotune adds for itself (port, served name, metrics).
Pasted into a shell it runs exactly the measured arguments. With --trial another trial's command.

With --json: study, trial, engine, metric, value (null when the trial was not measured), rehearsal (true: the value says nothing about real
hardware), outcome, failure (how it failed), unjudged (guards that it or no baseline was measured on, in words), argv (a list of words), env (NAME=VALUE, the spec's own), secrets (names of variables that the engine
takes from the environment). These keys stay.` + exitStatuses(statusDone, statusFailed, statusUsage, statusNone),
		Example: "  autotune export glm.db\n  autotune export glm.db --format json\n  autotune export glm.db --trial 17",
		Args:    exactArgs(1, "one study file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.best = !cmd.Flags().Changed("trial")
			return runExport(cmd.Context(), w, args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.format, "format", "shell", "shell or json")
	cmd.Flags().BoolVar(&o.json, "json", false, "the same as --format json")
	cmd.Flags().IntVar(&o.trial, "trial", 0, "export this trial instead of the best (default the best)")
	return cmd
}

func runExport(ctx context.Context, w *world, path string, o exportOptions) (err error) {
	if o.json {
		o.format = "json"
	}
	if o.format != "shell" && o.format != "json" {
		return trying(usage("unknown format %q", o.format), "--format shell or --format json")
	}
	s, err := look(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	t, err := s.chosen(o)
	if err != nil {
		return err
	}
	e := s.export(t.Point)
	if o.format == "json" {
		r, err := s.exportReport(t, e)
		if err != nil {
			return err
		}
		return printJSON(w.out, r)
	}
	_, err = io.WriteString(w.out, s.exportComment(t)+strings.TrimRight(deploy.Shell(e), "\n")+"\n")
	return err
}

// chosen is the trial that is asked for.
func (o *opened) chosen(which exportOptions) (tuner.Trial, error) {
	if which.best {
		ranked := o.ranking()
		if len(ranked) == 0 {
			return tuner.Trial{}, &exitError{code: exitNone, err: errors.New("the study has no feasible configuration"),
				try: "autotune status shows what failed and which bounds were missed"}
		}
		return ranked[0].Trial, nil
	}
	for _, t := range o.history {
		if t.Number == which.trial && !t.Point.IsZero() {
			return t, nil
		}
	}
	return tuner.Trial{}, usage("the study has no trial %d: it has %d trials, from 0", which.trial, len(o.history))
}

// exportComment says where the command comes from.
func (o *opened) exportComment(t tuner.Trial) string {
	s := fmt.Sprintf("# %s, trial %d of study %s", o.study.Name, t.Number, o.study.UUID)
	v, ok := o.problem.Goal.Value(t.Outcome.Measured)
	if !ok || t.Outcome.Kind != tuner.Measured {
		return s + ": " + o.unmeasured(t) + "\n"
	}
	s += fmt.Sprintf(": %s %s", o.problem.Goal.Metric, metric.Format(o.problem.Goal.Metric, v)) + gainText(o.problem, o.history, v)
	for _, word := range o.unjudged(t) {
		s += "\n# Not judged: " + word
	}
	if t.Outcome.Measured.Clock == metric.Law {
		s += "\n# A rehearsal against the fake engine: this figure says nothing about real hardware."
	}
	return s + "\n"
}

// unmeasured says on one line why a trial has no value that counts.
func (o *opened) unmeasured(t tuner.Trial) string {
	if t.Outcome.Kind == tuner.Running {
		return "not measured"
	}
	return firstLine(ending(tuner.Progress{Problem: o.problem, Trial: &t}))
}

// exportReport is an exported command for scripts. Its JSON keys are documented and stay.
type exportReport struct {
	Study     string     `json:"study"` // UUID
	Trial     int        `json:"trial"`
	Engine    string     `json:"engine"`
	Metric    string     `json:"metric"`
	Value     *float64   `json:"value"` // null when the trial was not measured
	Rehearsal bool       `json:"rehearsal"`
	Outcome   tuner.Kind `json:"outcome"`
	Failure   string     `json:"failure,omitempty"`
	Unjudged  []string   `json:"unjudged,omitempty"` // guards of which nothing tells what is lost there
	Argv      []string   `json:"argv"`
	Env       []string   `json:"env,omitempty"`
	Secrets   []string   `json:"secrets,omitempty"`
}

func (o *opened) exportReport(t tuner.Trial, e deploy.Export) (exportReport, error) {
	r := exportReport{}
	text, err := deploy.JSON(e)
	if err == nil {
		err = json.Unmarshal(text, &r) // what may be shown of the command
	}
	r.Study, r.Trial, r.Engine, r.Metric, r.Outcome = o.study.UUID, t.Number, t.Point.Engine(), o.problem.Goal.Metric, t.Outcome.Kind
	r.Rehearsal = o.inputs.Rehearse || t.Outcome.Measured != nil && t.Outcome.Measured.Clock == metric.Law
	if v, ok := o.problem.Goal.Value(t.Outcome.Measured); ok && t.Outcome.Kind == tuner.Measured {
		r.Value, r.Unjudged = &v, o.unjudged(t)
	} else {
		r.Failure = o.unmeasured(t)
	}
	return r, err
}
