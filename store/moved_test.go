package store

import (
	"errors"
	"os"
	"os/exec"
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
				if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), "saved in "+d.rescued) || !strings.Contains(err.Error(), "\nTry: autotune resume "+shell(d.rescued)) {
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

// Only the file itself is deleted; its log stays and is not the copy's. The suggested command, taken as a shell takes it, names a file that goes on.
func TestRescuedGoesOn(t *testing.T) {
	path := temporary(t)
	d := created(t, path)
	carryOut(t, d, 0, 1)
	if err := os.Mkdir(path+".d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Begin(t.Context(), storetest.Begun(*d.problem, 2)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	err := d.Finish(t.Context(), storetest.Ended(*d.problem, 2))
	if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), "logs up to now stay in "+path+".d") {
		t.Fatalf("%v, want ErrMoved and where the logs are", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if !exists(path + "-wal") {
		t.Fatal("the log of the deleted file is gone: nothing is tested")
	}
	_, advice, _ := strings.Cut(err.Error(), "\nTry: ")
	out, err := exec.Command("sh", "-c", "autotune() { printf '%s\n' \"$@\"; }; "+advice).CombinedOutput()
	words := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(words) != 2 || words[0] != "resume" {
		t.Fatalf("%q gives %q, %v", advice, words, err)
	}
	next := holding(t)(seize(t, words[1])) // the program that held it has ended by then
	next.Bind(storetest.Problem(t))
	carryOut(t, next, 3)
	if diff := diff(wantTrials(*next.problem, 4), history(t, next)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	var sound string
	if err := next.link.conn.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("integrity: %s, %v", sound, err)
	}
}

// What another program leaves at the path is read as it is: the log of the file that is gone is not applied to it.
func TestReplacedFileIsReadAsItIs(t *testing.T) {
	path := temporary(t)
	d := created(t, path)
	carryOut(t, d, 0, 1, 2)
	other := filepath.Join(filepath.Dir(path), "other.db")
	finished(t, other, 1)
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if err := d.Renew(t.Context(), time.Second); !errors.Is(err, ErrMoved) {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Log(err)
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		t.Errorf("%d bytes of another file's log", log.Size())
	}
	if diff := diff(wantTrials(*d.problem, 1), history(t, looking(t, path))); diff != "" {
		t.Errorf("at the path (-want +got):\n%s", diff)
	}
}

// A file that another program cuts short is noticed before more is written to it.
func TestWrittenOver(t *testing.T) {
	path := temporary(t)
	d := created(t, path)
	carryOut(t, d, 0, 1)
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	err := d.Begin(t.Context(), storetest.Begun(*d.problem, 2))
	if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), "was written over by another program while the study was open") {
		t.Errorf("%v", err)
	}
}
