package bench

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// What public reports show of result files: other versions' keys, figures that cannot be, and what stands in a file beside a result. Each row is a file
// of flatRun, genaiPerf or a recorded one, changed as the report says. 19 of the 26 rows were right when they were first run.
func TestReportedFiles(t *testing.T) {
	ok := func(tool, file string) string {
		text, err := os.ReadFile(filepath.Join("testdata", tool, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	change := func(text string, pairs ...string) string {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Errorf("nothing to change: %s", pairs[i])
			}
		}
		return strings.NewReplacer(pairs...).Replace(text)
	}
	guide := ok("guidellm", "throughput_again.json")
	for _, c := range []struct {
		name, source, tool string
		text               string
		asked              Asked
		rule               string   // empty: a measurement
		says               string   // in the refusal, or in the warnings
		has, lacks         []string // metrics
	}{
		{"vLLM's script of 2024", "kind: benchmark_serving.py", "vllm-bench", flatRun, Asked{100, 128, 0.99}, "", "", []string{"p99_ttft_sent", "mean_tpot", "p50_itl", "output_token_throughput"}, []string{"p90_ttft_sent", "mean_latency_sent"}},
		{"deviations that are no number", "kind: one request", "vllm-bench", change(flatRun, `"std_ttft_ms": 4.1`, `"std_ttft_ms": NaN`, `"std_itl_ms": 2.0`, `"std_itl_ms": Infinity`), Asked{100, 128, 0.99}, "", "", []string{"mean_ttft_sent"}, nil},
		{"no time per token in answers of many", "vllm-project/vllm-omni#6693", "vllm-bench", change(flatRun, `"mean_tpot_ms": 12.0`, `"mean_tpot_ms": 0.0`, `"median_tpot_ms": 11.9`, `"median_tpot_ms": 0.0`, `"p99_tpot_ms": 14.5`, `"p99_tpot_ms": 0.0`), Asked{100, 128, 0.99}, "", "time per token", []string{"mean_ttft_sent", "mean_itl"}, []string{"mean_tpot", "p50_tpot", "p99_tpot"}},
		{"a time per token below nothing", "vllm-project/vllm-omni#6693", "vllm-bench", change(flatRun, `"mean_tpot_ms": 12.0`, `"mean_tpot_ms": -3.5`), Asked{100, 128, 0.99}, "numbers", "negative", nil, nil},
		{"no tokens counted, and gaps between them", "vllm-project/vllm#14673", "vllm-bench", change(flatRun, `"total_output_tokens": 12800`, `"total_output_tokens": 0`, `"output_throughput": 1280.0`, `"output_throughput": 0.0`, `"total_token_throughput": 2560.0`, `"total_token_throughput": 1280.0`), Asked{100, 0, 0.99}, "numbers", "", nil, nil},
		{"answers shorter than were forced", "vllm-project/vllm-omni#4459, vllm-project/vllm#18687", "vllm-bench", flatRun, Asked{100, 900, 0.99}, "lengths", "12800", nil, nil},
		{"warm-up requests that were counted", "kind", "vllm-bench", change(flatRun, `"completed": 100`, `"completed": 108`), Asked{100, 0, 0.99}, "counts", "another run", nil, nil},
		{"numbers that are null", "kind: nothing of this kind was measured", "vllm-bench", change(flatRun, `"mean_itl_ms": 12.1`, `"mean_itl_ms": null`, `"median_itl_ms": 11.8`, `"median_itl_ms": null`, `"p99_itl_ms": 30.0`, `"p99_itl_ms": null`), Asked{100, 128, 0.99}, "", "", []string{"mean_tpot"}, []string{"mean_itl", "p99_itl"}},
		{"a list of runs", "kind: sweeps", "vllm-bench", "[" + flatRun + ",\n" + flatRun + "]", Asked{100, 128, 0.99}, "", "2 results", []string{"mean_tpot"}, nil},
		{"a whole run, then half of one", "kind: --append-result and a kill", "vllm-bench", flatRun + "\n" + flatRun[:200], Asked{100, 128, 0.99}, "schema", "no whole JSON", nil, nil},
		{"UTF-16, as a redirection on Windows writes", "kind", "vllm-bench", utf16Text(flatRun), Asked{100, 128, 0.99}, "", "", []string{"mean_tpot"}, nil},
		{"what the tool prints instead of what it writes", "kind", "vllm-bench", "============ Serving Benchmark Result ============\nSuccessful requests:                     100\n", Asked{100, 0, 0.99}, "schema", "{", nil, nil},
		{"a rate without end", "kind", "vllm-bench", change(flatRun, `"request_throughput": 10.0`, `"request_throughput": Infinity`), Asked{100, 128, 0.99}, "numbers", "", nil, nil},
		{"a number beyond all", "kind", "vllm-bench", change(flatRun, `"duration": 10.0`, `"duration": 1e999`), Asked{100, 128, 0.99}, "schema", "", nil, nil},
		{"a benchmark of embeddings", "kind: other endpoints", "vllm-bench", `{"duration": 1.0, "completed": 100, "total_input_tokens": 512, "request_throughput": 100.0, "mean_e2el_ms": 5.0}`, Asked{100, 0, 0.99}, "schema", "total_output_tokens", nil, nil},
		{"SGLang without percentiles but one", "kind: 0.3", "sglang-bench", change(flatRun, `"date"`, `"mean_e2e_latency_ms": 1600.0, "median_e2e_latency_ms": 1590.0, "accept_length": null, "date"`), Asked{100, 128, 0.99}, "", "", []string{"mean_latency_sent", "p99_ttft_sent"}, []string{"p99_latency_sent"}},
		{"GenAI-Perf's file", "ai-dynamo/aiperf#340", "aiperf", genaiPerf, Asked{80, 0, 0.99}, "", "", []string{"p99_latency_sent", "mean_ttft_sent", "mean_tpot", "output_token_throughput"}, []string{"mean_itl"}},
		{"GenAI-Perf in nanoseconds", "triton-inference-server/perf_analyzer#437", "aiperf", change(genaiPerf, `"unit": "ms", "avg": 4110.6, "p50": 4100.0, "p90": 5217.3, "p99": 5252.5`, `"unit": "ns", "avg": 4110600000, "p50": 4100000000, "p90": 5217300000, "p99": 5252500000`), Asked{80, 0, 0.99}, "", "", []string{"p99_latency_sent"}, nil},
		{"times without a unit", "kind", "aiperf", change(genaiPerf, `"time_to_first_token": {"unit": "ms", `, `"time_to_first_token": {`), Asked{80, 0, 0.99}, "schema", "unit", nil, nil},
		{"a run that was cancelled", "kind: was_cancelled", "aiperf", change(genaiPerf, `"request_count": {"unit": "requests", "avg": 80.0}`, `"request_count": {"unit": "requests", "avg": 61.0}, "was_cancelled": true`), Asked{80, 0, 0.99}, "low_success", "61 of 80", nil, nil},
		{"nothing but failures", "kind", "aiperf", `{"aiperf_version": "0.3.0", "error_request_count": {"unit": "requests", "avg": 80.0}, "error_summary": [{"error_details": {"code": 404, "type": "Not Found", "message": "no model"}, "count": 80}]}`, Asked{80, 0, 0.99}, "no_success", "no model", nil, nil},
		{"GuideLLM 0.2, whose requests are flat", "vllm-project/guidellm before 0.4", "guidellm", guidellmOld, Asked{2, 4, 0.99}, "", "", []string{"mean_ttft_sent", "mean_latency_sent", "output_tokens"}, nil},
		{"a list of rates in one file", "llm-d/llm-d-benchmark#485", "guidellm", `{"benchmarks": [{}, {}]}`, Asked{2, 4, 0.99}, "schema", "2 benchmarks", nil, nil},
		{"no time between tokens in answers of many", "kind", "guidellm", zeroed(t, guide, "inter_token_latency_ms"), Asked{40, 64, 0.99}, "", "time per token", []string{"mean_ttft_sent"}, []string{"mean_tpot", "p99_tpot"}},
		{"an answer before it was asked for", "kind: clocks that jump", "vllm-bench", change(flatRun, `"mean_ttft_ms": 80.0`, `"mean_ttft_ms": -80.0`), Asked{100, 128, 0.99}, "numbers", "negative", nil, nil},
		{"tokens a second that no duration gives", "kind", "vllm-bench", change(flatRun, `"output_throughput": 1280.0`, `"output_throughput": 4008080.0`), Asked{100, 128, 0.99}, "arithmetic", "", nil, nil},
	} {
		tool, _ := Find(c.tool)
		r, err := tool.Read([]byte(c.text), c.asked)
		var refusal *Refusal
		switch {
		case errors.As(err, &refusal):
			if refusal.Rule != c.rule || !strings.Contains(refusal.Evidence, c.says) {
				t.Errorf("%s (%s): refused by %s: %s; want %q %q", c.name, c.source, refusal.Rule, refusal.Evidence, c.rule, c.says)
			}
			continue
		case c.rule != "" || err != nil:
			t.Errorf("%s (%s): taken for a measurement (%v); want %s", c.name, c.source, err, c.rule)
			continue
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), c.says) {
			t.Errorf("%s (%s): warnings %q; want %q", c.name, c.source, r.Warnings, c.says)
		}
		for _, name := range c.has {
			if v, there := r.Metrics[name]; !there || v <= 0 {
				t.Errorf("%s (%s): %s is %v", c.name, c.source, name, v)
			}
		}
		for _, name := range c.lacks {
			if v, there := r.Metrics[name]; there {
				t.Errorf("%s (%s): %s is %v, and should be left out", c.name, c.source, name, v)
			}
		}
	}
}

