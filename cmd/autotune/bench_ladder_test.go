//go:build bench

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"testing"
	"time"

	"autotune/runner/fake"
	"autotune/tuner/workload"
)

// lagBar is the lag at which a load generator no longer sends what was asked.
const lagBar = 10 * time.Millisecond

// ladder is work of which more and more a second is asked for.
type ladder struct {
	name    string
	model   string // that the fake engine serves
	output  int    // tokens of a request
	lasting time.Duration
	levels  map[string][]float64 // requests/s by generator
}

// level is one run of one generator.
type level struct {
	Work, Generator string
	Rate            float64 // requests/s asked for
	Requests        int
	Outcome         outcome
	// What it says minus what the fake engine's ledger says, as a share of the latter.
	ErrTTFT, ErrTTFT9, ErrITL, ErrThroughput float64
}

func (l level) sustained() bool { return l.Outcome.Lag <= lagBar && l.Outcome.Good == l.Requests }

// TestBenchGuidellm: the built-in load generator and guidellm, on the same fake engine with the same work, rate by rate, until requests are
// sent more than 10 ms late. The bars: ten times guidellm's rate, a tenth of its CPU for a request, and no greater error.
func TestBenchGuidellm(t *testing.T) {
	if os.Getenv(guidellmVariable) == "" {
		t.Fatalf("%s is not set: make bench-load installs guidellm and sets it", guidellmVariable)
	}
	generators := map[string]generator{"autotune": {name: "autotune", send: builtin}, "guidellm": {name: "guidellm", send: guidellm}}
	for _, work := range []ladder{
		{"short answers", "bench/dense-3B", 32, 6 * time.Second, map[string][]float64{"guidellm": {10, 20, 40, 80, 120}, "autotune": {10, 200, 400, 800, 1200, 1600}}},
		{"long streams", "bench/dense-70B-fp8", 200, 12 * time.Second, map[string][]float64{"guidellm": {2, 5, 10, 20}, "autotune": {2, 50, 100, 200}}},
	} {
		best, cost := map[string]level{}, map[string]float64{}
		climbed := map[string][]level{}
		for _, name := range []string{"guidellm", "autotune"} {
			climbed[name] = climb(t, work, generators[name], work.levels[name])
			best[name], cost[name] = highest(climbed[name]), perThousand(climbed[name])
		}
		theirs, ours := best["guidellm"], best["autotune"]
		if theirs.Rate == 0 || ours.Rate == 0 {
			t.Errorf("%s: not even the lowest rate was sustained; this machine is too busy", work.name)
			continue
		}
		same := ours
		if ours.Rate != theirs.Rate { // errors are compared at the same rate
			same = climb(t, work, generators["autotune"], []float64{theirs.Rate})[0]
		}
		fmt.Printf("%s: sustained requests/s: autotune %g, guidellm %g: %.0f times (bar: 10); streams at once: %d and %d; CPU s a 1000 requests: %.2f and %.2f: %.0f times\n", work.name,
			ours.Rate, theirs.Rate, ours.Rate/theirs.Rate, ours.Outcome.Peak, theirs.Outcome.Peak, cost["autotune"], cost["guidellm"], cost["guidellm"]/cost["autotune"])
		printErrors(theirs)
		printErrors(same)
		if ours.Rate < 10*theirs.Rate || cost["autotune"]*10 > cost["guidellm"] {
			t.Errorf("%s: the bar is broken", work.name)
		}
		if worst(same) > worst(theirs) {
			t.Errorf("%s: guidellm's errors are smaller", work.name)
		}
		keep(t, "guidellm: "+work.name, map[string]any{"levels": append(append(climbed["guidellm"], climbed["autotune"]...), same), "cpu_seconds_per_1000_requests": cost})
	}
}

