package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"autotune/store/storetest"
)

// The patience after a stop counts from the first write that is held up, and all writes share it.
func TestStopIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := stopOf(context.WithoutCancel(withStop(ctx, 3*time.Second)))
	start := time.Unix(1000, 0)
	if s.over(start) || s.over(start.Add(time.Hour)) {
		t.Error("over before a stop was asked")
	}
	cancel()
	for after, want := range []bool{false, false, false, true, true} {
		if got := s.over(start.Add(time.Hour + time.Duration(after)*time.Second)); got != want {
			t.Errorf("%d s after a write was held up: over %v, want %v", after, got, want)
		}
	}
	if stopOf(ctx).over(start) {
		t.Error("over without a mark")
	}
}

// A lock or a full disk holds a write up as long as nobody asks to stop; afterwards the write fails with what held it up.
func TestRetryAfterStop(t *testing.T) {
	for _, hindrance := range []error{sqlite3.Error{Code: sqlite3.ErrFull}, sqlite3.Error{Code: sqlite3.ErrBusy}} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := retry(context.WithoutCancel(withStop(ctx, 0)), time.Hour, nil, func() error {
			if calls++; calls == 3 {
				cancel()
			}
			return hindrance
		})
		cancel()
		if calls != 3 || !errors.Is(err, hindrance) {
			t.Errorf("%v after %d calls, want %v after 3", err, calls, hindrance)
		}
	}
}

// With the disk full for good, a stop ends the wait of a finished trial; what was recorded before stays.
func TestStopOnAFullDisk(t *testing.T) {
	d := created(t, temporary(t))
	carryOut(t, d, 0)
	if err := d.Begin(t.Context(), storetest.Begun(*d.problem, 1)); err != nil {
		t.Fatal(err)
	}
	ended := storetest.Ended(*d.problem, 1)
	ended.Outcome.Evidence = strings.Repeat("much ", 100_000)
	if _, err := d.link.conn.ExecContext(t.Context(), "PRAGMA max_page_count = 1"); err != nil { // SQLite makes it the present size
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d.patience, d.Waiting = time.Hour, func(string) { cancel() }
	err := d.Finish(context.WithoutCancel(withStop(ctx, 0)), ended)
	var f *FileError
	if !errors.As(err, &f) || !strings.Contains(f.Problem, "the disk is full") || f.Try == "" {
		t.Errorf("%v, want a FileError that names the full disk", err)
	}
	h := history(t, d)
	if len(h) != 2 {
		t.Fatalf("%d trials, want 2", len(h))
	}
	if diff := diff(wantTrials(*d.problem, 1), h[:1]); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}
