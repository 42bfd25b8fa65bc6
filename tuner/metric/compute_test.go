package metric

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"testing"
	"time"
)

const ms = time.Millisecond

// answer makes a successful record whose tokens come at the given instants, one an event.
func answer(scheduled, sent time.Duration, input int, tokens ...time.Duration) Record {
	r := Record{Scheduled: scheduled, Sent: sent, Status: 200, AskedIn: input, AskedOut: len(tokens), Input: input, Output: len(tokens)}
	for _, at := range tokens {
		r.Tokens = append(r.Tokens, Event{at, 1})
	}
	if len(tokens) > 0 {
		r.FirstByte, r.End = tokens[0], tokens[len(tokens)-1]
	}
	return r
}

func near(t *testing.T, m map[string]float64, name string, want float64) {
	t.Helper()
	got, ok := m[name]
	if !ok || math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %v (present: %v), want %v", name, got, ok, want)
	}
}

func absent(t *testing.T, m map[string]float64, names ...string) {
	t.Helper()
	for _, name := range names {
		if v, ok := m[name]; ok {
			t.Errorf("%s = %v, want it absent", name, v)
		}
	}
}

// Every figure of this run was worked out by hand.
func TestComputeByHand(t *testing.T) {
	records := []Record{
		answer(0, 0, 10, 100*ms, 200*ms, 300*ms),            // gaps 100, 100
		answer(100*ms, 150*ms, 20, 350*ms, 400*ms, 1000*ms), // gaps 50, 600
		{Index: 2, Scheduled: 200 * ms, Sent: 250 * ms, End: 2000 * ms, Error: ErrRefused, Input: 99, Output: 99, Lag: 2 * ms},
		{Index: 3, Scheduled: 300 * ms, Error: ErrUnsent},
	}
	m := Compute(records, 2)
	near(t, m, "success_rate", 0.5)
	near(t, m, "successful_requests", 2)
	near(t, m, "failed_requests", 2)
	near(t, m, "duration", 2)
	near(t, m, "request_throughput", 1)
	near(t, m, "input_token_throughput", 15)
	near(t, m, "output_token_throughput", 3)
	near(t, m, "total_token_throughput", 18)
	near(t, m, "total_token_throughput_per_gpu", 9)
	near(t, m, "mean_ttft", 0.175) // 100 and 250 ms from the schedule
	near(t, m, "p50_ttft", 0.175)
	near(t, m, "p90_ttft", 0.235)
	near(t, m, "mean_ttft_sent", 0.15) // 100 and 200 ms from the send
	near(t, m, "mean_latency", 0.6)    // 300 and 900
	near(t, m, "mean_latency_sent", 0.575)
	near(t, m, "mean_tpot", 0.2125)     // 100 and 325
	near(t, m, "mean_itl", 0.2125)      // 50, 100, 100, 600
	near(t, m, "p50_itl", 0.1)          // both middle ones are 100
	near(t, m, "p99_itl", 0.1+0.97*0.5) // position 2.97
	near(t, m, "peak_concurrency", 3)   // in flight: 0 to 300, 150 to 1000, 250 to 2000 ms
	near(t, m, "tokens_per_event", 1)
	near(t, m, "peak_output_token_throughput", 5) // the token at 1000 ms falls in the second second
	near(t, m, "mean_latency_per_output_token", 1.15/6)
	near(t, m, "client_lag_max", 0.002)
	near(t, m, "client_lag_p50", 0)
	absent(t, m, "nonsense")
}

func TestNothingSucceeded(t *testing.T) {
	m := Compute([]Record{{Sent: ms, End: 2 * ms, Error: ErrConnect}, {Error: ErrUnsent}}, 1)
	near(t, m, "success_rate", 0)
	near(t, m, "failed_requests", 2)
	absent(t, m, "mean_ttft", "p95_latency", "mean_tpot", "mean_itl", "request_throughput", "total_token_throughput", "output_tokens")
	if m := Compute([]Record{{Error: ErrUnsent}}, 1); len(m) != 3 {
		t.Errorf("a run that sent nothing has only counts, got %v", m)
	}
	if m := Compute(nil, 1); len(m) != 0 {
		t.Errorf("no requests, but metrics: %v", m)
	}
}

