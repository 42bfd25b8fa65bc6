//go:build bench

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"autotune/runner/load"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// TestBenchStreams: 2,000 concurrent streams of 15 tokens/s each, next to the fake engine that serves them. A batch decodes as one: all
// streams get their token at the same instant, fifteen times a second.
func TestBenchStreams(t *testing.T) {
	const streams, bar = 2000, 10 * time.Millisecond
	spec := workload.Spec{Name: "streams", Dataset: workload.Random, InputTokens: 16, OutputTokens: 240, Requests: 4000, Rate: 160, MaxConcurrency: streams, Seed: 1, Endpoint: workload.Completions}
	server := startFake(t, "bench/dense-4B", "--tensor-parallel-size=8", "--max-model-len=1024", "--max-num-seqs=2048")
	a, used := carryOut(t, childTask{Part: "load", URL: server.url, Options: load.Options{Spec: spec}})
	ledger, served := server.stop(t, spec.InputTokens)
	m := metric.Compute(a.Result.Records, 1)
	sent, received, good := 0, 0, 0
	for _, e := range ledger.Entries {
		sent += e.Output
	}
	for _, r := range a.Result.Records {
		if r.OK() {
			good++
		}
		for _, e := range r.Tokens {
			received += e.Tokens
		}
	}
	seconds := a.Elapsed.Seconds()
	fmt.Printf("streams: %d of %d requests, at most %.0f at once, then %.1f tokens/s each; tokens sent %d, received %d (bar: all); lag p50 %.2f ms, p99 %.2f ms, worst %.2f ms (bar: p99 %v)\n", good, spec.Requests,
		m["peak_concurrency"], steadyRate(a.Result.Records, streams), sent, received, 1e3*m["client_lag_p50"], 1e3*m["client_lag_p99"], 1e3*m["client_lag_max"], bar)
	fmt.Printf("streams: client %.2f processors, %.1f us a token, %d MiB; fake engine %.2f processors\n", used.CPU.Seconds()/seconds, 1e6*used.CPU.Seconds()/float64(received), used.Memory>>20, served.CPU.Seconds()/seconds)
	keep(t, "streams", map[string]any{"metrics": m, "tokens_per_second_each": steadyRate(a.Result.Records, streams), "sent": sent, "received": received, "client": used, "fake_engine": served})
	if good != spec.Requests || sent != received || sent != spec.Requests*spec.OutputTokens {
		t.Error("not every token is accounted for")
	}
	if m["peak_concurrency"] < streams {
		t.Errorf("the server was too fast: only %.0f streams at once", m["peak_concurrency"])
	}
	if m["client_lag_p99"] > bar.Seconds() {
		t.Error("the bar is broken")
	}
}

