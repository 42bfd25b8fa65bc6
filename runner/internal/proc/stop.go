package proc

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Bounds of a stop.
const (
	lingering  = 2 * time.Second        // how long a session may outlive its first process before SIGKILL, within the grace
	killing    = 10 * time.Second       // how long SIGKILL may take; a process that hangs in a driver never obeys
	firstLook  = time.Millisecond       // between two looks at the process table; doubled up to
	widestLook = 20 * time.Millisecond  // this
	outputEnd  = 10 * time.Second       // for the last output to be read after everything has ended: a busy machine must not lose an engine's last words
	cutOff     = 200 * time.Millisecond // the same where a survivor holds the pipe
)

// SurvivorsError says which processes live on although they were killed.
type SurvivorsError struct{ Processes []string }

func (e *SurvivorsError) Error() string {
	return "still there after SIGKILL: " + strings.Join(e.Processes, ", ")
}

// Stop ends the process and everything that came from it: SIGTERM, the grace, SIGKILL to what is left, until a look at the process table
// finds nothing. It returns a *SurvivorsError when that takes too long. It may be called at any time and more than once.
func (p *Proc) Stop(grace time.Duration) error {
	p.stop.Do(func() {
		patience := cutOff
		err := p.end(grace)
		if err == nil {
			<-p.done // it has left the process table; how it ended is known in a moment
			patience = outputEnd
		}
		if p.guard != nil {
			p.guard.dismiss()
		}
		select {
		case <-p.read:
		case <-time.After(patience): // somebody holds the pipe
		}
		err = errors.Join(err, p.output.Close())
		<-p.read
		if p.log != nil {
			err = errors.Join(err, p.log.Close())
		}
		p.result = err
	})
	return p.result
}

func (p *Proc) end(grace time.Duration) error {
	if grace > 0 {
		deadline := time.Now().Add(grace)
		if err := signalAll(p.survivors, syscall.SIGTERM); err != nil {
			return err
		}
		pause := firstLook
		for led := true; ; pause = min(2*pause, widestLook) {
			if led && isClosed(p.done) {
				led = false
				deadline = minTime(deadline, time.Now().Add(lingering))
			}
			if !led {
				if left, err := p.survivors(); err != nil || len(left) == 0 {
					return err
				}
			}
			if time.Now().After(deadline) {
				break
			}
			p.await(led, pause)
		}
	}
	return killAll(p.survivors)
}

// await waits for the first process's end, or else for the pause.
func (p *Proc) await(led bool, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	if !led {
		<-timer.C
		return
	}
	select {
	case <-p.done:
	case <-timer.C:
	}
}

// Survivors says which processes of it live, the first one included.
func (p *Proc) Survivors() ([]string, error) {
	found, err := p.survivors()
	return names(living(found)), err
}

// survivors finds what is left of it: its session, what descends from that, what carries its marker, and orphans that came to us in a session
// that is none of ours while nothing else of ours was alive. What was found once is known until it is gone: a process on its way out has no
// environment any more, but may still hold a GPU. Zombies that came to us are collected on the way; one whose parent is just ending
// counts, since it will come to us at the next look.
func (p *Proc) survivors() (map[int]process, error) {
	family.Lock()
	defer family.Unlock()
	rows, err := table()
	if err != nil {
		return nil, err
	}
	self := os.Getpid()
	mine := rows[self].session
	collect(rows, self, mine)
	alone := len(family.leaders) == 0 || (len(family.leaders) == 1 && family.leaders[p.leader.pid])
	if leader, there := rows[p.leader.pid]; there && leader.started != p.leader.started {
		delete(rows, p.leader.pid) // another process has got the number
	}
	found := map[int]process{}
	for pid, row := range rows {
		if pid == self || row.started < p.leader.started || row.session == mine {
			continue
		}
		stray := alone && row.ppid == self && !family.leaders[pid] && !isGuard(pid)
		if p.known[pid] == row.started || row.session == p.leader.session || stray || (p.marker != "" && marker(pid) == p.marker) {
			found[pid] = row
		}
	}
	descendants(rows, found)
	delete(found, self)
	for pid, row := range found {
		p.known[pid] = row.started
	}
	maps.DeleteFunc(found, func(_ int, row process) bool {
		_, there := rows[row.ppid]
		_, dying := found[row.ppid]
		return row.ended() && there && !dying && row.ppid != self
	})
	return found, nil
}

func living(found map[int]process) map[int]process {
	found = maps.Clone(found)
	maps.DeleteFunc(found, func(_ int, row process) bool { return row.ended() })
	return found
}

// collect takes the exit status of orphans that came to us and have ended, so that they leave the process table. The children that
// somebody else waits for are in our own session, or registered.
func collect(rows map[int]process, self, mine int) {
	for pid, row := range rows {
		if row.ppid == self && row.ended() && row.session != mine && !family.leaders[pid] && !isGuard(pid) {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			delete(rows, pid)
		}
	}
}

// killAll sends SIGKILL until nothing is found any more: a process may be born between the look and the signal.
func killAll(find func() (map[int]process, error)) error {
	deadline := time.Now().Add(killing)
	for pause := firstLook; ; pause = min(2*pause, widestLook) {
		found, err := find()
		if err != nil || len(found) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			if found = living(found); len(found) == 0 {
				return nil // zombies hold nothing but their number
			}
			return &SurvivorsError{names(found)}
		}
		for _, row := range found {
			send(row, syscall.SIGKILL)
		}
		<-time.After(pause)
	}
}

func signalAll(find func() (map[int]process, error), s syscall.Signal) error {
	found, err := find()
	for _, row := range found {
		send(row, s)
	}
	return err
}

// send signals exactly the process that was seen: it takes a handle first, and looks whether the handle is still that process.
func send(row process, s syscall.Signal) {
	handle, err := os.FindProcess(row.pid)
	if err != nil {
		return
	}
	defer func() { _ = handle.Release() }()
	if now, ok := lookUp(row.pid); ok && now.started == row.started {
		_ = handle.Signal(s) // it may have ended meanwhile; whoever looks next sees what is left
	}
}

func names(found map[int]process) []string {
	var list []string
	for _, pid := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[pid].String())
	}
	return list
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
