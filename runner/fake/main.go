package fake

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"autotune/runner/engine"
)

// Command is the name of the subcommand that reaches Main: exe is started again as `exe fake-engine --child=PART ...` for the processes below the server.
const Command = "fake-engine"

// exitUsage is how an argument parser ends that refuses its arguments.
const exitUsage = 2

// Main runs a fake engine until ctx ends or the engine does, and returns its exit status. args are the words after fake-engine;
// exe is the program to start again for the engine's child processes; getenv reads the environment.
// An engine that ends by SIGKILL does so itself: then Main does not return.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer, exe string, getenv func(string) string) int {
	o, err := parseOptions(args, getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, Help)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "autotune fake-engine: %v\nRun 'autotune fake-engine --help' for its flags and faults.\n", err)
		return exitUsage
	case o.child != "":
		return runChild(ctx, o, stdout, getenv)
	}
	s := &server{options: o, log: newLogger(stdout, o.engine.Name == "sglang"), stderr: stderr, getenv: getenv, exe: exe, start: time.Now(),
		metrics: &counts{}, cache: newSeenPrompts(), ending: make(chan int, 1)}
	if code, ended := s.inform(stdout); ended {
		return code
	}
	if err := s.readArguments(); err != nil {
		return s.refuseArguments(err)
	}
	return quit(s.run(ctx))
}

// refuseArguments ends as the engine's argument parser does, or as we do when the words are our own.
func (s *server) refuseArguments(err error) int {
	var usage *engine.UsageError
	if errors.As(err, &usage) {
		fmt.Fprintf(s.stderr, "%s\n%v\n", s.engine.Usage, usage)
	} else {
		fmt.Fprintf(s.stderr, "autotune fake-engine: %v\n", err)
	}
	return exitUsage
}

// quit turns a way to end into an exit status: a signal is a status as a shell would show it, except for SIGKILL, which is real.
func quit(code int) int {
	if code >= 0 {
		return code
	}
	if code == -int(syscall.SIGKILL) {
		signal.Reset()
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Second) // until it has come
	}
	return 128 - code
}
