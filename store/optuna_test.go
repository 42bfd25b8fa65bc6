package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/space"
	"autotune/store/storetest"
	"autotune/tuner"
)

// seen is a trial as a reader of Optuna's tables sees it.
type seen struct {
	State    string
	Begun    bool
	Complete bool
	Values   []float64
	Partial  []float64
	Params   map[string]string // JSON of the value outside
	Defaults []string
	Words    map[string]string
	Feasible *bool
}

// optunaSees reads Optuna's side of a file, by Optuna's rules.
func optunaSees(t *testing.T, d *DB) map[int]seen {
	t.Helper()
	out := map[int]seen{}
	for _, line := range query(t, d, "SELECT number, state, datetime_start IS NOT NULL, datetime_complete IS NOT NULL, trial_id FROM trials") {
		var id int
		s := seen{State: line[1], Begun: line[2] == "1", Complete: line[3] == "1", Params: map[string]string{}}
		fmt.Sscan(line[4], &id)
		for _, v := range query(t, d, fmt.Sprintf("SELECT value FROM trial_values WHERE trial_id = %d", id)) {
			s.Values = append(s.Values, number(t, v[0]))
		}
		for _, v := range query(t, d, fmt.Sprintf("SELECT intermediate_value FROM trial_intermediate_values WHERE trial_id = %d", id)) {
			s.Partial = append(s.Partial, number(t, v[0]))
		}
		for _, v := range query(t, d, fmt.Sprintf("SELECT param_name, param_value, distribution_json FROM trial_params WHERE trial_id = %d", id)) {
			s.Params[v[0]] = external(t, number(t, v[1]), v[2])
		}
		for _, v := range query(t, d, fmt.Sprintf(`SELECT "key", value_json FROM trial_user_attributes WHERE trial_id = %d`, id)) {
			switch v[0] {
			case "defaults":
				decode(t, v[1], &s.Defaults)
			case "words":
				decode(t, v[1], &s.Words)
			}
		}
		for _, v := range query(t, d, fmt.Sprintf(`SELECT value_json FROM trial_system_attributes WHERE "key" = 'constraints' AND trial_id = %d`, id)) {
			var c []float64
			decode(t, v[0], &c)
			feasible := slices.Max(c) <= 0
			s.Feasible = &feasible
		}
		var n int
		fmt.Sscan(line[0], &n)
		out[n] = s
	}
	return out
}

