package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/runner/internal/lawtime"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// lawServer keeps law time with the simplest of laws: a token takes 10 ms and 1 ms more for each request already in flight when it begins.
// It lets time pass only as far as the plan's rule allows, so a client that breaks the rule is found out.
type lawServer struct {
	t       *testing.T
	fate    func(index int) string // "", refuse, error, cut
	mu      sync.Mutex
	plan    lawtime.Plan
	next    int
	came    map[int]*lawCall
	running []*lawCall // by end
	ends    []int64
	plans   int
	forgot  int
	pass    func() // in the place of advance, when not nil
}

type lawCall struct {
	index      int
	sent, step int64
	tokens     int
	tail, end  int64 // from the last token to the end
	over       chan struct{}
}

func (s *lawServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != lawtime.Path:
		s.complete(w, r)
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(lawtime.Hello{Clock: "law"})
	case r.Method == http.MethodPost:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.plan, s.next, s.came, s.running, s.ends = lawtime.Plan{}, 0, map[int]*lawCall{}, nil, nil
		s.plans++
		if err := json.NewDecoder(r.Body).Decode(&s.plan); err != nil {
			s.t.Error(err)
		}
	case r.Method == http.MethodDelete:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forgot++
	}
}

// advance lets time pass until the next request is missing.
func (s *lawServer) advance() {
	if s.pass != nil {
		s.pass()
		return
	}
	for {
		due, known := int64(0), false
		if s.next < len(s.plan.Arrivals) {
			due, known = s.plan.Arrivals[s.next], s.plan.Cap == 0 || s.next < s.plan.Cap
			if freed := s.next - s.plan.Cap; !known && freed < len(s.ends) {
				due, known = max(due, s.ends[freed]), true
			}
		}
		if known && s.plan.Limit > 0 && due >= s.plan.Limit {
			s.next = len(s.plan.Arrivals)
			continue
		}
		if known && (len(s.running) == 0 || due < s.running[0].end) {
			c := s.came[s.next]
			if c == nil {
				return
			}
			if c.sent != due {
				s.t.Errorf("request %d says that it is sent at %d, by the rule it is %d", c.index, c.sent, due)
			}
			s.next++
			c.step = 10000 + 1000*int64(len(s.running))
			c.end = c.sent + c.step*int64(c.tokens) + c.tail
			at, _ := slices.BinarySearchFunc(s.running, c, func(a, b *lawCall) int { return int(a.end - b.end) })
			s.running = slices.Insert(s.running, at, c)
			continue
		}
		if len(s.running) == 0 {
			return
		}
		c := s.running[0]
		s.running, s.ends = s.running[1:], append(s.ends, c.end)
		close(c.over)
	}
}

func (s *lawServer) complete(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Prompt []int `json:"prompt"`
		Max    int   `json:"max_tokens"`
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &ask); err != nil {
		s.t.Error(err)
	}
	c := &lawCall{over: make(chan struct{}), tokens: ask.Max, tail: 300}
	c.index, _ = strconv.Atoi(r.Header.Get(lawtime.HeaderIndex))
	c.sent, _ = strconv.ParseInt(r.Header.Get(lawtime.HeaderSent), 10, 64)
	fate := ""
	if s.fate != nil {
		fate = s.fate(c.index)
	}
	switch fate {
	case "refuse":
		c.tokens = 0
	case "cut": // states no end: it is that of the last token
		c.tokens, c.tail = 3, 0
	}
	s.mu.Lock()
	if r.Header.Get(lawtime.HeaderPlan) != s.plan.ID {
		s.t.Errorf("plan %q, want %q", r.Header.Get(lawtime.HeaderPlan), s.plan.ID)
	}
	s.came[c.index] = c
	s.advance()
	s.mu.Unlock()
	select {
	case <-c.over:
	case <-r.Context().Done():
		return
	}
	s.tell(w, c, fate, len(ask.Prompt))
}