// The first event bundles three tokens: the decode time is spread over the three that follow it, not over five.
func TestBundledFirstEvent(t *testing.T) {
	r := Record{Status: 200, Input: 4, Output: 6, End: 180 * ms, Tokens: []Event{{100 * ms, 3}, {140 * ms, 1}, {180 * ms, 2}}}
	m := Compute([]Record{r}, 1)
	near(t, m, "mean_tpot", 0.080/3)
	near(t, m, "mean_itl", 0.080/3) // 40, 20, 20
	near(t, m, "tokens_per_event", 2)
	near(t, m, "mean_latency_per_output_token", 0.180/6)
}

// readTool reads a benchmark tool's result; bare NaN is no JSON, though tools write it.
func readTool(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`\bNaN\b`).ReplaceAll(text, []byte("null"))
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// With one token an answer there is no time between tokens: undefined, not 0.
func TestOneOutputToken(t *testing.T) {
	tool := readTool(t, "testdata/14-one-output-token-tpot-undefined.json")
	n, ttft := int(tool["completed"].(float64)), time.Duration(tool["mean_ttft_ms"].(float64)*float64(ms))
	var records []Record
	end := time.Duration(tool["duration"].(float64) * float64(time.Second))
	for i := range n {
		sent := time.Duration(i) * (end - ttft) / time.Duration(n-1)
		records = append(records, answer(sent, sent, 0, sent+ttft))
	}
	m := Compute(records, 1)
	near(t, m, "success_rate", 1)
	near(t, m, "output_tokens", tool["total_output_tokens"].(float64))
	near(t, m, "mean_ttft", 0.02556)
	if got, want := m["output_token_throughput"], tool["output_throughput"].(float64); math.Abs(got-want) > 0.005 {
		t.Errorf("output throughput %v, the tool said %v", got, want)
	}
	for _, stat := range Statistics {
		absent(t, m, stat+"_tpot", stat+"_itl")
	}
	if got := Format("mean_tpot", math.NaN()); got != "n/a" {
		t.Errorf("an undefined value prints as %q", got)
	}
}

// Answers of length 0 where 128 was forced are failures, though the tool counted them as completed.
func TestEmptyAnswersAreFailures(t *testing.T) {
	tool := readTool(t, "testdata/15-output-lens-128-or-0.json")
	var records []Record
	for _, length := range tool["output_lens"].([]any) {
		r := answer(0, 0, 128, make([]time.Duration, int(length.(float64)))...)
		r.AskedOut, r.End = 128, 9980*ms
		if r.Output == 0 {
			r.Error = ErrEmpty
		}
		records = append(records, r)
	}
	m := Compute(records, 1)
	near(t, m, "success_rate", 10.0/16)
	near(t, m, "failed_requests", 6)
	near(t, m, "output_tokens", 1280)
	near(t, m, "input_tokens", 1280) // of the ten only
}

// A mean and a percentile do not depend on the order of the records.
func TestOrderDoesNotMatter(t *testing.T) {
	var forth, back []Record
	for i := range 500 {
		at := time.Duration(i*i*7919%100003) * time.Microsecond
		r := answer(0, 0, 1, at, at+time.Duration(i*31%977)*time.Microsecond)
		forth, back = append(forth, r), append([]Record{r}, back...)
	}
	a, b := Compute(forth, 1), Compute(back, 1)
	for name, v := range a {
		if b[name] != v {
			t.Errorf("%s: %v and %v", name, v, b[name])
		}
	}
}

func BenchmarkCompute(b *testing.B) {
	records := lawLike(1000, 1024)
	for b.Loop() {
		Compute(records, 8)
	}
}
