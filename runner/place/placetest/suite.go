package placetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"autotune/runner/place"
)

// Bounds: nothing here takes longer unless a place is broken.
const (
	patience  = 20 * time.Second
	grace     = 100 * time.Millisecond
	lookAgain = 5 * time.Millisecond
)

// Run puts a place through the suite. The test binary must call Play first in TestMain. The place must run commands of this machine's files.
func Run(t *testing.T, p place.Place) {
	for name, test := range map[string]func(*testing.T, place.Place){
		"start, ready, stop": startReadyStop, "a family is ended whole": family, "SIGTERM ignored": stubborn, "a leader that leaves a child": leader,
		"exit early": exitEarly, "no such command": noCommand, "cancelled before the start": cancelled, "two servers do not meet": two,
		"a taken port is passed over": takenPort, "environment": environment, "reap": reap,
	} {
		t.Run(name, func(t *testing.T) { test(t, p) })
	}
}

// run is one server under test.
type run struct {
	place.Server
	t     *testing.T
	lines chan string
	log   string
}

func job(t *testing.T, part string, more ...string) (place.Job, *run) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{t: t, lines: make(chan string, 1000), log: filepath.Join(t.TempDir(), "0001-1", "engine.log")}
	id := strings.Map(func(c rune) rune {
		if c == '/' || c == ' ' {
			return '_'
		}
		return c
	}, t.Name())
	return place.Job{ID: fmt.Sprintf("%s-%d-%d", id, os.Getpid(), time.Now().UnixNano()), Log: r.log, Grace: grace,
		Command: func(s place.Slot) place.Command {
			return place.Command{Argv: slices.Concat([]string{exe, playWord, part, strconv.Itoa(s.Port)}, more), Env: append([]string{"HOME=/", "GIVEN=yes"}, s.Env...)}
		},
		Redact: func(line string) string { return strings.ReplaceAll(line, "secret-word", "***") },
		OnLine: func(line string) { r.lines <- line },
	}, r
}

func start(t *testing.T, p place.Place, part string, more ...string) *run {
	t.Helper()
	j, r := job(t, part, more...)
	s, err := p.Start(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = s
	t.Cleanup(func() { _ = s.Stop(0) })
	return r
}

// pids waits for n processes to say that they are there.
func (r *run) pids(n int) []int {
	r.t.Helper()
	var found []int
	for limit := time.After(patience); len(found) < n; {
		select {
		case line := <-r.lines:
			if pid, err := strconv.Atoi(strings.TrimPrefix(line, "pid ")); err == nil {
				found = append(found, pid)
			}
		case <-limit:
			r.t.Fatalf("%d of %d processes came up; the log: %q", len(found), n, r.Lines())
		}
	}
	return found
}

// end stops the server and looks that nothing is left.
func (r *run) end(pids []int) {
	r.t.Helper()
	began := time.Now()
	if err := r.Stop(grace); err != nil {
		r.t.Errorf("stopping: %v", err)
	}
	if err := r.Stop(grace); err != nil {
		r.t.Errorf("stopping again: %v", err)
	}
	if took := time.Since(began); took > patience/2 {
		r.t.Errorf("the stop took %v", took)
	}
	for _, pid := range pids {
		if alive(pid) {
			r.t.Errorf("process %d is left", pid)
		}
	}
	if l, err := net.Listen("tcp", ":"+strconv.Itoa(r.Slot().Port)); err != nil {
		r.t.Errorf("its port is not free: %v", err)
	} else {
		_ = l.Close()
	}
	select {
	case <-r.Done():
	default:
		r.t.Error("it is stopped and not done")
	}
}

// alive tells whether a process goes on. One that has ended and that its parent, often the machine's first process, has not yet waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || !isDir("/proc/self")
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (r *run) answer() string {
	r.t.Helper()
	response, err := http.Get(r.Slot().URL())
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func startReadyStop(t *testing.T, p place.Place) {
	r := start(t, p, "server")
	pids := r.pids(1)
	if got := r.answer(); got != strconv.Itoa(pids[0]) {
		t.Errorf("process %s answers, started was %d", got, pids[0])
	}
	r.end(pids)
	if e := r.Exit(); e.Signal != "SIGTERM" || e.Code != 128+15 {
		t.Errorf("it ended as %+v, want by SIGTERM", e)
	}
}

func family(t *testing.T, p place.Place) {
	r := start(t, p, "family")
	r.end(r.pids(3))
}

func stubborn(t *testing.T, p place.Place) {
	r := start(t, p, "stubborn")
	r.end(r.pids(1))
	if e := r.Exit(); e.Signal != "SIGKILL" || e.Code != 128+9 {
		t.Errorf("it ended as %+v, want by SIGKILL", e)
	}
}

func leader(t *testing.T, p place.Place) {
	r := start(t, p, "leader")
	pids := r.pids(1)
	<-r.Done()
	if !alive(pids[0]) {
		t.Error("the child has gone by itself: the test shows nothing")
	}
	r.end(pids)
}

func exitEarly(t *testing.T, p place.Place) {
	r := start(t, p, "exit", "3")
	<-r.Done()
	r.end(nil)
	if e := r.Exit(); e != (place.Exit{Code: 3}) {
		t.Errorf("it ended as %+v, want status 3", e)
	}
	want := []string{"it cannot work: ***"}
	if !slices.Equal(r.Lines(), want) {
		t.Errorf("lines %q, want %q", r.Lines(), want)
	}
	text, err := os.ReadFile(r.log)
	if err != nil || string(text) != want[0]+"\n" {
		t.Errorf("the log holds %q, %v", text, err)
	}
}

func noCommand(t *testing.T, p place.Place) {
	j, _ := job(t, "server")
	j.Command = func(place.Slot) place.Command {
		return place.Command{Argv: []string{"no-such-engine"}, Env: []string{"PATH=/bin"}}
	}
	if s, err := p.Start(t.Context(), j); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("started %v, %v", s, err)
	}
	j.Command = func(place.Slot) place.Command { return place.Command{Argv: []string{"/no/such/engine"}} }
	if s, err := p.Start(t.Context(), j); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("started %v, %v", s, err)
	}
}

