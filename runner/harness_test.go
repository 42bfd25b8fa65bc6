package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"autotune/runner"
	"autotune/runner/engine"
	"autotune/runner/fake"
	"autotune/runner/place"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/workload"
)

const guardWord = "guard"

// TestMain lets the test binary play the program: the fake engine's processes, and the guard.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case fake.Command:
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
			code := fake.Main(ctx, os.Args[2:], os.Stdout, os.Stderr, self(), os.Getenv)
			stop()
			os.Exit(code)
		case toolWord:
			os.Exit(playTool(os.Args[2], os.Args[3:]))
		case guardWord:
			if err := runner.Guard(os.Stdin, os.Args[2:]); err != nil {
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func self() string {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return exe
}

// secret is in the environment that the servers inherit.
const secret = "hf_only-for-the-server"

// trial is one launch under test.
type trial struct {
	*testing.T
	config  runner.Config
	mark    string // stands in every command line of the launch
	observe func(tuner.Partial) tuner.Verdict
}

// newTrial prepares a launch of the fake engine with its own words (clock and faults).
func newTrial(t *testing.T, engineName string, words ...string) *trial {
	t.Helper()
	d, ok := engine.Find(engineName)
	if !ok {
		t.Fatal("no engine " + engineName)
	}
	here, err := place.NewLocal(place.LocalConfig{Guard: []string{self(), guardWord}})
	if err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprintf("demo/%d-%s.", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-")) // nobody else's, not even that of these tests elsewhere on the machine
	seqs := []engine.Setting{{Flag: map[string]string{"vllm": "max-num-seqs", "sglang": "max-running-requests"}[engineName], Value: space.Int(8)}}
	return &trial{T: t, mark: mark, observe: func(tuner.Partial) tuner.Verdict { return tuner.Verdict{} }, config: runner.Config{
		Place: here,
		Plan: func(tuner.Trial) (runner.Plan, error) {
			return runner.Plan{Engine: d, Model: mark, Settings: seqs, Searched: seqs, Command: append(append([]string{"autotune", fake.Command}, words...), engineName)}, nil
		},
		Traffic: []runner.Traffic{{Workload: workload.Spec{Name: "w", Dataset: workload.Random, InputTokens: 32, OutputTokens: 8, Requests: 24, Rate: 1000, MaxConcurrency: 8, Seed: 1,
			Endpoint: workload.Completions, WallLimit: time.Hour, RequestLimit: time.Hour}}},
		Gate: 0.9, Timeouts: runner.Timeouts{Start: 20 * time.Second, Silence: 10 * time.Second, Stop: 300 * time.Millisecond, Hang: 5 * time.Second}, GPUs: 1,
		StudyID: "study-" + filepath.Base(t.TempDir()) + t.Name(), Seed: 1, Logs: filepath.Join(t.TempDir(), "study.db.d"),
		Environ: append(os.Environ(), "HF_TOKEN="+secret), Self: self(), Host: "here", Now: time.Now,
	}}
}

// run carries the trial out and looks that nothing of it is left.
func (t *trial) run(ctx context.Context) (tuner.Outcome, error) {
	t.Helper()
	r, err := runner.New(t.config)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	o, err := r.Run(ctx, tuner.Trial{Number: 7}, t.observe)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	for _, left := range alive(t.T, t.mark) {
		t.Errorf("left running: %s", left)
	}
	return o, err
}

// alive lists the processes whose command line holds mark.
func alive(t *testing.T, mark string) (found []string) {
	t.Helper()
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
