package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// world is everything outside that the commands touch: this file alone reads it from the operating system.
type world struct {
	args        []string
	in          *os.File
	out         io.Writer
	err         io.Writer
	getenv      func(string) string
	environ     []string
	terminal    bool       // out is a terminal that can be redrawn
	width       func() int // of the terminal, in columns
	errTerminal bool       // err is one
	exe         string     // this program's own file
	host        string
	now         func() time.Time
	signals     func() (received <-chan os.Signal, stop func())
	exit        func(code int) // at once, when asked to stop twice
}

func systemWorld() *world {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	fd := int(os.Stdout.Fd())
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // else a reader that goes away kills the program; not ignored, which servers would inherit
	return &world{
		args: os.Args[1:], in: os.Stdin, out: &output{Writer: os.Stdout}, err: &output{Writer: os.Stderr},
		getenv: os.Getenv, environ: os.Environ(),
		terminal:    term.IsTerminal(fd) && os.Getenv("TERM") != "dumb",
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb",
		width: func() int {
			if w, _, err := term.GetSize(fd); err == nil && w > 0 {
				return w
			}
			return 100
		},
		exe: exe, host: host, now: time.Now, signals: systemSignals, exit: os.Exit,
	}
}

func systemSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
