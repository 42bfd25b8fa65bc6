package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"autotune/space"
)

// hiddenSizes are those that DeepEP's and NIXL's low-latency kernels are compiled for (vLLM's deepep_ll prepare/finalize).
var hiddenSizes = []int{2048, 2560, 3072, 4096, 5120, 6144, 7168, 8192}

func vllmRules(c ruleContext) ([]space.Constraint, []space.Rewrite) {
	constraints := slices.Concat(vllmLayout(c), vllmBatching(c), vllmExperts(c), vllmSpeculation(c), c.contextRules("max-model-len", "hf-overrides"))
	return constraints, append(vllmRewrites(c), c.plainDefaults())
}

func vllmLayout(c ruleContext) []space.Constraint {
	return []space.Constraint{
		c.forbid("gpus", "needs tensor x pipeline x data-parallel (x prefill-context-parallel) GPUs, more than there are", func(v view) bool {
			world := v.size("tensor-parallel-size") * v.size("pipeline-parallel-size") * v.size("data-parallel-size") * v.size("prefill-context-parallel-size")
			return c.host.GPUs > 0 && world > c.host.GPUs
		}),
		c.forbid("heads", "refuses a tensor-parallel-size that does not divide the model's attention heads", func(v view) bool {
			return c.model.Heads > 0 && c.model.Heads%v.size("tensor-parallel-size") != 0
		}),
		c.forbid("decode_context", "refuses a decode-context-parallel-size that does not divide tensor-parallel-size", func(v view) bool {
			return v.size("tensor-parallel-size")%v.size("decode-context-parallel-size") != 0
		}),
		c.forbid("prefill_context", "refuses prefill context parallelism beside data parallelism", func(v view) bool {
			return v.size("prefill-context-parallel-size") > 1 && v.size("data-parallel-size") > 1
		}),
		c.forbid("dp_local", "refuses more local replicas than replicas", func(v view) bool {
			local, given := v.given("data-parallel-size-local")
			return given && local.AsInt() > int64(v.size("data-parallel-size"))
		}),
	}
}

func vllmBatching(c ruleContext) []space.Constraint {
	return []space.Constraint{
		// A number of sequences that is not given is lowered to the tokens (older releases refused that too, against their default).
		c.forbid("batched_tokens", "refuses max-num-batched-tokens below max-num-seqs", func(v view) bool {
			tokens, given := v.given("max-num-batched-tokens")
			seqs, limited := v.given("max-num-seqs")
			return given && limited && tokens.AsInt() < seqs.AsInt()
		}),
		c.forbid("unchunked", "without chunked prefill refuses max-num-batched-tokens below the context", func(v view) bool {
			tokens, given := v.given("max-num-batched-tokens")
			context := int64(c.model.ContextLen)
			if length, ok := v.given("max-model-len"); ok {
				context = length.AsInt() // -1 is what fits: unknown
			}
			return given && !v.on("enable-chunked-prefill") && tokens.AsInt() < context
		}),
		c.forbid("long_prefill", "refuses a long-prefill-token-threshold above the context", func(v view) bool {
			threshold, given := v.given("long-prefill-token-threshold")
			length, ok := v.given("max-model-len")
			return given && ok && length.AsInt() > 0 && threshold.AsInt() > length.AsInt()
		}),
	}
}

func vllmExperts(c ruleContext) []space.Constraint {
	return []space.Constraint{
		c.forbid("ep_dense", "refuses expert parallelism for a model without experts", func(v view) bool {
			return c.model.Dense && v.on("enable-expert-parallel")
		}),
		c.forbid("eplb", "refuses expert balancing without expert parallelism", func(v view) bool {
			return v.on("enable-eplb") && !v.on("enable-expert-parallel")
		}),
		c.forbid("experts_tp", "refuses more tensor-parallel ranks than the model has experts", func(v view) bool {
			return c.model.Experts > 0 && v.size("tensor-parallel-size") > c.model.Experts
		}),
		c.forbid("hidden_size", "has no low-latency all-to-all kernels for the model's hidden size", func(v view) bool {
			lowLatency := slices.Contains([]string{"deepep_low_latency", "nixl_ep"}, v.text("all2all-backend"))
			return lowLatency && v.on("enable-expert-parallel") && v.size("data-parallel-size") > 1 && c.model.Hidden > 0 && !slices.Contains(hiddenSizes, c.model.Hidden)
		}),
		c.forbid("dbo", "overlaps batches only with the all-to-all backends deepep_* and nixl_ep", func(v view) bool {
			backend := v.text("all2all-backend")
			return v.on("enable-dbo") && !strings.HasPrefix(backend, "deepep_") && backend != "nixl_ep"
		}),
	}
}

