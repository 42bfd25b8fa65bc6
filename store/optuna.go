package store

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"autotune/space"
	"autotune/tuner"
)

// optunaLayout is how Optuna writes an instant: in UTC, without a zone.
const optunaLayout = "2006-01-02 15:04:05.000000"

func optunaInstant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(optunaLayout)
}

// optunaTime reads an instant of Optuna's; the driver may have turned it into RFC 3339.
func optunaTime(s string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", time.RFC3339Nano} {
		if t, err := time.ParseInLocation(layout, s, time.UTC); err == nil {
			return t
		}
	}
	return time.Time{}
}

// state is the word for a trial that Optuna's readers know. An interrupted one is ours to finish: WAITING would be taken by Optuna's ask.
// What was measured without the objective has failed for them: a complete trial has a value.
func state(g tuner.Goal, o tuner.Outcome) string {
	switch o.Kind {
	case tuner.Measured:
		if _, ok := g.Value(o.Measured); !ok {
			return "FAIL"
		}
		return "COMPLETE"
	case tuner.Stopped:
		return "PRUNED"
	case tuner.Infeasible, tuner.Invalid:
		return "FAIL"
	default:
		return stateRunning
	}
}

const stateRunning = "RUNNING"

// projectOutcome writes how a trial stands into Optuna's tables.
func projectOutcome(ctx context.Context, tx queries, s scope, id int64, t tuner.Trial) error {
	word, ended := state(s.problem.Goal, t.Outcome), t.Ended
	if word == stateRunning {
		ended = time.Time{}
	}
	_, err := tx.ExecContext(ctx, "UPDATE trials SET state = ?, datetime_start = ?, datetime_complete = ? WHERE trial_id = ?",
		word, optunaInstant(t.Started), optunaInstant(ended), id)
	if err != nil {
		return err
	}
	if err := projectValue(ctx, tx, s, id, t.Outcome); err != nil {
		return err
	}
	if err := projectAttributes(ctx, tx, id, t); err != nil {
		return err
	}
	if c := constraints(s.problem.Goal, t.Outcome); c != nil {
		return setAttribute(ctx, tx, trialSystemAttributes, id, "constraints", c)
	}
	return nil
}

// projectValue writes the objective of a measured trial, and a stopped one's as an intermediate value.
func projectValue(ctx context.Context, tx queries, s scope, id int64, o tuner.Outcome) error {
	for _, table := range []string{"trial_values", "trial_intermediate_values"} {
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE trial_id = ?", id); err != nil {
			return err
		}
	}
	v, ok := s.problem.Goal.Value(o.Measured)
	if !ok {
		return nil
	}
	var err error
	switch o.Kind {
	case tuner.Measured:
		_, err = tx.ExecContext(ctx, "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, 0, ?, 'FINITE')", id, v)
	case tuner.Stopped:
		_, err = tx.ExecContext(ctx, "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, intermediate_value_type) VALUES (?, 0, ?, 'FINITE')", id, v)
	}
	return err
}

// far stands for a bound whose metric was not measured: JSON has no word for infinity.
const far = 1e9

// constraints are at most 0 where all is well: first whether the trial ran, then each bound's violation. Nil while nothing is known.
func constraints(g tuner.Goal, o tuner.Outcome) []float64 {
	c := make([]float64, 1+len(g.SubjectTo))
	switch {
	case o.Kind == tuner.Infeasible || o.Kind == tuner.Invalid:
		for i := range c {
			c[i] = 1
		}
	case o.Measured == nil || o.Kind != tuner.Measured && o.Kind != tuner.Stopped:
		return nil
	default:
		for i, v := range g.Violations(o.Measured) {
			if c[i+1] = min(max(v, -far), far); math.IsNaN(v) {
				c[i+1] = far
			}
		}
	}
	return c
}

// words are the attributes that are not metrics.
var words = []string{"origin", "outcome", "phase", "reason", "signature", "rule", "evidence", "hint", "why", "stale", "cost_seconds", "engine_version", "clock"}

// projectAttributes writes what Optuna has no column for.
func projectAttributes(ctx context.Context, tx queries, id int64, t tuner.Trial) error {
	if err := dropAttributes(ctx, tx, trialUserAttributes, id, words); err != nil {
		return err
	}
	o := t.Outcome
	all := map[string]any{"origin": t.Origin, "outcome": o.Kind, "phase": o.Phase, "reason": o.Reason, "signature": o.Signature, "rule": o.Rule,
		"evidence": o.Evidence, "hint": o.Hint, "why": t.Proposal.Why, "engine_version": o.Run.EngineVersion}
	maps.DeleteFunc(all, func(_ string, v any) bool { return fmt.Sprint(v) == "" })
	if t.Stale {
		all["stale"] = true
	}
	if o.Kind != tuner.Running {
		all["cost_seconds"] = o.Cost.Seconds()
	}
	if o.Measured != nil {
		all["clock"] = o.Measured.Clock
		for i, m := range o.Measured.All() {
			prefix := ""
			if i > 0 {
				prefix = m.Workload + "."
			}
			for name, v := range finite(m.Metrics) {
				all[prefix+name] = v
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if err := setAttribute(ctx, tx, trialUserAttributes, id, key, all[key]); err != nil {
			return err
		}
	}
	return nil
}

// projectParams writes the values of a point's active parameters. What has no place in a parameter's distribution, `default` in a range of numbers
// say, is in the user attribute defaults (its name) or words (name and value), so that it and an inactive parameter stay apart.
func projectParams(ctx context.Context, tx queries, s scope, id int64, p space.Point) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM trial_params WHERE trial_id = ?", id); err != nil {
		return err
	}
	var defaults []string
	listed := map[string]string{}
	for name, v := range p.All() {
		q, ok := s.problem.Space.Param(name)
		if !ok {
			continue
		}
		dist, internal, ok := distribute(q.Domain, v)
		switch {
		case ok:
			if err := putParam(ctx, tx, s, id, name, dist, internal); err != nil {
				return err
			}
		case v.IsDefault():
			defaults = append(defaults, name)
		default:
			listed[name] = v.String()
		}
	}
	if len(defaults) > 0 {
		if err := setAttribute(ctx, tx, trialUserAttributes, id, "defaults", defaults); err != nil {
			return err
		}
	}
	if len(listed) > 0 {
		return setAttribute(ctx, tx, trialUserAttributes, id, "words", listed)
	}
	return nil
}

// putParam writes one value; a list of choices is first joined with what the study's file already has.
func putParam(ctx context.Context, tx queries, s scope, id int64, name string, dist distribution, internal float64) error {
	if choices := dist.choices(); choices != nil {
		joined, err := joinChoices(ctx, tx, s, name, choices)
		if err != nil {
			return err
		}
		internal = float64(slices.Index(joined, choices[int(internal)]))
		dist = categorical(joined)
	}
	if math.IsNaN(internal) || math.IsInf(internal, 0) {
		return nil
	}
	text, err := plainJSON(dist)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, ?, ?, ?)", id, name, internal, text)
	return err
}
