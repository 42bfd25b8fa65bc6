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
	for _, work := range []ladder{ // of two rates or more each
		{"short answers", "bench/dense-3B", 32, 6 * time.Second, map[string][]float64{"guidellm": {10, 20, 40, 80, 120}, "autotune": {10, 200, 400, 800, 1200, 1600}}},
		{"long streams", "bench/dense-70B-fp8", 200, 12 * time.Second, map[string][]float64{"guidellm": {2, 5, 10, 20}, "autotune": {2, 50, 100, 200}}},
	} {
		t.Run(work.name, func(t *testing.T) { sideBySide(t, work, generators) })
	}
}

// sideBySide prints and keeps how far each came, and holds it against the bars.
func sideBySide(t *testing.T, work ladder, generators map[string]generator) {
	climbed, cost := map[string][]level{}, map[string]float64{}
	for _, name := range []string{"guidellm", "autotune"} {
		climbed[name] = climb(work.levels[name], func(rate float64) level { return measure(t, work, generators[name], rate) })
		cost[name] = perThousand(climbed[name])
	}
	theirs, ours := reached(climbed["guidellm"]), reached(climbed["autotune"])
	same := ours.at
	if ours.at.Rate != theirs.at.Rate { // errors are compared at the same rate
		same = measure(t, work, generators["autotune"], theirs.at.Rate)
	}
	atLeast := ""
	if theirs.fewer {
		atLeast = "at least "
	}
	fmt.Printf("%s: sustained requests/s: autotune %v, guidellm %v: %s%.0f times (bar: 10); streams at once: %d and %d; CPU s a 1000 requests: %.2f and %.2f: %.0f times\n", work.name,
		ours, theirs, atLeast, ours.sustains()/theirs.at.Rate, ours.at.Outcome.Peak, theirs.at.Outcome.Peak, cost["autotune"], cost["guidellm"], cost["guidellm"]/cost["autotune"])
	printErrors(theirs.at)
	printErrors(same)
	if ours.sustains() < 10*theirs.at.Rate || cost["autotune"]*10 > cost["guidellm"] {
		t.Errorf("%s: the bar is broken", work.name)
	}
	if worst(same) > worst(theirs.at) {
		t.Errorf("%s: guidellm's errors are smaller", work.name)
	}
	keep(t, "guidellm: "+work.name, map[string]any{"levels": append(append(climbed["guidellm"], climbed["autotune"]...), same), "cpu_seconds_per_1000_requests": cost,
		"sustained_requests_per_second": map[string]string{"guidellm": theirs.String(), "autotune": ours.String()}})
}

// limit is how far a generator came: the highest level that it sustained, or, when it sustained none, the lowest that was tried.
type limit struct {
	at    level
	fewer bool // it sustains fewer requests/s than at has
}

func (l limit) String() string {
	if l.fewer {
		return fmt.Sprintf("fewer than %g", l.at.Rate)
	}
	return fmt.Sprint(l.at.Rate)
}

// sustains is the rate that is shown to be sustained; 0 when none is.
func (l limit) sustains() float64 {
	if l.fewer {
		return 0
	}
	return l.at.Rate
}

func reached(levels []level) limit {
	best := limit{levels[0], true}
	for _, l := range levels {
		if l.sustained() && l.Rate > best.sustains() {
			best = limit{l, false}
		}
	}
	return best
}

// climb runs levels until one is not sustained. The lowest is tried once more then, for of few requests one that is late is their 99th percentile; and the next
// one follows in any case, since one rate alone does not tell what the start costs from what requests do.
func climb(rates []float64, run func(rate float64) level) (levels []level) {
	for i, rate := range rates {
		l := run(rate)
		levels = append(levels, l)
		if i == 0 && !l.sustained() {
			levels = append(levels, run(rate))
		} else if !l.sustained() {
			break
		}
	}
	return levels
}

// measure is one level, on a fake engine of its own.
func measure(t *testing.T, work ladder, g generator, rate float64) level {
	t.Helper()
	spec := workload.Spec{Name: work.name, Dataset: workload.Random, InputTokens: 16, OutputTokens: work.output, Requests: int(rate * work.lasting.Seconds()), Rate: rate, Seed: 1, Endpoint: workload.Completions}
	server := startFake(t, work.model, "--tensor-parallel-size=8", "--max-model-len=1024", "--max-num-seqs=4096")
	l := level{Work: work.name, Generator: g.name, Rate: rate, Requests: spec.Requests, Outcome: g.send(t, server.url, spec)}
	ledger, _ := server.stop(t, 0)
	l.compare(ledger, spec)
	fmt.Printf("%s: %-8s %6g requests/s: lag p99 %7.2f ms, %4d at once, %d of %d good, CPU %.1f s, %d MiB\n", work.name, g.name, rate, 1e3*l.Outcome.Lag.Seconds(), l.Outcome.Peak,
		l.Outcome.Good, l.Requests, l.Outcome.CPU.Seconds(), l.Outcome.Memory>>20)
	return l
}

// perThousand is the CPU seconds of 1000 further requests: what a generator's start costs is left out.
func perThousand(levels []level) float64 {
	first, last := levels[0], levels[len(levels)-1]
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
