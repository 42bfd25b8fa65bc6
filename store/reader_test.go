package store

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autotune/store/storetest"
)

// foreign is another program's connection.
func foreign(t *testing.T, path string) *sql.Conn {
	t.Helper()
	pool, err := sql.Open("sqlite3", dsn(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); pool.Close() })
	return conn
}

func script(t *testing.T, c *sql.Conn, text string) {
	t.Helper()
	if _, err := c.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// A hand at a database shell holds the lock for writing over a trial's end: the trial is recorded once the lock is gone, and the waiting is told.
func TestLockedByAnother(t *testing.T) {
	path := temporary(t)
	d := created(t, path)
	carryOut(t, d, 0)
	if err := d.Begin(t.Context(), storetest.Begun(*d.problem, 1)); err != nil {
		t.Fatal(err)
	}
	shell := foreign(t, path)
	script(t, shell, "BEGIN IMMEDIATE")
	looking := looking(t, path)
	var said []string
	d.Waiting = func(message string) {
		said = append(said, message)
		if diff := diff(wantTrials(*d.problem, 1), history(t, looking)[:1]); diff != "" {
			t.Errorf("read under the lock (-want +got):\n%s", diff)
		}
		script(t, shell, "ROLLBACK")
	}
	if err := d.Finish(t.Context(), storetest.Ended(*d.problem, 1)); err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "locked") {
		t.Errorf("said %q", said)
	}
	if diff := diff(wantTrials(*d.problem, 2), history(t, looking)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}

	script(t, shell, "BEGIN IMMEDIATE")
	d.patience = 0
	if err := d.Begin(t.Context(), storetest.Begun(*d.problem, 2)); err == nil || !strings.Contains(err.Error(), "locked by another program") {
		t.Errorf("a lock that stays: %v", err)
	}
	script(t, shell, "ROLLBACK")
	carryOut(t, d, 2)
}

// Readers, also one that keeps its transaction open, never hinder the writer, and see each trial as soon as it has ended.
func TestReadersNeverHinder(t *testing.T) {
	path := temporary(t)
	d := created(t, path)
	d.patience = 0 // any lock in the way would be an error
	carryOut(t, d, 0)
	shell := foreign(t, path)
	script(t, shell, "BEGIN; SELECT COUNT(*) FROM trials")
	follow := looking(t, path)
	for n := 1; n < 30; n++ {
		carryOut(t, d, n)
		if diff := diff(wantTrials(*d.problem, n+1), history(t, follow)); diff != "" {
			t.Fatalf("after trial %d (-want +got):\n%s", n, diff)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := diff(wantTrials(*d.problem, 30), history(t, follow)); diff != "" {
		t.Errorf("after the writer's end (-want +got):\n%s", diff)
	}
}

// One who looks at a study nobody writes sees what is written later, and leaves nothing beside the file.
func TestReaderOfAStillFile(t *testing.T) {
	path := temporary(t)
	finished(t, path, 2)
	before := contents(t, filepath.Dir(path))
	reader := looking(t, path)
	if diff := diff(wantTrials(*reader.problem, 2), history(t, reader)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if after := contents(t, filepath.Dir(path)); !slices.Equal(before, after) {
		t.Errorf("the folder has changed:\n%v\n%v", before, after)
	}
	d := opened(t, path)
	carryOut(t, d, 2)
	if diff := diff(wantTrials(*reader.problem, 3), history(t, reader)); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
	if err := reader.Begin(t.Context(), storetest.Begun(*reader.problem, 3)); err == nil {
		t.Error("a reader has written")
	}
}

// A crashed study was copied, log and all, to where nothing can be written: it can still be looked at.
func TestReaderOfACrashedCopy(t *testing.T) {
	path := temporary(t)
	d := created(t, path)
	carryOut(t, d, 0, 1, 2)
	target := temporary(t)
	for _, side := range []string{"", "-wal"} {
		if err := copyFile(path+side, target+side); err != nil {
			t.Fatal(err)
		}
	}
	reachable(t, target)
	if err := os.Chmod(filepath.Dir(target), 0o555); err != nil {
		t.Fatal(err)
	}
	before := contents(t, filepath.Dir(target))
	asNobody(t, func() {
		reader, err := OpenReadOnly(target)
		if err != nil {
			t.Error(err)
			return
		}
		defer reader.Close()
		reader.Bind(*d.problem)
		_, h, err := reader.Load(t.Context())
		if diff := diff(wantTrials(*d.problem, 3), h); diff != "" || err != nil {
			t.Errorf("%v, history (-want +got):\n%s", err, diff)
		}
	})
	if after := contents(t, filepath.Dir(target)); !slices.Equal(before, after) {
		t.Errorf("the folder has changed:\n%v\n%v", before, after)
	}
}

// A journal that another program has left beside the file is no reason not to look at it.
func TestReaderBesideAJournal(t *testing.T) {
	path := temporary(t)
	finished(t, path, 2)
	if err := os.WriteFile(path+"-journal", []byte("left by something else, and no journal of SQLite's"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := looking(t, path)
	if got := history(t, d); len(got) != 2 {
		t.Errorf("%d trials", len(got))
	}
	if _, err := os.Stat(path + "-journal"); err != nil {
		t.Errorf("a reader changes nothing: %v", err)
	}
}
