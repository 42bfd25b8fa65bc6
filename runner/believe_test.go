package runner

import (
	"math"
	"strings"
	"testing"
	"time"

	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// lagged are 200 good answers after ttft, of which every fifth waited lag for the load generator, in the tail alone when tail is set.
func lagged(lag, ttft time.Duration, tail bool) load.Result {
	r := load.Result{Clock: metric.Wall, CPU: 1.5}
	for i := range 200 {
		rec := metric.Record{Index: i, Scheduled: time.Duration(i) * time.Second, Status: 200, Output: 2, AskedOut: 2}
		if !tail || i%20 == 0 {
			rec.Lag = lag
		}
		rec.Sent = rec.Scheduled + rec.Lag
		rec.Tokens = []metric.Event{{At: rec.Sent + ttft, Tokens: 1}, {At: rec.Sent + 20*ttft, Tokens: 1}}
		rec.End = rec.Tokens[1].At
		r.Records = append(r.Records, rec)
	}
	return r
}

func TestLagging(t *testing.T) {
	for _, c := range []struct {
		name   string
		result load.Result
		want   string // in the evidence; empty: it is believed
	}{
		{"in time", lagged(0, 100*time.Millisecond, false), ""},
		{"a little, all of them", lagged(4*time.Millisecond, time.Millisecond, false), ""},
		{"much, of slow answers", lagged(20*time.Millisecond, 200*time.Millisecond, false), ""},
		{"much, of quick answers", lagged(20*time.Millisecond, 10*time.Millisecond, false), "20ms too late on average, at a mean latency of 200ms"},
		{"a tail of 49 ms", lagged(49*time.Millisecond, 100*time.Millisecond, true), ""},
		{"a tail of 120 ms", lagged(120*time.Millisecond, 100*time.Millisecond, true), "up to 120 ms too late (99th percentile), at a time to first token of 220 ms"},
		{"a tail of 120 ms of slow first tokens", lagged(120*time.Millisecond, 2*time.Second, true), ""},
	} {
		got := lagging(c.result, metric.Compute(c.result.Records, 1))
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got != "" && !strings.Contains(got, "Try: ") {
			t.Errorf("%s: nothing says what to change: %s", c.name, got)
		}
		c.result.Clock = metric.Law
		if got := lagging(c.result, metric.Compute(c.result.Records, 1)); got != "" {
			t.Errorf("%s: in simulated time nobody is late: %s", c.name, got)
		}
	}
}

// Requests that this machine could not send are not held against the server, however many they are.
func TestDroppedIsInvalid(t *testing.T) {
	result := lagged(0, 100*time.Millisecond, false)
	result.Ending, result.Dropped = load.Complete, 150
	for i := range 150 {
		result.Records[i].Error, result.Records[i].Detail, result.Records[i].Tokens = metric.ErrConnect, "this machine has no room for another connection: too many open files", nil
	}
	a := &attempt{Runner: &Runner{Config: Config{Gate: 0.99, GPUs: 1}}, hidden: findSecrets(nil, Plan{})}
	a.weigh(result, nil)
	if a.out.Kind != tuner.Invalid || a.out.Rule != "client_dropped" || !strings.Contains(a.out.Evidence, "150 of 200 requests") || !strings.Contains(a.out.Evidence, "ulimit -n") {
		t.Errorf("%+v", a.out)
	}
}

// TestProbeOfAClientThatLags: in a search for a rate a probe that the load generator could not keep up with holds nothing against the server, whether it came to
// its end or was cut short; a rate that only such a probe bounds is not believed, and one that the server bounds is.
func TestProbeOfAClientThatLags(t *testing.T) {
	goal := tuner.Goal{Metric: metric.RequestRate, Direction: tuner.Maximize, SubjectTo: []tuner.Bound{{Metric: "p95_ttft", Op: "<=", Limit: 1}}}
	probeOf := func(result load.Result, rate float64, ending load.Ending) (*attempt, probe) {
		a := &attempt{Runner: &Runner{Config: Config{Gate: 0.99, GPUs: 1, RateGoal: &goal}}, hidden: findSecrets(nil, Plan{})}
		a.Workload.Rate, result.Ending = rate, ending
		return a, a.probed(result)
	}
	good, late := lagged(0, 100*time.Millisecond, false), lagged(20*time.Millisecond, 10*time.Millisecond, false)
	dropped := lagged(0, 100*time.Millisecond, false)
	dropped.Dropped = 3
	a, holds := probeOf(good, 1, load.Complete)
	if holds.doubt != (doubt{}) || !a.holds(load.Result{Ending: load.Complete}, holds) {
		t.Fatalf("a good probe: %+v", holds)
	}
	_, slow := probeOf(lagged(0, 2*time.Second, false), 1.05, load.Complete)
	for _, c := range []struct {
		name   string
		result load.Result
		ending load.Ending
		rule   string
	}{
		{"late", late, load.Complete, "client_lag"}, {"late, cut short", late, load.Stopped, "client_lag"}, {"no room to send", dropped, load.Complete, "client_dropped"},
	} {
		a, p := probeOf(c.result, 8, c.ending)
		if p.doubt.rule != c.rule || a.holds(c.result, p) {
			t.Errorf("%s: %+v", c.name, p.doubt)
		}
		a.conclude(Traffic{}, []probe{p, holds, slow}, probes{low: 1, high: 1.05, n: 3})
		if a.doubt.rule != "" || len(a.out.Warnings) > 0 {
			t.Errorf("%s, far above what the server bounds: %+v, %q", c.name, a.doubt, a.out.Warnings)
		}
		a.conclude(Traffic{}, []probe{p, holds}, probes{low: 1, high: 8, n: 2})
		a.found = joined(Traffic{}, []probe{p, holds}, 1)
		if a.foundRate(); a.out.Kind != tuner.Invalid || a.out.Rule != c.rule || a.out.Measured != holds.Measurement || len(a.out.Measured.Also) != 1 {
			t.Errorf("%s, at the edge: %+v", c.name, a.out)
		}
	}
	a.conclude(Traffic{}, []probe{holds}, probes{low: 1, high: math.Inf(1), n: 16})
	if len(a.out.Warnings) != 1 || !strings.Contains(a.out.Warnings[0], "a lower bound") {
		t.Errorf("every rate holds: %q", a.out.Warnings)
	}
}
