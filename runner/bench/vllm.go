package bench

import (
	"path/filepath"
	"strconv"

	"autotune/tuner/workload"
)

// vllmBench is `vllm bench serve --save-result`.
var vllmBench = Tool{Name: "vllm-bench", Title: "vllm bench serve", File: "result.json", tells: []string{"total_output_tokens", "completed"}, parse: parseVLLM,
	Program: []string{"vllm"}, sub: []string{"bench", "serve"}, KeyVariable: "OPENAI_API_KEY", datasets: []string{workload.Random, workload.ShareGPT}, args: vllmArgs, gaps: anyGaps,
	notes: map[string]string{workload.ShareGPT: "leaves out conversations with more than 1024 tokens in the prompt, or 2048 together with the answer"},
	table: table{stats: numpyStats, rows: []row{
		{ours: "request_throughput", theirs: "request_throughput"},
		{ours: "output_token_throughput", theirs: "output_throughput"},
		{ours: "total_token_throughput", theirs: "total_token_throughput"},
		{ours: "duration", theirs: "duration"},
		{ours: "input_tokens", theirs: "total_input_tokens", differs: "counted by the client's tokenizer"},
		{ours: "output_tokens", theirs: "total_output_tokens"},
		{ours: "peak_concurrency", theirs: "max_concurrent_requests", differs: "requests that touch one second, so that it may exceed the cap"},
		{ours: "peak_output_token_throughput", theirs: "max_output_tokens_per_s", differs: "events of one second, a token each"},
		{ours: "ttft_sent", theirs: "STAT_ttft_ms", scale: 1e-3},
		{ours: "latency_sent", theirs: "STAT_e2el_ms", scale: 1e-3},
		{ours: "tpot", theirs: "STAT_tpot_ms", scale: 1e-3, differs: "(latency - TTFT) / (tokens - 1)"},
		{ours: "itl", theirs: "STAT_itl_ms", scale: 1e-3, differs: "gaps between events, however many tokens one carries"},
	}}}

// vllmArgs are flags of vLLM 0.9 and later. A rate is constant where the gamma distribution of its gaps has no width: at an infinite burstiness.
func vllmArgs(j Job, result string) ([]string, error) {
	s := j.Spec
	backend, endpoint := "openai", "/v1/completions"
	if s.Endpoint == workload.Chat {
		backend, endpoint = "openai-chat", "/v1/chat/completions"
	}
	args := []string{"--backend", backend, "--base-url", j.URL, "--endpoint", endpoint, "--model", j.Model, "--tokenizer", j.Tokenizer}
	if s.Dataset == workload.Random {
		args = append(args, "--dataset-name", "random", "--random-input-len", strconv.Itoa(s.InputTokens), "--random-output-len", strconv.Itoa(s.OutputTokens), "--random-range-ratio", "0")
	} else {
		args = append(args, "--dataset-name", "sharegpt", "--dataset-path", j.Path)
		if s.OutputTokens > 0 {
			args = append(args, "--sharegpt-output-len", strconv.Itoa(s.OutputTokens))
		}
	}
	args = append(args, "--num-prompts", strconv.Itoa(s.Requests))
	if s.Rate > 0 {
		burstiness := "inf"
		if s.Burstiness > 0 {
			burstiness = number64(s.Burstiness)
		}
		args = append(args, "--request-rate", number64(s.Rate), "--burstiness", burstiness)
	}
	if s.MaxConcurrency > 0 {
		args = append(args, "--max-concurrency", strconv.Itoa(s.MaxConcurrency))
	}
	return append(args, "--ignore-eos", "--temperature", "0", "--seed", j.seed(), "--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,90,95,99",
		"--disable-tqdm", "--save-result", "--save-detailed", "--result-dir", filepath.Dir(result), "--result-filename", filepath.Base(result)), nil
}

func parseVLLM(doc document) (*report, *Refusal) {
	r := newReport()
	if refusal := r.flat(doc); refusal != nil {
		return nil, refusal
	}
	if n, ok := doc.count("failed"); ok {
		r.failed = n
	}
	return r, nil
}

// flat reads what the flat files of vLLM's and SGLang's tools have in common.
func (r *report) flat(doc document) *Refusal {
	var ok bool
	if r.done, ok = doc.count("completed"); !ok {
		return refuse("schema", "the file does not say how many requests were completed")
	}
	for name, to := range map[string]*float64{"duration": &r.duration, "total_input_tokens": &r.input, "total_output_tokens": &r.output} {
		if *to, ok = doc.number(name); !ok {
			return refuse("schema", "%s is missing", name)
		}
	}
	r.limit, _ = doc.count("max_concurrency")
	for _, v := range doc.list("output_lens") {
		r.outputs = append(r.outputs, number(v))
	}
	for _, v := range doc.list("errors") {
		if text, _ := v.(string); text != "" {
			r.example = text
			break
		}
	}
	return nil
}
