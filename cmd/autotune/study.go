package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"autotune/store"
	"autotune/tuner"
)

// opened is a study file with its problem bound.
type opened struct {
	*assembly
	db      *store.DB
	study   tuner.Study
	history tuner.History
}

// look opens a study file for reading, also while it is being written.
func look(ctx context.Context, path string) (*opened, error) {
	db, err := store.OpenReadOnly(path)
	if err != nil {
		return nil, &exitError{code: exitUsage, err: err}
	}
	return bind(ctx, db)
}

// bind reads the study and makes its problem from what the file holds.
func bind(ctx context.Context, db *store.DB) (*opened, error) {
	o := &opened{db: db}
	err := o.read(ctx)
	if err != nil {
		err = errors.Join(err, db.Close())
		return nil, err
	}
	return o, nil
}

func (o *opened) read(ctx context.Context) error {
	study, err := o.db.ReadStudy(ctx)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	a, err := reassemble(study)
	if err != nil {
		return err
	}
	o.assembly = a
	o.db.Bind(a.problem)
	o.study, o.history, err = o.db.Load(ctx)
	o.newJoiner(o.history)
	return err
}

// reassemble makes the problem of a stored study.
func reassemble(study tuner.Study) (*assembly, error) {
	spec, in, err := storedSpec(study)
	if err != nil {
		return nil, err
	}
	return assemble(spec, in)
}

func (o *opened) ranking() []tuner.Ranked {
	return o.ranker().Rank(o.problem, o.history)
}

// verdict is how a study ended, as it is stored.
type verdict struct {
	End    tuner.End `json:"end"`
	Reason string    `json:"reason,omitempty"` // of the end, where the rule alone does not explain it
	Best   *int      `json:"best"`
	Value  float64   `json:"value,omitempty"`
	Gain   *float64  `json:"gain,omitempty"`
}

// readVerdict is how the study stood at its last end; the zero verdict while it has had none.
func readVerdict(ctx context.Context, db *store.DB) (verdict, error) {
	var v verdict
	text, err := db.Verdict(ctx)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		err = fmt.Errorf("reading the verdict: %w", err)
	}
	return v, err
}

// state says whether the study is being run, has ended, or can be resumed.
func (o *opened) state(ctx context.Context) (state string, v verdict, err error) {
	holder, err := o.db.Holder(ctx)
	if err != nil {
		return "", v, err
	}
	if holder != nil && holder.Alive {
		return "running", v, nil
	}
	if v, err = readVerdict(ctx, o.db); err != nil {
		return "", v, err
	}
	switch {
	case v.End == "" && len(o.history) == 0:
		return "new", v, nil
	case v.End == "" || v.End == tuner.EndInterrupted || v.End == tuner.EndMachine:
		return "interrupted", v, nil
	default:
		return "ended", v, nil
	}
}

// stopGain is the expected gain below which the search ends; 0 once a person has let it run on.
func (a *assembly) stopGain() float64 {
	if a.inputs.RunOn {
		return 0
	}
	return a.spec.StopGain
}
