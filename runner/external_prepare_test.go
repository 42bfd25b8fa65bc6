package runner

import (
	"os"
	"strings"
	"testing"

	"autotune/runner/bench"
	"autotune/runner/load"
	"autotune/tuner/workload"
)

// TestPrepare: a tool that does not read the file of ShareGPT gets the rows of the built-in load generator, and they are part of what was sent; another gets none.
func TestPrepare(t *testing.T) {
	spec := workload.Spec{Name: "chat", Dataset: workload.ShareGPT, Path: "s.json", Requests: 2, Rate: 5, Endpoint: workload.Completions, Seed: 7}
	o := load.Options{Spec: spec, Rows: []workload.Row{{Prompt: "one", Output: 10}, {Prompt: "two", Output: 20}, {Prompt: "three", Output: 30}}}
	requests, err := spec.Expand(o.Rows)
	if err != nil {
		t.Fatal(err)
	}
	for name, rewrites := range map[string]bool{"guidellm": true, "aiperf": true, "vllm-bench": false} {
		tool, _ := bench.Find(name)
		x, job := External{Tool: tool, Args: []string{"--more"}}, bench.Job{Spec: spec, Path: "/d/s.json", Folder: t.TempDir(), URL: "http://127.0.0.1:1", Model: "m", Tokenizer: "m"}
		rows, sum, err := x.prepare(job, o)
		if err != nil || rewrites != (sum == requests[0].Output+requests[1].Output) || rewrites != strings.Contains(string(rows), `"`+requests[0].Text+`"`) {
			t.Errorf("%s: %d tokens in rows %q, %v", name, sum, rows, err)
		}
		if _, err := os.Stat(tool.Rows(job)); rewrites != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		sent := x.sent(job, rows)
		job.Folder, job.URL = "/elsewhere", "http://127.0.0.1:2"
		if x.sent(job, rows) != sent || rewrites && x.sent(job, append(rows, '\n')) == sent {
			t.Errorf("%s: what was sent is told apart by the folder, or not by its rows", name)
		}
	}
	o.Rows = o.Rows[:1]
	tool, _ := bench.Find("aiperf")
	if _, _, err := (&External{Tool: tool}).prepare(bench.Job{Spec: spec, Folder: t.TempDir()}, o); err == nil {
		t.Error("two requests were made of one row")
	}
}

func TestLastWords(t *testing.T) {
	for want, lines := range map[string][]string{
		"":                                      nil,
		"; its last line: gone":                 {"NotAnError of mine", "gone"},
		"; its last error: a.b.CError: no file": {"XError: other", "  YError: inside", "a.b.CError: no file", "| ZError: in a box", "Log File: /x/lo", "g"},
	} {
		if got := lastWordsOf(lines); got != want {
			t.Errorf("%q: got %q, want %q", lines, got, want)
		}
	}
}
