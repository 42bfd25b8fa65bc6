package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// Begin records that a trial has been asked, or is asked again after an interruption. A number that is taken, by another trial or by another
// program, is a *FileError that wraps tuner.ErrTaken. It fails, as Renew does, when the path no longer names the open file.
func (d *DB) Begin(ctx context.Context, t tuner.Trial) error {
	point, err := json.Marshal(t.Point)
	if err != nil {
		return err
	}
	return d.writeBound(ctx, fmt.Sprintf("recording the begin of trial %d", t.Number), func(tx queries, s scope) error {
		id, known, err := d.findTrial(ctx, tx, s, t.Number)
		switch {
		case err != nil:
			return err
		case id == 0:
			if id, err = insertTrial(ctx, tx, s, t.Number); err != nil {
				return err
			}
		case known == nil:
			return d.numberTaken(t.Number, "by a trial that another program has added")
		case !known.open():
			return d.numberTaken(t.Number, "by a trial that has ended")
		case !s.same(known.point, point):
			return d.numberTaken(t.Number, "by a trial of another configuration")
		}
		t.Outcome = tuner.Outcome{}
		if err := putTrial(ctx, tx, id, t, string(point), links{}); err != nil {
			return err
		}
		if err := projectParams(ctx, tx, s, id, t.Point); err != nil {
			return err
		}
		return projectOutcome(ctx, tx, s, id, t)
	})
}

func (d *DB) numberTaken(number int, by string) error {
	return &FileError{Path: d.path, Problem: fmt.Sprintf("has the number %d already taken %s", number, by), Err: tuner.ErrTaken}
}

// Finish records a trial's end, its run, its measurement and its records in one transaction; it is on the disk when Finish returns. It waits for
// other programs' locks, and for space on a full disk, although ctx ends, unless WithStop has marked it. When the path no longer names the open file, all of it is saved beside
// the path, this trial included, and the error, which wraps ErrMoved, says where.
func (d *DB) Finish(ctx context.Context, t tuner.Trial) error {
	ctx = context.WithoutCancel(ctx)
	point, err := json.Marshal(t.Point)
	if err != nil {
		return err
	}
	var records []packed
	for _, m := range t.Outcome.Measured.All() {
		p, err := packRecords(m)
		if err != nil {
			return err
		}
		records = append(records, p)
	}
	return d.keep(ctx, fmt.Sprintf("recording the end of trial %d", t.Number), d.bound(ctx, func(tx queries, s scope) error {
		id, known, err := d.findTrial(ctx, tx, s, t.Number)
		switch {
		case err != nil:
			return err
		case known == nil:
			return &FileError{Path: d.path, Problem: fmt.Sprintf("has no trial %d of ours to end", t.Number)}
		case !known.open():
			return &FileError{Path: d.path, Problem: fmt.Sprintf("has the end of trial %d already: it is never replaced", t.Number), Err: tuner.ErrTaken}
		}
		l, err := putRun(ctx, tx, id, t.Outcome, records)
		if err != nil {
			return err
		}
		if err := putTrial(ctx, tx, id, t, string(point), l); err != nil {
			return err
		}
		return projectOutcome(ctx, tx, s, id, t)
	}))
}

