package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"autotune/store/storetest"
)

func TestHeldByALivingProcess(t *testing.T) {
	path := temporary(t)
	finished(t, path, 2)
	c := startChild(t, "hold", path)
	c.line(t)

	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.Bind(storetest.Problem(t))
	err = d.Acquire(t.Context(), "autotune run")
	if name := fmt.Sprintf("autotune resume, process %d", c.cmd.Process.Pid); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), name) {
		t.Fatalf("%v, want ErrHeld and %q", err, name)
	}
	if err := d.Begin(t.Context(), storetest.Begun(*d.problem, 2)); !errors.Is(err, ErrHeld) {
		t.Errorf("writing without the lease: %v", err)
	}
	holder, err := looking(t, path).Holder(t.Context())
	if err != nil || holder == nil || !holder.Alive || holder.PID != c.cmd.Process.Pid {
		t.Errorf("holder %+v, %v", holder, err)
	}

	c.kill()
	if holder, err := looking(t, path).Holder(t.Context()); err != nil || holder == nil || holder.Alive {
		t.Errorf("the dead holder is %+v, %v", holder, err)
	}
	if err := d.Acquire(t.Context(), "autotune run"); err != nil {
		t.Fatalf("taking over from a dead process: %v", err)
	}
	carryOut(t, d, 2)
}

func TestTwoInOneProcess(t *testing.T) {
	path := temporary(t)
	first := created(t, path)
	second, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := second.Acquire(t.Context(), "autotune resume"); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("%v, want ErrHeld", err)
	}
	if err := first.Acquire(t.Context(), "autotune run"); err != nil {
		t.Errorf("taking a lease that one has: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if holder, err := second.Holder(t.Context()); holder != nil || err != nil {
		t.Errorf("after giving it back the holder is %+v, %v", holder, err)
	}
	if err := second.Acquire(t.Context(), "autotune resume"); err != nil {
		t.Error(err)
	}
}

// A process that cannot be seen from here counts as alive as long as it renews its lease; a restart of its machine ends it.
func TestOtherPlaces(t *testing.T) {
	for _, c := range []struct {
		name, change string
		after        time.Duration
		held         bool
	}{
		{"another machine, renewed", "boot = 'other', host = 'elsewhere'", leaseTerm - time.Minute, true},
		{"another machine, silent", "boot = 'other', host = 'elsewhere'", leaseTerm + time.Minute, false},
		{"another container here", "namespace = 'pid:[1]', pid = 1", leaseTerm - time.Minute, true},
		{"this machine before its restart", "boot = 'other'", 0, false},
		{"this number, an earlier process", "started = '17'", 0, false},
		{"no such process", "pid = 0", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := temporary(t)
			first := created(t, path)
			if _, err := first.link.conn.ExecContext(t.Context(), "UPDATE autotune_lease SET "+c.change); err != nil {
				t.Fatal(err)
			}
			second, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer second.Close()
			second.now = func() time.Time { return time.Now().Add(c.after) }
			if err := second.Acquire(t.Context(), "autotune resume"); errors.Is(err, ErrHeld) != c.held || !c.held && err != nil {
				t.Fatalf("%v, want held %v", err, c.held)
			}
			if c.held {
				return
			}
			// The one before finds out at its next write, and has changed nothing.
			if err := first.Begin(t.Context(), storetest.Begun(*first.problem, 0)); !errors.Is(err, ErrHeld) {
				t.Errorf("the one before writes on: %v", err)
			}
			if err := first.Renew(t.Context(), time.Hour); !errors.Is(err, ErrHeld) {
				t.Errorf("the one before renews: %v", err)
			}
			if study, err := second.ReadStudy(t.Context()); err != nil || study.Spent != 0 {
				t.Errorf("spent %v, %v", study.Spent, err)
			}
		})
	}
}

// Of processes that make one study at once, one has it.
func TestCreatedAtOnce(t *testing.T) {
	problem := storetest.Problem(t)
	for range 20 {
		path := temporary(t)
		results := make(chan error)
		for range 4 {
			go func() {
				d, err := Create(path, storetest.Study(), problem)
				if err == nil {
					defer d.Close()
					err = d.Acquire(context.Background(), "autotune run")
				}
				results <- err
			}()
		}
		won := 0
		for range 4 {
			switch err := <-results; {
			case err == nil:
				won++
			case !errors.Is(err, ErrExists):
				t.Error(err)
			}
		}
		if won != 1 {
			t.Fatalf("%d made the study", won)
		}
	}
}
