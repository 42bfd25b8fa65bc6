package store

import (
	"context"
	"encoding/json"
	"time"

	"autotune/tuner"
)

// ReadStudy reads the study without its history; no problem needs to be bound.
func (d *DB) ReadStudy(ctx context.Context) (study tuner.Study, err error) {
	err = d.read(ctx, "reading the study", func(q queries) error {
		study, err = readStudy(ctx, q)
		return err
	})
	return study, err
}

func readStudy(ctx context.Context, q queries) (tuner.Study, error) {
	var s tuner.Study
	b := &s.Budget
	err := q.QueryRowContext(ctx, `SELECT a.uuid, s.study_name, a.spec, a.source, a.created, a.inputs, a.budget_trials, a.budget_wall_clock, a.budget_failure_row, a.spent
		FROM autotune_study a JOIN studies s USING (study_id)`).Scan(&s.UUID, &s.Name, scanText[[]byte]{&s.Spec}, &s.Source, scanInstant{&s.Created},
		scanText[[]byte]{&s.Inputs}, &b.Trials, scanInt[time.Duration]{&b.WallClock}, &b.FailureRow, scanInt[time.Duration]{&s.Spent})
	if err == nil && len(s.Inputs) > 0 && !json.Valid(s.Inputs) {
		err = &damage{what: "the study's inputs are no JSON"}
	}
	return s, err
}

// Revise replaces the spec, the inputs and the budget of the study; what was measured stays. The problem of the new spec is bound first.
func (d *DB) Revise(ctx context.Context, study tuner.Study) error {
	return d.write(ctx, "revising the study", func(tx queries) error {
		_, err := tx.ExecContext(ctx, `UPDATE autotune_study SET spec = ?, spec_hash = ?, source = ?, inputs = ?, budget_trials = ?, budget_wall_clock = ?, budget_failure_row = ?`,
			string(study.Spec), hash(study.Spec), study.Source, text(study.Inputs), study.Budget.Trials, study.Budget.WallClock, study.Budget.FailureRow)
		return err
	})
}

// Note records an event of the study.
func (d *DB) Note(ctx context.Context, e tuner.Event) error {
	return d.write(ctx, "recording an event", func(tx queries) error {
		var trial any
		if e.Trial >= 0 {
			trial = e.Trial
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO autotune_event (at, kind, trial, text) VALUES (?, ?, ?, ?)", instant(e.At), e.Kind, trial, e.Text)
		return err
	})
}

// Events reads every event, in the order in which they were recorded.
func (d *DB) Events(ctx context.Context) (events []tuner.Event, err error) {
	err = d.read(ctx, "reading the events", func(q queries) error {
		events = nil
		rows, err := q.QueryContext(ctx, "SELECT at, kind, COALESCE(trial, -1), text FROM autotune_event ORDER BY event_id")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var e tuner.Event
			if err := rows.Scan(scanInstant{&e.At}, &e.Kind, &e.Trial, &e.Text); err != nil {
				return err
			}
			events = append(events, e)
		}
		return rows.Err()
	})
	return events, err
}

// SetVerdict records how the study stands, as JSON. Optuna's readers find it as the study attribute autotune:verdict.
func (d *DB) SetVerdict(ctx context.Context, verdict []byte) error {
	return d.write(ctx, "recording the verdict", func(tx queries) error {
		if _, err := tx.ExecContext(ctx, "UPDATE autotune_study SET verdict = ?", text(verdict)); err != nil {
			return err
		}
		var id int64
		if err := tx.QueryRowContext(ctx, "SELECT study_id FROM autotune_study").Scan(&id); err != nil {
			return err
		}
		return setAttribute(ctx, tx, studyUserAttributes, id, "autotune:verdict", json.RawMessage(verdict))
	})
}

// Verdict reads what SetVerdict has recorded; nil when nothing was.
func (d *DB) Verdict(ctx context.Context) (verdict []byte, err error) {
	err = d.read(ctx, "reading the verdict", func(q queries) error {
		return q.QueryRowContext(ctx, "SELECT verdict FROM autotune_study").Scan(scanText[[]byte]{&verdict})
	})
	return verdict, err
}
