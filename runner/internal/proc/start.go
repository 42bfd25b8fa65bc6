package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Spec is what to start.
type Spec struct {
	Argv []string // never a shell string
	Env  []string // the whole environment, the marker excepted
	Dir  string
	// Marker is put into the environment under MarkerName. It is unique: UUID-NUMBER-RUN.
	Marker string
	Log    *Log
	// Guard is a command that calls Watch with the two arguments that are appended, a marker and a grace: it ends the process when this one is
	// killed so hard that it cannot. Empty: none.
	Guard []string
	// Grace is how long the guard waits between SIGTERM and SIGKILL.
	Grace time.Duration
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // 128+n when signal n ended it
	Signal string // "SIGKILL"; empty when it exited
}

func (e Exit) String() string {
	if e.Signal != "" {
		return "killed by " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// Proc is a process that was started, with all that came from it.
type Proc struct {
	leader process
	known  map[int]uint64 // when each process that was ever found of it had started; under family's lock
	marker string
	log    *Log
	output *os.File // our end of its output
	read   chan struct{}
	done   chan struct{}
	exit   Exit
	guard  *guard
	stop   sync.Once
	result error
}

// family is what this process has started and not yet seen the end of. Its lock is held while a process comes into being,
// so that nothing is taken for a stray that is just being born.
var family struct {
	sync.Mutex
	leaders map[int]bool
	reaper  sync.Once
}

const prSetChildSubreaper = 36

// Start starts a process in a session of its own.
func Start(spec Spec) (*Proc, error) {
	if len(spec.Argv) == 0 {
		return nil, errors.New("starting a process: the command is empty")
	}
	family.reaper.Do(func() {
		family.leaders = map[int]bool{}
		// Orphans of what we start come to us and not to init: so they are found, and their zombies are collected. Without it less is found, no more.
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
	})
	output, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.Argv[0], err)
	}
	p := &Proc{known: map[int]uint64{}, marker: spec.Marker, log: spec.Log, output: output, read: make(chan struct{}), done: make(chan struct{})}
	started := make(chan error)
	go p.live(spec, theirs, started)
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", spec.Argv[0], err), output.Close(), theirs.Close())
	}
	go p.drain()
	if err := theirs.Close(); err != nil {
		return nil, errors.Join(err, p.Stop(0))
	}
	if len(spec.Guard) > 0 {
		if p.guard, err = startGuard(spec.Guard, spec.Marker, spec.Grace); err != nil {
			return nil, errors.Join(err, p.Stop(0))
		}
	}
	return p, nil
}

// live starts the process and waits for its end on one thread of the system: the death signal is bound to the thread that made the
// child, and a thread that Go has no more use for must not end a healthy server.
func (p *Proc) live(spec Spec, output *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := &exec.Cmd{Path: spec.Argv[0], Args: spec.Argv, Env: withMarker(spec.Env, spec.Marker), Dir: spec.Dir, Stdout: output, Stderr: output}
	// If this process dies, the server is asked to stop; who outlives that is the guard's.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	if !strings.Contains(spec.Argv[0], "/") {
		path, err := lookPath(spec.Argv[0], cmd.Env)
		if err != nil {
			started <- err
			return
		}
		cmd.Path = path
	}
	family.Lock()
	err := cmd.Start()
	if err == nil {
		family.leaders[cmd.Process.Pid] = true
	}
	family.Unlock()
	if err != nil {
		started <- err
		return
	}
	pid := cmd.Process.Pid
	p.leader = process{pid: pid, session: pid}
	if row, ok := lookUp(pid); ok { // always: a zombie at the least, until it is waited for
		p.leader.started, p.leader.name = row.started, row.name
	}
	started <- nil
	_ = cmd.Wait() // how it ended is in the state
	family.Lock()
	delete(family.leaders, pid)
	family.Unlock()
	p.exit = exitOf(cmd.ProcessState)
	close(p.done)
}

func exitOf(state *os.ProcessState) Exit {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: signalName(status.Signal())}
	}
	return Exit{Code: state.ExitCode()}
}

func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGTERM: "SIGTERM", syscall.SIGSEGV: "SIGSEGV", syscall.SIGABRT: "SIGABRT",
		syscall.SIGBUS: "SIGBUS", syscall.SIGINT: "SIGINT", syscall.SIGHUP: "SIGHUP", syscall.SIGILL: "SIGILL", syscall.SIGFPE: "SIGFPE", syscall.SIGQUIT: "SIGQUIT", syscall.SIGPIPE: "SIGPIPE"}
	if name, ok := names[s]; ok {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}

// drain moves the output into the log until every process that holds the pipe has ended, or Stop has closed it.
func (p *Proc) drain() {
	defer close(p.read)
	if p.log == nil {
		_, _ = io.Copy(io.Discard, p.output)
		return
	}
	_, _ = io.Copy(struct{ io.Writer }{p.log}, p.output)
}

func withMarker(env []string, marker string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, MarkerName+"=") })
	return append(env, MarkerName+"="+marker)
}

// lookPath finds a command by the PATH of its own environment, not of ours.
func lookPath(name string, env []string) (string, error) {
	path := ""
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range strings.Split(path, ":") {
		if dir == "" {
			continue
		}
		file := dir + "/" + name
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%w: no %s in PATH (%s)", exec.ErrNotFound, name, path)
}

// PID is the first process's.
func (p *Proc) PID() int { return p.leader.pid }

// Done is closed when the first process has ended; what it started may live on.
func (p *Proc) Done() <-chan struct{} { return p.done }

// Exit is how the first process ended; only after Done.
func (p *Proc) Exit() Exit { return p.exit }

// Log is where the output goes; nil when none was asked for.
func (p *Proc) Log() *Log { return p.log }
