package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"autotune/store/storetest"
	"autotune/tuner"
)

// writeForever goes on with a study, trial after trial, and says on its output what is recorded, once it is.
func writeForever(path string) int {
	err := func() error {
		ctx := context.Background()
		d, err := Open(path)
		if err != nil {
			return err
		}
		if err := d.Acquire(ctx, "the test's child"); err != nil {
			return err
		}
		d.Bind(storetest.Problem(&testing.B{}))
		_, h, err := d.Load(ctx)
		if err != nil {
			return err
		}
		for _, t := range tuner.Requeue(h, storetest.Epoch) {
			t.Interruptions, t.Outcome = 0, tuner.Outcome{Kind: tuner.Interrupted} // never given up, however often it is killed
			if err := d.Restate(ctx, []tuner.Trial{t}); err != nil {
				return err
			}
			h = h[:t.Number]
		}
		for n := h.Next(); ; n++ {
			if err := d.Begin(ctx, storetest.Begun(*d.problem, n)); err != nil {
				return err
			}
			fmt.Println("begun", n)
			if err := d.Finish(ctx, storetest.Ended(*d.problem, n)); err != nil {
				return err
			}
			fmt.Println("ended", n)
			if err := d.Renew(ctx, time.Second); err != nil {
				return err
			}
			if err := d.Note(ctx, tuner.Event{At: storetest.Epoch, Kind: "ended", Trial: n, Text: "x"}); err != nil {
				return err
			}
		}
	}()
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// A process that writes is killed at random moments, again and again: the file is whole, nothing that was acknowledged is lost, nothing is half there.
func TestKilled(t *testing.T) {
	path := temporary(t)
	finished(t, path, 0)
	r := rand.New(rand.NewPCG(20, 26))
	p := storetest.Problem(t)
	for range 20 {
		c := startChild(t, "write", path)
		acknowledged := map[string]bool{}
		for range 1 + r.IntN(12) {
			acknowledged[c.line(t)] = true
		}
		timer := time.NewTimer(time.Duration(r.IntN(4000)) * time.Microsecond)
		<-timer.C
		c.kill()
		h := history(t, looking(t, path))
		for line := range acknowledged {
			var word string
			var n int
			if _, err := fmt.Sscan(line, &word, &n); err != nil || n >= len(h) || word == "ended" && h[n].Outcome.Kind == tuner.Running {
				t.Fatalf("%q was acknowledged, and is not in the history of %d trials (%v)", line, len(h), err)
			}
		}
		whole(t, path, p, h)
	}
}

// whole compares a history that a killed process has left with what it was to write, and has SQLite look over the file.
func whole(t *testing.T, path string, p tuner.Problem, h tuner.History) {
	t.Helper()
	want := wantTrials(p, len(h))
	if last := len(h) - 1; last >= 0 && h[last].Outcome.Kind != want[last].Outcome.Kind {
		want[last] = storetest.Begun(p, last) // in flight
		if h[last].Outcome.Kind == tuner.Interrupted {
			want[last].Outcome.Kind, want[last].Ended = tuner.Interrupted, storetest.Epoch
		}
	}
	if diff := diff(want, h); diff != "" {
		t.Fatalf("history (-want +got):\n%s", diff)
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, check := range []string{"PRAGMA integrity_check", "PRAGMA foreign_key_check"} {
		answers, err := strs(t.Context(), d.link.conn, check)
		if text := strings.Join(answers, "\n"); err != nil || text != "ok" && text != "" {
			t.Fatalf("%s: %v %v", check, text, err)
		}
	}
	for n := range h {
		records, err := d.Records(t.Context(), n)
		if m := storetest.Ended(p, n).Outcome.Measured; err != nil || h[n].Outcome.Measured != nil && len(records) != len(m.Records) {
			t.Fatalf("trial %d: %d requests, %v", n, len(records), err)
		}
	}
}