// flatRun is what vLLM's script wrote in 2024, shortened.
const flatRun = `{"date": "20240611-101112", "backend": "vllm", "model_id": "m", "tokenizer_id": "m", "best_of": 1, "use_beam_search": false, "num_prompts": 100, "request_rate": "inf", "request_goodput:": null,
 "duration": 10.0, "completed": 100, "total_input_tokens": 12800, "total_output_tokens": 12800, "request_throughput": 10.0, "input_throughput": 1280.0, "output_throughput": 1280.0, "total_token_throughput": 2560.0,
 "mean_ttft_ms": 80.0, "median_ttft_ms": 79.0, "std_ttft_ms": 4.1, "p99_ttft_ms": 120.0, "mean_tpot_ms": 12.0, "median_tpot_ms": 11.9, "p99_tpot_ms": 14.5, "mean_itl_ms": 12.1, "median_itl_ms": 11.8, "std_itl_ms": 2.0, "p99_itl_ms": 30.0}`

// genaiPerf is the shape of GenAI-Perf's profile_export_genai_perf.json.
const genaiPerf = `{"request_throughput": {"unit": "requests/sec", "avg": 0.24}, "request_latency": {"unit": "ms", "avg": 4110.6, "p50": 4100.0, "p90": 5217.3, "p99": 5252.5, "min": 2272.0, "max": 5252.5, "std": 800.0},
 "request_count": {"unit": "requests", "avg": 80.0}, "time_to_first_token": {"unit": "ms", "avg": 44.1, "p50": 44.4, "p90": 46.6, "p99": 48.1}, "inter_token_latency": {"unit": "ms", "avg": 12.3, "p50": 12.2, "p90": 13.0, "p99": 14.0},
 "output_token_throughput": {"unit": "tokens/sec", "avg": 79.44}, "output_token_throughput_per_user": {"unit": "tokens/sec/user", "avg": 81.0}, "output_sequence_length": {"unit": "tokens", "avg": 331.0}, "input_sequence_length": {"unit": "tokens", "avg": 128.0}}`

