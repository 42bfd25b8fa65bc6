package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"autotune/store"
	"autotune/tuner"
	"autotune/tuner/studyfile"
)

type resumeOptions struct {
	trials       int
	wallClock    time.Duration
	acceptEngine bool
	spec         string
	acceptSpace  bool
}

func newResume(w *world) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use: "resume STUDY", Short: "Go on with a study after Ctrl-C, a crash or a reboot, or with a larger budget",
		Long: `Go on with a study where it stands. The spec is inside the study file. A trial that was in flight is asked again under its own number.

--trials and --wall-clock set a new budget, of the whole study. Given to a study that ended because no gain was expected (search.stop), they let it
go on all the same, and only the budget ends it from then on. With --spec FILE a changed search space is shown as a difference, and taken with
--accept-space-change: earlier trials keep their values, those outside the new space are shown and no longer learned from.
Another version of an engine is refused without --accept-engine-change; with it earlier trials are kept, marked stale, and the baseline is measured again.` +
			exitStatuses(statusDone, statusFailed, statusUsage, statusNone, statusInterrupted),
		Example: "  autotune resume glm.db\n  autotune resume glm.db --trials 90 --wall-clock 14h",
		Args:    exactArgs(1, "one study file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.trials < 1 && cmd.Flags().Changed("trials") || o.wallClock <= 0 && cmd.Flags().Changed("wall-clock") {
				return trying(usage("a budget is more than nothing: --trials from 1, --wall-clock from 1s"), "neither of them, to keep the study's budget")
			}
			return runResume(cmd.Context(), w, args[0], o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.trials, "trials", 0, "the study's budget of trials from now on, earlier ones included")
	f.DurationVar(&o.wallClock, "wall-clock", 0, "the study's budget of running time from now on, earlier sittings included")
	f.BoolVar(&o.acceptEngine, "accept-engine-change", false, "go on although an engine has another version than before")
	f.StringVar(&o.spec, "spec", "", "a spec whose search space, budget and limits replace the stored ones")
	f.BoolVar(&o.acceptSpace, "accept-space-change", false, "go on with the changed space of --spec")
	return cmd
}

func runResume(ctx context.Context, w *world, path string, o resumeOptions) error {
	db, err := store.Open(path)
	if err != nil {
		return storeError(err)
	}
	if err := db.Acquire(ctx, "autotune resume"); err != nil {
		return storeError(errors.Join(err, db.Close()))
	}
	s, err := reopen(ctx, w, db, o)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if err := s.askAgain(ctx, w, o); err != nil {
		return errors.Join(err, db.Close())
	}
	traffic, err := w.readTraffic(s.assembly)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	for _, t := range traffic {
		if t.FileHash != s.inputs.fileHash(s.spec, t.Workload.Name) {
			return errors.Join(trying(usage("the dataset file %s is not the one that the study has measured with", s.datasetPath(t.Workload)), "the old file, or a new study"), db.Close())
		}
	}
	return w.tune(ctx, s, sitting{path: path, traffic: traffic, acceptEngine: o.acceptEngine})
}

// reopen reads the study, under a new spec or budget if asked.
func reopen(ctx context.Context, w *world, db *store.DB, o resumeOptions) (*opened, error) {
	study, err := db.ReadStudy(ctx)
	if err != nil {
		return nil, storeError(err)
	}
	revised, err := o.revise(ctx, w, db, study)
	if err != nil {
		return nil, err
	}
	if revised != nil {
		// The problem must be valid before the file says so.
		a, err := reassemble(*revised)
		if err != nil {
			return nil, err
		}
		db.Bind(a.problem)
		if err := o.enough(ctx, db); err != nil {
			return nil, err
		}
		if err := db.Revise(ctx, *revised); err != nil {
			return nil, err
		}
	}
	s := &opened{db: db}
	return s, s.read(ctx)
}

