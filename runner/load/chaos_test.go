package load

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"autotune/tuner/metric"
)

// chaosClasses are all ways in which a request may end.
var chaosClasses = []string{"", metric.ErrRefused, metric.ErrConnect, metric.ErrStream, metric.ErrTruncated, metric.ErrAborted, metric.ErrLength, metric.ErrEmpty,
	metric.ErrTimeout, metric.ErrUnsent, metric.ErrNoUsage, metric.ErrCancelled}

// chaos is a server that answers by chance.
type chaos struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (c *chaos) intn(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(n)
}

// pieces are what answers are put together from, good and bad.
var pieces = []string{tok, tok, empty, last, stopped, usage2, usage0, endOfAll, chat(`{"content":"a"}`, usageOf(3, 1)), lengthOut, ": ping\n\n", "id: 1\ndata:\n\n", "event: error\n",
	"data: {\"error\":{\"message\":\"x\"}}\n\n", "data: {\n\n", "data: []\n\n", "data: 7\n\n", "\r\r\n\n", "data: " + strings.Repeat("[", 5000) + "\n\n", "{\"error\":\"bare\"}\n", "\x00\xff\xfe",
	`data: {"choices":[{"text":"b","finish_reason":"abort"}],"usage":{"completion_tokens":-3}}` + "\n\n", `data: {"usage":{"completion_tokens":1e300,"prompt_tokens":2}}` + "\n\n",
	`data: {"choices":[{"delta":{"content":"\ud800"}}]}` + "\n\n", "data: {\"law_us\":[9,-9,1e9],\"law_end_us\":\"x\",\"choices\":[{}]}\n\n"}

var heads = []string{"200 OK", "200 OK", "200 OK", "200 OK", "200 OK", "429 Too Many Requests", "503 Service Unavailable", "500 Oops", "307 Temporary Redirect", "204 No Content", "299 Odd", "999 None", "42"}

// answer gives the bytes of an answer, and whether the connection is broken afterwards.
func (c *chaos) answer() (text string, breaks bool) {
	var body strings.Builder
	if c.intn(3) == 0 {
		body.WriteString(tok + last + usage2 + endOfAll)
	} else {
		for range c.intn(9) {
			body.WriteString(pieces[c.intn(len(pieces))])
		}
	}
	head := "HTTP/1.1 " + heads[c.intn(len(heads))] + "\r\nContent-Type: text/event-stream\r\n"
	if c.intn(6) == 0 {
		head += []string{"Location: http://127.0.0.1:1/\r\n", "Retry-After: -1\r\n", "Content-Encoding: gzip\r\n", "Content-Encoding: zstd\r\n", "Connection: close\r\n"}[c.intn(5)]
	}
	switch c.intn(3) {
	case 0:
		text, breaks = head+"\r\n"+body.String(), true
	case 1:
		text = fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, max(0, body.Len()+[]int{0, 0, 0, 9, -9}[c.intn(5)]), body.String())
	default:
		text = head + "Transfer-Encoding: chunked\r\n\r\n"
		for rest := body.String(); rest != ""; {
			n := min(1+c.intn(200), len(rest))
			text += chunkOf(rest[:n])
			rest = rest[n:]
		}
		text += lastChunk
	}
	if c.intn(4) == 0 {
		text, breaks = text[:c.intn(len(text)+1)], true
	}
	if c.intn(20) == 0 {
		text = "HTTP/1.1 100 Continue\r\n\r\n" + text
	}
	return text, breaks || strings.Contains(text, "close")
}

func (c *chaos) serve(conn *net.TCPConn, _ int) (again bool) {
	if c.intn(40) == 0 {
		_, _ = conn.Read(make([]byte, 1)) // a stall, until the client goes away
		return false
	}
	text, breaks := c.answer()
	for text != "" {
		n := min(1+c.intn(300), len(text))
		put(conn, text[:n])
		text = text[n:]
	}
	if breaks && c.intn(3) == 0 {
		_ = conn.SetLinger(0) // a reset
	}
	return !breaks
}

// Whatever a server does, each request ends in exactly one way that has a name, the counts add up, and nothing is left running.
func TestChaos(t *testing.T) {
	log.SetOutput(io.Discard) // of net/http, about what comes unasked
	defer log.SetOutput(os.Stderr)
	seen := map[string]int{}
	for seed := range uint64(8) {
		c := &chaos{rng: rand.New(rand.NewPCG(seed, 7))}
		before := runtime.NumGoroutine()
		s := serveRaw(t, c.serve)
		w := spec(150, 0)
		w.MaxConcurrency, w.RequestLimit = 1+int(seed*3), 60*time.Millisecond
		o := Options{Spec: w, StudySeed: seed}
		switch seed % 4 {
		case 1:
			o.FailFast = 4
		case 2:
			o.Silence = 50 * time.Millisecond
		case 3:
			o.Spec.MaxConcurrency = 0
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		var lastSeen Progress
		r, err := newRun(Target{URL: s.url(), Model: "m"}, o)
		if err != nil {
			t.Fatal(err)
		}
		r.second = time.Millisecond
		r.Observe = func(p Progress) string { lastSeen = p; return "" }
		result, err := r.do(ctx)
		cancel()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		total := 0
		for _, class := range chaosClasses {
			n := classes(result.Records)[class]
			total, seen[class] = total+n, seen[class]+n
		}
		if total != o.Spec.Requests || len(result.Records) != o.Spec.Requests {
			t.Errorf("seed %d: %d of %d requests ended in a way that has a name: %v", seed, total, o.Spec.Requests, classes(result.Records))
		}
		if lastSeen.Done > lastSeen.Sent || lastSeen.Failed > lastSeen.Done || lastSeen.Sent > lastSeen.Total {
			t.Errorf("seed %d: the progress was %+v", seed, lastSeen)
		}
		for i, rec := range result.Records {
			c.check(t, i, rec)
		}
		s.end()
		leftOver(t, before)
	}
	// On a busy machine the rare ends may not come: their requests time out before. Most have to.
	missing := 0
	for _, class := range []string{"", metric.ErrRefused, metric.ErrConnect, metric.ErrStream, metric.ErrTruncated, metric.ErrAborted, metric.ErrLength, metric.ErrTimeout, metric.ErrNoUsage} {
		if seen[class] == 0 {
			missing++
		}
	}
	if missing > 2 {
		t.Errorf("%d of the ends did not come: the server is too tame: %v", missing, seen)
	}
}

// check holds a record against what every record keeps.
func (c *chaos) check(t *testing.T, i int, r metric.Record) {
	sorted := slices.IsSortedFunc(r.Tokens, func(a, b metric.Event) int { return int(a.At - b.At) })
	switch {
	case r.Index != i || r.Lag < 0 || r.Output < 0 || r.Input < 0 || !sorted:
	case r.Error == metric.ErrUnsent && (r.Sent != 0 || r.Detail == ""):
	case r.Error != metric.ErrUnsent && r.End < r.Sent:
	case !r.OK() && r.Error != metric.ErrUnsent && r.Detail == "":
	case r.OK() && (r.Status != 200 || r.Output != r.AskedOut || sum(r.Tokens) != r.Output || r.Tokens[0].At < r.Sent || r.Tokens[len(r.Tokens)-1].At > r.End):
	case r.Error == metric.ErrRefused && r.Status == 200, r.Error == metric.ErrConnect && r.Status != 0:
	default:
		return
	}
	t.Errorf("record %d makes no sense: %+v", i, r)
}

// leftOver waits until there are no more goroutines than before.
func leftOver(t *testing.T, before int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); runtime.NumGoroutine() > before; {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
