package store

import "errors"

// What a FileError may wrap.
var (
	ErrExists = errors.New("the file exists")
	ErrHeld   = errors.New("another process holds the study")
	ErrMoved  = errors.New("the path no longer names the study file")
	ErrTaken  = errors.New("the trial's number is taken")
)

// FileError says what is wrong with a study file, and what a person may try.
type FileError struct {
	Path    string
	Problem string // as the end of a sentence that begins with the path
	Try     string // may be empty
	Err     error  // cause; may be nil
}

func (e *FileError) Error() string {
	s := e.Path + ": " + e.Problem
	if e.Try != "" {
		s += "\nTry: " + e.Try
	}
	return s
}

func (e *FileError) Unwrap() error { return e.Err }
