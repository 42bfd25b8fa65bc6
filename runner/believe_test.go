package runner

import (
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