// steadyRate is the tokens/s of a stream from the instant at which so many ran for the first time to the last such instant.
func steadyRate(records []metric.Record, streams int) float64 {
	type edge struct {
		at   time.Duration
		step int
	}
	var edges []edge
	for _, r := range records {
		edges = append(edges, edge{r.Sent, 1}, edge{r.End, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var from, to time.Duration
	for i, n := 0, 0; i < len(edges); i++ {
		if n += edges[i].step; n >= streams*95/100 {
			if to = edges[i].at; from == 0 {
				from = to
			}
		}
	}
	tokens, alive := 0, time.Duration(0)
	for _, r := range records {
		alive += max(0, min(r.End, to)-max(r.Sent, from))
		for _, e := range r.Tokens {
			if e.At >= from && e.At < to {
				tokens += e.Tokens
			}
		}
	}
	return float64(tokens) / alive.Seconds()
}

// TestBenchEvents: the most events/s that the client follows, beside a reader of the same stream that does nothing but count line ends.
func TestBenchEvents(t *testing.T) {
	const streams, tokens, bar, runs = 500, 1000, 0.7, 3
	url := startSource(t)
	spec := workload.Spec{Name: "events", Dataset: workload.Random, InputTokens: 16, OutputTokens: tokens, Requests: streams, MaxConcurrency: streams, Seed: 1, Endpoint: workload.Completions}
	var ratios []float64
	var rows []map[string]float64
	for range runs {
		bare, bareUsed := carryOut(t, childTask{Part: "bare", URL: url, Streams: streams, Tokens: tokens})
		ours, oursUsed := carryOut(t, childTask{Part: "load", URL: url, Options: load.Options{Spec: spec}})
		events := 0
		for _, r := range ours.Result.Records {
			if !r.OK() {
				t.Fatalf("%+v", r)
			}
			events += len(r.Tokens)
		}
		if events != streams*tokens || bare.Events < events {
			t.Fatalf("%d and %d events, want %d", events, bare.Events, streams*tokens)
		}
		ourRate, bareRate := float64(events)/ours.Elapsed.Seconds(), float64(bare.Events)/bare.Elapsed.Seconds()
		ourCost, bareCost := 1e6*oursUsed.CPU.Seconds()/float64(events), 1e6*bareUsed.CPU.Seconds()/float64(bare.Events)
		fmt.Printf("events: client %.0f/s, %.2f us of CPU each; bare reader %.0f/s, %.2f us: %.0f %% of its rate (bar: %.0f %%), %.0f %% for the same CPU\n",
			ourRate, ourCost, bareRate, bareCost, 100*ourRate/bareRate, 100*bar, 100*bareCost/ourCost)
		ratios = append(ratios, ourRate/bareRate)
		rows = append(rows, map[string]float64{"client_per_second": ourRate, "client_us": ourCost, "bare_per_second": bareRate, "bare_us": bareCost})
	}
	keep(t, "events", rows)
	slices.Sort(ratios)
	if ratios[runs/2] < bar {
		t.Error("the bar is broken")
	}
}

var askedTokens = regexp.MustCompile(`"max_tokens":([0-9]+)`)

// sourceEvent is an event as vLLM writes it; each is a chunk and a write of its own.
const sourceEvent = `data: {"id":"cmpl-9f2c1f0f7f0e4f5e8a55c0c3ad0c3c75","object":"text_completion","created":1796193334,"model":"bench","choices":[{"index":0,"text":" token","logprobs":null,"finish_reason":%s,"stop_reason":null}],"usage":{"prompt_tokens":16,"total_tokens":%d,"completion_tokens":%d}}` + "\n\n"

// serveSource serves streams as fast as they are taken, until its standard input ends.
func serveSource(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("listening on %s\n", l.Addr())
	for {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer c.Close()
			in := bufio.NewReader(c)
			for {
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				body, _ := io.ReadAll(r.Body)
				n, _ := strconv.Atoi(string(askedTokens.FindSubmatch(body)[1]))
				if !sendSource(c, n) {
					return
				}
			}
		}()
	}
}

func sendSource(c net.Conn, tokens int) bool {
	_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
	var event, chunk []byte
	for i := 1; i <= tokens && err == nil; i++ {
		finish := "null"
		if i == tokens {
			finish = `"length"`
		}
		event = fmt.Appendf(event[:0], sourceEvent, finish, 16+i, i)
		chunk = fmt.Appendf(chunk[:0], "%x\r\n%s\r\n", len(event), event)
		_, err = c.Write(chunk)
	}
	if err == nil {
		_, err = io.WriteString(c, "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
	}
	return err == nil
}

// startSource starts serveSource in a child and gives its address.
func startSource(t *testing.T) string {
	t.Helper()
	c := child(t, childTask{Part: "source"})
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		if address, ok := strings.CutPrefix(s.Text(), "listening on "); ok {
			return "http://" + address
		}
	}
	t.Fatal("the source did not start")
	return ""
}

// readBarely opens all streams, reads them to their end and counts the events by their ends of line: what no client can do without.
func readBarely(t *testing.T, task childTask) childAnswer {
	request := fmt.Sprintf(`{"max_tokens":%d}`, task.Tokens)
	request = fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(request), request)
	var wg sync.WaitGroup
	events := make([]int, task.Streams)
	began := time.Now()
	for i := range events {
		wg.Go(func() {
			c, err := net.Dial("tcp", strings.TrimPrefix(task.URL, "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = io.WriteString(c, request)
			buf := make([]byte, 16<<10)
			const head, each, end = 4, 4, 6 // line ends
			for rest := head + each*task.Tokens + end; rest > 0; {
				n, err := c.Read(buf)
				if err != nil {
					t.Error(err)
					return
				}
				rest -= bytes.Count(buf[:n], []byte{'\n'})
			}
			events[i] = task.Tokens
		})
	}
	wg.Wait()
	a := childAnswer{Elapsed: time.Since(began)}
	for _, n := range events {
		a.Events += n
	}
	return a
}