// Restate records anew the outcome and the staleness of earlier trials, in one transaction: stale ones, and interrupted ones that are given up.
// Their runs and measurements stay as they are.
func (d *DB) Restate(ctx context.Context, trials []tuner.Trial) error {
	return d.writeBound(ctx, "restating earlier trials", func(tx queries, s scope) error {
		for _, t := range trials {
			id, known, err := d.findTrial(ctx, tx, s, t.Number)
			if err != nil {
				return err
			}
			if known == nil {
				return &FileError{Path: d.path, Problem: fmt.Sprintf("has no trial %d of ours to restate", t.Number)}
			}
			if err := putTrial(ctx, tx, id, t, known.point, known.links); err != nil {
				return err
			}
			if err := projectOutcome(ctx, tx, s, id, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// scope is what a projection needs to know besides the trial.
type scope struct {
	studyID int64
	problem tuner.Problem
}

func (d *DB) writeBound(ctx context.Context, doing string, f func(tx queries, s scope) error) error {
	return d.write(ctx, doing, d.bound(ctx, f))
}

// bound gives a write its scope.
func (d *DB) bound(ctx context.Context, f func(tx queries, s scope) error) func(tx queries) error {
	return func(tx queries) error {
		if d.problem == nil {
			return errUnbound
		}
		s := scope{problem: *d.problem}
		err := tx.QueryRowContext(ctx, "SELECT study_id FROM autotune_study").Scan(&s.studyID)
		if err != nil {
			return err
		}
		return f(tx, s)
	}
}

// same tells whether a stored point is this one: a flag that the space has gained since, or lost, was left out then.
func (s scope) same(stored string, point []byte) bool {
	if stored == string(point) {
		return true
	}
	p, outside, err := readPoint(s.problem.Space, []byte(stored))
	if err != nil || outside {
		return false
	}
	now, err := json.Marshal(p)
	return err == nil && bytes.Equal(now, point)
}

// links are the rows that a trial's outcome comes from.
type links struct{ run, measurement sql.NullInt64 }

// knownTrial is what is stored of a trial of ours.
type knownTrial struct {
	point   string
	outcome tuner.Kind
	links
}

// open tells whether the trial may still be begun again and ended.
func (k knownTrial) open() bool { return k.outcome == tuner.Running || k.outcome == tuner.Interrupted }

// findTrial looks a number up: id 0 for one that is free, known nil for a trial of another program.
func (d *DB) findTrial(ctx context.Context, tx queries, s scope, number int) (id int64, known *knownTrial, err error) {
	var point, outcome sql.NullString
	var l links
	err = tx.QueryRowContext(ctx, `SELECT t.trial_id, a.point, a.outcome, a.run_id, a.measurement_id FROM trials t LEFT JOIN autotune_trial a USING (trial_id)
		WHERE t.study_id = ? AND t.number = ?`, s.studyID, number).Scan(&id, &point, &outcome, &l.run, &l.measurement)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, nil
	}
	if err == nil && outcome.Valid {
		known = &knownTrial{point.String, tuner.Kind(outcome.String), l}
	}
	return id, known, err
}

func insertTrial(ctx context.Context, tx queries, s scope, number int) (id int64, err error) {
	r, err := tx.ExecContext(ctx, "INSERT INTO trials (number, study_id, state) VALUES (?, ?, 'RUNNING')", number, s.studyID)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// putTrial writes our side of a trial.
func putTrial(ctx context.Context, tx queries, id int64, t tuner.Trial, point string, l links) error {
	o := t.Outcome
	c := &columns{}
	c.set("trial_id", id)
	c.set("point", point)
	c.set("key", t.Point.Key())
	c.set("origin", string(t.Origin))
	c.json("proposal", t.Proposal)
	c.set("started", instant(t.Started))
	c.set("ended", instant(t.Ended))
	c.set("interruptions", t.Interruptions)
	c.set("stale", t.Stale)
	c.set("outcome", string(o.Kind))
	c.set("phase", string(o.Phase))
	c.set("reason", string(o.Reason))
	c.set("signature", o.Signature)
	c.set("rule", o.Rule)
	c.set("evidence", o.Evidence)
	c.set("hint", o.Hint)
	c.set("share", o.Share)
	c.json("warnings", o.Warnings)
	c.set("cost", o.Cost)
	c.json("argv", o.Run.Argv)
	c.json("env", o.Run.Env)
	c.json("additions", o.Run.Additions)
	c.set("engine_version", o.Run.EngineVersion)
	c.set("run_id", l.run)
	c.set("measurement_id", l.measurement)
	_, err := insert(ctx, tx, "autotune_trial", "REPLACE", c)
	return err
}

// putRun writes one launch, what it measured, workload by workload, and the records of that; nothing for an outcome without a launch.
func putRun(ctx context.Context, tx queries, trial int64, o tuner.Outcome, records []packed) (links, error) {
	r, m := o.Run, o.Measured
	if m == nil && reflect.DeepEqual(r, tuner.Run{}) {
		return links{}, nil
	}
	c := &columns{}
	c.set("trial_id", trial)
	c.set("purpose", r.Purpose)
	c.set("host", r.Host)
	c.json("gpus", r.GPUs)
	c.set("log", r.Log)
	c.json("phases", r.Phases)
	c.set("started", instant(r.Started))
	c.set("ended", instant(r.Ended))
	c.set("resolved", text(r.Resolved))
	c.set("resolved_key", r.ResolvedKey)
	c.json("facts", r.Facts)
	run, err := insert(ctx, tx, "autotune_run", "ABORT", c)
	l := links{run: sql.NullInt64{Int64: run, Valid: true}}
	for i, m := range m.All() {
		if err != nil {
			break
		}
		var id int64
		if id, err = putMeasurement(ctx, tx, run, m, records[i]); i == 0 {
			l.measurement = sql.NullInt64{Int64: id, Valid: true}
		}
	}
	return l, err
}

func putMeasurement(ctx context.Context, tx queries, run int64, m *tuner.Measurement, records packed) (id int64, err error) {
	c := &columns{}
	c.set("run_id", run)
	c.set("workload", m.Workload)
	c.set("repeat", m.Repeat)
	c.set("identity", m.Identity)
	c.set("sent", m.Sent)
	c.set("clock", string(m.Clock))
	c.set("share", m.Share)
	c.json("metrics", finite(m.Metrics))
	c.json("server_side", finite(m.ServerSide))
	c.json("gauges", m.Gauges)
	id, err = insert(ctx, tx, "autotune_measurement", "ABORT", c)
	if err != nil || records.codec == "" {
		return id, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO autotune_records (measurement_id, codec, records) VALUES (?, ?, ?)", id, records.codec, records.blob)
	return id, err
}

// insert writes a row; on a conflict it does what the word says.
func insert(ctx context.Context, tx queries, table, conflict string, c *columns) (id int64, err error) {
	if c.err != nil {
		return 0, c.err
	}
	r, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT OR %s INTO %s (%s) VALUES (?%s)", conflict, table,
		strings.Join(c.names, ", "), strings.Repeat(", ?", len(c.names)-1)), c.values...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

// packed are the records of a measurement as they are stored.
type packed struct {
	codec string
	blob  []byte
}

func packRecords(m *tuner.Measurement) (packed, error) {
	if m == nil || len(m.Records) == 0 {
		return packed{}, nil
	}
	blob, codec, err := metric.Encode(m.Records)
	return packed{codec, blob}, err
}