// climb runs levels until one is not sustained.
func climb(t *testing.T, work ladder, g generator, rates []float64) (levels []level) {
	t.Helper()
	for _, rate := range rates {
		spec := workload.Spec{Name: work.name, Dataset: workload.Random, InputTokens: 16, OutputTokens: work.output, Requests: int(rate * work.lasting.Seconds()), Rate: rate, Seed: 1, Endpoint: workload.Completions}
		server := startFake(t, work.model, "--tensor-parallel-size=8", "--max-model-len=1024", "--max-num-seqs=4096")
		l := level{Work: work.name, Generator: g.name, Rate: rate, Requests: spec.Requests, Outcome: g.send(t, server.url, spec)}
		ledger, _ := server.stop(t, 0)
		l.compare(ledger, spec)
		levels = append(levels, l)
		fmt.Printf("%s: %-8s %6g requests/s: lag p99 %7.2f ms, %4d at once, %d of %d good, CPU %.1f s, %d MiB\n", work.name, g.name, rate, 1e3*l.Outcome.Lag.Seconds(), l.Outcome.Peak,
			l.Outcome.Good, l.Requests, l.Outcome.CPU.Seconds(), l.Outcome.Memory>>20)
		if !l.sustained() {
			break
		}
	}
	return levels
}

func highest(levels []level) (best level) {
	for _, l := range levels {
		if l.sustained() && l.Rate > best.Rate {
			best = l
		}
	}
	return best
}

// perThousand is the CPU seconds of 1000 further requests: what a generator's start costs is left out.
func perThousand(levels []level) float64 {
	first, last := levels[0], levels[len(levels)-1]
	if len(levels) == 1 {
		return last.Outcome.CPU.Seconds() / float64(last.Requests) * 1000
	}
	return (last.Outcome.CPU - first.Outcome.CPU).Seconds() / float64(last.Requests-first.Requests) * 1000
}

// compare holds what a generator reports against the ledger.
func (l *level) compare(ledger fake.Ledger, spec workload.Spec) {
	var first, itl []time.Duration
	var from, to time.Duration
	tokens := 0
	for _, e := range ledger.Entries {
		if e.Output != spec.OutputTokens {
			continue // a probe
		}
		last := e.Stamps[len(e.Stamps)-1]
		first, itl = append(first, e.Stamps[0]-e.Received), append(itl, (last-e.Stamps[0])/time.Duration(e.Output-1))
		if tokens == 0 || e.Received < from {
			from = e.Received
		}
		to, tokens = max(to, e.End), tokens+e.Output
	}
	if len(first) == 0 {
		return
	}
	var sum time.Duration
	for _, d := range itl {
		sum += d
	}
	o := l.Outcome
	off := func(said, true float64) float64 { return said/true - 1 }
	l.ErrTTFT = off(o.TTFT.Seconds(), percentileOf(first, 0.5).Seconds())
	l.ErrTTFT9 = off(o.TTFT9.Seconds(), percentileOf(first, 0.99).Seconds())
	l.ErrITL = off(o.ITL.Seconds(), (sum / time.Duration(len(itl))).Seconds())
	l.ErrThroughput = off(o.Throughput, float64(tokens)/(to-from).Seconds())
}

func printErrors(l level) {
	fmt.Printf("%s: %-8s at %g requests/s against the ledger: TTFT p50 %+.1f %%, p99 %+.1f %%; ITL %+.2f %%; tokens/s %+.2f %%\n", l.Work, l.Generator, l.Rate, 100*l.ErrTTFT, 100*l.ErrTTFT9, 100*l.ErrITL, 100*l.ErrThroughput)
}

func worst(l level) float64 {
	return max(l.ErrTTFT, -l.ErrTTFT, l.ErrITL, -l.ErrITL, l.ErrThroughput, -l.ErrThroughput)
}

// keep puts figures under a name into bin/bench-load.json, beside what is there.
func keep(t *testing.T, name string, figures any) {
	t.Helper()
	const path = "../../bin/bench-load.json"
	all := map[string]json.RawMessage{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	one, err := json.Marshal(figures)
	if err != nil {
		t.Fatal(err)
	}
	all = maps.Clone(all)
	all[name] = one
	if text, err = json.MarshalIndent(all, "", "  "); err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
