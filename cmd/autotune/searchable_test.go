package main

import (
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/tuner/studyfile"
)

// TestWhatIsSearchableByName: each of these dimensions passes check, and its values come out on the command line as the engine spells them.
func TestWhatIsSearchableByName(t *testing.T) {
	for _, c := range []struct{ engine, dims, flags string }{
		{"vllm", `speculative-config: [default, '{"method":"mtp","num_speculative_tokens":4}']`, `--speculative-config={"method":"mtp","num_speculative_tokens":4}`},
		{"vllm", `speculative-config.method: [ngram]; speculative-config.num_speculative_tokens: [2, 4]`, "--speculative-config.method=ngram --speculative-config.num_speculative_tokens=2"},
		{"vllm", "performance-mode: [balanced, throughput, interactivity]", "--performance-mode=interactivity --performance-mode=throughput"},
		{"vllm", "async-scheduling: bool", "--async-scheduling --no-async-scheduling"}, {"vllm", "enable-prefix-caching: bool", "--enable-prefix-caching --no-enable-prefix-caching"},
		{"vllm", "reasoning-parser: [default, qwen3]", "--reasoning-parser=qwen3"}, {"vllm", "attention-backend: [default, FLASH_ATTN]", "--attention-backend=FLASH_ATTN"},
		{"vllm", "moe-backend: [auto, triton]", "--moe-backend=triton"}, {"vllm", "max-cudagraph-capture-size: [default, 256]", "--max-cudagraph-capture-size=256"},
		{"vllm", "compilation-config.cudagraph_mode: [default, FULL_DECODE_ONLY]", "--compilation-config.cudagraph_mode=FULL_DECODE_ONLY"},
		{"vllm", "enable-eplb: bool; enable-expert-parallel: [true]", "--enable-eplb"}, {"vllm", "enable-chunked-prefill: bool", "--enable-chunked-prefill"},
		{"vllm", "max-num-batched-tokens: [default, 8192]", "--max-num-batched-tokens=8192"},
		{"sglang", "speculative-algorithm: [default, NEXTN]; speculative-num-steps: [3]", "--speculative-algorithm=NEXTN --speculative-num-steps=3"},
		{"sglang", "disable-overlap-schedule: bool", "--disable-overlap-schedule"}, {"sglang", "disable-radix-cache: bool", "--disable-radix-cache"},
		{"sglang", "reasoning-parser: [default, glm45]", "--reasoning-parser=glm45"}, {"sglang", "attention-backend: [default, fa3]", "--attention-backend=fa3"},
		{"sglang", "moe-runner-backend: [auto, triton]", "--moe-runner-backend=triton"}, {"sglang", "cuda-graph-max-bs-decode: [default, 256]", "--cuda-graph-max-bs-decode=256"},
		{"sglang", "tp-size: [8]; ep-size: [8]; enable-eplb: bool", "--enable-eplb"}, {"sglang", "chunked-prefill-size: [default, 8192]", "--chunked-prefill-size=8192"},
		{"sglang", "max-prefill-tokens: [default, 32768]", "--max-prefill-tokens=32768"}, {"sglang", "tp-size: [8]; attn-dp-size: [1, 4]", "--attn-dp-size=4"},
	} {
		text := "name: s\nmodel: [org/a, org/b]\ngpus: 8\nobjective: {maximize: total_token_throughput}\nworkloads: {w: {dataset: random, input_tokens: 64, output_tokens: 64, requests: 32, max_concurrency: 16}}\nengines:\n  " +
			c.engine + ":\n    space:\n      " + strings.ReplaceAll(c.dims, "; ", "\n      ") + "\nbudget: {trials: 3}\n"
		spec, err := studyfile.Parse("s.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", c.dims, err)
			continue
		}
		a, err := assemble(spec, inputs{Sampler: "gp", Host: engine.Host{GPUs: 8}})
		if err != nil {
			t.Errorf("%s: %v", c.dims, err)
			continue
		}
		var seen strings.Builder
		models := map[string]bool{}
		for p := range a.problem.Space.Enumerate() {
			models[a.model(p)] = true
			settings, _ := a.settings(p)
			seen.WriteString(strings.Join(a.engines[c.engine].Plain(engine.Launch{Model: a.model(p), Settings: settings}), " ") + " \n")
		}
		for flag := range strings.FieldsSeq(c.flags) {
			if !strings.Contains(seen.String(), " "+flag+" ") {
				t.Errorf("%s: no command has %s:\n%s", c.dims, flag, seen.String())
			}
		}
		if !models["org/a"] || !models["org/b"] || len(a.warnings) > 0 {
			t.Errorf("%s: checkpoints %v, warnings %q", c.dims, models, a.warnings)
		}
	}
}
