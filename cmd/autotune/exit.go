package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// Exit statuses. They are documented in every command's help and never change.
const (
	exitDone   = 0
	exitFailed = 1 // autotune or the machine failed
	exitUsage  = 2 // the spec or the command line is wrong
	exitNone   = 3 // no feasible configuration
	exitSignal = 128
)

// exitError is an error with the status that it ends the program with, and what a person may try.
type exitError struct {
	code int
	err  error
	try  string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// trying adds what a person may try.
func trying(err error, format string, args ...any) error {
	code := exitUsage
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
	}
	return &exitError{code: code, err: err, try: fmt.Sprintf(format, args...)}
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ signal os.Signal }

func (s signalled) Error() string { return "stopped by " + s.signal.String() }

func (s signalled) code() int {
	if n, ok := s.signal.(syscall.Signal); ok {
		return exitSignal + int(n)
	}
	return exitFailed
}

// complain prints an error, in one place for all commands, and gives the exit status.
func complain(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	var stopped signalled
	if errors.As(err, &stopped) {
		fmt.Fprintf(w, "autotune: %v\n", err)
		return stopped.code()
	}
	code, try := exitFailed, ""
	var e *exitError
	if errors.As(err, &e) {
		code, try = e.code, e.try
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(w, "autotune: %s\n", strings.TrimRight(text, "\n"))
	}
	if try != "" {
		fmt.Fprintf(w, "Try: %s\n", try)
	}
	return code
}
