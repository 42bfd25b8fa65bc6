package runner

import (
	"strings"
	"testing"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// sentTo are the records of a workload whose server takes each request alone for so long, so many at once; what comes above that waits there, and what
// comes above the cap waits for a slot.
func sentTo(t *testing.T, w workload.Spec, rows []workload.Row, room int, took time.Duration) []metric.Record {
	t.Helper()
	requests, err := w.Expand(rows)
	if err != nil {
		t.Fatal(err)
	}
	var records []metric.Record
	free, slots := make([]time.Duration, room), make([]time.Duration, max(1, w.MaxConcurrency))
	earliest := func(of []time.Duration) *time.Duration {
		first := &of[0]
		for i := range of {
			if of[i] < *first {
				first = &of[i]
			}
		}
		return first
	}
	for _, q := range requests {
		sent := q.Arrival
		slot := earliest(slots)
		if w.MaxConcurrency > 0 {
			sent = max(sent, *slot)
		}
		place := earliest(free)
		begun := max(sent, *place)
		*place, *slot = begun+took, begun+took
		records = append(records, metric.Record{Index: q.Index, Scheduled: q.Arrival, Sent: sent, End: begun + took, Status: 200, Output: 2,
			Tokens: []metric.Event{{At: begun + took/10, Tokens: 1}, {At: begun + took, Tokens: 1}}})
	}
	return records
}

// TestBelowKnee: a load whose requests wait for their arrivals is named, whatever arrivals it has, with the load that would discriminate; one that the
// server holds up is not.
func TestBelowKnee(t *testing.T) {
	var trace []workload.Row
	for i := range 100 {
		trace = append(trace, workload.Row{Input: 8, Output: 2, Arrival: time.Duration(i) * time.Second, Timed: true})
	}
	base := workload.Spec{Dataset: workload.Random, InputTokens: 8, OutputTokens: 2, Requests: 100, Endpoint: workload.Completions}
	file := workload.Spec{Dataset: workload.Mooncake, Path: "t.jsonl", Endpoint: workload.Completions}
	for _, c := range []struct {
		name    string
		base    workload.Spec
		change  func(*workload.Spec)
		room    int
		waiting float64 // in the server's queue, as it says; below 0: it does not say
		says    string  // empty: nothing
	}{
		{"a constant rate", base, func(w *workload.Spec) { w.Rate = 4 }, 64, 0, "leave rate out and give a max_concurrency, or raise the rate until requests queue"},
		{"a constant rate and a cap", base, func(w *workload.Spec) { w.Rate, w.MaxConcurrency = 4, 32 }, 64, 0, "so that 32 are always in flight, or raise the rate to 32 or more"},
		{"bursts that touch the cap", base, func(w *workload.Spec) { w.Rate, w.Burstiness, w.MaxConcurrency = 2, 0.2, 8 }, 64, 0, "below the knee"},
		{"a ramp", base, func(w *workload.Spec) { w.Ramp = workload.Ramp{From: 1, To: 5, Over: 20 * time.Second} }, 64, 0, "leave arrival out and give a max_concurrency, or raise the ramp"},
		{"a trace", file, func(*workload.Spec) {}, 64, 0, "say arrival: closed_loop and give a max_concurrency, or raise speed"},
		{"a quickened trace and a cap", file, func(w *workload.Spec) { w.Speed, w.MaxConcurrency = 2, 40 }, 64, 0, "or raise speed to 40.4 or more"},
		{"a rate that the server is full of", base, func(w *workload.Spec) { w.Rate = 10 }, 4, -1, ""},
		{"a trace that the server is full of", file, func(w *workload.Spec) { w.Speed = 8 }, 4, -1, ""},
		{"a server that says that requests wait", base, func(w *workload.Spec) { w.Rate = 4 }, 64, 3, ""},
		{"a rate above the cap", base, func(w *workload.Spec) { w.Rate, w.MaxConcurrency = 1000, 8 }, 64, 0, ""},
		{"a rate that keeps most of the cap in use", base, func(w *workload.Spec) { w.Rate, w.MaxConcurrency = 7, 8 }, 64, 0, ""},
		{"a closed loop", base, func(w *workload.Spec) { w.MaxConcurrency = 8 }, 64, 0, ""},
		{"all at once", base, func(w *workload.Spec) { w.AtOnce = true }, 8, 0, ""},
	} {
		w := c.base
		c.change(&w)
		m := &tuner.Measurement{Records: sentTo(t, w, trace, c.room, time.Second)}
		m.Metrics = metric.Compute(m.Records, 1)
		if c.waiting >= 0 {
			m.Gauges = &metric.Gauges{}
			m.Gauges.Add(metric.Gauge{Waiting: c.waiting})
		}
		a := &attempt{Traffic: Traffic{Workload: w}}
		if got := a.belowKnee(m); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", c.name, got, c.says)
		}
	}
	// Turns wait for answers, not for arrivals: what counts is when the conversations begin.
	talk := workload.Spec{Dataset: workload.Conversation, Turns: 4, Requests: 8}
	records := []metric.Record{{Index: 0}, {Index: 1, Scheduled: 9 * time.Second}, {Index: 4, Scheduled: time.Second}, {Index: 5, Scheduled: 20 * time.Second}}
	if got := lastDue(talk, records); got != 1 {
		t.Errorf("the last conversation begins at %g s, want 1", got)
	}
}