// unsynchronised are the speculative methods that asynchronous scheduling refuses.
var unsynchronised = []string{"ngram", "suffix", "medusa", "mlp_speculator"}

func vllmSpeculation(c ruleContext) []space.Constraint {
	return []space.Constraint{
		c.forbid("draft_tp", "runs the draft on one GPU or on as many as the target", func(v view) bool {
			tp := speculation(v).DraftTP
			return tp > 1 && tp != v.size("tensor-parallel-size")
		}),
		c.forbid("draft_tokens", "drafts whole multiples of the tokens that the model's draft layers predict", func(v view) bool {
			s, n := speculation(v), c.model.DraftLayers
			return n > 0 && strings.HasSuffix(s.Method, "mtp") && s.Tokens > n && s.Tokens%n != 0
		}),
		c.forbid("async_speculation", "refuses asynchronous scheduling with this speculative method", func(v view) bool {
			async, given := v.given("async-scheduling")
			return given && async.AsBool() && slices.Contains(unsynchronised, speculation(v).Method)
		}),
	}
}

type speculative struct {
	Method  string `json:"method"`
	Tokens  int    `json:"num_speculative_tokens"`
	DraftTP int    `json:"draft_tensor_parallel_size"`
}

// speculation reads the JSON of speculative-config, its dotted keys, and the short flags.
func speculation(v view) (s speculative) {
	if x, ok := v.given("speculative-config"); ok && json.Unmarshal([]byte(x.String()), &s) != nil {
		return speculative{}
	}
	for _, flag := range []string{"speculative-config.method", "spec-method"} {
		if x, ok := v.given(flag); ok {
			s.Method = x.String()
		}
	}
	for _, flag := range []string{"speculative-config.num_speculative_tokens", "spec-tokens"} {
		if x, ok := v.given(flag); ok {
			s.Tokens = int(x.AsInt())
		}
	}
	if x, ok := v.given("speculative-config.draft_tensor_parallel_size"); ok {
		s.DraftTP = int(x.AsInt())
	}
	s.Method = strings.ToLower(s.Method)
	return s
}

// dotted are the JSON flags whose keys the catalog knows.
var dotted = []string{"speculative-config", "compilation-config", "eplb-config", "attention-config", "kernel-config"}

func vllmRewrites(c ruleContext) []space.Rewrite {
	return append(c.idleRewrites(vllmIdle), []space.Rewrite{
		c.resolve("dotted", "makes a JSON of its own of a flag's dotted keys, and forgets the JSON that stands beside them", func(v view) map[string]space.Value {
			out := map[string]space.Value{}
			for _, flag := range dotted {
				if v.any(flag) && slices.ContainsFunc(c.d.keys, func(k Flag) bool { return strings.HasPrefix(k.Name, flag+".") && v.any(k.Name) }) {
					out[flag] = space.Value{}
				}
			}
			return out
		}),
		c.resolve("ep_alone", "has no expert parallelism on a single GPU", func(v view) map[string]space.Value {
			if v.on("enable-expert-parallel") && !c.model.Dense && v.size("tensor-parallel-size")*v.size("data-parallel-size") == 1 {
				return map[string]space.Value{"enable-expert-parallel": space.Default()}
			}
			return nil
		}),
		c.resolve("all2all_idle", "uses no all-to-all backend without expert parallelism", func(v view) map[string]space.Value {
			if v.on("enable-expert-parallel") || v.on("enable-dbo") {
				return nil
			}
			return unset("all2all-backend")
		}),
		c.resolve("all2all_gone", "no longer has the all-to-all backends naive and pplx and takes the default", func(v view) map[string]space.Value {
			if b := v.text("all2all-backend"); b == "naive" || b == "pplx" {
				return map[string]space.Value{"all2all-backend": space.Default()}
			}
			return nil
		}),
		c.resolve("throughput_mode", "doubles max-num-seqs and max-num-batched-tokens where they are left out, in the performance mode throughput, and changes nothing else", c.throughputMode),
		c.resolve("utilisation_idle", "ignores gpu-memory-utilization when the KV cache's size is given", func(v view) map[string]space.Value {
			if _, given := v.given("kv-cache-memory-bytes"); given {
				return unset("gpu-memory-utilization")
			}
			return nil
		}),
	}...)
}
