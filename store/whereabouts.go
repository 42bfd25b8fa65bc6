package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// here fails when the path no longer names the open file: what would be written now, nobody would find. It fails too when another program has cut the
// file short, which nothing of autotune does: what would be written now could not be read. What was written is saved beside it.
func (d *DB) here(ctx context.Context) error {
	if d.closed || d.readOnly != nil {
		return &FileError{Path: d.path, Problem: "is not open for writing"}
	}
	if info, err := os.Stat(d.path); err == nil && os.SameFile(info, d.link.file) && info.Size() >= d.link.file.Size() {
		d.link.file = info
		return nil
	}
	return d.moved(ctx, d.rescued == "")
}

// moved saves the open file beside its path, when that is needed, and says what has happened.
func (d *DB) moved(ctx context.Context, save bool) error {
	what := "was deleted or moved away while the study was open"
	if info, err := os.Stat(d.path); err == nil && os.SameFile(info, d.link.file) {
		what = "was written over by another program while the study was open"
	} else if err == nil {
		what = "now names another file than the one that was opened"
	}
	moved := &FileError{Path: d.path, Err: ErrMoved}
	if save {
		if err := d.rescue(ctx); err != nil {
			moved.Problem = fmt.Sprintf("%s, and its results could not be saved elsewhere: %v", what, err)
			return moved
		}
	}
	moved.Problem = what + "; everything up to now was saved in " + d.rescued
	// Under its own name: beside the old one may lie the log of the file that is gone, which SQLite would apply to the copy.
	moved.Try = "autotune resume " + shell(d.rescued)
	if logs := d.path + ".d"; exists(logs) {
		moved.Problem += "; engine logs up to now stay in " + logs
	}
	return moved
}

// rescue saves the open file, wherever it is, as a new one beside its path, in place of an earlier copy.
func (d *DB) rescue(ctx context.Context) error {
	folder := filepath.Dir(d.path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		folder = os.TempDir()
	}
	base := strings.TrimSuffix(filepath.Base(d.path), filepath.Ext(d.path))
	target := d.rescued
	for n := 1; target == ""; n++ {
		if candidate := filepath.Join(folder, fmt.Sprintf("%s.rescued-%d.db", base, n)); !exists(candidate) && !exists(candidate+"-wal") {
			target = candidate
		}
	}
	draft := target + ".new"
	os.Remove(draft) // of an attempt that failed; mostly it is not there
	if _, err := d.link.conn.ExecContext(context.WithoutCancel(ctx), "VACUUM INTO ?", draft); err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	if err := os.Rename(draft, target); err != nil {
		return err
	}
	d.rescued = target
	d.settle(context.WithoutCancel(ctx))
	return nil
}

// settle empties the log beside the path when the open file is no longer there: the log bears the path's name, and SQLite would apply what is in it to
// the file that lies there now. Should that fail, the copy is whole all the same.
func (d *DB) settle(ctx context.Context) {
	if info, err := os.Stat(d.path); err != nil || !os.SameFile(info, d.link.file) {
		d.link.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
}