func (s *lawServer) tell(w http.ResponseWriter, c *lawCall, fate string, prompt int) {
	if fate == "refuse" {
		w.Header().Set(lawtime.HeaderEnd, strconv.FormatInt(c.end, 10))
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	const bundle = 7
	for from := 0; from < c.tokens; from += bundle {
		n := min(bundle, c.tokens-from)
		stamps := []string{strconv.FormatInt(c.sent+c.step*int64(from+1), 10)}
		for range n - 1 {
			stamps = append(stamps, strconv.FormatInt(c.step, 10))
		}
		finish := "null"
		if from+n == c.tokens && fate != "cut" {
			finish = `"length"`
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"text\":\"x\",\"finish_reason\":%s}],\"%s\":[%s]}\n\n", finish, lawtime.StampsField, strings.Join(stamps, ","))
		w.(http.Flusher).Flush()
	}
	switch fate {
	case "cut":
		return
	case "error":
		fmt.Fprintf(w, "data: {\"error\":{\"message\":\"broken\"},\"%s\":%d}\n\n", lawtime.EndField, c.end)
		return
	}
	fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d},\"%s\":%d}\n\ndata: [DONE]\n\n", prompt, c.tokens, lawtime.EndField, c.end)
}

func lawSpec(requests int) workload.Spec {
	return workload.Spec{Name: "w", Dataset: workload.Random, InputTokens: 5, OutputTokens: 30, Requests: requests, Rate: 50, MaxConcurrency: 8, Endpoint: workload.Completions}
}

