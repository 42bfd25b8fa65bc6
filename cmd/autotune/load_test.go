package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"autotune/runner/load"
)

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// keyed is a server that wants a key, repeats what it was sent in its refusals, and answers with so many tokens.
func keyed(t *testing.T, key string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch sent := r.Header.Get("Authorization"); {
		case sent != "Bearer "+key:
			http.Error(w, "no access with "+sent, http.StatusUnauthorized)
		case r.URL.Path == "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"one"},{"id":"two"}]}`)
		case r.URL.Path == "/v1/completions":
			_, _ = io.WriteString(w, `data: {"choices":[{"text":"a"}],"usage":{"prompt_tokens":4,"completion_tokens":1}}`+"\n\n"+
				`data: {"choices":[{"text":"b","finish_reason":"length"}],"usage":{"prompt_tokens":4,"completion_tokens":2}}`+"\n\ndata: [DONE]\n\n")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestLoadKey: the key is sent, and is in nothing that is printed or written, though a server repeats it.
func TestLoadKey(t *testing.T) {
	const key, small = "s3cret-enough", "{dataset: random, input_tokens: 4, output_tokens: 2, requests: 6, warmup: 0}"
	s, folder := keyed(t, key), t.TempDir()
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("MY_KEY", key)
	args := []string{"load", s.URL, "--workload", small, "--records", "r.jsonl", "--json"}
	if out := finish(t, folder, exitUsage, append(args, "--api-key-env", "MY_KEY")...); !strings.Contains(out, "Try: --model one, or --model two") {
		t.Errorf("with two models it does not say which there are:\n%s", out)
	}
	out := finish(t, folder, exitDone, append(args, "--api-key-env", "MY_KEY", "--model", "two")...)
	text, err := os.ReadFile(filepath.Join(folder, "r.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if all := out + string(text); strings.Contains(all, key) || !strings.Contains(out, `"successful_requests": 6`) || strings.Count(string(text), "\n") != 6 {
		t.Errorf("the key is shown, or the run is not whole:\n%s", all)
	}
	t.Setenv("OPENAI_API_KEY", "wrong-"+key)
	if out := finish(t, folder, exitFailed, "load", s.URL, "--workload", small, "--model", "two"); strings.Contains(out, "s3cret") || !strings.Contains(out, "Failed   ") || !strings.Contains(out, "401") {
		t.Errorf("a wrong key is shown, or nothing is said of it:\n%s", out)
	}
	if out := finish(t, folder, exitFailed, "load", s.URL, "--workload", small); strings.Contains(out, "s3cret") || !strings.Contains(out, "an API key in OPENAI_API_KEY") {
		t.Errorf("a wrong key is shown, or what to try is not:\n%s", out)
	}
}

// TestLoadInterrupted: a signal ends the run with what has come until then, its requests included.
func TestLoadInterrupted(t *testing.T) {
	var served atomic.Int64
	five := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/completions" {
			http.NotFound(w, r)
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if n := served.Add(1); n > 4 {
			if n == 5 {
				close(five)
			}
			<-r.Context().Done() // the others never get an answer
			return
		}
		_, _ = io.WriteString(w, `data: {"choices":[{"text":"a","finish_reason":"length"}],"usage":{"prompt_tokens":4,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
	}))
	defer s.Close()
	folder := t.TempDir()
	p := start(t, folder, "load", s.URL, "--model", "m", "--workload", "{dataset: random, input_tokens: 4, output_tokens: 1, requests: 8, max_concurrency: 1, warmup: 0}", "--records", "r.jsonl")
	select {
	case <-five:
	case <-time.After(deadline):
		t.Fatal("the fifth request never came")
	}
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 130 {
		t.Errorf("exit status %d, want 130", code)
	}
	out := p.output.String()
	for _, want := range []string{"Successful requests:                     4\n", "Cut      cut short after ", "(interrupted): 50 % of the requests had ended", "autotune: stopped by interrupt"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "r.jsonl"))
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || len(lines) != 8 || !strings.Contains(lines[7], `"sent":null`) || !strings.Contains(lines[4], `"error":"interrupted"`) {
		t.Errorf("the requests are not all there: %v\n%s", err, text)
	}
}

// TestLoadProgress: a line a second on a terminal's error output, erased at the end; nothing elsewhere.
func TestLoadProgress(t *testing.T) {
	var out strings.Builder
	now := time.Unix(100, 0)
	w := &world{err: &out, now: func() time.Time { return now }}
	look := func(p *loadProgress) {
		for i := range 5 {
			p.observe(load.Progress{Elapsed: time.Duration(i+1) * time.Second, Total: 9, Sent: i + 3, Done: i, Failed: i / 2, StreamedTokens: 100 * (i + 1)})
			now = now.Add(500 * time.Millisecond)
		}
		p.erase()
	}
	if look(w.newLoadProgress()); out.String() != "" {
		t.Errorf("without a terminal it writes %q", out.String())
	}
	w.errTerminal = true
	look(w.newLoadProgress())
	want := "\r\x1b[K00:01  0 of 9 requests, 3 in flight, 100 output tokens/s" + "\r\x1b[K00:03  2 of 9 requests, 1 failed, 3 in flight, 100 output tokens/s" +
		"\r\x1b[K00:05  4 of 9 requests, 2 failed, 3 in flight, 100 output tokens/s" + "\r\x1b[K"
	if out.String() != want {
		t.Errorf("on a terminal it writes %q\nwant %q", out.String(), want)
	}
}
