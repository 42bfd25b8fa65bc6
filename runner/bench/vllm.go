package bench

import (
	"path/filepath"

	"autotune/tuner/workload"
)

// vllmBench is `vllm bench serve --save-result`.
var vllmBench = Tool{Name: "vllm-bench", Title: "vllm bench serve", File: "result.json", tells: []string{"total_output_tokens", "completed"}, parse: parseVLLM,
	Program: []string{"vllm"}, sub: []string{"bench", "serve"}, KeyVariable: "OPENAI_API_KEY", datasets: []string{workload.Random, workload.ShareGPT}, args: vllmArgs, gaps: anyGaps,
	notes: map[string]string{workload.ShareGPT: "leaves out conversations with more than 1024 tokens in the prompt, or 2048 together with the answer"},
	table: flatTable([]row{
		{ours: "total_token_throughput", theirs: "total_token_throughput"},
		{ours: "latency_sent", theirs: "STAT_e2el_ms", scale: 1e-3},
	})}

// vllmArgs are flags of vLLM 0.9 and later. A rate is constant where the gamma distribution of its gaps has no width: at an infinite burstiness.
func vllmArgs(j Job, result string) ([]string, error) {
	s := j.Spec
	backend, endpoint := "openai", "/v1/completions"
	if s.Endpoint == workload.Chat {
		backend, endpoint = "openai-chat", "/v1/chat/completions"
	}
	args := []string{"--backend", backend, "--base-url", j.URL, "--endpoint", endpoint, "--model", j.Model, "--tokenizer", j.Tokenizer}
	burstiness := "inf"
	if s.Burstiness > 0 {
		burstiness = number64(s.Burstiness)
	}
	args = append(args, flatTraffic(j, "random", "0", "--burstiness", burstiness)...)
	return append(args, "--ignore-eos", "--temperature", "0", "--seed", j.seed(), "--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,90,95,99",
		"--disable-tqdm", "--save-result", "--save-detailed", "--result-dir", filepath.Dir(result), "--result-filename", filepath.Base(result)), nil
}

func parseVLLM(doc document) (*report, *Refusal) {
	r := newReport()
	if refusal := r.flat(doc); refusal != nil {
		return nil, refusal
	}
	for name, to := range map[string]*int{"failed": &r.failed, "num_prompts": &r.told} {
		if refusal := countOf(doc, name, to); refusal != nil {
			return nil, refusal
		}
	}
	return r, nil
}
