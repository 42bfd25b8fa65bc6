package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is autotune as a process of its own, with its output by the line.
type program struct {
	*exec.Cmd
	lines  chan string
	output bytes.Buffer // complete once wait has returned
	read   chan struct{}
}

// deadline bounds every wait for a process: only a hang comes near it.
const deadline = 3 * time.Minute

// start runs autotune in a folder.
func start(t *testing.T, folder string, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command("autotune", args...), lines: make(chan string, 10_000), read: make(chan struct{})}
	p.Dir = folder
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Stdout, p.Stderr = in, in
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.read)
		defer close(p.lines)
		for s := bufio.NewScanner(io.TeeReader(out, &p.output)); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// until reads lines until one holds text; false: the program ended first.
func (p *program) until(t *testing.T, text string) bool {
	t.Helper()
	timeout := time.After(deadline)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				return false
			}
			if strings.Contains(line, text) {
				return true
			}
		case <-timeout:
			t.Fatalf("no line with %q within %v", text, deadline)
		}
	}
}

// skip reads n lines; false: the program ended first.
func (p *program) skip(t *testing.T, n int) bool {
	t.Helper()
	for range n {
		if !p.until(t, "") {
			return false
		}
	}
	return true
}

// wait waits for the end and gives the exit status, 128+n for signal n.
func (p *program) wait(t *testing.T) int {
	t.Helper()
	timer := time.AfterFunc(deadline, func() { _ = p.Process.Kill() })
	defer timer.Stop()
	_ = p.Wait() // the status says it all
	<-p.read
	if status := p.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.ProcessState.ExitCode()
}

// finish runs autotune to its end and wants an exit status.
func finish(t *testing.T, folder string, want int, args ...string) string {
	t.Helper()
	p := start(t, folder, args...)
	if code := p.wait(t); code != want {
		t.Fatalf("autotune %s: exit status %d, want %d\n%s", strings.Join(args, " "), code, want, p.output.String())
	}
	return p.output.String()
}

// writeStudy puts a spec of testdata/study into a new folder. mark stands in its model's name, and so in every command line of its servers.
func writeStudy(t *testing.T, name, mark string) (folder, spec string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "study", name))
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, name), bytes.ReplaceAll(text, []byte("MARK"), []byte(mark)), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder, name
}

// shown is what show says of every trial, without what differs between two runs of the same study: times, places, names.
func shown(t *testing.T, folder, study string) []map[string]any {
	t.Helper()
	var trials []map[string]any
	if err := json.Unmarshal([]byte(finish(t, folder, exitDone, "show", study, "--json")), &trials); err != nil {
		t.Fatal(err)
	}
	for _, trial := range trials {
		for _, key := range []string{"argv", "env", "log", "started", "ended", "facts", "resolved", "evidence", "warnings", "command"} {
			delete(trial, key)
		}
	}
	return trials
}

// alive lists the processes whose command line holds mark.
func alive(t *testing.T, mark string) []string {
	t.Helper()
	var found []string
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && bytes.Contains(text, []byte(mark)) { // a process may end meanwhile
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

// noneAlive waits until no process has mark in its command line.
func noneAlive(t *testing.T, mark string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(30 * time.Second)
	for {
		left := alive(t, mark)
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("still running:\n%s", strings.Join(left, "\n"))
		}
	}
}
