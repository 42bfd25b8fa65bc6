package bench

import (
	"strings"

	"autotune/tuner/workload"
)

// sglangBench is SGLang's serving benchmark with --output-file: a line a run.
var sglangBench = Tool{Name: "sglang-bench", Title: "SGLang's bench_serving", File: "result.jsonl", tells: []string{"total_output_tokens_retokenized", "mean_e2e_latency_ms"}, parse: parseSGLang,
	Program: []string{"python3", "-m", "sglang.bench_serving"}, module: "sglang", KeyVariable: "OPENAI_API_KEY",
	datasets: []string{workload.Random, workload.ShareGPT}, gaps: poissonGaps, args: sglangArgs,
	notes: map[string]string{workload.ShareGPT: "draws conversations of its own out of the file"},
	table: flatTable([]row{
		{ours: "input_token_throughput", theirs: "input_throughput"},
		{ours: "total_token_throughput", theirs: "total_throughput"},
		{ours: "latency_sent", theirs: "STAT_e2e_latency_ms", scale: 1e-3},
	})}

// sglangArgs are flags of SGLang 0.5 and later. Its backend vllm is the plain OpenAI protocol, and serves every engine. At a ratio of 1 the lengths are
// exact: else they are even between 1 and what is asked.
func sglangArgs(j Job, result string) ([]string, error) {
	backend := "vllm"
	if j.Spec.Endpoint == workload.Chat {
		backend = "vllm-chat"
	}
	args := []string{"--backend", backend, "--base-url", j.URL, "--model", j.Tokenizer, "--served-model-name", j.Model, "--tokenizer", j.Tokenizer}
	args = append(args, flatTraffic(j, "random-ids", "1.0")...)
	return append(args, "--warmup-requests", "0", "--seed", j.seed(), "--disable-tqdm", "--output-file", result, "--output-details"), nil
}

// parseSGLang reads a line. There is no count of failures: with --output-details each request has its error, else all that is known is what is missing.
func parseSGLang(doc document) (*report, *Refusal) {
	r := newReport()
	if refusal := r.flat(doc); refusal != nil {
		return nil, refusal
	}
	if list := doc.list("errors"); len(list) > 0 {
		failed := 0
		for _, v := range list {
			if text, _ := v.(string); strings.TrimSpace(text) != "" {
				failed++
			}
		}
		if r.done+failed == len(list) {
			r.failed = failed
		}
	}
	return r, nil
}