// guidellmOld is the shape of GuideLLM's file before 0.4: times stand in the requests themselves, and the totals beside the metrics.
const guidellmOld = `{"benchmarks": [{"type_": "generative_benchmark", "duration": 2.0, "args": {"strategy": {"type_": "synchronous"}}, "run_stats": {"start_time": 1.0, "end_time": 3.0, "requests_made": {"successful": 2, "errored": 0, "incomplete": 0, "total": 2}}, "request_totals": {"successful": 2, "errored": 0, "incomplete": 0, "total": 2},
 "metrics": {"requests_per_second": {"successful": {"mean": 1.0}}, "request_latency": {"successful": {"mean": 0.9, "median": 0.9, "percentiles": {"p90": 0.95, "p95": 0.96, "p99": 0.97}}},
 "prompt_token_count": {"successful": {"mean": 8.0, "total_sum": 16.0}}, "output_token_count": {"successful": {"mean": 4.0, "total_sum": 8.0}},
 "time_to_first_token_ms": {"successful": {"mean": 80.0, "median": 80.0, "percentiles": {"p90": 90.0, "p95": 91.0, "p99": 92.0}}}, "inter_token_latency_ms": {"successful": {"mean": 270.0, "median": 270.0, "percentiles": {"p90": 280.0, "p95": 281.0, "p99": 282.0}}}},
 "requests": {"successful": [{"prompt_tokens": 8, "output_tokens": 4, "start_time": 1.0, "end_time": 1.9}, {"prompt_tokens": 8, "output_tokens": 4, "start_time": 2.0, "end_time": 3.0}], "errored": [], "incomplete": []}}]}`

// utf16Text is a text in UTF-16 with its mark, the low byte first.
func utf16Text(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// zeroed is a result of GuideLLM with nothing but zeros for a metric of successful requests.
func zeroed(t *testing.T, text, name string) string {
	t.Helper()
	docs, refusal := decode([]byte(text))
	if refusal != nil {
		t.Fatal(refusal)
	}
	found, _ := docs[0].at("benchmarks.0.metrics." + name + ".successful")
	stats := found.(map[string]any)
	for key := range stats {
		stats[key] = 0.0
	}
	stats["percentiles"] = map[string]any{"p90": 0.0, "p95": 0.0, "p99": 0.0}
	out, err := json.Marshal(docs[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
