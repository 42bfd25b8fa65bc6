package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// Load reads the study and its whole history, by number; the requests' records are left where they are: see Records.
func (d *DB) Load(ctx context.Context) (study tuner.Study, h tuner.History, err error) {
	err = d.read(ctx, "reading the study", func(q queries) error {
		if d.problem == nil {
			return errUnbound
		}
		if study, err = readStudy(ctx, q); err != nil {
			return err
		}
		h, err = readHistory(ctx, q, d.problem.Space)
		return err
	})
	return study, h, err
}

const historyQuery = `SELECT t.number, t.datetime_start, a.trial_id IS NULL,
	a.point, a.origin, a.proposal, a.started, a.ended, a.interruptions, a.stale,
	a.outcome, a.phase, a.reason, a.signature, a.rule, a.evidence, a.hint, a.share, a.warnings, a.cost,
	a.argv, a.env, a.additions, a.engine_version,
	r.purpose, r.host, r.gpus, r.log, r.phases, r.started, r.ended, r.resolved, r.resolved_key, r.facts,
	m.measurement_id, m.workload, m.repeat, m.identity, m.sent, m.clock, m.share, m.metrics, m.server_side, m.gauges
	FROM trials t JOIN autotune_study s USING (study_id) LEFT JOIN autotune_trial a USING (trial_id)
	LEFT JOIN autotune_run r ON r.run_id = a.run_id LEFT JOIN autotune_measurement m ON m.measurement_id = a.measurement_id
	WHERE t.number IS NOT NULL ORDER BY t.number`

