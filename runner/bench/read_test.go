package bench

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autotune/tuner/metric"
)

// recorded are files that the real tools wrote (one machine, one tiny model; texts and single gaps are left out), and what they have to be taken for.
var recorded = []struct {
	tool, file string
	asked      Asked
	refused    string // the rule; empty: a measurement
	says       string // in the refusal, or in a warning
	metrics    map[string]float64
}{
	{"vllm-bench", "ok.json", Asked{32, 64, 0.99}, "", "32 requests", map[string]float64{"output_token_throughput": 944.70650885, "p50_ttft_sent": 0.11642948, "p99_itl": 0.0524758767, "input_token_throughput": 4096 / 2.167869048}},
	{"vllm-bench", "ok.json", Asked{64, 64, 0.99}, "counts", "32 are in no list", nil},
	{"vllm-bench", "ok.json", Asked{16, 64, 0.99}, "counts", "another run", nil},
	{"vllm-bench", "ok.json", Asked{32, 128, 0.99}, "lengths", "0 of 32 answers have 128 tokens", nil},
	{"vllm-bench", "server_down.json", Asked{8, 0, 0.99}, "no_success", "the first error:", nil},
	{"vllm-bench", "wrong_model.json", Asked{8, 0, 0.99}, "no_success", "Not Found", nil},
	{"vllm-bench", "some_fail.json", Asked{24, 0, 0.99}, "low_success", "18 of 24", nil},
	{"vllm-bench", "one_token.json", Asked{100, 1, 0.99}, "", "n/a", map[string]float64{"mean_ttft_sent": 0.02556}},
	{"vllm-bench", "empty_answers.json", Asked{16, 128, 0.99}, "low_success", "10 of 16 requests succeeded, 62.5 %", nil},
	{"sglang-bench", "ok.jsonl", Asked{32, 64, 0.99}, "", "several tokens come at once", map[string]float64{"total_token_throughput": 3637.6997870053615, "p95_latency_sent": 0.546661131}},
	{"sglang-bench", "some_fail.jsonl", Asked{16, 0, 0.99}, "low_success", "9 of 16", nil},
	{"sglang-bench", "lost_requests.jsonl", Asked{3000, 0, 0.99}, "low_success", "1648 of 3000 requests succeeded, 54.93 %", nil},
	{"guidellm", "concurrent8.json", Asked{32, 64, 0.99}, "", "32 requests", map[string]float64{"p95_ttft_sent": 0.89630627632, "peak_concurrency": 8, "output_tokens": 2048}},
	{"guidellm", "constant4.json", Asked{28, 64, 0.99}, "", "", map[string]float64{"output_tokens": 28 * 64}},
	{"guidellm", "throughput.json", Asked{40, 0, 0.99}, "counts", "15 requests succeeded and 0 failed of 40: 25 are in no list", nil},
	{"guidellm", "throughput_again.json", Asked{40, 64, 0.99}, "", "", nil},
	{"guidellm", "some_fail.json", Asked{12, 0, 0.99}, "low_success", "10 of 12", nil},
	{"guidellm", "wrong_model.json", Asked{8, 0, 0.99}, "no_success", "none of 8", nil},
	{"aiperf", "ok.json", Asked{32, 0, 0.99}, "", "", map[string]float64{"p99_ttft_sent": 0.32712200784, "mean_tpot": 0.018512649362}},
	{"aiperf", "some_fail.json", Asked{20, 16, 0.99}, "low_success", "19 of 20", nil},
	{"aiperf", "some_fail.json", Asked{20, 16, 0.9}, "", "", nil},
	{"aiperf", "rate.json", Asked{16, 125, 0.99}, "", "16 requests", map[string]float64{"request_throughput": 16 / 4.507159808, "output_token_throughput": 2000 / 4.507159808}},
	{"sglang-bench", "poisson.jsonl", Asked{64, 64, 0.99}, "", "2.0 waves", map[string]float64{"output_token_throughput": 2151.406420178234, "output_tokens": 4096}},
	{"aiperf", "joined_chunks.json", Asked{80, 0, 0.99}, "", "the second token comes 0.00793 ms after the first", map[string]float64{"p99_latency_sent": 6.68654093}},
}

