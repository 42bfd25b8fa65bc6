package place

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Place starts servers, one process group of ours each, and leaves none behind.
type Place interface {
	// Start starts one server. It returns ErrPorts when no port is free, and an error that wraps fs.ErrNotExist or exec.ErrNotFound when there is no
	// such command.
	Start(ctx context.Context, job Job) (Server, error)
	// Reap ends what an earlier process of ours, killed before it could clean up, has left behind: everything whose job's ID starts with prefix.
	// It returns what it found.
	Reap(prefix string, grace time.Duration) ([]string, error)
}

// ErrPorts says that no ports are free in the range that the place owns.
var ErrPorts = errors.New("no ports are free")

// Job is one start of a server.
type Job struct {
	// ID marks everything that comes from this start; unique among all starts.
	ID string
	// Command is asked for what to start, once it is known where.
	Command func(Slot) Command
	// Log is the file that takes the output; its folder is made.
	Log string
	// Redact removes secrets from a line before it is stored or seen; nil leaves it as it is.
	Redact func(string) string
	// OnLine sees each line of the output, from one goroutine; nil is nobody.
	OnLine func(string)
	// Grace is what the server gets between SIGTERM and SIGKILL if this process dies.
	Grace time.Duration
}

// Slot is where a server runs: what it may use, nobody else having it.
type Slot struct {
	Host string // the address that clients use
	Port int
	// InternalPort is the first of the ports that are kept free for the engine's own processes.
	InternalPort int
	GPUs         []int
	// Env is what the command's environment must hold for it (NAME=VALUE).
	Env []string
}

// URL is where the server answers.
func (s Slot) URL() string { return fmt.Sprintf("http://%s:%d", s.Host, s.Port) }

// Command is what to start.
type Command struct {
	Argv []string // never a shell string
	Env  []string // the whole environment
}

// Server is a server that was started.
type Server interface {
	Slot() Slot
	// Done is closed when the first process has ended; what it started may live on until Stop.
	Done() <-chan struct{}
	// Exit is how it ended; only after Done.
	Exit() Exit
	// Lines are its output so far: the first and the last few thousand lines.
	Lines() []string
	// Stop ends the server and all that came from it: SIGTERM, the grace, SIGKILL. It gives the slot back and returns once nothing is left,
	// or an error that says what is. It may be called at any time and more than once.
	Stop(grace time.Duration) error
}

// Exit is how a server's first process ended.
type Exit struct {
	Code   int    // 128+n when signal n ended it
	Signal string // "SIGKILL"; empty when it exited by itself
}

func (e Exit) String() string {
	if e.Signal != "" {
		return "killed by " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
