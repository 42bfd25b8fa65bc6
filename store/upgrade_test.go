package store

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"autotune/space"
	"autotune/store/storetest"
	"autotune/tuner"
)

// freeze makes testdata/vN.db and vN.json of the present version. It is used once a version, before the next migration is written.
var freeze = flag.Bool("freeze", false, "make the frozen study file of the present version")

// frozen is all that a study file holds, for comparing.
type frozen struct {
	Study    tuner.Study
	History  tuner.History
	Points   []space.Point
	Events   []tuner.Event
	Verdict  string
	Requests []int
}

// all reads a study as one of an unknown space: its points stand as they were stored, whatever the made-up space is by then.
func all(t *testing.T, d *DB) string {
	t.Helper()
	nowhere, err := space.New(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Bind(tuner.Problem{Space: nowhere, Goal: storetest.Problem(t).Goal})
	var f frozen
	if f.Study, f.History, err = d.Load(t.Context()); err == nil {
		f.Events, err = d.Events(t.Context())
	}
	for i, tr := range f.History {
		records, err := d.Records(t.Context(), tr.Number)
		if err != nil {
			t.Fatal(err)
		}
		f.Requests, f.Points = append(f.Requests, len(records)), append(f.Points, tr.Point)
		f.History[i].Outside = false
	}
	verdict, verdictErr := d.Verdict(t.Context())
	if f.Verdict = string(verdict); err != nil || verdictErr != nil {
		t.Fatal(err, verdictErr)
	}
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func makeFrozen(t *testing.T) {
	path := filepath.Join("testdata", fmt.Sprintf("v%d.db", newest()))
	d := created(t, path)
	for n := range 12 {
		carryOut(t, d, n)
	}
	for _, err := range []error{d.Begin(t.Context(), storetest.Begun(*d.problem, 12)), d.Renew(t.Context(), 90), d.SetVerdict(t.Context(), []byte(`{"end":"interrupted"}`)),
		d.Note(t.Context(), tuner.Event{At: storetest.Epoch, Kind: "notice", Trial: -1, Text: "a line"})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	write(t, strings.TrimSuffix(path, ".db")+".json", []byte(all(t, d)))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// Every study file that a version of this program has ever made opens with all that is in it, for looking without being changed, and for going on.
func TestUpgrade(t *testing.T) {
	if *freeze {
		makeFrozen(t)
	}
	files, err := filepath.Glob("testdata/v*.db")
	if err != nil || len(files) != newest() {
		t.Fatalf("%d frozen files for %d versions: go test ./store -run TestUpgrade -freeze makes one; %v", len(files), newest(), err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			golden, err := os.ReadFile(strings.TrimSuffix(file, ".db") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			path := temporary(t)
			if err := copyFile(file, path); err != nil {
				t.Fatal(err)
			}
			before := contents(t, filepath.Dir(path))
			if diff := cmp.Diff(string(golden), all(t, looking(t, path))); diff != "" {
				t.Errorf("looked at (-want +got):\n%s", diff)
			}
			if after := contents(t, filepath.Dir(path)); !slices.Equal(before, after) {
				t.Errorf("looking has changed the folder:\n%v\n%v", before, after)
			}
			d := opened(t, path)
			if diff := cmp.Diff(string(golden), all(t, d)); diff != "" {
				t.Errorf("upgraded (-want +got):\n%s", diff)
			}
			d.Bind(storetest.Problem(t))
			next := history(t, d).Next()
			carryOut(t, d, next)
			if h := history(t, d); len(h) != next+1 {
				t.Errorf("%d trials after trial %d", len(h), next)
			}
			if got := query(t, d, "SELECT schema_version FROM autotune_study"); got[0][0] != fmt.Sprint(newest()) {
				t.Errorf("the schema's version is %s", got[0][0])
			}
		})
	}
}

// steps are migrations: those of this version, and what comes after them.
func steps(t *testing.T, more ...string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	own, err := readMigrations(migrations)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range own {
		files[m.name] = &fstest.MapFile{Data: []byte(m.script)}
	}
	for i, script := range more {
		files[fmt.Sprintf("migration/%04d_more.sql", len(own)+i+1)] = &fstest.MapFile{Data: []byte(script)}
	}
	return files
}

func TestMigrations(t *testing.T) {
	path := temporary(t)
	d := created(t, path)
	carryOut(t, d, 0, 1)
	n := newest()
	run := func(files fstest.MapFS) error {
		return inTransaction(context.Background(), d.link, func(tx queries) error { return migrate(context.Background(), tx, files, n) })
	}
	broken := steps(t, "ALTER TABLE autotune_trial ADD COLUMN mood TEXT; UPDATE autotune_trial SET mood = 'good'", "CREATE TABLE autotune_trial (x)")
	if err := run(broken); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("migration/%04d_more.sql", n+2)) {
		t.Errorf("a broken step: %v", err)
	}
	if v := query(t, d, "SELECT schema_version FROM autotune_study")[0][0]; v != fmt.Sprint(n) {
		t.Errorf("after a broken step the version is %s", v)
	}
	if err := run(steps(t, "ALTER TABLE autotune_trial ADD COLUMN mood TEXT; UPDATE autotune_trial SET mood = 'good'", "CREATE TABLE autotune_mood (x)")); err != nil {
		t.Fatal(err)
	}
	if got := query(t, d, "SELECT schema_version, (SELECT COUNT(*) FROM autotune_trial WHERE mood = 'good'), (SELECT COUNT(*) FROM autotune_mood) FROM autotune_study"); strings.Join(got[0], " ") != fmt.Sprintf("%d 2 0", n+2) {
		t.Errorf("after two steps: %v", got)
	}
	gap := steps(t)
	gap[fmt.Sprintf("migration/%04d_gap.sql", n+2)] = &fstest.MapFile{}
	if _, err := readMigrations(gap); err == nil {
		t.Error("a number was left out, and nobody said so")
	}
}
