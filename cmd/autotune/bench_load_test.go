//go:build bench

package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"autotune/runner/fake"
	"autotune/runner/load"
	"autotune/tuner/workload"
)

// TestBenchLoad: what the load generator measures in wall time at 200 requests/s, against what the fake engine wrote down that it did.
func TestBenchLoad(t *testing.T) {
	const bar, runs = 5 * time.Millisecond, 5
	spec := workload.Spec{Name: "bench", Dataset: workload.Random, InputTokens: 64, OutputTokens: 16, Requests: 1000, Rate: 200, Seed: 1, Endpoint: workload.Completions}
	apart := map[string][]time.Duration{}
	order := []string{"p50 TTFT", "p95 TTFT", "p99 TTFT", "p50 latency", "p95 latency", "p99 latency"}
	for run := range runs {
		result, ledger := loaded(t, spec)
		var ourFirst, ourEnd, truthFirst, truthEnd []time.Duration
		var lag []time.Duration
		for _, r := range result.Records {
			ourFirst, ourEnd = append(ourFirst, r.Tokens[0].At-r.Scheduled), append(ourEnd, r.End-r.Scheduled)
			lag = append(lag, r.Sent-r.Scheduled)
		}
		for _, e := range ledger.Entries {
			if first, ok := e.First(); ok && e.Input == spec.InputTokens {
				truthFirst, truthEnd = append(truthFirst, first-e.Received), append(truthEnd, e.End-e.Received)
			}
		}
		if len(truthFirst) != spec.Requests {
			t.Fatalf("the ledger has %d requests, want %d", len(truthFirst), spec.Requests)
		}
		for i, q := range []float64{0.5, 0.95, 0.99} {
			apart[order[i]] = append(apart[order[i]], percentileOf(ourFirst, q)-percentileOf(truthFirst, q))
			apart[order[i+3]] = append(apart[order[i+3]], percentileOf(ourEnd, q)-percentileOf(truthEnd, q))
		}
		fmt.Printf("run %d: %d requests, client lag p50 %v, p99 %v, CPU %.0f %%; served TTFT p50 %v, latency p50 %v\n", run+1, len(lag), percentileOf(lag, 0.5), percentileOf(lag, 0.99),
			100*result.CPU, percentileOf(truthFirst, 0.5), percentileOf(truthEnd, 0.5))
	}
	for _, name := range order {
		d := apart[name]
		slices.SortFunc(d, func(a, b time.Duration) int { return int(a.Abs() - b.Abs()) })
		fmt.Printf("%-11s measured minus served, median of %d runs: %v (bar: %v)\n", name, runs, d[len(d)/2].Round(time.Microsecond), bar)
		if d[len(d)/2].Abs() > bar {
			t.Errorf("%s: the bar is broken", name)
		}
	}
}

// loaded runs one load against a fake engine in a process of its own.
func loaded(t *testing.T, spec workload.Spec) (load.Result, fake.Ledger) {
	t.Helper()
	port, folder := freePort(t), t.TempDir()
	path := filepath.Join(folder, "ledger")
	p := start(t, folder, "fake-engine", "--clock=wall", "--start-time=0s", "--ledger="+path, "vllm", "serve", "demo/bench", "--port="+strconv.Itoa(port), "--max-num-seqs=256")
	ctx := context.Background()
	target := load.Target{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Model: "demo/bench"}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	timeout := time.After(deadline)
	for load.Probe(ctx, target) != nil {
		select {
		case <-poll.C:
		case <-timeout:
			t.Fatalf("the fake engine did not start:\n%s", p.output.String())
		}
	}
	result, err := load.Run(ctx, target, load.Options{Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.wait(t)
	ledger, err := fake.ReadLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	return result, ledger
}

// percentileOf interpolates between the two nearest ranks.
func percentileOf(values []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	i := int(math.Floor(at))
	j := min(i+1, len(sorted)-1)
	return sorted[i] + time.Duration((at-float64(i))*float64(sorted[j]-sorted[i]))
}
