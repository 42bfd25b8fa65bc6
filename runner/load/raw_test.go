package load

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// rawServer answers each connection's requests by hand, byte for byte; say gets the connection once a request was read, and the connection
// is closed when it says false.
type rawServer struct {
	net.Listener
	wg      sync.WaitGroup
	mu      sync.Mutex
	got     []string // method and path of each request
	dialled int
}

func serveRaw(t *testing.T, say func(c *net.TCPConn, request int) (again bool)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{Listener: l}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.talk(c.(*net.TCPConn), say) })
		}
	})
	t.Cleanup(s.end)
	return s
}

// end closes the server, and waits for its connections, which end when the client's do.
func (s *rawServer) end() {
	_ = s.Close() // a second time is no matter
	s.wg.Wait()
}

func (s *rawServer) talk(c *net.TCPConn, say func(*net.TCPConn, int) bool) {
	defer c.Close()
	s.mu.Lock()
	s.dialled++
	s.mu.Unlock()
	in := bufio.NewReader(c)
	for again := true; again; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		s.mu.Lock()
		s.got = append(s.got, r.Method+" "+r.URL.Path)
		n := len(s.got)
		s.mu.Unlock()
		again = say(c, n)
	}
}

func (s *rawServer) url() string { return "http://" + s.Addr().String() }

// put sends text in one segment; a client that is gone is none of the test's business.
func put(c net.Conn, text string) { _, _ = c.Write([]byte(text)) }

const (
	// plainHead begins an answer that ends with its connection, as HTTP/1.0 knows it.
	plainHead   = "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
	lastChunk   = "0\r\n\r\n"
)

func chunkOf(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// chat is an event of a chat completion; delta and rest are JSON.
func chat(delta, rest string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]` + rest + "}\n\n"
}

const lengthOut = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\n"

func usageOf(input, output int) string {
	return fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}`, input, input+output, output)
}

func usageEvent(input, output int) string {
	return `data: {"choices":[]` + usageOf(input, output) + "}\n\n"
}

// rawOne sends one request for so many tokens.
func rawOne(t *testing.T, url string, tokens int, o Options) (metric.Record, Ending) {
	t.Helper()
	o.Spec = workload.Spec{Dataset: workload.Random, InputTokens: 3, OutputTokens: tokens, Requests: 1, Endpoint: workload.Completions, RequestLimit: o.Spec.RequestLimit}
	result, err := Run(context.Background(), Target{URL: url, Model: "m", APIKey: "sk-secret"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return result.Records[0], result.Ending
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for _, event := range strings.SplitAfter(text, "\n\n") {
		_, _ = io.WriteString(w, event)
		_ = w.Flush()
	}
	_ = w.Close()
	return b.String()
}

func deflated(text string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// sum of the tokens of all events.
func sum(events []metric.Event) int {
	n := 0
	for _, e := range events {
		n += e.Tokens
	}
	return n
}

func (s *rawServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// connections is how many were made so far.
func (s *rawServer) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialled
}

// heardOne sends one request for two tokens; heard gets something after each event with tokens.
func heardOne(t *testing.T, url string, heard chan<- struct{}) metric.Record {
	t.Helper()
	c := newClient(Target{URL: url})
	defer c.close()
	start := time.Now()
	x := &exchange{path: pathCompletions, body: []byte("{}")}
	x.rec = &metric.Record{AskedOut: 2}
	x.now = func() time.Duration { return time.Since(start) }
	x.heard = func(int, time.Duration) { heard <- struct{}{} }
	x.ended = func(*cutOff) {}
	c.talk(t.Context(), x)
	return *x.rec
}

// zero is a clock that stands still.
func zero() time.Duration { return 0 }
