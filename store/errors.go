package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"

	"github.com/mattn/go-sqlite3"
)

// What a FileError may wrap.
var (
	ErrExists = errors.New("the file exists")
	ErrHeld   = errors.New("another process holds the study")
	ErrMoved  = errors.New("the path no longer names the study file")
	ErrNewer  = errors.New("the study file is of a newer version")
)

// FileError says what is wrong with a study file, and what a person may try.
type FileError struct {
	Path    string
	Problem string // as the end of a sentence that begins with the path
	Try     string // may be empty
	Err     error  // cause; may be nil
}

func (e *FileError) Error() string {
	s := e.Path + " " + e.Problem
	if e.Try != "" {
		s += "\nTry: " + e.Try
	}
	return s
}

func (e *FileError) Unwrap() error { return e.Err }

// damage is content of a study file that autotune never writes: another program, or the disk, has changed it.
type damage struct {
	what string
	err  error // may be nil
}

func (d *damage) Error() string {
	if d.err == nil {
		return d.what
	}
	return d.what + ": " + d.err.Error()
}

func (d *damage) Unwrap() error { return d.err }

// recoverFrom is what a person may try with a file whose pages are sound and whose content is not.
const recoverFrom = "a backup of the file, or a new study; the earlier trials can be looked at with the sqlite3 shell"

// shell writes a path so that a command that is tried can be pasted.
func shell(path string) string {
	if strings.IndexFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+,:@%", r)
	}) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// locked tells whether another connection's lock is all that is wrong.
func locked(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked || e.Code == sqlite3.ErrProtocol)
}

// full tells whether a full disk is all that is wrong.
func full(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.Code == sqlite3.ErrFull
}

// explain turns what SQLite or the system says into a FileError; other errors pass with what was being done before them.
func explain(path, doing string, err error) error {
	var already *FileError
	var e sqlite3.Error
	var damaged *damage
	wrong := func(problem, try string) error { return &FileError{Path: path, Problem: problem, Try: try, Err: err} }
	switch {
	case err == nil || errors.As(err, &already):
		return err
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(err, fs.ErrNotExist):
		return wrong("does not exist", "autotune run SPEC --study "+shell(path))
	case errors.Is(err, fs.ErrPermission):
		return wrong("cannot be opened: permission denied", "ls -l "+shell(path))
	case errors.As(err, &damaged):
		return wrong("is damaged: "+err.Error(), recoverFrom)
	case !errors.As(err, &e):
		return fmt.Errorf("%s: %s: %w", path, doing, err)
	}
	switch e.Code {
	case sqlite3.ErrNotADB:
		return wrong("is no SQLite database, so no study file", "the file that autotune run has made from a spec: NAME.db, or what --study said")
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrProtocol:
		return wrong("is locked by another program", "find it with: fuser "+shell(path))
	case sqlite3.ErrReadonly, sqlite3.ErrPerm:
		return wrong("cannot be written: the file, its folder or its disk is read-only", "copy it to a folder that can be written")
	case sqlite3.ErrFull:
		return wrong("cannot grow: the disk is full", "free some space, then: autotune resume "+shell(path))
	case sqlite3.ErrIoErr:
		return wrong("cannot be read or written: "+e.Error(), "look at the disk (dmesg, df), then: autotune resume "+shell(path))
	case sqlite3.ErrCorrupt:
		return wrong("is damaged: "+e.Error(), "save what can be read: sqlite3 "+shell(path)+" .recover")
	case sqlite3.ErrError:
		if text := e.Error(); strings.HasPrefix(text, "no such table") || strings.HasPrefix(text, "no such column") {
			return wrong("is damaged: "+text, recoverFrom)
		}
		return fmt.Errorf("%s: %s: %w", path, doing, err)
	case sqlite3.ErrCantOpen:
		return wrong("cannot be opened: "+e.Error(), "ls -l "+shell(path))
	default:
		return fmt.Errorf("%s: %s: %w", path, doing, err)
	}
}
