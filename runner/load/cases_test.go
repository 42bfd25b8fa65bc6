package load

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// stream is a handler that writes pieces one after the other, each in a chunk of its own.
func stream(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			if _, err := w.Write([]byte(p)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

var timeMark = regexp.MustCompile(`(?m)^:t=\d+\r?\n\r?\n`)

// readCase gives the pieces in which a case's body came.
func readCase(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".sse") {
		return []string{timeMark.ReplaceAllString(string(text), "")}
	}
	var c struct {
		PadTo    int      `json:"pad_to"`
		PadToken string   `json:"pad_token"`
		PadChar  string   `json:"pad_char"`
		Chunks   [][]byte `json:"chunks_b64"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	var pieces []string
	for _, p := range c.Chunks {
		pieces = append(pieces, strings.ReplaceAll(string(p), c.PadToken, strings.Repeat(c.PadChar, c.PadTo)))
	}
	return pieces
}

func one(t *testing.T, h http.Handler, output int) metric.Record {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	return oneAt(t, server.URL, output)
}

func oneAt(t *testing.T, url string, output int) metric.Record {
	t.Helper()
	spec := workload.Spec{Dataset: workload.Random, InputTokens: 3, OutputTokens: output, Requests: 1, Endpoint: workload.Completions}
	result, err := Run(context.Background(), Target{URL: url, Model: "m", APIKey: "sk-secret"}, Options{Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	return result.Records[0]
}

func counts(events []metric.Event) []int {
	var n []int
	for _, e := range events {
		n = append(n, e.Tokens)
	}
	return n
}

func TestCases(t *testing.T) {
	for _, c := range []struct {
		file           string
		class          string
		asked          int
		input, output  int
		tokens         []int
		detailContains string
	}{
		{file: "16-utf8-split-across-chunks.json", asked: 4, input: 9, output: 4, tokens: []int{1, 3}},
		{file: "17-ping-after-id-dispatches-empty-event.sse", asked: 2, input: 5, output: 2, tokens: []int{1, 1}},
		{file: "18-abort-then-done.sse", asked: 2, class: metric.ErrAborted, tokens: []int{0, 0}, detailContains: "abort"},
		{file: "19-usage-only-chunk-empty-choices.sse", asked: 5, input: 26, output: 5, tokens: []int{1, 4}},
		{file: "20-first-chunk-bundles-several-tokens.sse", asked: 6, input: 4, output: 6, tokens: []int{3, 1, 2}},
		{file: "21-crlf-and-no-space-after-data.sse", asked: 2, input: 3, output: 2, tokens: []int{1, 1}},
		{file: "22-eof-without-done-or-finish.sse", asked: 3, class: metric.ErrTruncated, tokens: []int{0, 0, 0}, detailContains: "without a finish reason"},
	} {
		whole := readCase(t, c.file)
		for how, pieces := range map[string][]string{"as recorded": whole, "byte by byte": strings.Split(strings.Join(whole, ""), "")} {
			if how != "as recorded" && len(pieces) > 10000 {
				continue
			}
			r := one(t, stream(pieces...), c.asked)
			if r.Error != c.class || !strings.Contains(r.Detail, c.detailContains) || r.Status != 200 {
				t.Errorf("%s, %s: status %d, class %q, %q; want %q", c.file, how, r.Status, r.Error, r.Detail, c.class)
			}
			if r.Input != c.input || r.Output != c.output {
				t.Errorf("%s, %s: %d and %d tokens, want %d and %d", c.file, how, r.Input, r.Output, c.input, c.output)
			}
			if c.class != "" {
				continue // how the tokens of a failure were spread tells nothing
			}
			if d := cmp.Diff(c.tokens, counts(r.Tokens)); d != "" {
				t.Errorf("%s, %s: tokens by event (-want +got):\n%s", c.file, how, d)
			}
			if r.FirstByte <= 0 || r.FirstByte < r.Sent || r.End < r.Tokens[len(r.Tokens)-1].At {
				t.Errorf("%s, %s: instants are out of order: %+v", c.file, how, r)
			}
		}
	}
}

// The rate of case 20 spreads its 80 ms over the three tokens that follow the first event's three.
func TestBundledFirstChunk(t *testing.T) {
	body := readCase(t, "20-first-chunk-bundles-several-tokens.sse")[0]
	events := strings.SplitAfter(body, "\n\n")
	clock := time.Duration(0)
	x := &answer{rec: &metric.Record{Status: 200, AskedOut: 6}, heard: func(int, time.Duration) {}}
	x.now = func() time.Duration { clock += 40 * time.Millisecond; return clock }
	if err := x.follow(&reader{pieces: events}); err != nil {
		t.Fatal(err)
	}
	x.settle()
	x.rec.End = x.over
	m := metric.Compute([]metric.Record{*x.rec}, 1)
	if got := m["mean_tpot"]; got < 0.02666 || got > 0.02667 {
		t.Errorf("time per output token is %v, want 0.080/3", got)
	}
	if m["tokens_per_event"] != 2 {
		t.Errorf("tokens per event are %v, want 2", m["tokens_per_event"])
	}
}

// reader gives one piece a read.
type reader struct{ pieces []string }

func (r *reader) Read(p []byte) (int, error) {
	if len(r.pieces) == 0 {
		return 0, os.ErrClosed
	}
	n := copy(p, r.pieces[0])
	if r.pieces[0] = r.pieces[0][n:]; r.pieces[0] == "" {
		r.pieces = r.pieces[1:]
	}
	return n, nil
}

const (
	tok      = `data: {"choices":[{"index":0,"text":"a","finish_reason":null}]}` + "\n\n"
	empty    = `data: {"choices":[{"index":0,"text":"","finish_reason":null}]}` + "\n\n"
	last     = `data: {"choices":[{"index":0,"text":"b","finish_reason":"length"}]}` + "\n\n"
	usage2   = `data: {"choices":[],"usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2}}` + "\n\n"
	usage0   = `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":0}}` + "\n\n"
	stopped  = `data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}` + "\n\n"
	endOfAll = "data: [DONE]\n\n"
)

// Each way in which an answer can be good or bad, two tokens being asked for.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name   string
		body   string
		class  string
		detail string
	}{
		{"good", tok + last + usage2 + endOfAll, "", ""},
		{"finish reason, no end mark", tok + last + usage2, "", ""},
		{"end mark without a blank line", tok + last + usage2 + "data: [DONE]", "", ""},
		{"lone CR", strings.ReplaceAll(tok+last+usage2+endOfAll, "\n", "\r"), "", ""},
		{"comments and a byte order mark's neighbour", ": ping\n\n" + tok + ":\n\nretry: 5\n\n" + last + "id: 7\n\n" + usage2 + endOfAll, "", ""},
		{"data over two lines", "data: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\n" + last + usage2 + endOfAll, "", ""},
		{"usage null all along", strings.ReplaceAll(tok, "]}", `],"usage":null}`) + last + usage2 + endOfAll, "", ""},
		{"reasoning", `data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}` + "\n\n" + last + usage2 + endOfAll, "", ""},
		{"no usage", tok + last + endOfAll, metric.ErrNoUsage, "no usage"},
		{"no token", stopped + usage0 + endOfAll, metric.ErrEmpty, ""},
		{"nothing but the end", endOfAll, metric.ErrEmpty, ""},
		{"nothing", "", metric.ErrTruncated, ""},
		{"fewer tokens", last + strings.ReplaceAll(usage2, `_tokens":2`, `_tokens":1`) + endOfAll, metric.ErrLength, "1 tokens came, 2 were forced"},
		{"half an event", tok + `data: {"choices":[{"ind`, metric.ErrTruncated, ""},
		{"no JSON", tok + "data: oops\n\n" + last + usage2 + endOfAll, metric.ErrStream, "oops"},
		{"error object", tok + `data: {"error":{"message":"EngineCore died\nmore","code":500}}` + "\n\n" + endOfAll, metric.ErrStream, "EngineCore died"},
		{"error after the finish", tok + last + usage2 + `data: {"error":"late"}` + "\n\n" + endOfAll, metric.ErrStream, "late"},
		{"error of an older server", tok + `data: {"object":"error","message":"no memory","code":500}` + "\n\n" + endOfAll, metric.ErrStream, "no memory"},
		{"error event", tok + "event: error\ndata: broken pipe\n\n", metric.ErrStream, "broken pipe"},
		{"null error", tok + strings.ReplaceAll(last, "]}", `],"error":null}`) + usage2 + endOfAll, "", ""},
		{"an object instead of a stream", `{"object":"error","message":"no stream today","code":400}`, metric.ErrStream, "no stream today"},
		{"an object and an end of line", `{"error":{"message":"no stream today sk-secret"}}` + "\n", metric.ErrStream, "no stream today ***"},
		{"HTML", "<html>proxy</html>\n", metric.ErrStream, "proxy"},
		{"unknown finish", tok + strings.ReplaceAll(last, "length", "error") + usage2 + endOfAll, metric.ErrAborted, "error"},
		{"tokens without text", empty + empty + stopped + usage2 + endOfAll, "", ""},
	} {
		r := one(t, stream(c.body), 2)
		if r.Error != c.class || !strings.Contains(r.Detail, c.detail) {
			t.Errorf("%s: class %q, detail %q; want %q, %q", c.name, r.Error, r.Detail, c.class, c.detail)
		}
		sum := 0
		for _, n := range counts(r.Tokens) {
			sum += n
		}
		if c.class == "" && (r.Output != 2 || sum != 2) {
			t.Errorf("%s: output %d, events carry %d, want 2", c.name, r.Output, sum)
		}
	}
}

// Refusals carry the server's words, and never the key.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{503, `{"error":{"message":"The queue is full.","code":503}}`, "503 Service Unavailable: The queue is full."},
		{400, `{"object":"error","message":"too long for sk-secret","code":400}`, "400 Bad Request: too long for ***"},
		{422, `{"detail":"no such field"}`, "422 Unprocessable Entity: no such field"},
		{500, "Internal Server Error\ntrace", "500 Internal Server Error: Internal Server Error"},
		{502, "", "502 Bad Gateway"},
		{307, "", "307 Temporary Redirect to /elsewhere, which is not followed: give the server's own address"},
	} {
		r := one(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		}), 2)
		if r.Error != metric.ErrRefused || r.Status != c.status || r.Detail != c.want {
			t.Errorf("%d %s: %+v", c.status, c.body, r)
		}
	}
}

