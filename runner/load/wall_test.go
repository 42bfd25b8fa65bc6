package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// patience bounds every wait of the tests against hanging.
const patience = 20 * time.Second

func spec(requests int, rate float64) workload.Spec {
	return workload.Spec{Name: "w", Dataset: workload.Random, InputTokens: 5, OutputTokens: 2, Requests: requests, Rate: rate, Endpoint: workload.Completions}
}

// good answers two tokens.
func good(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	stream(tok, last, usage2, endOfAll)(w, r)
}

// silent sends the head of an answer and comments, and nothing else until the client goes away.
func silent(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	stream(": ping\n\n")(w, r)
	<-r.Context().Done()
}

// hammer runs a workload against a handler, changed before it starts, and checks that nothing is left running.
func hammer(t *testing.T, ctx context.Context, h http.HandlerFunc, o Options, change func(*run)) (Result, error) {
	t.Helper()
	server := httptest.NewServer(h)
	before := runtime.NumGoroutine()
	r, err := newRun(Target{URL: server.URL, Model: "m"}, o)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	result, err := r.do(ctx)
	server.Close() // waits for its handlers: a request of ours that is left over would hang it
	leftOver(t, before)
	if len(result.Records) != o.Spec.Requests {
		t.Fatalf("%d records of %d requests", len(result.Records), o.Spec.Requests)
	}
	for i, rec := range result.Records {
		if rec.Index != i || rec.Lag < 0 || rec.Error == metric.ErrUnsent && rec.Sent != 0 || rec.Error != metric.ErrUnsent && rec.End < rec.Sent {
			t.Errorf("record %d makes no sense: %+v", i, rec)
		}
	}
	return result, err
}

func classes(records []metric.Record) map[string]int {
	n := map[string]int{}
	for _, r := range records {
		n[r.Error]++
	}
	return n
}

// Requests go out in order, at their instants, whatever the server does meanwhile.
func TestPacing(t *testing.T) {
	var mu sync.Mutex
	prompts := map[string]bool{}
	result, err := hammer(t, context.Background(), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		prompts[string(body)] = true
		mu.Unlock()
		stream(tok, last, usage2, endOfAll)(w, r)
	}, Options{Spec: spec(150, 500), Trial: 3}, nil)
	if err != nil || result.Ending != Complete || result.Share != 1 || result.Clock != metric.Wall {
		t.Fatalf("%v, %s, share %v", err, result.Ending, result.Share)
	}
	if len(prompts) != 150 {
		t.Errorf("%d different prompts, want 150", len(prompts))
	}
	for i, r := range result.Records {
		if !r.OK() || r.Scheduled != time.Duration(i)*2*time.Millisecond || r.Sent < r.Scheduled || r.Lag != r.Sent-r.Scheduled {
			t.Fatalf("request %d: %+v", i, r)
		}
	}
	if last := result.Records[149]; result.Elapsed < last.Scheduled {
		t.Errorf("149 intervals of 2 ms took %v", result.Elapsed)
	}
	t.Logf("client lag p50 %.3f ms, p99 %.3f ms, CPU %.0f %%", 1e3*metric.Compute(result.Records, 1)["client_lag_p50"], 1e3*metric.Compute(result.Records, 1)["client_lag_p99"], 100*result.CPU)
}

// The cap holds, and the wait for a slot is no lag of the client.
func TestCap(t *testing.T) {
	var flying, most atomic.Int64
	result, err := hammer(t, context.Background(), func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n := flying.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		stream(tok, last, usage2)(w, r)
		flying.Add(-1)
		stream(endOfAll)(w, r)
	}, Options{Spec: func() workload.Spec { s := spec(60, 0); s.MaxConcurrency = 4; return s }()}, nil)
	if err != nil || classes(result.Records)[""] != 60 {
		t.Fatalf("%v, %v", err, classes(result.Records))
	}
	if most.Load() > 4 || metric.Compute(result.Records, 1)["peak_concurrency"] > 4 {
		t.Errorf("%d in flight at once, by the records %v; 4 allowed", most.Load(), metric.Compute(result.Records, 1)["peak_concurrency"])
	}
	last := result.Records[59]
	if last.Scheduled != 0 || last.Sent == 0 || last.Lag >= last.Sent {
		t.Errorf("the last one waited for a slot: %+v", last)
	}
}