func TestRecorded(t *testing.T) {
	for _, c := range recorded {
		tool, _ := Find(c.tool)
		text, err := os.ReadFile(filepath.Join("testdata", c.tool, c.file))
		if err != nil {
			t.Fatal(err)
		}
		r, err := tool.Read(text, c.asked)
		var refusal *Refusal
		if errors.As(err, &refusal) {
			if refusal.Rule != c.refused || !strings.Contains(refusal.Evidence, c.says) {
				t.Errorf("%s %s %v: refused by %s: %s", c.tool, c.file, c.asked, refusal.Rule, refusal.Evidence)
			}
			continue
		}
		if c.refused != "" || err != nil || !strings.Contains(strings.Join(r.Warnings, "\n"), c.says) {
			t.Errorf("%s %s %v: taken for a measurement, warnings %q, %v", c.tool, c.file, c.asked, r.Warnings, err)
		}
		for name, want := range c.metrics {
			if got, ok := r.Metrics[name]; !ok || math.Abs(got/want-1) > 1e-6 {
				t.Errorf("%s %s: %s is %v, want %v", c.tool, c.file, name, got, want)
			}
		}
		for name := range r.Metrics {
			if !metric.Known(name) {
				t.Errorf("%s %s: nobody knows a metric %s", c.tool, c.file, name)
			}
		}
	}
}

// TestUndefinedBetweenTokens: where answers have one token, figures between tokens are left out and never 0.
func TestUndefinedBetweenTokens(t *testing.T) {
	text, err := os.ReadFile("testdata/vllm-bench/one_token.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := vllmBench.Read(text, Asked{100, 1, 0.99})
	if err != nil {
		t.Fatal(err)
	}
	for name := range r.Metrics {
		if strings.HasSuffix(name, "tpot") || strings.HasSuffix(name, "itl") {
			t.Errorf("%s is %v", name, r.Metrics[name])
		}
	}
}

// TestMutations: a figure that cannot be is refused, whichever it is and whatever the tool.
func TestMutations(t *testing.T) {
	for _, c := range []struct{ tool, file, old, changed, rule string }{
		{"vllm-bench", "ok.json", `"mean_ttft_ms": 195.9390634999849`, `"mean_ttft_ms": NaN`, "numbers"},
		{"vllm-bench", "ok.json", `"mean_ttft_ms": 195.9390634999849`, `"mean_ttft_ms": 0.0`, "numbers"},
		{"vllm-bench", "ok.json", `"mean_ttft_ms": 195.9390634999849`, `"mean_ttft_ms": "195"`, "numbers"},
		{"vllm-bench", "ok.json", `"p99_itl_ms": 52.47588170001336`, `"p99_itl_ms": -1`, "numbers"},
		{"vllm-bench", "ok.json", `"p99_e2el_ms": 716.1743783300653`, `"p99_e2el_ms": 600`, "order"},
		{"vllm-bench", "ok.json", `"mean_ttft_ms": 195.9390634999849`, `"mean_ttft_ms": 600`, "order"},
		{"vllm-bench", "ok.json", `"output_throughput": 944.7065088591764`, `"output_throughput": 1100`, "arithmetic"},
		{"vllm-bench", "ok.json", `"request_throughput": 14.761039200924632`, `"request_throughput": Infinity`, "numbers"},
		{"vllm-bench", "ok.json", `"duration": 2.167869048000057`, `"duration": 0`, "numbers"},
		{"vllm-bench", "ok.json", `"duration": 2.167869048000057`, `"dur": 2`, "schema"},
		{"vllm-bench", "ok.json", `"max_concurrency": 8`, `"max_concurrency": 4`, "arithmetic"},
		{"vllm-bench", "ok.json", `"completed": 32`, `"completed": 32.5`, "schema"},
		{"vllm-bench", "ok.json", `"failed": 0`, `"failed": 4`, "counts"},
		{"vllm-bench", "ok.json", `"failed": 0`, `"failed": -4`, "numbers"},
		{"vllm-bench", "ok.json", `"failed": 0`, `"failed": NaN`, "numbers"},
		{"vllm-bench", "ok.json", `"num_prompts": 32`, `"num_prompts": 64`, "counts"},
		{"vllm-bench", "ok.json", `"output_lens": [64`, `"output_lens": [-64`, "numbers"},
		{"sglang-bench", "ok.jsonl", `"output_lens": [64`, `"output_lens": ["x"`, "numbers"},
		{"guidellm", "concurrent8.json", `"metadata": {"version": 2`, `"metadata": {"version": 3`, "schema"},
		{"guidellm", "concurrent8.json", `"metadata": {"version": 2`, `"metadata": {"version": "two"`, "schema"},
		{"aiperf", "ok.json", `"schema_version": "1.4"`, `"schema_version": "2.0"`, "schema"},
		{"aiperf", "ok.json", `"was_cancelled": false`, `"was_cancelled": true`, "broken"},
		{"aiperf", "ok.json", `"is_complete": true`, `"is_complete": false`, "broken"},
		{"sglang-bench", "ok.jsonl", `"total_throughput": 3637.6997870053615`, `"total_throughput": 0.0`, "numbers"},
		{"sglang-bench", "ok.jsonl", `"mean_tpot_ms": 2.44840064434444`, `"mean_tpot_ms": -Infinity`, "numbers"},
		{"guidellm", "concurrent8.json", `"incomplete": 0`, `"incomplete": null`, "schema"},
		{"guidellm", "concurrent8.json", `"benchmarks": [`, `"benchmarks": [{}, `, "schema"},
		{"aiperf", "ok.json", `"request_latency": {"unit": "ms"`, `"request_latency": {"unit": "fortnights"`, "schema"},
		{"aiperf", "ok.json", `"request_latency": {"unit": "ms"`, `"request_latency": {"unit": "us"`, "order"},
		{"aiperf", "ok.json", `"request_throughput": {"unit": "requests/sec", "avg": 4.8`, `"request_throughput": {"unit": "requests/sec", "avg": 2.8`, "arithmetic"},
	} {
		tool, _ := Find(c.tool)
		text, err := os.ReadFile(filepath.Join("testdata", c.tool, c.file))
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), c.old, c.changed, 1)
		if changed == string(text) {
			t.Errorf("%s %s has no %s", c.tool, c.file, c.old)
			continue
		}
		asked := Asked{32, 64, 0.99}
		if c.tool == "aiperf" {
			asked.OutputTokens = 0 // it has counted with a tokenizer of its own
		}
		r, err := tool.Read([]byte(changed), asked)
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Rule != c.rule {
			t.Errorf("%s with %s: %v, want it refused by %s (%v)", c.tool, c.changed, err, c.rule, r.Warnings)
		}
	}
}

