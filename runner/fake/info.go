package fake

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"

	"autotune/space"
	"autotune/tuner/law"
)

// python writes a flag's name as the engine's attribute.
func python(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// pythonValue writes a value as Python shows it.
func pythonValue(v space.Value) string {
	switch {
	case v.Kind() == space.KindBool && v.AsBool():
		return "True"
	case v.Kind() == space.KindBool:
		return "False"
	case v.IsNumber():
		return v.String()
	}
	return "'" + strings.ReplaceAll(v.String(), "'", `\'`) + "'"
}

// pythonWord writes what JSON has as Python shows it.
func pythonWord(v any) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case space.Value:
		return pythonValue(x)
	case bool:
		return pythonValue(space.Bool(x))
	case string:
		return pythonValue(space.String(x))
	}
	return fmt.Sprint(v)
}

// given is the value of a flag as JSON would have it, or what it resolves to.
func (s *server) given(flag string, resolved any) any {
	if v, ok := s.flags[flag]; ok && !v.IsDefault() {
		return v
	}
	return resolved
}

// limit is a number of tokens or sequences; nil when there is none.
func limit(n int) any {
	if n <= 0 || n >= math.MaxInt32 {
		return nil
	}
	return n
}

// vllmInfo answers /server_info with the resolved configuration, in the places where vLLM has it.
func (s *server) vllmInfo(w http.ResponseWriter, r *http.Request) {
	c := s.config
	config := map[string]any{
		"model_config": map[string]any{"model": s.model, "served_model_name": s.served, "max_model_len": limit(s.context), "quantization": s.given("quantization", nil),
			"enforce_eager": s.on("enforce-eager", false), "dtype": s.given("dtype", "torch.bfloat16"), "seed": s.given("seed", 0)},
		"cache_config": map[string]any{"block_size": c.Page, "gpu_memory_utilization": c.MemoryShare, "cache_dtype": s.given("kv-cache-dtype", "auto"),
			"enable_prefix_caching": s.caching(), "num_gpu_blocks": int(s.facts["kv_tokens"]) / max(1, c.Page), "kv_cache_size_tokens": int(s.facts["kv_tokens"])},
		"parallel_config": map[string]any{"tensor_parallel_size": s.given("tensor-parallel-size", 1), "pipeline_parallel_size": c.PP,
			"data_parallel_size": s.given("data-parallel-size", 1), "enable_expert_parallel": c.ExpertParallel, "enable_eplb": c.Balanced, "enable_dbo": c.TwoBatch,
			"all2all_backend": s.given("all2all-backend", "allgather_reducescatter")},
		"scheduler_config": map[string]any{"max_num_batched_tokens": limit(c.Chunk), "max_num_seqs": limit(c.MaxRunning),
			"enable_chunked_prefill": s.on("enable-chunked-prefill", true), "async_scheduling": c.Overlap, "stream_interval": s.bundle},
		"attention_config":   map[string]any{"backend": s.given("attention-backend", nil)},
		"kernel_config":      map[string]any{"moe_backend": c.Experts},
		"compilation_config": map[string]any{"cudagraph_mode": graphMode(c), "max_cudagraph_capture_size": limit(c.GraphMax)},
		"speculative_config": s.given("speculative-config", nil),
		"performance_mode":   s.given("performance-mode", "balanced"),
	}
	writeJSON(w, http.StatusOK, map[string]any{"vllm_config": config, "vllm_env": map[string]string{}, "system_env": map[string]string{}})
	s.access(r, http.StatusOK)
}

func graphMode(c law.Config) string {
	return map[string]string{"full": "FULL_AND_PIECEWISE", "decode": "FULL_DECODE_ONLY", "piecewise": "PIECEWISE"}[c.Graphs]
}

// sglangArguments are SGLang's arguments as it has resolved them before it loads anything: what it finds out later is left out.
func (s *server) sglangArguments() map[string]any {
	c := s.config
	args := map[string]any{}
	for _, f := range s.engine.Flags() {
		if f.Default != "" {
			args[python(f.Name)] = space.ParseWord(f.Default)
		}
	}
	for name, v := range s.flags {
		args[python(name)] = v
	}
	for name, v := range map[string]any{"model_path": s.model, "served_model_name": s.served, "chunked_prefill_size": chunk(c), "max_prefill_tokens": limit(c.MaxPrefill),
		"page_size": c.Page, "enable_dp_attention": c.Ranks > 1, "cuda_graph_max_bs_decode": c.GraphMax} {
		args[name] = v
	}
	if c.MemoryShare > 0 {
		args["mem_fraction_static"] = c.MemoryShare
	}
	if c.ExpertParallel {
		args["ep_size"] = c.TP
	}
	if factor := conservativenessUnderDP; c.Ranks > 1 {
		own, ok := s.flags["schedule-conservativeness"]
		if ok && own.IsNumber() {
			factor *= own.AsFloat()
		}
		args["schedule_conservativeness"] = factor
	}
	return args
}

// conservativenessUnderDP is what SGLang multiplies its schedule-conservativeness, 1 by default, by under data-parallel attention.
const conservativenessUnderDP = 0.3

// sglangInfo answers /server_info with every argument as resolved, and the sizes that came of it.
func (s *server) sglangInfo(w http.ResponseWriter, r *http.Request) {
	c := s.config
	info := s.sglangArguments()
	tokens := int(s.facts["kv_tokens"])
	for name, v := range map[string]any{
		"version": s.version, "status": "ready", "pid": os.Getpid(), "mem_fraction_static": math.Round(1000*s.facts["memory_share"]) / 1000,
		"context_length": limit(s.context), "max_total_num_tokens": tokens, "enable_metrics": s.on("enable-metrics", false),
		"internal_states": []any{map[string]any{
			"memory_usage":                          map[string]any{"weight": s.facts["weights_gib"], "kvcache": s.facts["kv_gib"], "graph": s.facts["graphs_gib"], "token_capacity": tokens},
			"effective_max_running_requests_per_dp": limit(c.MaxRunning),
		}},
	} {
		info[name] = v
	}
	writeJSON(w, http.StatusOK, info)
	s.access(r, http.StatusOK)
}

// chunk is the size of a prefill chunk as SGLang shows it: -1 for no limit.
func chunk(c law.Config) int {
	if c.Chunk >= math.MaxInt32 {
		return -1
	}
	return c.Chunk
}

// caching tells whether whole prompts are known again.
func (s *server) caching() bool {
	if s.sglang() {
		return !s.on("disable-radix-cache", false)
	}
	return s.on("enable-prefix-caching", true)
}
