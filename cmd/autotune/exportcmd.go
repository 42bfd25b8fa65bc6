package main

import (
	"context"
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
	json   bool
}

func newExport(w *world) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use: "export STUDY", Short: "Print the best command, to deploy it",
		Long: `Print the command of the best trial, as it was measured, without what autotune adds for itself (port, served name, metrics).
Pasted into a shell it runs exactly the measured arguments. With --trial another trial's command.` + exitStatuses(statusDone, statusFailed, statusUsage, statusNone),
		Example: "  autotune export glm.db\n  autotune export glm.db --format json\n  autotune export glm.db --trial 17",
		Args:    exactArgs(1, "one study file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runExport(cmd.Context(), w, args[0], o) },
	}
	cmd.Flags().StringVar(&o.format, "format", "shell", "shell or json")
	cmd.Flags().BoolVar(&o.json, "json", false, "the same as --format json")
	cmd.Flags().IntVar(&o.trial, "trial", -1, "export this trial instead of the best")
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
	t, err := s.chosen(o.trial)
	if err != nil {
		return err
	}
	e := s.export(t.Point)
	if o.format == "json" {
		text, err := deploy.JSON(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w.out, strings.TrimRight(string(text), "\n"))
		return err
	}
	_, err = io.WriteString(w.out, s.exportComment(t)+strings.TrimRight(deploy.Shell(e), "\n")+"\n")
	return err
}

// chosen is the trial of that number, or the best when it is negative.
func (o *opened) chosen(number int) (tuner.Trial, error) {
	if number < 0 {
		ranked := o.ranking()
		if len(ranked) == 0 {
			return tuner.Trial{}, &exitError{code: exitNone, err: errors.New("the study has no feasible configuration"),
				try: "autotune status shows what failed and which bounds were missed"}
		}
		return ranked[0].Trial, nil
	}
	for _, t := range o.history {
		if t.Number == number && !t.Point.IsZero() {
			return t, nil
		}
	}
	return tuner.Trial{}, usage("the study has no trial %d: it has %d trials, from 0", number, len(o.history))
}

// exportComment says where the command comes from.
func (o *opened) exportComment(t tuner.Trial) string {
	s := fmt.Sprintf("# %s, trial %d of study %s", o.study.Name, t.Number, o.study.UUID)
	v, ok := o.problem.Goal.Value(t.Outcome.Measured)
	if !ok {
		return s + ": not measured\n"
	}
	s += fmt.Sprintf(": %s %s", o.problem.Goal.Metric, metric.Format(o.problem.Goal.Metric, v)) + gainText(o.problem, o.history, v)
	if t.Outcome.Measured.Clock == metric.Law {
		s += "\n# A rehearsal against the fake engine: this figure says nothing about real hardware."
	}
	return s + "\n"
}
