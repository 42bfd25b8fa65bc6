//go:build bench

package main

import (
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"autotune/runner/fake"
	"autotune/runner/load"
)

// childVariable names the file that tells a child process of a benchmark what to do. A process of its own is what its figures of CPU and
// memory are of.
const childVariable = "AUTOTUNE_BENCH_CHILD"

// childTask is what a child does: send a load, read a stream barely, or serve one.
type childTask struct {
	Part    string // load, bare, source
	URL     string
	Options load.Options
	Streams int
	Tokens  int // of each stream
	Answer  string
}

// childAnswer is what a load and a bare reader come to.
type childAnswer struct {
	Result  load.Result
	Events  int
	Elapsed time.Duration
}

// spent is what a process used.
type spent struct {
	CPU    time.Duration
	Memory int64 // most that it held, bytes
}

// TestBenchChild is no test: it is what a child of the benchmarks runs.
func TestBenchChild(t *testing.T) {
	path := os.Getenv(childVariable)
	if path == "" {
		t.Skip("only for the benchmarks' own child processes")
	}
	var task childTask
	decodeFile(t, path, &task)
	var a childAnswer
	switch task.Part {
	case "load":
		var err error
		if a.Result, err = load.Run(context.Background(), load.Target{URL: task.URL, Model: "bench"}, task.Options); err != nil {
			t.Fatal(err)
		}
		a.Elapsed = a.Result.Elapsed
	case "bare":
		a = readBarely(t, task)
	case "source":
		serveSource(t)
		return
	}
	encodeFile(t, task.Answer, a)
}

// child starts a child of the benchmarks, which ends by itself or with the test.
func child(t *testing.T, task childTask) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "task")
	encodeFile(t, path, task)
	c := exec.Command(os.Args[0], "-test.run=^TestBenchChild$", "-test.timeout=10m")
	c.Env = append(os.Environ(), childVariable+"="+path)
	c.Stderr = os.Stderr
	t.Cleanup(func() {
		if c.Process != nil && c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	return c
}

// carryOut runs a child to its end.
func carryOut(t *testing.T, task childTask) (childAnswer, spent) {
	t.Helper()
	task.Answer = filepath.Join(t.TempDir(), "answer")
	c := child(t, task)
	if out, err := c.Output(); err != nil {
		t.Fatalf("%s: %v\n%s", task.Part, err, out)
	}
	var a childAnswer
	decodeFile(t, task.Answer, &a)
	return a, spentBy(c)
}

func spentBy(c *exec.Cmd) spent {
	s := spent{CPU: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}
	if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.Memory = u.Maxrss << 10
	}
	return s
}

func encodeFile(t *testing.T, path string, v any) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := gob.NewEncoder(f).Encode(v); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func decodeFile(t *testing.T, path string, v any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// fakeServer is a fake engine in a process of its own.
type fakeServer struct {
	*program
	url    string
	ledger string
}

func startFake(t *testing.T, args ...string) fakeServer {
	t.Helper()
	port, folder := freePort(t), t.TempDir()
	s := fakeServer{url: fmt.Sprintf("http://127.0.0.1:%d", port), ledger: filepath.Join(folder, "ledger")}
	words := append([]string{"fake-engine", "--clock=wall", "--start-time=0s", "--noise=0", "--ledger=" + s.ledger, "vllm", "serve"}, args...)
	s.program = start(t, folder, append(words, "--served-model-name=bench", "--port="+strconv.Itoa(port))...)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	timeout := time.After(deadline)
	for load.Probe(context.Background(), load.Target{URL: s.url, Model: "bench"}) != nil {
		select {
		case <-poll.C:
		case <-s.read:
			t.Fatalf("the fake engine ended:\n%s", s.output.String())
		case <-timeout:
			t.Fatalf("the fake engine did not start:\n%s", s.output.String())
		}
	}
	return s
}

// stop ends the server and reads what it wrote down, without the probes of its start: of requests with so many prompt tokens; 0: all.
func (s fakeServer) stop(t *testing.T, input int) (fake.Ledger, spent) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.wait(t)
	ledger, err := fake.ReadLedger(s.ledger)
	if err != nil {
		t.Fatal(err)
	}
	kept := ledger.Entries[:0]
	for _, e := range ledger.Entries {
		if input == 0 || e.Input == input {
			kept = append(kept, e)
		}
	}
	ledger.Entries = kept
	return ledger, spentBy(s.Cmd)
}
