package bench

import (
	"strconv"
	"strings"

	"autotune/tuner/workload"
)

// sglangBench is SGLang's serving benchmark with --output-file: a line a run.
var sglangBench = Tool{Name: "sglang-bench", Title: "SGLang's bench_serving", File: "result.jsonl", tells: []string{"total_output_tokens_retokenized", "mean_e2e_latency_ms"}, parse: parseSGLang,
	Program: []string{"python3", "-m", "sglang.bench_serving"}, module: "sglang", KeyVariable: "OPENAI_API_KEY",
	datasets: []string{workload.Random, workload.ShareGPT}, gaps: poissonGaps, args: sglangArgs,
	notes: map[string]string{workload.ShareGPT: "draws conversations of its own out of the file"},
	table: table{stats: numpyStats, rows: []row{
		{ours: "request_throughput", theirs: "request_throughput"},
		{ours: "input_token_throughput", theirs: "input_throughput"},
		{ours: "output_token_throughput", theirs: "output_throughput"},
		{ours: "total_token_throughput", theirs: "total_throughput"},
		{ours: "duration", theirs: "duration"},
		{ours: "input_tokens", theirs: "total_input_tokens", differs: "counted by the client's tokenizer"},
		{ours: "output_tokens", theirs: "total_output_tokens"},
		{ours: "peak_concurrency", theirs: "max_concurrent_requests", differs: "requests that touch one second, so that it may exceed the cap"},
		{ours: "peak_output_token_throughput", theirs: "max_output_tokens_per_s", differs: "events of one second, a token each"},
		{ours: "ttft_sent", theirs: "STAT_ttft_ms", scale: 1e-3},
		{ours: "latency_sent", theirs: "STAT_e2e_latency_ms", scale: 1e-3},
		{ours: "tpot", theirs: "STAT_tpot_ms", scale: 1e-3, differs: "(latency - TTFT) / (tokens - 1)"},
		{ours: "itl", theirs: "STAT_itl_ms", scale: 1e-3, differs: "gaps between events, however many tokens one carries"},
	}}}

// sglangArgs are flags of SGLang 0.5 and later. Its backend vllm is the plain OpenAI protocol, and serves every engine. At a ratio of 1 the lengths are
// exact: else they are even between 1 and what is asked.
func sglangArgs(j Job, result string) ([]string, error) {
	s := j.Spec
	backend := "vllm"
	if s.Endpoint == workload.Chat {
		backend = "vllm-chat"
	}
	args := []string{"--backend", backend, "--base-url", j.URL, "--model", j.Tokenizer, "--served-model-name", j.Model, "--tokenizer", j.Tokenizer}
	if s.Dataset == workload.Random {
		args = append(args, "--dataset-name", "random-ids", "--random-input-len", strconv.Itoa(s.InputTokens), "--random-output-len", strconv.Itoa(s.OutputTokens), "--random-range-ratio", "1.0")
	} else {
		args = append(args, "--dataset-name", "sharegpt", "--dataset-path", j.Path)
		if s.OutputTokens > 0 {
			args = append(args, "--sharegpt-output-len", strconv.Itoa(s.OutputTokens))
		}
	}
	args = append(args, "--num-prompts", strconv.Itoa(s.Requests))
	if s.Rate > 0 {
		args = append(args, "--request-rate", number64(s.Rate))
	}
	if s.MaxConcurrency > 0 {
		args = append(args, "--max-concurrency", strconv.Itoa(s.MaxConcurrency))
	}
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
