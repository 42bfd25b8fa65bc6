package load

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	simulated "autotune/tuner/law"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

func talks(conversations, turns int) workload.Spec {
	return workload.Spec{Name: "talk", Dataset: workload.Conversation, InputTokens: 3, OutputTokens: 2, Turns: turns, Requests: conversations * turns, Endpoint: workload.Completions}
}

// On the wall clock a turn is sent after the answer to the one before, and begins with the prompt of the one before.
func TestTurns(t *testing.T) {
	var mu sync.Mutex
	prompts, flying, most := [][]int{}, 0, 0
	s := talks(4, 3)
	s.MaxConcurrency, s.ThinkTime = 2, time.Millisecond
	result, err := hammer(t, context.Background(), func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Prompt []int `json:"prompt"`
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &ask); err != nil {
			t.Error(err)
		}
		mu.Lock()
		prompts = append(prompts, ask.Prompt)
		flying++
		most = max(most, flying)
		mu.Unlock()
		stream(tok, last, usage2)(w, r)
		mu.Lock()
		flying--
		mu.Unlock()
		stream(endOfAll)(w, r)
	}, Options{Spec: s}, nil)
	if err != nil || classes(result.Records)[""] != 12 || most > 2 {
		t.Fatalf("%v, %v, %d at once", err, classes(result.Records), most)
	}
	for i, rec := range result.Records {
		if i%3 == 0 {
			continue
		}
		before := result.Records[i-1]
		if rec.Scheduled != before.End+s.ThinkTime || rec.Sent < rec.Scheduled || rec.Lag != rec.Sent-rec.Scheduled {
			t.Errorf("turn %d is wanted at %v and sent at %v; the one before ended at %v", i, rec.Scheduled, rec.Sent, before.End)
		}
	}
	begins := 0 // prompts that a longer one begins with
	for _, p := range prompts {
		for _, q := range prompts {
			if len(q) > len(p) && slices.Equal(q[:len(p)], p) {
				begins++
			}
		}
	}
	if begins != 4*(2+1) {
		t.Errorf("%d pairs of a prompt and a longer one that begins with it, want 12", begins)
	}
}

// A conversation is cut short like everything else.
func TestTurnsEnd(t *testing.T) {
	s := talks(3, 4)
	s.ThinkTime, s.WallLimit = time.Hour, 200*time.Millisecond
	result, err := hammer(t, context.Background(), good, Options{Spec: s}, nil)
	if n := classes(result.Records); err != nil || result.Ending != WallLimit || n[""] != 3 || n[metric.ErrUnsent] != 9 {
		t.Errorf("%v, %s, %v", err, result.Ending, n)
	}
}

// In law time turns are sent at the instants that the rule of the law gives, cap, think time and limit included.
func TestTurnsInLawTime(t *testing.T) {
	for _, c := range []struct {
		name  string
		cap   int
		think time.Duration
		limit time.Duration
		whole int // requests that end before the limit
		cut   int
	}{{"no cap", 0, 0, 0, 20, 0}, {"a cap", 2, 0, 0, 20, 0}, {"thinking", 2, 7 * time.Millisecond, 0, 20, 0}, {"a limit", 1, 5 * time.Millisecond, 100 * time.Millisecond, 4, 1}, {"a long think", 0, time.Hour, time.Minute, 5, 0}} {
		s := talks(5, 4)
		s.MaxConcurrency, s.ThinkTime, s.WallLimit, s.Rate = c.cap, c.think, c.limit, 200
		fake := &turnServer{lawServer: lawServer{t: t}}
		server := httptest.NewServer(fake)
		result, err := Run(context.Background(), Target{URL: server.URL, Model: "m"}, Options{Spec: s, LawTime: true})
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		n := classes(result.Records)
		if n[""] != c.whole || n[metric.ErrTimeout] != c.cut || n[metric.ErrUnsent] != 20-c.whole-c.cut {
			t.Errorf("%s: %v, want %d whole and %d cut", c.name, n, c.whole, c.cut)
		}
		if want := map[bool]Ending{true: Complete, false: WallLimit}[c.limit == 0]; result.Ending != want {
			t.Errorf("%s: ending %s, want %s", c.name, result.Ending, want)
		}
		for i, rec := range result.Records {
			if rec.OK() && i%4 > 0 && (rec.Sent != result.Records[i-1].End+c.think || rec.Scheduled != rec.Sent) {
				t.Errorf("%s: turn %d is sent at %v, scheduled %v, the one before ended at %v", c.name, i, rec.Sent, rec.Scheduled, result.Records[i-1].End)
			}
		}
	}
}

// turnServer keeps law time by the rule of the law's own queue: each request takes 20 ms, and none is answered before all that come first are there.
type turnServer struct {
	lawServer
	queue *simulated.Queue
}

const turnTime = 20 * time.Millisecond

func (s *turnServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.lawServer.ServeHTTP(w, r)
	if r.Method == http.MethodPost && r.URL.Path == "/law/plan" {
		s.mu.Lock()
		defer s.mu.Unlock()
		p := &simulated.Plan{Cap: s.plan.Cap, Limit: micros(s.plan.Limit), Turns: s.plan.Turns, Think: micros(s.plan.Think)}
		for _, at := range s.plan.Arrivals {
			p.Arrivals = append(p.Arrivals, micros(at))
		}
		s.queue = simulated.NewQueue(p)
		s.lawServer.pass = s.pass
	}
}

// pass lets time pass until the next request is missing.
func (s *turnServer) pass() {
	for {
		i, at, known := s.queue.Next()
		if known && (len(s.running) == 0 || at < micros(s.running[0].end)) {
			c := s.came[i]
			if c == nil {
				return
			}
			if micros(c.sent) != at {
				s.t.Errorf("request %d says that it is sent at %d us, by the rule it is %v", i, c.sent, at)
			}
			s.queue.Sent(i)
			c.step, c.end = turnTime.Microseconds()/int64(c.tokens), c.sent+turnTime.Microseconds()+c.tail
			s.running = append(s.running, c)
			slices.SortFunc(s.running, func(a, b *lawCall) int { return int(a.end - b.end) })
			continue
		}
		if len(s.running) == 0 {
			return
		}
		c := s.running[0]
		s.running = s.running[1:]
		s.queue.Ended(c.index, micros(c.end))
		close(c.over)
	}
}