func cancelled(t *testing.T, p place.Place) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j, _ := job(t, "server")
	if s, err := p.Start(ctx, j); !errors.Is(err, context.Canceled) {
		t.Errorf("started %v, %v", s, err)
	}
}

func two(t *testing.T, p place.Place) {
	a, b := start(t, p, "server"), start(t, p, "server")
	pa, pb := a.pids(1), b.pids(1)
	if a.Slot().Port == b.Slot().Port || a.answer() == b.answer() {
		t.Error("two servers share a port")
	}
	a.end(pa)
	if got := b.answer(); got != strconv.Itoa(pb[0]) {
		t.Errorf("the other one answers %q", got)
	}
	b.end(pb)
	c := start(t, p, "server")
	if port := c.Slot().Port; port == b.Slot().Port {
		t.Errorf("port %d was given twice in a row", port)
	}
	c.end(c.pids(1))
}

func takenPort(t *testing.T, p place.Place) {
	// Somebody who is none of us listens where one of the next servers would.
	first := start(t, p, "server")
	first.end(first.pids(1))
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first.Slot().Port))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for range 20 { // more than there are blocks
		r := start(t, p, "exit", "0")
		if r.Slot().Port == first.Slot().Port {
			t.Fatal("a port was given on which another program listens")
		}
		<-r.Done()
		if err := r.Stop(grace); err != nil {
			t.Fatal(err)
		}
	}
}

func environment(t *testing.T, p place.Place) {
	r := start(t, p, "environment")
	<-r.Done()
	r.end(nil)
	for _, want := range append([]string{"GIVEN=yes", "HOME=/"}, r.Slot().Env...) {
		if !slices.Contains(r.Lines(), want) {
			t.Errorf("%s is missing from %q", want, r.Lines())
		}
	}
}

func reap(t *testing.T, p place.Place) {
	if found, err := p.Reap(fmt.Sprintf("nobody-%d", os.Getpid()), grace); err != nil || len(found) > 0 {
		t.Errorf("reaped %v, %v", found, err)
	}
	j, r := job(t, "family")
	s, err := p.Start(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = s
	t.Cleanup(func() { _ = s.Stop(0) })
	pids := r.pids(3)
	found, err := p.Reap(j.ID, grace)
	if err != nil || len(found) < 3 {
		t.Errorf("reaped %v, %v", found, err)
	}
	r.end(pids)
	for deadline := time.Now().Add(patience); slices.ContainsFunc(pids, alive); {
		if time.Now().After(deadline) {
			t.Fatal("what was reaped lives on")
		}
		<-time.After(lookAgain)
	}
}