func query(t *testing.T, d *DB, q string) (out [][]string) {
	t.Helper()
	rows, err := d.link.conn.QueryContext(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		texts, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range texts {
			into[i] = &texts[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(names))
		for i := range texts {
			line[i] = texts[i].String
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	var f float64
	decode(t, text, &f)
	return f
}

// external is what Optuna makes of a stored parameter; a value outside its distribution is an error.
func external(t *testing.T, internal float64, distribution string) string {
	t.Helper()
	var d struct {
		Name       string
		Attributes struct {
			Choices   []json.RawMessage
			Low, High float64
			Step      *float64
			Log       *bool
		}
	}
	decode(t, distribution, &d)
	a := d.Attributes
	switch d.Name {
	case "CategoricalDistribution":
		return string(a.Choices[int(internal)])
	case "IntDistribution", "FloatDistribution":
		if internal < a.Low || internal > a.High || a.Log == nil || d.Name == "IntDistribution" && (a.Step == nil || *a.Log && *a.Step != 1) {
			t.Errorf("%v is not of %s", internal, distribution)
		}
		if d.Name == "IntDistribution" {
			return space.Int(int64(internal)).String()
		}
		return space.Float(internal).String()
	}
	t.Errorf("no distribution of Optuna's: %s", distribution)
	return ""
}

// wantSeen is what a trial is to look like for Optuna.
func wantSeen(p tuner.Problem, tr tuner.Trial) seen {
	s := seen{Begun: true, Params: map[string]string{}}
	for name, v := range tr.Point.All() {
		q, _ := p.Space.Param(name)
		_, _, _, isRange := q.Domain.Range()
		text, _ := plainJSON(v)
		switch ranged := isRange && !strings.HasSuffix(name, "bytes") || q.Domain.IsFloatGrid(); {
		case v.IsDefault() && ranged:
			s.Defaults = append(s.Defaults, name)
		case v.IsDefault():
			s.Params[name] = `"default"`
		case v.Kind() == space.KindInt && (v.AsInt() > 1<<53 || v.AsInt() < -1<<53):
			s.Params[name] = `"` + text + `"`
		default:
			s.Params[name] = text
		}
	}
	yes, no := true, false
	o := tr.Outcome
	var value []float64
	if o.Measured != nil {
		value = []float64{o.Measured.Metrics["total_token_throughput"]}
	}
	s.Complete = o.Kind != tuner.Running && o.Kind != tuner.Interrupted
	switch o.Kind {
	case tuner.Measured, tuner.Stopped:
		s.State, s.Values, s.Feasible = "COMPLETE", value, &yes
		if o.Measured.Metrics["p95_ttft"] > 5 {
			s.Feasible = &no
		}
		if o.Kind == tuner.Stopped {
			s.State, s.Values, s.Partial = "PRUNED", nil, value
		}
	case tuner.Infeasible, tuner.Invalid:
		s.State, s.Feasible = "FAIL", &no
	default:
		s.State = "RUNNING"
	}
	return s
}

func TestOptunaSide(t *testing.T) {
	d := created(t, temporary(t))
	want := map[int]seen{}
	for n := range 60 {
		carryOut(t, d, n)
		want[n] = wantSeen(*d.problem, storetest.Ended(*d.problem, n))
	}
	running := storetest.Begun(*d.problem, 60)
	if err := d.Begin(t.Context(), running); err != nil {
		t.Fatal(err)
	}
	want[60] = wantSeen(*d.problem, running)
	if diff := cmp.Diff(want, optunaSees(t, d)); diff != "" {
		t.Errorf("Optuna's side (-want +got):\n%s", diff)
	}
	interrupted := running
	interrupted.Outcome.Kind, interrupted.Ended = tuner.Interrupted, running.Started.Add(time.Minute)
	if err := d.Finish(t.Context(), interrupted); err != nil {
		t.Fatal(err)
	}
	if got := optunaSees(t, d)[60]; got.State != "RUNNING" || got.Complete {
		t.Errorf("an interrupted trial is %+v for Optuna", got)
	}
	for q, want := range map[string]string{
		"SELECT direction, objective FROM study_directions":                                            "MAXIMIZE 0",
		`SELECT value_json FROM study_system_attributes WHERE "key" = 'study:metric_names'`:            `["total_token_throughput"]`,
		"SELECT schema_version, library_version FROM version_info":                                     "12 5.0.0",
		"SELECT version_num FROM alembic_version":                                                      "v3.2.0.a",
		"SELECT study_name FROM studies":                                                               storetest.Study().Name,
		"SELECT CAST(datetime_start AS TEXT) FROM trials WHERE number = 0":                             "2026-03-29 00:59:58.123456",
		`SELECT value_json FROM trial_user_attributes WHERE "key" = 'outcome' AND trial_id = 1`:        `"` + string(storetest.Ended(*d.problem, 0).Outcome.Kind) + `"`,
		"SELECT COUNT(*) FROM (SELECT DISTINCT param_name, distribution_json FROM trial_params)":       fmt.Sprint(len(query(t, d, "SELECT DISTINCT param_name FROM trial_params"))),
		"SELECT COUNT(*) FROM trial_values WHERE value_type <> 'FINITE' OR value IS NULL":              "0",
		`SELECT COUNT(*) FROM trial_user_attributes WHERE "key" = 'p95_ttft' AND value_json LIKE '"%'`: "0",
		`SELECT COUNT(*) FROM trial_user_attributes a JOIN trials USING (trial_id) WHERE state = 'COMPLETE' AND "key" = 'failed_requests' AND value_json = '0'`: query(t, d,
			"SELECT COUNT(*) FROM trials WHERE state = 'COMPLETE'")[0][0],
	} {
		if got := query(t, d, q); len(got) != 1 || strings.Join(got[0], " ") != want {
			t.Errorf("%s: %v, want %s", q, got, want)
		}
	}
}

// A measured trial whose objective is missing or no number is not complete for Optuna, whose readers take a value for granted.
func TestMeasuredWithoutAnObjective(t *testing.T) {
	d := created(t, temporary(t))
	if err := d.Begin(t.Context(), storetest.Begun(*d.problem, 0)); err != nil {
		t.Fatal(err)
	}
	ended := storetest.Begun(*d.problem, 0)
	ended.Outcome = tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Metrics: map[string]float64{"success_rate": 1}}}
	if err := d.Finish(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	got := optunaSees(t, d)[0]
	if got.State != "FAIL" || got.Values != nil || got.Feasible == nil || *got.Feasible {
		t.Errorf("%+v", got)
	}
}

// Optuna asks in the file of a study: its trial is foreign to us, keeps its number, and cannot have one of ours.
func TestForeignTrials(t *testing.T) {
	path := temporary(t)
	d := created(t, path)
	carryOut(t, d, 0)
	shell := foreign(t, path)
	script(t, shell, `INSERT INTO trials (number, study_id, state, datetime_start) VALUES (1, 1, 'RUNNING', '2026-04-01 10:00:00.5');
		INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json)
		VALUES (2, 'vllm.kv-cache-dtype', 1, '{"name": "CategoricalDistribution", "attributes": {"choices": ["auto", "fp8", "{\"a\": \"<b> & \u00fc\"}", "default"]}}')`)
	if err := d.Begin(t.Context(), storetest.Begun(*d.problem, 1)); !errors.Is(err, tuner.ErrTaken) {
		t.Errorf("a number that Optuna has: %v", err)
	}
	if err := d.Finish(t.Context(), storetest.Ended(*d.problem, 1)); err == nil {
		t.Error("Optuna's trial was ended as one of ours")
	}
	want := append(wantTrials(*d.problem, 1), tuner.Trial{Number: 1, Foreign: true, Started: time.Date(2026, 4, 1, 10, 0, 0, 5e8, time.UTC)})
	h := history(t, d)
	if diff := diff(want, h); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if n := h.Next(); n != 2 {
		t.Errorf("the next number is %d", n)
	}
	carryOut(t, d, 2, 3, 4, 5, 6)
	if got := optunaSees(t, d)[1].Params["vllm.kv-cache-dtype"]; got != `"fp8"` {
		t.Errorf("the foreign trial's value is now %s", got)
	}
	if _, err := shell.ExecContext(t.Context(), "INSERT INTO trials (number, study_id, state) VALUES (4, 1, 'RUNNING')"); err == nil {
		t.Error("a number was given twice")
	}
}
