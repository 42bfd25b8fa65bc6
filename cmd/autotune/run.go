package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"autotune/store"
	"autotune/tuner"
	"autotune/tuner/studyfile"
)

type runOptions struct {
	study    string
	rehearse bool
	noise    float64
}

func newRun(w *world) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use: "run SPEC", Short: "Run a study: launch, measure, learn, until the budget ends",
		Long: `Run the study that a spec asks for, and keep everything in one study file. Each trial launches the real server, drives the workload at it and
writes down what happened. Ctrl-C once ends cleanly (autotune resume goes on from there), twice ends at once.

The study ends with its budget, or when every configuration was tried; and, after 20 trials, once the last four proposals of the sampler's own model
promised less than search.stop over the best (1 %; "stop: off" leaves it to the budget).

With --rehearse the engines are replaced by the built-in fake engine, which needs no GPU, and whose clock is simulated: an hour of benchmark takes
about a second. Its figures say nothing about real hardware.` + exitStatuses(statusDone, statusFailed, statusUsage, statusNone, statusInterrupted),
		Example: "  autotune run glm.yaml --study glm.db\n  autotune run examples/glm-5.2-8xh200.yaml --rehearse",
		Args:    exactArgs(1, "one spec file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("noise") && !o.rehearse {
				return trying(usage("--noise is that of a rehearsal"), "again with --rehearse, or without --noise")
			}
			return runRun(cmd.Context(), w, args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.study, "study", "", "the study file to make (default NAME.db, NAME being the spec's)")
	cmd.Flags().BoolVar(&o.rehearse, "rehearse", false, "run against the fake engine instead of the real ones")
	cmd.Flags().Float64Var(&o.noise, "noise", 0.05, "run-to-run noise of a rehearsal, as a share")
	return cmd
}

func runRun(ctx context.Context, w *world, path string, o runOptions) error {
	spec, err := readSpec(path, "")
	if err != nil {
		return err
	}
	if !(o.noise >= 0 && o.noise <= 0.5) { // so that NaN is refused too
		return usage("--noise %g: allowed is 0 to 0.5", o.noise)
	}
	in := w.newInputs(spec, path)
	if in.Rehearse = o.rehearse; o.rehearse {
		in.Noise = o.noise
	}
	a, err := w.assembleNew(ctx, spec, in)
	if err != nil {
		return err
	}
	if o.study == "" {
		o.study = spec.Name + ".db"
		if o.rehearse {
			o.study = spec.Name + "-rehearsal.db"
		}
	}
	if missing := a.missingPrograms(); len(missing) > 0 && !o.rehearse {
		return trying(usage("%s", strings.Join(missing, "\n")), "the program's path in the spec, or --rehearse to run without it")
	}
	if problem := a.missingTool(); problem != "" {
		return trying(usage("%s", problem), "install it, name its program (bench: {command: [...]}), or leave bench out: the built-in load generator measures")
	}
	traffic, err := w.readTraffic(a)
	if err != nil {
		return err
	}
	a.inputs.hashFiles(traffic)
	if err := a.readEarlier(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(o.study); !o.rehearse && errors.Is(err, fs.ErrNotExist) { // else the file is what is wrong
		if a, err = w.askEngines(ctx, a); err != nil {
			return err
		}
	}
	db, err := create(ctx, o.study, w.newStudy(a), a)
	if err != nil {
		return err
	}
	s, err := bind(ctx, db)
	if err != nil {
		return err
	}
	return w.tune(ctx, s, sitting{path: o.study, traffic: traffic})
}

func (w *world) newStudy(a *assembly) tuner.Study {
	return tuner.Study{UUID: newUUID(), Name: a.spec.Name, Spec: a.spec.Text, Source: a.spec.Source, Created: w.now().UTC(), Budget: a.spec.Budget, Inputs: a.inputs.encode()}
}

// newUUID is a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic("no random numbers: " + err.Error())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// create makes the study file and takes its lease. A file that is there already is never touched: what it is decides what is said.
func create(ctx context.Context, path string, study tuner.Study, a *assembly) (*store.DB, error) {
	db, err := store.Create(path, study, a.problem)
	if errors.Is(err, store.ErrExists) {
		return nil, taken(ctx, path, a)
	}
	if err != nil {
		return nil, storeError(err)
	}
	if err := db.Acquire(ctx, "autotune run"); err != nil {
		return nil, storeError(errors.Join(err, db.Close()))
	}
	return db, nil
}

// storeError gives a store's error its exit status: the file that a person named is wrong, or the machine failed.
func storeError(err error) error {
	var f *store.FileError
	if errors.As(err, &f) && !errors.Is(err, store.ErrMoved) {
		return &exitError{code: exitUsage, err: err}
	}
	return err
}

// taken says what a study file that exists already holds, against the spec that was to be run.
func taken(ctx context.Context, path string, a *assembly) error {
	db, err := store.OpenReadOnly(path)
	if err != nil {
		return storeError(err)
	}
	holder, err := db.Holder(ctx)
	if err != nil {
		return storeError(errors.Join(err, db.Close()))
	}
	if holder != nil && holder.Alive {
		held := usage("%s exists, and is held by %s, process %d on %s, since %s", path, holder.Owner, holder.PID, holder.Host, holder.Since.Format(time.DateTime+" MST"))
		return errors.Join(trying(held, "autotune status %s, or another name with --study", path), db.Close())
	}
	study, err := db.ReadStudy(ctx)
	if err = errors.Join(err, db.Close()); err != nil {
		return storeError(err)
	}
	old, _, err := storedSpec(study)
	if err != nil {
		return trying(usage("%s exists, and holds a study whose spec this version cannot read", path), "another name with --study")
	}
	diff := studyfile.DiffText(old, a.spec)
	if len(diff) == 0 {
		return trying(usage("%s exists, and holds this very study", path), "autotune resume %s", path)
	}
	return trying(usage("%s exists, and holds a study with another spec:\n  %s", path, strings.Join(diff, "\n  ")), "another name with --study, or autotune resume %s to go on with the old one", path)
}
