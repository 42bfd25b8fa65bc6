package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"autotune/store/storetest"
)

// The study file goes away while trial 2 is in flight: it is said at once, and every trial, that one too, is saved beside the path.
func TestMovedAway(t *testing.T) {
	for name, take := range map[string]func(t *testing.T, path string){
		"deleted": func(t *testing.T, path string) {
			for _, side := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(path + side); err != nil {
					t.Fatal(err)
				}
			}
		},
		"moved": func(t *testing.T, path string) {
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
		},
		"replaced": func(t *testing.T, path string) {
			other := filepath.Join(filepath.Dir(path), "other.db")
			finished(t, other, 1)
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := temporary(t)
			d := created(t, path)
			carryOut(t, d, 0, 1)
			if err := d.Begin(t.Context(), storetest.Begun(*d.problem, 2)); err != nil {
				t.Fatal(err)
			}
			take(t, path)
			var before []byte
			if name == "replaced" {
				before, _ = os.ReadFile(path)
			}
			for _, err := range []error{d.Renew(t.Context(), time.Second), d.Finish(t.Context(), storetest.Ended(*d.problem, 2)),
				d.Begin(t.Context(), storetest.Begun(*d.problem, 3))} {
				if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), "saved in "+d.rescued) || !strings.Contains(err.Error(), "Try: mv "+shell(d.rescued)+" "+shell(path)+", then") {
					t.Errorf("%v, want ErrMoved and where the results are", err)
				}
			}
			saved := looking(t, d.rescued)
			if diff := diff(wantTrials(*d.problem, 3), history(t, saved)); diff != "" {
				t.Errorf("saved (-want +got):\n%s", diff)
			}
			if diff := diff(wantTrials(*d.problem, 3), history(t, d)); diff != "" {
				t.Errorf("still to be printed (-want +got):\n%s", diff)
			}
			after, err := os.ReadFile(path)
			if name != "replaced" && err == nil {
				t.Error("a new file was made at the path")
			}
			if string(before) != string(after) {
				t.Error("the file that took the place was changed")
			}
		})
	}
}

// A file that is brought back is written again.
func TestMovedBack(t *testing.T) {
	path := temporary(t)
	d := created(t, path)
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := d.Renew(t.Context(), time.Second); !errors.Is(err, ErrMoved) {
		t.Errorf("%v, want ErrMoved", err)
	}
	if err := os.Rename(path+".old", path); err != nil {
		t.Fatal(err)
	}
	carryOut(t, d, 0)
	if diff := diff(wantTrials(*d.problem, 1), history(t, looking(t, path))); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}