func lawRun(t *testing.T, s *lawServer, o Options) Result {
	t.Helper()
	s.t, o.LawTime = t, true
	server := httptest.NewServer(s)
	defer server.Close()
	if !DetectLawTime(context.Background(), server.URL) {
		t.Fatal("law time was not noticed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	result, err := Run(ctx, Target{URL: server.URL, Model: "m"}, o)
	if err != nil {
		t.Fatal(err)
	}
	if result.Clock != metric.Law {
		t.Errorf("clock %s", result.Clock)
	}
	return result
}

// byRule works the workload out by itself, in the order of the requests, without HTTP.
func byRule(spec workload.Spec) []metric.Record {
	var records []metric.Record
	var ends []time.Duration
	for i := range spec.Requests {
		arrival := time.Duration(float64(i)/spec.Rate*1e6) * time.Microsecond
		slices.Sort(ends)
		sent := arrival
		if i >= spec.MaxConcurrency {
			sent = max(sent, ends[i-spec.MaxConcurrency])
		}
		flying := 0
		for _, r := range records {
			if r.End > sent {
				flying++
			}
		}
		step := 10*time.Millisecond + time.Duration(flying)*time.Millisecond
		r := metric.Record{Index: i, Scheduled: arrival, Sent: sent, FirstByte: sent + step, Status: 200, AskedIn: spec.InputTokens, AskedOut: spec.OutputTokens,
			Input: spec.InputTokens, Output: spec.OutputTokens, End: sent + step*time.Duration(spec.OutputTokens) + 300*time.Microsecond}
		for k := range spec.OutputTokens {
			r.Tokens = append(r.Tokens, metric.Event{At: sent + step*time.Duration(k+1), Tokens: 1})
		}
		records, ends = append(records, r), append(ends, r.End)
	}
	return records
}

// Every record is what the rule and the law say, bit for bit, each time.
func TestLawTime(t *testing.T) {
	want := byRule(lawSpec(100))
	for range 3 {
		s := &lawServer{}
		result := lawRun(t, s, Options{Spec: lawSpec(100)})
		if d := cmp.Diff(want, result.Records); d != "" {
			t.Fatalf("records (-rule +run):\n%.2000s", d)
		}
		if result.Ending != Complete || result.Share != 1 || result.Elapsed != want[99].End || s.forgot != 0 {
			t.Errorf("%s, share %v, %v, forgotten %d times", result.Ending, result.Share, result.Elapsed, s.forgot)
		}
	}
}

// The progress of each second of law time is what the records say of it.
func TestLawProgress(t *testing.T) {
	var seen []Progress
	result := lawRun(t, &lawServer{}, Options{Spec: lawSpec(100), Observe: func(p Progress) string { seen = append(seen, p); return "" }})
	if len(seen) != int(result.Elapsed/time.Second) {
		t.Fatalf("%d calls in %v", len(seen), result.Elapsed)
	}
	for i, p := range seen {
		at := time.Duration(i+1) * time.Second
		want := Progress{Elapsed: at, Total: 100}
		for _, r := range result.Records {
			want.Requests = append(want.Requests, r.Sight(at))
			if r.Sent <= at {
				want.Sent++
			}
			if r.End <= at {
				want.Done++
				want.InputTokens += r.Input
				want.OutputTokens += r.Output
			}
			for _, e := range r.Tokens {
				if e.At <= at {
					want.StreamedTokens += e.Tokens
				}
			}
		}
		want.Share = float64(want.Done) / 100
		if d := cmp.Diff(want, p); d != "" {
			t.Fatalf("second %d (-records +progress):\n%s", i+1, d)
		}
	}
}

// A run that is stopped is what a whole run was at that second, whatever the server had computed beyond it.
func TestLawStop(t *testing.T) {
	whole := byRule(lawSpec(100))
	var first Result
	for i := range 3 {
		s := &lawServer{}
		result := lawRun(t, s, Options{Spec: lawSpec(100), Observe: func(p Progress) string {
			if p.Elapsed == 2*time.Second {
				return "hopeless"
			}
			return ""
		}})
		if result.Ending != Stopped || result.Stopped != "hopeless" || s.forgot != 1 || result.Elapsed != 2*time.Second {
			t.Fatalf("%s, %q, %v, forgotten %d times", result.Ending, result.Stopped, result.Elapsed, s.forgot)
		}
		if i == 0 {
			first = result
		}
		result.CPU, first.CPU = 0, 0
		if d := cmp.Diff(first, result); d != "" {
			t.Fatalf("two runs differ:\n%.2000s", d)
		}
	}
	for i, r := range first.Records {
		w := whole[i]
		switch {
		case w.End <= 2*time.Second:
			if d := cmp.Diff(w, r); d != "" {
				t.Errorf("request %d had ended:\n%s", i, d)
			}
		case w.Sent < 2*time.Second:
			if r.Error != metric.ErrCancelled || r.End != 2*time.Second || r.Sent != w.Sent || len(r.Tokens) == 0 != (w.Tokens[0].At > r.End) {
				t.Errorf("request %d was in flight: %+v", i, r)
			}
		case r.Error != metric.ErrUnsent || r.Sent != 0 || r.Detail != "hopeless":
			t.Errorf("request %d was not sent: %+v", i, r)
		}
	}
}

func TestLawLimits(t *testing.T) {
	spec := lawSpec(100)
	spec.WallLimit = 3 * time.Second
	result := lawRun(t, &lawServer{}, Options{Spec: spec})
	if result.Ending != WallLimit || result.Elapsed != spec.WallLimit {
		t.Errorf("%s after %v", result.Ending, result.Elapsed)
	}
	for i, w := range byRule(lawSpec(100)) {
		want := ""
		switch {
		case w.Sent >= spec.WallLimit:
			want = metric.ErrUnsent
		case w.End > spec.WallLimit:
			want = metric.ErrTimeout
		}
		if r := result.Records[i]; r.Error != want {
			t.Errorf("request %d: %q, want %q", i, r.Error, want)
		}
	}
	spec = lawSpec(30)
	spec.RequestLimit = 400 * time.Millisecond
	result = lawRun(t, &lawServer{}, Options{Spec: spec})
	for i, w := range byRule(lawSpec(30)) {
		r := result.Records[i]
		if late := w.End-w.Sent > spec.RequestLimit; late != (r.Error == metric.ErrTimeout) || late && r.End != r.Sent+spec.RequestLimit || r.Sent != w.Sent {
			t.Errorf("request %d took %v: %+v", i, w.End-w.Sent, r)
		}
	}
	if result.Ending != Complete || result.Share != 1 {
		t.Errorf("%s, share %v", result.Ending, result.Share)
	}
}

func TestLawFailures(t *testing.T) {
	s := &lawServer{fate: func(i int) string {
		return map[int]string{3: "refuse", 20: "error", 21: "refuse", 60: "error", 33: "cut"}[i]
	}}
	result := lawRun(t, s, Options{Spec: lawSpec(80), FailFast: 3})
	if got := classes(result.Records); result.Ending != Complete || got[""] != 75 || got[metric.ErrRefused] != 2 || got[metric.ErrTruncated] != 1 || got[metric.ErrStream] != 2 {
		t.Errorf("%s, %v", result.Ending, got)
	}
	if r := result.Records[3]; r.End != r.Sent+300*time.Microsecond || r.Status != 503 {
		t.Errorf("refused: %+v", r)
	}
	if r := result.Records[33]; len(r.Tokens) != 3 || r.End != r.Tokens[2].At {
		t.Errorf("cut: %+v", r)
	}
	all := &lawServer{fate: func(int) string { return "refuse" }}
	result = lawRun(t, all, Options{Spec: lawSpec(80), FailFast: 5})
	if got := classes(result.Records); result.Ending != AllFailed || got[metric.ErrRefused] != 5 || got[metric.ErrUnsent] != 75 {
		t.Errorf("%s, %v", result.Ending, got)
	}
	if r := result.Records[79]; !strings.Contains(r.Detail, "the first 5 requests all failed") {
		t.Errorf("the last one was not sent, because: %q", r.Detail)
	}
}

// A server that computes for good, and a context that ends, end the run.
func TestLawHangAndInterrupt(t *testing.T) {
	for name, interrupt := range map[string]bool{"hang": false, "interrupt": true} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var came atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == lawtime.Path {
				return
			}
			if came.Add(1) == 8 && interrupt { // as many as may be in flight
				cancel()
			}
			silent(w, r)
		}))
		result, err := Run(ctx, Target{URL: server.URL, Model: "m"}, Options{Spec: lawSpec(10), LawTime: true, Silence: 300 * time.Millisecond})
		server.Close()
		got := classes(result.Records)
		switch {
		case interrupt && (err != context.Canceled || result.Ending != Interrupted || got[metric.ErrCancelled] != 8):
			t.Errorf("%s: %v, %s, %v", name, err, result.Ending, got)
		case !interrupt && (err != nil || result.Ending != Hang || got[metric.ErrTimeout] != 8 || got[metric.ErrUnsent] != 2):
			t.Errorf("%s: %v, %s, %v", name, err, result.Ending, got)
		}
	}
}