// TestNoResult: what is no result of the tool is refused, and never panics.
func TestNoResult(t *testing.T) {
	ok, err := os.ReadFile("testdata/vllm-bench/ok.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "blanks": " \n", "a list": "[1,2]", "text": "Traceback (most recent call last):", "half": string(ok[:len(ok)/2]), "null": "null", "empty object": "{}",
		"an unclosed text": `{"a": "NaN`, "deep": strings.Repeat(`{"a":`, 20000), "binary": "{\x00\xff", "lists where objects belong": `{"benchmarks": {"0": []}, "completed": []}`,
		"benchmarks of nothing": `{"benchmarks": [{"metrics": []}]}`, "strings for numbers": `{"completed": "32", "duration": "x", "total_output_tokens": {}}`,
		"aiperf of nothing": `{"request_latency": 5, "request_count": {"avg": "x"}}`,
	} {
		for _, tool := range Tools() {
			var refusal *Refusal
			if _, err := tool.Read([]byte(text), Asked{32, 64, 0.99}); !errors.As(err, &refusal) || refusal.Rule != "schema" || refusal.Evidence == "" {
				t.Errorf("%s, %s: %v", tool.Name, name, err)
			}
		}
	}
	for _, tool := range Tools() {
		_, err := tool.Read(ok, Asked{32, 64, 0.99})
		if tool.Name != "vllm-bench" && (err == nil || !strings.Contains(err.Error(), "vllm bench serve")) {
			t.Errorf("%s takes a file of vLLM: %v", tool.Name, err)
		}
	}
}

// TestLastLine: a file that runs are appended to counts by its last line.
func TestLastLine(t *testing.T) {
	bad, err := os.ReadFile("testdata/sglang-bench/some_fail.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile("testdata/sglang-bench/ok.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r, err := sglangBench.Read(append(bad, good...), Asked{32, 64, 0.99})
	if err != nil || !strings.Contains(strings.Join(r.Warnings, "\n"), "2 results") {
		t.Errorf("%v, %q", err, r.Warnings)
	}
}

// FuzzRead: whatever a file holds, it is a measurement of finite figures or a refusal with a reason.
func FuzzRead(f *testing.F) {
	for _, c := range recorded {
		if text, err := os.ReadFile(filepath.Join("testdata", c.tool, c.file)); err == nil && len(text) < 60_000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, tool := range Tools() {
			r, err := tool.Read(text, Asked{32, 64, 0.99})
			var refusal *Refusal
			if err != nil && (!errors.As(err, &refusal) || refusal.Evidence == "") {
				t.Fatal(err)
			}
			for name, v := range r.Metrics {
				if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
					t.Fatalf("%s: %s is %v", tool.Name, name, v)
				}
			}
		}
	})
}