func TestConnections(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	url := server.URL
	server.Close()
	if r := oneAt(t, url, 2); r.Error != metric.ErrConnect || r.Detail != "connection refused" || r.Status != 0 {
		t.Errorf("nobody listens: %+v", r)
	}
	r := one(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }), 2)
	if r.Error != metric.ErrConnect || r.Status != 0 {
		t.Errorf("broken before the answer: %+v", r)
	}
	r = one(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream(tok)(w, r)
		panic(http.ErrAbortHandler)
	}), 2)
	if r.Error != metric.ErrTruncated || r.Status != 200 || !strings.Contains(r.Detail, "broke within") || strings.Contains(r.Detail, "127.0.0.1") {
		t.Errorf("broken within the answer: %+v", r)
	}
	if r := oneAt(t, "http://user:hunter2@bad host", 2); r.Error != metric.ErrConnect || strings.Contains(r.Detail, "hunter2") {
		t.Errorf("an address that is none: %+v", r)
	}
}

// With one token an answer there is no time between tokens.
func TestOneToken(t *testing.T) {
	r := one(t, stream(last+strings.ReplaceAll(usage2, `_tokens":2`, `_tokens":1`)+endOfAll), 1)
	if !r.OK() || len(r.Tokens) != 1 {
		t.Fatalf("%+v", r)
	}
	if v, ok := metric.Compute([]metric.Record{r}, 1)["mean_tpot"]; ok {
		t.Errorf("time per output token is %v, want none", v)
	}
}

