package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"autotune/store/storetest"
)

// contents is every name in a folder with the content and time of its file.
func contents(t *testing.T, folder string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		line := e.Name()
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			text, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			line += fmt.Sprintf(" %x %v", sha256.Sum256(text), info.ModTime())
		}
		out = append(out, line)
	}
	return out
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// database makes a SQLite file.
func database(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite3", dsn(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

// finished makes a study file with some trials, and closes it.
func finished(t *testing.T, path string, trials int) {
	t.Helper()
	d := created(t, path)
	for n := range trials {
		carryOut(t, d, n)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// asNobody carries out f on a thread that has no rights over other users' files. The thread ends with it.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked
		if os.Geteuid() == 0 {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0); errno != 0 {
				t.Error(errno)
				return
			}
		}
		f()
	}()
	<-done
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(t *testing.T, path string)
		says   string
		nobody bool
	}{
		{"nothing there", func(*testing.T, string) {}, "does not exist", false},
		{"a directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "is a folder", false},
		{"a pipe", func(t *testing.T, path string) {
			if err := syscall.Mkfifo(path, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "is no regular file", false},
		{"an empty file", func(t *testing.T, path string) { write(t, path, nil) }, "is an empty file", false},
		{"a text", func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("model: x\n", 500))) }, "is no SQLite database", false},
		{"another program's database", func(t *testing.T, path string) { database(t, path, "CREATE TABLE places (id)") }, "is a database of another program", false},
		{"a database of Optuna alone", func(t *testing.T, path string) {
			database(t, path, "CREATE TABLE studies (study_id); CREATE TABLE trials (trial_id)")
		}, "is a database of Optuna", false},
		{"a newer version", func(t *testing.T, path string) {
			finished(t, path, 2)
			database(t, path, "UPDATE autotune_study SET schema_version = 999; PRAGMA journal_mode = DELETE")
		}, "was written by a newer autotune", false},
		{"a damaged file", func(t *testing.T, path string) {
			finished(t, path, 30)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, text[:4096])
		}, "is damaged", false},
		{"an unreadable file", func(t *testing.T, path string) {
			finished(t, path, 1)
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
		}, "permission denied", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := temporary(t)
			c.make(t, path)
			before := contents(t, filepath.Dir(path))
			for name, open := range map[string]func(string) (*DB, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
				check := func() {
					d, err := open(path)
					if err == nil {
						_, err = d.ReadStudy(context.Background())
						d.Close()
					}
					var f *FileError
					if !errors.As(err, &f) || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), path) {
						t.Errorf("%s: %v, want a FileError that names the path and says %q", name, err, c.says)
					}
				}
				if c.nobody {
					reachable(t, path)
					asNobody(t, check)
				} else {
					check()
				}
			}
			if after := contents(t, filepath.Dir(path)); !slices.Equal(before, after) {
				t.Errorf("the folder has changed:\n%s\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
		})
	}
}

// reachable lets every user into the file's folder.
func reachable(t *testing.T, path string) {
	t.Helper()
	for folder := filepath.Dir(path); folder != os.TempDir() && len(folder) > 1; folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// A read-only file in a read-only folder can be looked at, and nothing else; what a person may try is said.
func TestReadOnlyDisk(t *testing.T) {
	path := temporary(t)
	finished(t, path, 3)
	reachable(t, path)
	for _, name := range []string{path, filepath.Dir(path)} {
		if err := os.Chmod(name, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, filepath.Dir(path))
	p := storetest.Problem(t)
	asNobody(t, func() {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "read-only") || !strings.Contains(err.Error(), "Try: copy it") {
			t.Errorf("opening for writing: %v", err)
		}
		if _, err := Create(filepath.Join(filepath.Dir(path), "new.db"), storetest.Study(), p); err == nil || !strings.Contains(err.Error(), "cannot be made: permission denied") {
			t.Errorf("making another: %v", err)
		}
		d, err := OpenReadOnly(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer d.Close()
		d.Bind(p)
		_, h, err := d.Load(context.Background())
		if diff := diff(wantTrials(p, 3), h); diff != "" || err != nil {
			t.Errorf("%v, history (-want +got):\n%s", err, diff)
		}
	})
	if after := contents(t, filepath.Dir(path)); !slices.Equal(before, after) {
		t.Errorf("the folder has changed:\n%v\n%v", before, after)
	}
}

func TestCreateWhereItCannotBe(t *testing.T) {
	path := temporary(t)
	finished(t, path, 1)
	folder := filepath.Dir(path)
	write(t, filepath.Join(folder, "left.db-wal"), []byte("x"))
	before := contents(t, folder)
	for at, says := range map[string]string{path: "exists already", filepath.Join(folder, "none", "x.db"): "does not exist",
		filepath.Join(path, "x.db"): "no folder", filepath.Join(folder, "left.db"): "left of a study file that was removed"} {
		_, err := Create(at, storetest.Study(), storetest.Problem(t))
		if err == nil || !strings.Contains(err.Error(), says) || errors.Is(err, ErrExists) != (at == path) {
			t.Errorf("at %s: %v, want %q", at, err, says)
		}
	}
	if after := contents(t, folder); !slices.Equal(before, after) {
		t.Errorf("the folder has changed:\n%v\n%v", before, after)
	}
}

// With the disk full a finished trial waits for space, says so, and is then recorded; nothing is lost.
func TestFullDisk(t *testing.T) {
	d := created(t, temporary(t))
	carryOut(t, d, 0)
	begun, ended := storetest.Begun(*d.problem, 1), storetest.Ended(*d.problem, 1)
	limit := func(pages string) {
		if _, err := d.link.conn.ExecContext(context.Background(), "PRAGMA max_page_count = "+pages); err != nil {
			t.Error(err)
		}
	}
	if err := d.Begin(t.Context(), begun); err != nil {
		t.Fatal(err)
	}
	ended.Outcome.Evidence = strings.Repeat("much ", 100_000)
	var said []string
	d.Waiting = func(message string) {
		said = append(said, message)
		limit("1000000")
	}
	limit("1") // SQLite makes it the present size
	if err := d.Finish(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "disk is full") {
		t.Errorf("said %q", said)
	}
	want := append(wantTrials(*d.problem, 1), storetest.Stored(ended))
	if diff := diff(want, history(t, d)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}

	limit("1")
	d.Waiting, d.patience = nil, 0
	another := storetest.Begun(*d.problem, 2)
	another.Proposal.Why = ended.Outcome.Evidence
	if err := d.Begin(t.Context(), another); err == nil || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), "autotune resume") {
		t.Errorf("a disk that stays full: %v", err)
	}
	if diff := diff(want, history(t, d)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestCommandsCanBePasted(t *testing.T) {
	for path, want := range map[string]string{"/data/größe-1.db": "/data/größe-1.db", "/my data/x.db": "'/my data/x.db'", "it's $HOME.db": `'it'\''s $HOME.db'`} {
		if got := shell(path); got != want {
			t.Errorf("%s is written %s, want %s", path, got, want)
		}
	}
}
