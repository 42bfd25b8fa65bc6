package runner

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// Limits beyond which a measurement is not believed.
const (
	lagShare = 0.02                 // of the mean latency that the load generator's own mean lag may be: each request of a full server is that much too late
	lagFloor = 5 * time.Millisecond // below this nobody cares
	// tailShare is of the 99th percentile of TTFT that the 99th percentile of the load generator's lag may be. TTFT counts from the instant at
	// which a request was due, so that much of it may be the load generator's: more than what runs of one configuration differ by.
	tailShare = 0.1
	// tailFloor is the lag below which the tail is let pass: a tick or two of a busy kernel's scheduler, and less than any objective for the
	// first token leaves open. The mean is held to far less, because it moves every figure, the tail moves percentiles alone.
	tailFloor    = 50 * time.Millisecond
	counterShare = 0.10 // by which the server's counts of tokens and requests may differ from ours
	counterWord  = 0.01 // from here on the difference is worth a warning
	inputShare   = 0.01 // by which prompts may be longer or shorter than asked
	cacheShare   = 0.05 // of random prompts that a cache of prefixes may know
	busyClient   = 0.8  // of this machine's processors: a load generator that needs more of them may have been the limit
)

var trouble = regexp.MustCompile(`(?i)error|exception|abort|refus|reject|fail|out of memory|overload|queue is full|HTTP/1\.1" [45]\d\d`)

// The rules that a measurement breaks when the load generator, or its machine, was its limit. These words appear in JSON and never change.
const (
	ruleLag     = "client_lag"
	ruleDropped = "client_dropped"
)

// disbelief says which rule a measurement breaks, and how; empty when it can be believed.
func (a *attempt) disbelief(result load.Result, m *tuner.Measurement) (rule, evidence string) {
	for _, name := range slices.Sorted(maps.Keys(m.Metrics)) {
		if v := m.Metrics[name]; math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return "numbers", fmt.Sprintf("%s is %v", name, v)
		}
	}
	for _, r := range result.Records {
		if r.OK() && (len(r.Tokens) == 0 || r.Tokens[0].At < r.Sent || r.End < r.Tokens[len(r.Tokens)-1].At) {
			return "instants", fmt.Sprintf("request %d: sent at %v, ended at %v, its tokens lie outside", r.Index, r.Sent, r.End)
		}
	}
	if evidence := lagging(result, m.Metrics); evidence != "" {
		return ruleLag, evidence
	}
	if evidence := wrongInput(result.Records); evidence != "" {
		return "input_length", evidence
	}
	if share, evidence := a.countsDiffer(result.Records); share > counterShare {
		return "server_counters", evidence
	}
	if hits, queries := cacheKnew(a.grown); a.Workload.Dataset == workload.Random && hits > cacheShare*queries {
		return "prefix_cache", fmt.Sprintf("%.0f of %.0f tokens of random prompts came from the cache of prefixes", hits, queries)
	}
	return "", ""
}

// lagging tells whether the load generator was too late by itself, on average or in its tail; in simulated time it cannot be.
func lagging(result load.Result, metrics map[string]float64) string {
	if result.Clock != metric.Wall {
		return ""
	}
	var lag, latency time.Duration
	n := 0
	for _, r := range result.Records {
		if r.OK() {
			lag, latency, n = lag+r.Lag, latency+r.End-r.Sent, n+1
		}
	}
	tail, first := metrics["client_lag_p99"], metrics["p99_ttft"]
	what := ""
	switch {
	case n == 0:
		return ""
	case lag >= lagFloor*time.Duration(n) && lag.Seconds() >= lagShare*latency.Seconds():
		what = fmt.Sprintf("%v too late on average, at a mean latency of %v", (lag / time.Duration(n)).Round(time.Millisecond/10), (latency / time.Duration(n)).Round(time.Millisecond/10))
	case tail >= tailFloor.Seconds() && tail >= tailShare*first:
		what = fmt.Sprintf("up to %.0f ms too late (99th percentile), at a time to first token of %.0f ms", 1e3*tail, 1e3*first)
	default:
		return ""
	}
	return fmt.Sprintf("the load generator sent its requests %s: this machine was too busy (the load generator itself used %.1f of %d processors). Try: end what else runs here, or leave the engine fewer processors (taskset), or send a lower rate",
		what, result.CPU, runtime.NumCPU())
}

