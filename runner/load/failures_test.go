package load

import (
	"net"
	"strings"
	"testing"
	"time"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// Each way in which an answer can fail, by hand on the wire. Two tokens are asked for.
func TestRawFailures(t *testing.T) {
	json := func(status, head, body string) string {
		return "HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Type: application/json\r\n" + head + "\r\n" + body
	}
	whole := `{"id":"c","object":"text_completion","choices":[{"index":0,"text":"a b","finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	for _, c := range []struct {
		name   string
		answer string
		class  string
		status int
		detail string // is in the record's
	}{
		{"an error within", plainHead + tok + `data: {"error":{"message":"EngineDeadError: the engine core died","type":"InternalServerError","code":500}}` + "\n\n" + endOfAll, metric.ErrStream, 200, "EngineDeadError"},
		{"an error as text within", plainHead + tok + `data: {"error":"CUDA out of memory"}` + "\n\n" + endOfAll, metric.ErrStream, 200, "CUDA out of memory"},
		{"an error in the first event", plainHead + `data: {"error":{"message":"queue time-out"}}` + "\n\n" + endOfAll, metric.ErrStream, 200, "queue time-out"},
		{"an error that ends the body without a line end", plainHead + tok + `data: {"error":{"message":"died"}}`, metric.ErrStream, 200, "died"},
		{"an error outside of the events", plainHead + tok + `{"error":{"message":"worker 3 died"}}`, metric.ErrTruncated, 200, "worker 3 died"},
		{"text outside of the events", plainHead + tok + "Internal Server Error", metric.ErrTruncated, 200, "Internal Server Error"},
		{"an error event", plainHead + tok + "event: error\ndata: {\"message\":\"no more memory\"}\n\n", metric.ErrStream, 200, "no more memory"},
		{"aborted", plainHead + tok + strings.Replace(last, "length", "abort", 1) + usage2 + endOfAll, metric.ErrAborted, 200, "abort"},
		{"aborted, as an object", plainHead + tok + strings.Replace(last, `"length"`, `{"type":"abort","message":"shutdown"}`, 1) + usage2 + endOfAll, metric.ErrAborted, 200, "shutdown"},
		{"ended without a finish", plainHead + tok + tok, metric.ErrTruncated, 200, "without a finish reason"},
		{"ended within an event", plainHead + tok + `data: {"choices":[{"index":0,"te`, metric.ErrTruncated, 200, "without a finish reason"},
		{"ended within a comment", plainHead + tok + `: pi`, metric.ErrTruncated, 200, "without a finish reason"},
		{"nothing in it", plainHead, metric.ErrTruncated, 200, ""},
		{"an empty stream that ends well", plainHead + endOfAll, metric.ErrEmpty, 200, ""},
		{"no usage", plainHead + tok + last + endOfAll, metric.ErrNoUsage, 200, ""},
		{"too few tokens", plainHead + tok + stopped + usageEvent(3, 1) + endOfAll, metric.ErrLength, 200, "1 tokens came, 2 were forced"},
		{"a count that no integer holds", plainHead + tok + last + strings.Replace(usage2, `completion_tokens":2`, `completion_tokens":99999999999999999999999`, 1) + endOfAll, metric.ErrLength, 200, "2 were forced"},
		{"a count below zero", plainHead + tok + last + strings.Replace(usage2, `completion_tokens":2`, `completion_tokens":-2`, 1) + endOfAll, metric.ErrNoUsage, 200, ""},
		{"no JSON", plainHead + tok + "data: <oops>\n\n" + last + usage2 + endOfAll, metric.ErrStream, 200, "oops"},
		{"chunks end without the last", chunkedHead + chunkOf(tok), metric.ErrTruncated, 200, "broke within"},
		{"a chunk ends within", chunkedHead + "ff\r\n" + tok, metric.ErrTruncated, 200, "broke within"},
		{"a chunk without a length", chunkedHead + chunkOf(tok) + "zz\r\n", metric.ErrTruncated, 200, "broke within"},
		{"fewer bytes than announced", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 5000\r\n\r\n" + tok, metric.ErrTruncated, 200, "broke within"},
		{"gzip that is none", "HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + tok + last + usage2 + endOfAll, metric.ErrStream, 200, "gzip"},
		{"gzip that breaks off", "HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped(tok + last)[:40], metric.ErrTruncated, 200, "broke within"},
		{"compressed in a way that was not asked for", "HTTP/1.0 200 OK\r\nContent-Encoding: br\r\n\r\nxxxx", metric.ErrStream, 200, "not asked for: br"},
		{"a whole completion instead of a stream", json("200 OK", "", whole), metric.ErrStream, 200, "no event stream but application/json"},
		{"an error object instead of a stream", json("200 OK", "", "{\n  \"error\": {\n    \"message\": \"streaming is off\"\n  }\n}\n"), metric.ErrStream, 200, "streaming is off"},
		{"an error object with a length", json("200 OK", "Content-Length: 32\r\n", `{"error":"busy, try again later"}`), metric.ErrStream, 200, "busy, try again"},
		{"a page", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n<!doctype html>\n<title>sign in</title>\n", metric.ErrStream, 200, "text/html"},
		{"429", json("429 Too Many Requests", "Retry-After: 7\r\n", `{"error":{"message":"too many for sk-secret"}}`), metric.ErrRefused, 429, "429 Too Many Requests (Retry-After: 7): too many for ***"},
		{"503", json("503 Service Unavailable", "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n", ""), metric.ErrRefused, 503, "(Retry-After: Wed, 21 Oct 2026 07:28:00 GMT)"},
		{"503 as an event stream", "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"error\":\"draining\"}\n\n", metric.ErrRefused, 503, "draining"},
		{"500 of which the text breaks off", json("500 Internal Server Error", "Content-Length: 900\r\n", "out of"), metric.ErrRefused, 500, "out of"},
		{"500, compressed", json("500 Internal Server Error", "Content-Encoding: gzip\r\n", gzipped(`{"error":{"message":"packed"}}`)), metric.ErrRefused, 500, "packed"},
		{"204", "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", metric.ErrRefused, 204, "204 No Content"},
		{"301", json("301 Moved Permanently", "Location: http://u:hunter2@127.0.0.1:1/v1/completions?key=hunter2\r\n", ""), metric.ErrRefused, 301, "127.0.0.1:1/v1/completions, which is not followed"},
		{"302", json("302 Found", "Location: /login\r\n", ""), metric.ErrRefused, 302, "302 Found to /login"},
		{"308", json("308 Permanent Redirect", "Location: /v1/completions/\r\n", ""), metric.ErrRefused, 308, "to /v1/completions/"},
		{"401", json("401 Unauthorized", "WWW-Authenticate: Bearer\r\n", `{"error":"Unauthorized"}`), metric.ErrRefused, 401, "Unauthorized"},
		{"no HTTP", "hello\r\n", metric.ErrConnect, 0, "malformed HTTP"},
		{"nothing at all", "", metric.ErrConnect, 0, "EOF"},
		{"half a head", "HTTP/1.1 200 OK\r\nContent-Ty", metric.ErrConnect, 0, "malformed"},
	} {
		s := serveRaw(t, func(conn *net.TCPConn, _ int) bool { put(conn, c.answer); return false })
		r, _ := rawOne(t, s.url(), 2, Options{})
		if r.Error != c.class || r.Status != c.status || !strings.Contains(r.Detail, c.detail) {
			t.Errorf("%s: status %d, %q, %q; want %d, %q, %q", c.name, r.Status, r.Error, r.Detail, c.status, c.class, c.detail)
		}
		if strings.Contains(r.Detail, "hunter2") || strings.Contains(r.Detail, "sk-secret") {
			t.Errorf("%s: a secret in %q", c.name, r.Detail)
		}
		if got := strings.Join(s.requests(), ", "); got != "POST /v1/completions" {
			t.Errorf("%s: the server got %s, want one request", c.name, got)
		}
	}
}

// A connection that is reset, before the answer and half-way; the answer so far is kept.
func TestReset(t *testing.T) {
	for _, c := range []struct {
		name, before, class string
		status, events      int
	}{
		{"before the answer", "", metric.ErrConnect, 0, 0},
		{"half-way", chunkedHead + chunkOf(tok), metric.ErrTruncated, 200, 1},
	} {
		heard := make(chan struct{}, 8)
		s := serveRaw(t, func(conn *net.TCPConn, _ int) bool {
			if put(conn, c.before); c.events > 0 {
				<-heard // a reset throws away what was not read yet
			}
			_ = conn.SetLinger(0)
			return false
		})
		r := heardOne(t, s.url(), heard)
		if r.Error != c.class || r.Status != c.status || len(r.Tokens) != c.events || strings.Contains(r.Detail, "127.0.0.1") {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// A server that stalls, with and without signs of life, ends by the limit on silence; one request among others by its own.
func TestStall(t *testing.T) {
	for name, before := range map[string]string{"before the head": "", "after it": chunkedHead, "after a token": chunkedHead + chunkOf(tok), "within an event": chunkedHead + chunkOf("data: {"), "in a refusal": "HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\n"} {
		say := func(conn *net.TCPConn, _ int) bool {
			put(conn, before)
			_, _ = conn.Read(make([]byte, 1)) // until the client goes away
			return false
		}
		s := serveRaw(t, say)
		if r, ending := rawOne(t, s.url(), 2, Options{Silence: 40 * time.Millisecond}); r.Error != metric.ErrTimeout || ending != Hang {
			t.Errorf("%s: %s, %+v", name, ending, r)
		}
		if r, ending := rawOne(t, s.url(), 2, Options{Spec: workload.Spec{RequestLimit: 40 * time.Millisecond}}); r.Error != metric.ErrTimeout || ending != Complete {
			t.Errorf("%s: %s, %+v", name, ending, r)
		}
	}
}

// A connection serves again after each good answer, whether it said so or not.
func TestReuse(t *testing.T) {
	good := tok + last + usage2 + endOfAll
	answers := []string{chunkedHead + chunkOf(good) + lastChunk, chunkedHead + chunkOf(good) + "0\r\nX-Sum: 1\r\n\r\n", plainHead + good}
	s := serveRaw(t, func(conn *net.TCPConn, n int) bool {
		put(conn, answers[(n-1)%len(answers)])
		return n%len(answers) != 0
	})
	w := spec(9, 0)
	w.MaxConcurrency = 1
	r, err := newRun(Target{URL: s.url(), Model: "m"}, Options{Spec: w})
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.do(t.Context())
	if err != nil || classes(result.Records)[""] != 9 {
		t.Errorf("%v, %v: %s", err, classes(result.Records), result.Records[1].Detail)
	}
	if n := s.connections(); n != 3 {
		t.Errorf("%d connections for 9 requests, want 3", n)
	}
}