// askAgain asks the installed engines for their flags anew once a person has accepted that they are others than before.
func (s *opened) askAgain(ctx context.Context, w *world, o resumeOptions) error {
	if !o.acceptEngine || s.inputs.Rehearse || s.inputs.Help == nil {
		return nil
	}
	a, err := w.askEngines(ctx, s.assembly)
	if err != nil {
		return err
	}
	s.study.Inputs = a.inputs.encode()
	s.db.Bind(a.problem)
	if err := s.db.Revise(ctx, s.study); err != nil {
		return err
	}
	return s.read(ctx)
}

// enough refuses a budget of fewer trials than are done.
func (o resumeOptions) enough(ctx context.Context, db *store.DB) error {
	if o.trials == 0 {
		return nil
	}
	_, history, err := db.Load(ctx)
	if err != nil {
		return err
	}
	if done := completed(history); o.trials < done {
		return trying(usage("--trials %d: the study has done %d already, and the budget counts them", o.trials, done), "--trials from %d on", done+1)
	}
	return nil
}

// revise is the study under the new budget and spec; nil when nothing changes.
func (o resumeOptions) revise(ctx context.Context, w *world, db *store.DB, study tuner.Study) (*tuner.Study, error) {
	changed := false
	if o.spec != "" {
		old, in, err := storedSpec(study)
		if err != nil {
			return nil, err
		}
		now, err := readSpec(o.spec, in.Sampler)
		if err != nil {
			return nil, err
		}
		diff := studyfile.DiffText(old, now)
		if err := o.permit(old, now, diff); err != nil {
			return nil, err
		}
		if changed = len(diff) > 0; changed {
			fmt.Fprintf(w.out, "The spec has changed:\n  %s\n", strings.Join(diff, "\n  "))
			study.Spec, study.Source, study.Budget = now.Text, now.Source, now.Budget
			if !reflect.DeepEqual(old.Plan.Models, now.Plan.Models) || !slices.Equal(old.Models, now.Models) {
				if in.Models, _, err = w.readModels(now, in.Folder); err != nil {
					return nil, err
				}
				study.Inputs = in.encode()
			}
		}
	}
	if o.trials > 0 {
		study.Budget.Trials, changed = o.trials, true
	}
	if o.wallClock > 0 {
		study.Budget.WallClock, changed = o.wallClock, true
	}
	if !changed {
		return nil, nil
	}
	return &study, o.runOn(ctx, db, &study)
}

// runOn takes a new budget for a study that its stop rule has ended as the wish to go on all the same: from then on the budget alone ends it.
func (o resumeOptions) runOn(ctx context.Context, db *store.DB, study *tuner.Study) error {
	v, err := readVerdict(ctx, db)
	if err != nil || v.End != tuner.EndNoGain || o.trials == 0 && o.wallClock == 0 {
		return err
	}
	_, in, err := storedSpec(*study)
	if err != nil {
		return err
	}
	in.RunOn = true
	study.Inputs = in.encode()
	return nil
}

// identities are what the workloads of a spec ask, their files left out.
func identities(s *studyfile.Spec) []string {
	var all []string
	for _, t := range s.Traffic {
		all = append(all, t.Name+" "+questionOf(s, t.Spec, ""))
	}
	return all
}

// permit refuses what would make earlier trials incomparable, and a changed space that nobody has accepted.
func (o resumeOptions) permit(old, now *studyfile.Spec, diff []string) error {
	if len(diff) == 0 {
		return nil
	}
	shown := "\n  " + strings.Join(diff, "\n  ")
	if !slices.Equal(identities(old), identities(now)) || old.Goal.String() != now.Goal.String() || old.Seed != now.Seed {
		return trying(usage("the new spec asks another question, so earlier trials could not be compared:%s", shown), "a new study: autotune run %s --study NEW.db", now.Source)
	}
	if !slices.Equal(old.StartFrom, now.StartFrom) {
		return trying(usage("earlier studies (search.start_from) are read once, when a study begins:%s", shown), "the list as it was, or a new study: autotune run %s --study NEW.db", now.Source)
	}
	if !o.acceptSpace {
		return trying(usage("the spec has changed:%s", shown), "again with --accept-space-change to go on with it; earlier trials are kept")
	}
	return nil
}