// An error that the run is expected to end with, and what becomes of its requests.
func TestEndings(t *testing.T) {
	with := func(change func(*workload.Spec)) workload.Spec { s := spec(20, 0); change(&s); return s }
	half := func(h http.HandlerFunc) http.HandlerFunc { // the first five answers are good
		var n atomic.Int64
		return func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) <= 5 {
				good(w, r)
				return
			}
			h(w, r)
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		options Options
		ending  Ending
		classes map[string]int
	}{
		{"wall limit", half(silent), Options{Spec: with(func(s *workload.Spec) { s.WallLimit, s.MaxConcurrency = 300*time.Millisecond, 8 })},
			WallLimit, map[string]int{"": 5, metric.ErrTimeout: 8, metric.ErrUnsent: 7}},
		{"wall limit before the last is due", good, Options{Spec: with(func(s *workload.Spec) { s.WallLimit, s.Rate = 140*time.Millisecond, 40 })},
			WallLimit, map[string]int{"": 6, metric.ErrUnsent: 14}},
		{"request limit", half(silent), Options{Spec: with(func(s *workload.Spec) { s.RequestLimit = time.Second })},
			Complete, map[string]int{"": 5, metric.ErrTimeout: 15}},
		{"hang", half(silent), Options{Spec: with(func(s *workload.Spec) { s.MaxConcurrency = 10 }), Silence: 200 * time.Millisecond},
			Hang, map[string]int{"": 5, metric.ErrTimeout: 10, metric.ErrUnsent: 5}},
		{"hang while new ones come", half(silent), Options{Spec: with(func(s *workload.Spec) { s.Rate = 20 }), Silence: 100 * time.Millisecond},
			Hang, nil},
		{"all fail", http.NotFound, Options{Spec: with(func(s *workload.Spec) { s.MaxConcurrency = 1 }), FailFast: 3},
			AllFailed, map[string]int{metric.ErrRefused: 3, metric.ErrUnsent: 17}},
		{"one succeeded first", half(http.NotFound), Options{Spec: with(func(s *workload.Spec) { s.MaxConcurrency = 1 }), FailFast: 3},
			Complete, map[string]int{"": 5, metric.ErrRefused: 15}},
	} {
		result, err := hammer(t, context.Background(), c.handler, c.options, nil)
		if err != nil || result.Ending != c.ending {
			t.Errorf("%s: %v, ending %s, want %s", c.name, err, result.Ending, c.ending)
		}
		if got := classes(result.Records); c.classes != nil && fmt.Sprint(got) != fmt.Sprint(c.classes) {
			t.Errorf("%s: %v, want %v", c.name, got, c.classes)
		}
		if u := result.Records[19]; u.Error == metric.ErrUnsent && u.Detail == "" {
			t.Errorf("%s: nothing says why the last one was not sent", c.name)
		}
	}
}

func TestObserverStops(t *testing.T) {
	var seen []Progress
	s := spec(50, 0)
	s.MaxConcurrency = 10
	var n atomic.Int64
	result, err := hammer(t, context.Background(), func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) > 20 {
			silent(w, r)
			return
		}
		good(w, r)
	}, Options{Spec: s, Observe: func(p Progress) string {
		if seen = append(seen, p); p.Done == 20 && p.Sent == 30 {
			return "hopeless"
		}
		return ""
	}}, func(r *run) { r.second = 10 * time.Millisecond })
	if err != nil || result.Ending != Stopped || result.Stopped != "hopeless" || result.Share != 0.4 {
		t.Errorf("%v, %s, %q, share %v", err, result.Ending, result.Stopped, result.Share)
	}
	p := seen[len(seen)-1]
	if p.Total != 50 || p.Failed != 0 || p.InputTokens != 60 || p.OutputTokens != 40 || p.StreamedTokens != 40 || p.Share != 0.4 || p.Elapsed <= 0 {
		t.Errorf("the last progress is %+v", p)
	}
	if got := classes(result.Records); got[""] != 20 || got[metric.ErrCancelled] != 10 || got[metric.ErrUnsent] != 20 {
		t.Errorf("%v", got)
	}
	states := map[metric.State]int{}
	for i, v := range p.Requests {
		states[v.State]++
		if r := result.Records[i]; r.OK() && v != r.Sight(p.Elapsed) {
			t.Errorf("request %d was seen as %+v, its record is %+v", i, v, r)
		}
	}
	if states[metric.Succeeded] != 20 || states[metric.Waiting]+states[metric.Unsent] != 30 {
		t.Errorf("the requests were seen as %v", states)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var n atomic.Int64
	s := spec(12, 0)
	s.MaxConcurrency = 8
	result, err := hammer(t, ctx, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 8 {
			cancel()
		}
		silent(w, r)
	}, Options{Spec: s}, nil)
	if err != context.Canceled || result.Ending != Interrupted || result.Share != 0 {
		t.Errorf("%v, %s, share %v", err, result.Ending, result.Share)
	}
	if got := classes(result.Records); got[metric.ErrCancelled] != 8 || got[metric.ErrUnsent] != 4 {
		t.Errorf("%v", got)
	}
}

