package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"autotune/tuner"
)

// Create makes a study file. A path that is taken is a *FileError that wraps ErrExists, and nothing is changed. The file appears at its path
// complete or not at all, so that of two processes that create it at once one fails, and none sees half a study.
// The study's projection needs the problem: its space and its goal. The caller acquires the lease next.
func Create(path string, study tuner.Study, p tuner.Problem) (*DB, error) {
	ctx := context.Background()
	d, err := newDB(path)
	if err != nil {
		return nil, err
	}
	if err := d.free(); err != nil {
		return nil, err
	}
	draft := filepath.Join(filepath.Dir(d.path), fmt.Sprintf(".%s.%s.new", filepath.Base(d.path), rand.Text()[:8]))
	defer func() {
		for _, side := range []string{"", "-journal", "-wal", "-shm"} {
			os.Remove(draft + side) // mostly it is not there
		}
	}()
	if err := d.draft(ctx, draft, study, p); err != nil {
		return nil, explain(d.path, "making the study file", err)
	}
	if err := place(draft, d.path); errors.Is(err, fs.ErrExist) {
		return nil, d.taken()
	} else if err != nil {
		return nil, explain(d.path, "making the study file", err)
	}
	if err := d.dialWriting(ctx); err != nil {
		return nil, explain(d.path, "opening the study file", err)
	}
	d.problem = &p
	return d, nil
}

func (d *DB) taken() error {
	return &FileError{Path: d.path, Problem: "exists already", Try: "autotune resume " + shell(d.path) + ", or another path", Err: ErrExists}
}

// free tells whether a study file can be made at the path: no file is there, nor the log of one that was.
func (d *DB) free() error {
	folder := filepath.Dir(d.path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &FileError{Path: d.path, Problem: "cannot be made: the folder " + folder + " does not exist", Try: "mkdir -p " + shell(folder), Err: err}
	case err != nil:
		return explain(d.path, "looking at the study file's folder", err)
	case !info.IsDir():
		return &FileError{Path: d.path, Problem: "cannot be made: " + folder + " is no folder"}
	case exists(d.path):
		return d.taken()
	case exists(d.path + "-wal"):
		return &FileError{Path: d.path + "-wal", Problem: "is left of a study file that was removed: a new one would take it for its own",
			Try: fmt.Sprintf("rm -f %s %s", shell(d.path+"-wal"), shell(d.path+"-shm"))}
	}
	return nil
}

// draft writes a whole study file at a path of its own, and leaves it closed and on the disk.
func (d *DB) draft(ctx context.Context, path string, study tuner.Study, p tuner.Problem) error {
	// Made by hand first: what the system says (no permission, a read-only disk) is clearer than what SQLite makes of it.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return &FileError{Path: d.path, Problem: "cannot be made: " + reason(err), Try: "a path in a folder that can be written", Err: err}
	}
	if err := f.Close(); err != nil {
		return err
	}
	l, err := dial(ctx, path, writing("rw"))
	if err != nil {
		return err
	}
	err = inTransaction(ctx, l, func(tx queries) error {
		if err := migrate(ctx, tx, migrations, 0); err != nil {
			return err
		}
		return insertStudy(ctx, tx, study, p)
	})
	return errors.Join(err, l.close())
}

func reason(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// place gives a draft its name, unless the name is taken; where hard links are unknown the test and the renaming are two steps.
func place(draft, path string) error {
	err := os.Link(draft, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if exists(path) {
			return fs.ErrExist
		}
		err = os.Rename(draft, path)
	}
	if err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	syncErr := folder.Sync()
	return errors.Join(syncErr, folder.Close())
}

// insertStudy writes the study into both sides of a new file.
func insertStudy(ctx context.Context, tx queries, study tuner.Study, p tuner.Problem) error {
	const id = 1
	_, err := tx.ExecContext(ctx, "INSERT INTO studies (study_id, study_name) VALUES (?, ?)", id, study.Name)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO study_directions (direction, study_id, objective) VALUES (?, ?, 0)",
		strings.ToUpper(string(p.Goal.Direction)), id)
	if err != nil {
		return err
	}
	if err := setAttribute(ctx, tx, studySystemAttributes, id, "study:metric_names", []string{p.Goal.Metric}); err != nil {
		return err
	}
	if err := setAttribute(ctx, tx, studyUserAttributes, id, "autotune:goal", p.Goal.String()); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO autotune_study (id, study_id, schema_version, uuid, source, spec, spec_hash, inputs, created,
		budget_trials, budget_wall_clock, budget_failure_row, spent) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, newest(), study.UUID, study.Source, string(study.Spec), hash(study.Spec), text(study.Inputs), instant(study.Created),
		study.Budget.Trials, study.Budget.WallClock, study.Budget.FailureRow, study.Spent)
	return err
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// text stores bytes as text, and no bytes as NULL.
func text(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return string(b)
}

// instant stores a time, and no time as NULL.
func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}
