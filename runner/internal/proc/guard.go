package proc

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// guard is a small process that outlives this one when it is killed, and cleans up behind it.
type guard struct {
	cmd   *exec.Cmd
	leash *os.File // the guard acts when this closes without a word
}

// guards are the pids of the living ones; under family's lock.
var guards = map[int]bool{}

func isGuard(pid int) bool { return guards[pid] }

// goodbye bounds the wait for a dismissed guard.
const goodbye = 2 * time.Second

func startGuard(argv []string, marker string, grace time.Duration) (*guard, error) {
	theirs, leash, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	defer func() { _ = theirs.Close() }()
	cmd := exec.Command(argv[0], append(argv[1:len(argv):len(argv)], marker, grace.String())...)
	cmd.Stdin = theirs
	cmd.Env = []string{} // above all not the marker: a guard is no part of what it guards
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	family.Lock()
	defer family.Unlock()
	if err := cmd.Start(); err != nil {
		_ = leash.Close()
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	guards[cmd.Process.Pid] = true
	return &guard{cmd, leash}, nil
}

// dismiss tells the guard that there is nothing left to do, and waits until it has gone. How it went does not matter: what it guarded has ended.
func (g *guard) dismiss() {
	_, _ = g.leash.Write([]byte{'.'})
	_ = g.leash.Close()
	timer := time.AfterFunc(goodbye, func() { _ = g.cmd.Process.Kill() })
	defer timer.Stop()
	_ = g.cmd.Wait()
	family.Lock()
	delete(guards, g.cmd.Process.Pid)
	family.Unlock()
}