// What is asked stays the same for a repeat and for another trial; what is sent does not, nor does the same trial's change.
func TestIdentityAndSent(t *testing.T) {
	sent := map[string]string{}
	identity := ""
	for name, o := range map[string]Options{"first": {Trial: 1}, "again": {Trial: 1}, "repeat": {Trial: 1, Repeat: 1}, "trial": {Trial: 2}, "study": {Trial: 1, StudySeed: 9}} {
		o.Spec = spec(5, 0)
		result, err := hammer(t, context.Background(), good, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if identity == "" {
			identity = result.Identity
		}
		if result.Identity != identity || identity != o.Spec.Identity("") {
			t.Errorf("%s: another identity", name)
		}
		sent[name] = result.Sent
	}
	if sent["first"] != sent["again"] {
		t.Error("the same trial sent other content")
	}
	for _, name := range []string{"repeat", "trial", "study"} {
		if sent[name] == sent["first"] {
			t.Errorf("%s: the content is that of the first", name)
		}
	}
}

func TestProbe(t *testing.T) {
	var bodies atomic.Value
	for name, c := range map[string]struct {
		body string
		want string
	}{
		"good": {tok + last + usage2 + endOfAll, ""}, "uncounted": {tok + last + endOfAll, ""},
		"no token": {stopped + usage0 + endOfAll, "empty"}, "cut": {tok, "truncated"}, "error": {`data: {"error":{"message":"dead"}}` + "\n\n", "dead"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies.Store(string(body))
			stream(c.body)(w, r)
		}))
		err := Probe(context.Background(), Target{URL: server.URL, Model: "served"})
		server.Close()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if body := bodies.Load().(string); !strings.Contains(body, `"model":"served"`) || !strings.Contains(body, `"stream":true`) {
		t.Errorf("asked for %s", body)
	}
	if err := Probe(context.Background(), Target{URL: "http://127.0.0.1:1"}); err == nil {
		t.Error("nobody listens, but the probe is content")
	}
}

func TestWarm(t *testing.T) {
	var n atomic.Int64
	var mu sync.Mutex
	prompts := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		prompts[string(body)]++
		mu.Unlock()
		stream(tok, last, usage2, endOfAll)(w, r)
	}))
	defer server.Close()
	s := spec(4, 1)
	s.Warmup = 6
	o, target := Options{Spec: s}, Target{URL: server.URL, Model: "m"}
	if err := Warm(context.Background(), target, o); err != nil || n.Load() != 6 {
		t.Errorf("%v after %d requests, want 6", err, n.Load())
	}
	o.Spec.Rate = 0
	if _, err := Run(context.Background(), target, o); err != nil || len(prompts) != 10 {
		t.Errorf("%v; %d different prompts, want 10", err, len(prompts))
	}
	o.LawTime = true
	if err := Warm(context.Background(), target, o); err != nil || n.Load() != 10 {
		t.Errorf("law time: %v after %d requests, want none more", err, n.Load()-10)
	}
	o.LawTime = false
	server.Config.Handler = http.NotFoundHandler()
	if err := Warm(context.Background(), target, o); err == nil || !strings.Contains(err.Error(), "6 of 6 warm-up requests failed") {
		t.Errorf("got %v", err)
	}
}

func TestBadWorkload(t *testing.T) {
	for name, o := range map[string]Options{
		"spec":     {Spec: workload.Spec{Dataset: "none"}},
		"rows":     {Spec: workload.Spec{Dataset: workload.ShareGPT, Requests: 3, Endpoint: workload.Chat}, Rows: make([]workload.Row, 2)},
		"order":    {Spec: spec(2, 0), Requests: []workload.Request{{Index: 0, Arrival: 2, Output: 1, Input: 1}, {Index: 1, Arrival: 1, Output: 1, Input: 1}}},
		"no order": {Spec: spec(2, 0), Requests: []workload.Request{{Index: 1, Output: 1, Input: 1}}},
		"nothing":  {Spec: spec(2, 0), Requests: []workload.Request{}},
	} {
		if _, err := Run(context.Background(), Target{URL: "http://127.0.0.1:1"}, o); err == nil || !strings.Contains(err.Error(), "cannot be sent") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