func TestDetectLawTime(t *testing.T) {
	for body, want := range map[string]bool{`{"clock":"law"}`: true, `{"clock":"wall"}`: false, "oops": false} {
		server := httptest.NewServer(stream(body))
		if got := DetectLawTime(context.Background(), server.URL); got != want {
			t.Errorf("%s: %v", body, got)
		}
		server.Close()
	}
	if DetectLawTime(context.Background(), "http://127.0.0.1:1") {
		t.Error("nobody keeps law time there")
	}
}

// A server that refuses the plan is an error of the run, in its words.
func TestPlanRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"no such plan"}}`))
	}))
	defer server.Close()
	if _, err := Run(context.Background(), Target{URL: server.URL}, Options{Spec: lawSpec(3), LawTime: true}); err == nil || !strings.Contains(err.Error(), "400: no such plan") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkLawTime(b *testing.B) {
	server := httptest.NewServer(&lawServer{})
	defer server.Close()
	spec := lawSpec(1000)
	spec.OutputTokens, spec.InputTokens, spec.MaxConcurrency, spec.Rate = 1000, 1024, 256, 1000
	for b.Loop() {
		if _, err := Run(context.Background(), Target{URL: server.URL, Model: "m"}, Options{Spec: spec, LawTime: true}); err != nil {
			b.Fatal(err)
		}
	}
}