// unsendable tells of requests that this machine, and not the server, kept from being sent: then the load was not the one that was asked for.
func unsendable(result load.Result) string {
	if result.Dropped == 0 {
		return ""
	}
	detail := ""
	for _, r := range result.Records {
		if r.Error == metric.ErrConnect && r.Detail != "" {
			detail = ": " + r.Detail
		}
	}
	return fmt.Sprintf("%d of %d requests could not be sent by this machine%s. Try: a higher limit on open files (ulimit -n) in the shell that starts autotune, or a max_concurrency", result.Dropped, len(result.Records), detail)
}

func wrongInput(records []metric.Record) string {
	asked, got := 0, 0
	for _, r := range records {
		if r.OK() && r.AskedIn > 0 {
			asked, got = asked+r.AskedIn, got+r.Input
		}
	}
	if math.Abs(float64(got-asked)) <= inputShare*float64(asked) {
		return ""
	}
	return fmt.Sprintf("the server counted %d prompt tokens, %d were sent", got, asked)
}

// countsDiffer compares the server's counters with what was received: by which share of ours the worst of them differs, and how. Of failed requests the
// server may have counted what never came, so that with some of those it may have more.
func (a *attempt) countsDiffer(records []metric.Record) (worst float64, evidence string) {
	if t := a.told; t != nil {
		done := float64(t.Succeeded)
		return a.differ(t.Metrics["output_tokens"], t.Metrics["input_tokens"], done, t.Succeeded < t.Requests, toolOwn/done)
	}
	input, done := 0, 0
	for _, r := range records {
		if r.OK() {
			input, done = input+r.Input, done+1
		}
	}
	return a.differ(float64(received(records)), float64(input), float64(done), failures(records) > 0, 0)
}

// toolOwn is how many requests a benchmark tool may send beside the workload's, to see whether the server answers.
const toolOwn = 2

// differ holds the server's counters against generated and prompt tokens and finished requests. more is by which share of ours theirs may be above.
func (a *attempt) differ(output, input, done float64, failed bool, more float64) (worst float64, evidence string) {
	for _, c := range []struct {
		counter, what, verb string
		ours                float64
	}{
		{generated, "generated tokens", "were received", output},
		{"prompt_tokens_total", "prompt tokens", "were reported in its answers", input},
		{finishedCounter(a.grown), "finished requests", "succeeded", done},
	} {
		theirs, counted := a.grown[c.counter]
		if !counted || c.ours == 0 || failed && theirs > c.ours {
			continue
		}
		d := math.Abs(theirs-c.ours) / c.ours
		if theirs > c.ours {
			d = max(0, d-more)
		}
		if d > worst {
			worst, evidence = d, fmt.Sprintf("the server counted %.0f %s, %.0f %s", theirs, c.what, c.ours, c.verb)
		}
	}
	return worst, evidence
}

// remark adds what a reader of a good measurement should know.
func (a *attempt) remark(result load.Result, m *tuner.Measurement) {
	for _, word := range a.remarks(result, m) {
		a.warn("%s", word)
	}
}

// remarks are what a reader of a good measurement should know. The rate that a search for one has found keeps its bounds, mostly below the knee: there that
// is the answer, and no flaw.
func (a *attempt) remarks(result load.Result, m *tuner.Measurement) (words []string) {
	say := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if word := a.belowKnee(m); word != "" && a.RateGoal == nil {
		say("%s", word)
	}
	if share, evidence := a.countsDiffer(result.Records); share > counterWord {
		say("%s: a difference of %.2g %%", evidence, 100*share)
	}
	if t := m.Metrics["tokens_per_event"]; t > 1.1 {
		say("an event carries %.2f tokens on average: inter-token latency is not what it says", t)
	}
	if n := float64(runtime.NumCPU()); result.Clock == metric.Wall && result.CPU > busyClient*n {
		say("the load generator used %.1f of %.0f processors: it may have been the limit", result.CPU, n)
	}
	if n := failures(result.Records); n > 0 {
		say("%s", a.counts(result.Records))
	}
	return words
}

// counts says how many requests succeeded, and what became of the others.
func (a *attempt) counts(records []metric.Record) string {
	byError, details := map[string]int{}, map[string]string{}
	for _, r := range records {
		if r.OK() {
			continue
		}
		byError[r.Error]++
		if details[r.Error] == "" && r.Detail != "" {
			details[r.Error] = r.Detail
		}
	}
	n := len(records) - failures(records)
	text := fmt.Sprintf("%d of %d requests succeeded (the gate is %g)", n, len(records), a.Gate)
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(byError)) {
		part := fmt.Sprintf("%d %s", byError[class], class)
		if d := details[class]; d != "" {
			part += " (" + d + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}