// The chunk scanner agrees with a JSON decoder on what it reads.
func FuzzChunk(f *testing.F) {
	for _, text := range []string{tok, last, usage2, `data: {"a":[{"b":"\\\""},{}],"law_us":[5,1,-2],"law_end_us":9,"choices":[{"text":"x\"","finish_reason":"stop"}]}`, "data: {", `data: []`, `data: {"usage":null,"error":null}`} {
		f.Add(strings.TrimPrefix(strings.TrimSpace(text), "data: "))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c chunk
		err := c.parse([]byte(text))
		var want struct {
			Choices []struct {
				Text   string `json:"text"`
				Finish string `json:"finish_reason"`
			} `json:"choices"`
			Usage *struct {
				Completion *int64 `json:"completion_tokens"`
			} `json:"usage"`
		}
		if !strings.HasPrefix(strings.TrimSpace(text), "{") || json.Unmarshal([]byte(text), &want) != nil || strings.ContainsAny(text, `\`) || strings.ToLower(text) != text {
			return // the decoder is stricter, and knows keys in any case: nothing to compare, but no panic
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if want.Usage != nil && want.Usage.Completion != nil && strings.Count(text, "completion_tokens") == 1 && strings.Count(text, "usage") == 1 && int64(c.completion) != *want.Usage.Completion {
			t.Errorf("%s: %d completion tokens, want %d", text, c.completion, *want.Usage.Completion)
		}
		if len(want.Choices) > 0 != c.choices && strings.Count(text, "choices") == 1 {
			t.Errorf("%s: choices %v", text, c.choices)
		}
	})
}

// The body is what the engines take; the key stands in the header alone.
func TestWhatIsSent(t *testing.T) {
	var got map[string]any
	var header http.Header
	var path string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, path, got = r.Header, r.URL.Path, nil
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		stream(tok+last+usage2+endOfAll)(w, r)
	})
	one(t, h, 2)
	prompt := got["prompt"].([]any)
	delete(got, "prompt")
	want := map[string]any{"model": "m", "max_tokens": 2.0, "min_tokens": 2.0, "ignore_eos": true, "temperature": 0.0, "seed": 0.0, "stream": true,
		"stream_options": map[string]any{"include_usage": true, "continuous_usage_stats": true}}
	if d := cmp.Diff(want, got); d != "" || len(prompt) != 3 || path != "/v1/completions" {
		t.Errorf("%s, %d ids (-want +got):\n%s", path, len(prompt), d)
	}
	if header.Get("Authorization") != "Bearer sk-secret" || header.Get("Content-Type") != "application/json" {
		t.Errorf("headers: %v", header)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	spec := workload.Spec{Dataset: workload.ShareGPT, OutputTokens: 2, Requests: 1, Endpoint: workload.Chat}
	text := `Say "<é>" & go`
	if _, err := Run(context.Background(), Target{URL: server.URL + "/", Model: "m"}, Options{Spec: spec, Rows: []workload.Row{{Prompt: text, Output: 9}}}); err != nil {
		t.Fatal(err)
	}
	messages, _ := got["messages"].([]any)
	if d := cmp.Diff([]any{map[string]any{"role": "user", "content": text}}, messages); d != "" || path != "/v1/chat/completions" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
	if _, err := base64.StdEncoding.DecodeString(header.Get("Authorization")); err != nil {
		t.Errorf("no key was given, but one was sent: %v", header)
	}
}
