package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed migration/*.sql
var migrations embed.FS

// migration is one step of the schema; its version is the number that its file's name begins with, from 1 on without a gap.
type migration struct {
	version int
	name    string
	script  string
}

// readMigrations lists the steps in order.
func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migration/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []migration
	for i, name := range names { // Glob sorts
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migration/"), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s stands in place %d", name, i+1)
		}
		script, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{version, name, string(script)})
	}
	return steps, nil
}

// migrate brings the schema from a version to the newest, inside the caller's transaction, and records the version where there is a study.
func migrate(ctx context.Context, tx queries, files fs.FS, from int) error {
	steps, err := readMigrations(files)
	if err != nil {
		return err
	}
	for _, m := range steps[min(from, len(steps)):] {
		if _, err := tx.ExecContext(ctx, m.script); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE autotune_study SET schema_version = ?", m.version); err != nil {
			return err
		}
	}
	return nil
}

// newest is the schema's version that this program writes.
func newest() int {
	steps, err := readMigrations(migrations)
	if err != nil {
		panic("store: embedded migrations: " + err.Error())
	}
	return len(steps)
}

// anotherPath is what to try where a file is none of a study.
const anotherPath = "the file that autotune run has made; a new study takes a path where nothing lies: autotune run SPEC --study NEW.db"

// identify returns the version of a study file's schema, or says what the file is instead. It only reads.
func identify(ctx context.Context, q queries, path string, size int64) (version int, err error) {
	wrong := func(problem, try string) error { return &FileError{Path: path, Problem: problem, Try: try} }
	tables := map[string]bool{}
	names, err := strs(ctx, q, "SELECT name FROM sqlite_master WHERE type = 'table'")
	if err != nil {
		return 0, err
	}
	for _, n := range names {
		tables[n] = true
	}
	switch {
	case size == 0:
		return 0, wrong("is an empty file, not a study file", anotherPath)
	case tables["autotune_study"]:
	case tables["studies"] && tables["trials"]:
		return 0, wrong("is a database of Optuna without a study of autotune", anotherPath)
	default:
		return 0, wrong("is a database of another program, not a study file", anotherPath)
	}
	err = q.QueryRowContext(ctx, "SELECT schema_version FROM autotune_study").Scan(&version)
	if err == sql.ErrNoRows {
		return 0, wrong("holds no study", "")
	}
	if err != nil {
		return 0, err
	}
	if version > newest() {
		return 0, &FileError{Path: path, Err: ErrNewer, Try: "a newer autotune",
			Problem: fmt.Sprintf("was written by a newer autotune: its schema is version %d, this one knows versions up to %d", version, newest())}
	}
	return version, nil
}

// strs collects a column of strings.
func strs(ctx context.Context, q queries, query string, args ...any) ([]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