func readHistory(ctx context.Context, q queries, s *space.Space) (tuner.History, error) {
	rows, err := q.QueryContext(ctx, historyQuery)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var h tuner.History
	for rows.Next() {
		t, err := scanTrial(rows, s)
		if err != nil {
			return nil, err
		}
		h = append(h, t)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return h, readFurther(ctx, q, h)
}

// furtherQuery finds what a launch measured beside the measurement that counts: the study's other workloads.
const furtherQuery = `SELECT t.number, m.workload, m.repeat, m.identity, m.sent, m.clock, m.share, m.metrics, m.server_side, m.gauges
	FROM trials t JOIN autotune_study s USING (study_id) JOIN autotune_trial a USING (trial_id)
	JOIN autotune_measurement m ON m.run_id = a.run_id AND m.measurement_id != a.measurement_id ORDER BY t.number, m.measurement_id`

// readFurther adds the measurements of further workloads to the trials of a history.
func readFurther(ctx context.Context, q queries, h tuner.History) error {
	rows, err := q.QueryContext(ctx, furtherQuery)
	if err != nil {
		return err
	}
	defer rows.Close()
	at := map[int]*tuner.Measurement{}
	for _, t := range h {
		at[t.Number] = t.Outcome.Measured
	}
	for rows.Next() {
		var number int
		m := &tuner.Measurement{}
		err := rows.Scan(&number, scanText[string]{&m.Workload}, scanInt[int]{&m.Repeat}, scanText[string]{&m.Identity}, scanText[string]{&m.Sent},
			scanText[metric.Clock]{&m.Clock}, scanFloat{&m.Share}, scanJSON{&m.Metrics}, scanJSON{&m.ServerSide}, scanJSON{&m.Gauges})
		if err != nil {
			return &damage{what: fmt.Sprintf("a measurement of trial %d cannot be read", number), err: err}
		}
		if first := at[number]; first != nil {
			first.Also = append(first.Also, m)
		}
	}
	return rows.Err()
}

func scanTrial(rows *sql.Rows, s *space.Space) (tuner.Trial, error) {
	var t tuner.Trial
	var measurement sql.NullInt64
	var point []byte
	var begun string
	var stale int
	o, r, m := &t.Outcome, &t.Outcome.Run, &tuner.Measurement{}
	err := rows.Scan(&t.Number, scanText[string]{&begun}, &t.Foreign,
		&point, scanText[tuner.Origin]{&t.Origin}, scanJSON{&t.Proposal}, scanInstant{&t.Started}, scanInstant{&t.Ended}, scanInt[int]{&t.Interruptions}, scanInt[int]{&stale},
		scanText[tuner.Kind]{&o.Kind}, scanText[tuner.Phase]{&o.Phase}, scanText[tuner.Reason]{&o.Reason}, scanText[string]{&o.Signature}, scanText[string]{&o.Rule},
		scanText[string]{&o.Evidence}, scanText[string]{&o.Hint}, scanFloat{&o.Share}, scanJSON{&o.Warnings}, scanInt[time.Duration]{&o.Cost},
		scanJSON{&r.Argv}, scanJSON{&r.Env}, scanJSON{&r.Additions}, scanText[string]{&r.EngineVersion},
		scanText[string]{&r.Purpose}, scanText[string]{&r.Host}, scanJSON{&r.GPUs}, scanText[string]{&r.Log}, scanJSON{&r.Phases}, scanInstant{&r.Started},
		scanInstant{&r.Ended}, scanJSON{&r.Resolved}, scanText[string]{&r.ResolvedKey}, scanJSON{&r.Facts},
		&measurement, scanText[string]{&m.Workload}, scanInt[int]{&m.Repeat}, scanText[string]{&m.Identity}, scanText[string]{&m.Sent},
		scanText[metric.Clock]{&m.Clock}, scanFloat{&m.Share}, scanJSON{&m.Metrics}, scanJSON{&m.ServerSide}, scanJSON{&m.Gauges})
	if err != nil {
		return t, &damage{what: fmt.Sprintf("trial %d cannot be read", t.Number), err: err}
	}
	switch o.Kind {
	case tuner.Running, tuner.Measured, tuner.Infeasible, tuner.Invalid, tuner.Stopped, tuner.Interrupted:
	default:
		return t, &damage{what: fmt.Sprintf("trial %d has the outcome %q, which is none that autotune knows", t.Number, o.Kind)}
	}
	t.Stale = stale != 0
	if t.Foreign {
		t.Started = optunaTime(begun)
		return t, nil
	}
	if measurement.Valid {
		o.Measured = m
	}
	if t.Point, t.Outside, err = readPoint(s, point); err != nil {
		return t, &damage{what: fmt.Sprintf("the configuration of trial %d cannot be read", t.Number), err: err}
	}
	t.Proposal.Point = t.Point
	return t, nil
}

// readPoint reads a stored point in the space of today. Values count, not places in a list; a flag that the space has gained since was left out
// then, and one that it has lost matters only where it was set. What does not fit is outside, and keeps its values as they stand.
func readPoint(s *space.Space, text []byte) (p space.Point, outside bool, err error) {
	stored, err := space.ReadPoint(text)
	if err != nil {
		return p, false, err
	}
	values := stored.Map()
	for name, v := range stored.All() {
		if _, known := s.Param(name); !known && v.IsDefault() {
			delete(values, name)
		}
	}
	for _, q := range s.Params() {
		if _, set := values[q.Name]; !set && q.Domain.Allows(space.Default()) {
			values[q.Name] = space.Default()
		}
	}
	if p, err = s.Point(values); err != nil {
		return stored, true, nil
	}
	for name, v := range stored.All() {
		if _, kept := p.Get(name); !kept && !v.IsDefault() {
			return stored, true, nil // its condition is another one now
		}
	}
	return p, false, nil
}

// Records reads the stored requests of the measurement that counts for a trial; nil when none are stored.
func (d *DB) Records(ctx context.Context, number int) ([]metric.Record, error) {
	return d.recordsOf(ctx, number, "m.measurement_id = a.measurement_id")
}

// RecordsOn reads the stored requests of one of the measurements of a trial's launch, by workload and repeat; nil when none are stored.
func (d *DB) RecordsOn(ctx context.Context, number int, workload string, repeat int) ([]metric.Record, error) {
	return d.recordsOf(ctx, number, "m.workload = ? AND m.repeat = ?", workload, repeat)
}

func (d *DB) recordsOf(ctx context.Context, number int, which string, args ...any) ([]metric.Record, error) {
	var codec string
	var blob []byte
	err := d.read(ctx, fmt.Sprintf("reading the requests of trial %d", number), func(q queries) error {
		err := q.QueryRowContext(ctx, `SELECT r.codec, r.records FROM trials t JOIN autotune_trial a USING (trial_id)
			JOIN autotune_measurement m ON m.run_id = a.run_id JOIN autotune_records r ON r.measurement_id = m.measurement_id WHERE t.number = ? AND `+which,
			append([]any{number}, args...)...).Scan(&codec, &blob)
		if err == sql.ErrNoRows {
			return nil
		}
		return err
	})
	if err != nil || codec == "" {
		return nil, err
	}
	return metric.Decode(blob, codec)
}
