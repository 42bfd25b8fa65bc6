package engine_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/space"
)

var (
	h200 = engine.Host{GPUs: 8, GPU: "H200", MemoryGiB: 140.4}
	glm  = engine.Model{Heads: 64, KVHeads: 64, Hidden: 6144, Experts: 256, ContextLen: 131072, DraftLayers: 2}
)

// world is a space in which the settings are the only point.
func world(t *testing.T, name string, h engine.Host, m engine.Model, longest int, settings []engine.Setting) (*space.Space, space.Point) {
	t.Helper()
	one := func(v space.Value) space.Domain {
		d, err := space.Choices(v)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	params := []space.Param{{Name: space.EngineParam, Domain: one(space.String(name))}}
	values := map[string]space.Value{space.EngineParam: space.String(name)}
	for _, s := range settings {
		params = append(params, space.Param{Name: name + "." + s.Flag, Engine: name, Flag: s.Flag, Domain: one(s.Value)})
		values[name+"."+s.Flag] = s.Value
	}
	constraints, rewrites := find(t, name).Rules(h, m, longest)
	sp, err := space.New(params, constraints, rewrites)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sp.Point(values)
	if err != nil {
		t.Fatal(err)
	}
	return sp, p
}

func TestRulesRefuseWhatTheEngineRefusesAndNothingElse(t *testing.T) {
	const moe = "moe-a2a-backend"
	dp8 := []any{"tp-size", 8, "dp-size", 8, "enable-dp-attention", true}
	with := func(more ...any) []any { return append(slices.Clone(dp8), more...) }
	for _, c := range []struct {
		engine string
		set    []any
		broken string // id without the engine's name; empty: it may run
	}{
		{"vllm", []any{}, ""},
		{"vllm", []any{"tensor-parallel-size", 8}, ""}, {"vllm", []any{"tensor-parallel-size", 8, "data-parallel-size", 2}, "gpus"},
		{"vllm", []any{"tensor-parallel-size", 2, "pipeline-parallel-size", 2, "prefill-context-parallel-size", 4}, "gpus"},
		{"vllm", []any{"tensor-parallel-size", 3}, "heads"},
		{"vllm", []any{"tensor-parallel-size", 8, "decode-context-parallel-size", 3}, "decode_context"}, {"vllm", []any{"tensor-parallel-size", 8, "decode-context-parallel-size", 4}, ""},
		{"vllm", []any{"prefill-context-parallel-size", 2, "data-parallel-size", 2}, "prefill_context"},
		{"vllm", []any{"data-parallel-size", 2, "data-parallel-size-local", 4}, "dp_local"},
		{"vllm", []any{"max-num-batched-tokens", 256, "max-num-seqs", 512}, "batched_tokens"}, {"vllm", []any{"max-num-batched-tokens", 512, "max-num-seqs", 512}, ""}, {"vllm", []any{"max-num-batched-tokens", 256}, ""},
		{"vllm", []any{"enable-chunked-prefill", false, "max-num-batched-tokens", 8192}, "unchunked"}, {"vllm", []any{"enable-chunked-prefill", false, "max-num-batched-tokens", 16384, "max-model-len", 16384}, ""},
		{"vllm", []any{"enable-chunked-prefill", false, "max-num-batched-tokens", 8192, "max-model-len", -1}, ""}, {"vllm", []any{"enable-chunked-prefill", true, "max-num-batched-tokens", 2048}, ""},
		{"vllm", []any{"long-prefill-token-threshold", 20000, "max-model-len", 10000}, "long_prefill"},
		{"vllm", []any{"max-model-len", 9215}, "context_requests"}, {"vllm", []any{"max-model-len", 9216}, ""}, {"vllm", []any{"max-model-len", -1}, ""},
		{"vllm", []any{"max-model-len", 1010000}, "context_model"}, {"vllm", []any{"max-model-len", 1010000, "hf-overrides", "{}"}, ""},
		{"vllm", []any{"enable-eplb", true}, "eplb"}, {"vllm", []any{"enable-eplb", true, "enable-expert-parallel", true, "tensor-parallel-size", 8}, ""},
		{"vllm", []any{"enable-dbo", true}, "dbo"}, {"vllm", []any{"enable-dbo", true, "all2all-backend", "deepep_low_latency"}, ""}, {"vllm", []any{"enable-dbo", true, "all2all-backend", "nixl_ep"}, ""},
		{"vllm", []any{"speculative-config", `{"method":"eagle","draft_tensor_parallel_size":2}`, "tensor-parallel-size", 4}, "draft_tp"},
		{"vllm", []any{"speculative-config", `{"method":"mtp","num_speculative_tokens":3}`}, "draft_tokens"}, {"vllm", []any{"speculative-config", `{"method":"mtp","num_speculative_tokens":4}`}, ""},
		{"vllm", []any{"spec-method", "mtp", "spec-tokens", 5}, "draft_tokens"}, {"vllm", []any{"speculative-config", `{"method":"ngram","num_speculative_tokens":3}`}, ""},
		{"vllm", []any{"async-scheduling", true, "speculative-config.method", "ngram"}, "async_speculation"}, {"vllm", []any{"async-scheduling", true, "speculative-config.method", "mtp"}, ""},

		{"sglang", []any{}, ""},
		{"sglang", []any{"tp-size", 8, "dp-size", 2}, "gpus"}, {"sglang", []any{"tp-size", 8, "dp-size", 2, "enable-dp-attention", true}, ""}, {"sglang", []any{"tp-size", 4, "dp-size", 2}, ""}, {"sglang", []any{"tp-size", 4, "pp-size", 4}, "gpus"},
		{"sglang", []any{"tp-size", 8, "dp-size", 3, "enable-dp-attention", true}, "dp_divides_tp"},
		{"sglang", []any{"tp-size", 8, "attn-dp-size", 8}, ""}, {"sglang", []any{"tp-size", 8, "attn-dp-size", 3}, "dp_divides_tp"}, {"sglang", []any{"tp-size", 4, "attn-dp-size", 2, "dp-size", 2}, "attn_dp_replicas"},
		{"sglang", []any{"tp-size", 8, "attn-dp-size", 8, "max-running-requests", 8}, "running_dp"}, {"sglang", []any{"tp-size", 8, "attn-dp-size", 8, moe, "flashinfer"}, ""},
		{"sglang", []any{"tp-size", 8, "attn-dp-size", 8, "enable-dp-lm-head", true}, ""},
		{"sglang", []any{"flashinfer-a2a-dispatch-type", "bf16"}, "flashinfer_dispatch"}, {"sglang", []any{"prefill-kv-cache-dequant-dtype", "fp8_e4m3"}, "dequantised_prefill"},
		{"sglang", []any{"prefill-kv-cache-dequant-dtype", "auto"}, ""}, {"sglang", []any{"prefill-kv-cache-dequant-dtype", "fp8_e4m3", "kv-cache-dtype", "nvfp4"}, ""},
		{"sglang", []any{"tp-size", 3}, "heads"}, {"sglang", []any{"tp-size", 6, "dp-size", 6, "enable-dp-attention", true}, ""},
		{"sglang", []any{"dp-size", 2, "tp-size", 2, "enable-dp-lm-head", true}, "dp_lm_head"}, {"sglang", []any{"enable-dp-lm-head", true}, ""},
		{"sglang", []any{"pp-size", 2, "speculative-algorithm", "EAGLE"}, "pp_speculation"},
		{"sglang", []any{"tp-size", 4, "ep-size", 3}, "experts_ep"}, {"sglang", []any{"tp-size", 4, "ep-size", 4}, ""}, {"sglang", []any{"tp-size", 4, "ep-size", 3, "ep-num-redundant-experts", 2}, ""},
		{"sglang", with("max-running-requests", 15), "running_dp"}, {"sglang", with("max-running-requests", 16), ""},
		{"sglang", with(moe, "deepep", "max-running-requests", 1025), ""}, {"sglang", with(moe, "deepep", "max-running-requests", 1032), "low_latency_tokens"},
		{"sglang", with(moe, "deepep", "deepep-mode", "normal", "max-running-requests", 2048), ""},
		{"sglang", with(moe, "flashinfer"), ""}, {"sglang", []any{"tp-size", 8, moe, "flashinfer"}, "a2a_flashinfer"}, {"sglang", with(moe, "flashinfer", "moe-runner-backend", "marlin"), "a2a_flashinfer_runner"},
		{"sglang", with(moe, "flashinfer", "moe-runner-backend", "flashinfer_cutlass"), ""},
		{"sglang", []any{"tp-size", 8, moe, "pplx", "chunked-prefill-size", 128}, "a2a_pplx"}, {"sglang", with(moe, "pplx"), "a2a_pplx_tokens"}, {"sglang", with(moe, "pplx", "chunked-prefill-size", 1024), ""},
		{"sglang", with(moe, "pplx", "chunked-prefill-size", 1024, "deepep-mode", "normal"), "a2a_pplx"}, {"sglang", with(moe, "pplx", "chunked-prefill-size", 1024, "cuda-graph-max-bs-decode", 256), "a2a_pplx_tokens"},
		{"sglang", []any{"tp-size", 8, moe, "mori"}, "a2a_mori"}, {"sglang", with(moe, "mori", "chunked-prefill-size", 32768), ""}, {"sglang", with(moe, "mori", "chunked-prefill-size", 65536), "a2a_mori"}, {"sglang", []any{"tp-size", 8, moe, "mori", "chunked-prefill-size", -1}, ""},
		{"sglang", []any{"tp-size", 8, "enable-two-batch-overlap", true}, "two_batch"}, {"sglang", with("enable-two-batch-overlap", true), ""}, {"sglang", []any{"tp-size", 8, "enable-two-batch-overlap", true, moe, "deepep"}, ""},
		{"sglang", []any{"tp-size", 8, moe, "deepep", "moe-runner-backend", "flashinfer_cutedsl", "deepep-mode", "normal"}, "cutedsl_normal"},
		{"sglang", []any{"tp-size", 8, "ep-size", 4, "moe-runner-backend", "flashinfer_cutlass"}, "cutlass_ep"}, {"sglang", []any{"tp-size", 8, "ep-size", 8, "moe-runner-backend", "flashinfer_cutlass"}, ""},
		{"sglang", []any{"tp-size", 8, "ep-size", 4, moe, "deepep", "moe-runner-backend", "flashinfer_cutlass"}, ""},
		{"sglang", []any{"tp-size", 8, "ep-size", 8, "moe-runner-backend", "cutlass", "quantization", "fp8"}, "cutlass_fp8_ep"},
		{"sglang", []any{"tp-size", 8, "ep-size", 8, "moe-dp-size", 2}, "moe_dp"}, {"sglang", []any{"tp-size", 8, "ep-size", 4, "moe-dp-size", 2, "attn-cp-size", 2}, ""}, {"sglang", []any{"tp-size", 8, "moe-dp-size", 2}, "moe_dp"},
		{"sglang", []any{"disable-cuda-graph-padding", true, "enable-torch-compile", true}, "graph_padding"}, {"sglang", []any{"disable-cuda-graph-padding", true, "enable-torch-compile", false}, ""},
		{"sglang", []any{"tp-size", 8, "moe-dense-tp-size", 4}, "dense_tp"}, {"sglang", []any{"tp-size", 8, "moe-dense-tp-size", 1}, ""}, {"sglang", []any{"tp-size", 8, "moe-dense-tp-size", 8}, ""},
		{"sglang", []any{"tp-size", 8, "enable-eplb", true}, "eplb_ep"}, {"sglang", []any{"tp-size", 8, "enable-eplb", true, "ep-size", 8}, ""}, {"sglang", []any{"tp-size", 8, "enable-eplb", true, moe, "deepep"}, ""},
		{"sglang", []any{"attention-backend", "flex_attention", "speculative-algorithm", "EAGLE"}, "flex_speculation"}, {"sglang", []any{"attention-backend", "fa3", "speculative-algorithm", "EAGLE"}, ""},
		{"sglang", []any{"enable-hierarchical-cache", true, "disable-radix-cache", true}, "hierarchical"},
		{"sglang", []any{"chunked-prefill-size", 1000, "page-size", 64}, "chunk_page"}, {"sglang", with("chunked-prefill-size", 256, "page-size", 64), "chunk_page"}, {"sglang", with("chunked-prefill-size", 512, "page-size", 64), ""}, {"sglang", with("chunked-prefill-size", 519, "page-size", 64), ""},
		{"sglang", []any{"chunked-prefill-size", -1, "page-size", 64}, ""}, {"sglang", []any{"chunked-prefill-size", 4096 + 64, "attention-backend", "cutlass_mla"}, "chunk_page"},
		{"sglang", []any{"context-length", 9215}, "context_requests"}, {"sglang", []any{"context-length", 200000}, "context_model"},
	} {
		sp, p := world(t, c.engine, h200, glm, 9216, flags(c.set...))
		got, broken := sp.Broken(p)
		want := c.engine + "_" + c.broken
		if broken != (c.broken != "") || broken && got.ID != want {
			t.Errorf("%s %v breaks %q (%s), want %q", c.engine, c.set, got.ID, got.Reason, c.broken)
		}
	}
}

func TestRulesOfTheModel(t *testing.T) {
	for _, c := range []struct {
		model  engine.Model
		set    []any
		broken string
	}{
		{engine.Model{Dense: true}, []any{"enable-expert-parallel", true, "tensor-parallel-size", 2}, "vllm_ep_dense"},
		{engine.Model{Experts: 4}, []any{"tensor-parallel-size", 8}, "vllm_experts_tp"},
		{engine.Model{Hidden: 5000}, []any{"enable-expert-parallel", true, "data-parallel-size", 2, "all2all-backend", "deepep_low_latency"}, "vllm_hidden_size"},
		{engine.Model{Hidden: 7168}, []any{"enable-expert-parallel", true, "data-parallel-size", 2, "all2all-backend", "deepep_low_latency"}, ""},
		{engine.Model{}, []any{"tensor-parallel-size", 7, "enable-expert-parallel", true}, ""},
	} {
		sp, p := world(t, "vllm", h200, c.model, 0, flags(c.set...))
		if got, _ := sp.Broken(p); got.ID != c.broken {
			t.Errorf("%+v %v breaks %q, want %q", c.model, c.set, got.ID, c.broken)
		}
	}
	sp, p := world(t, "vllm", engine.Host{}, engine.Model{}, 0, flags("tensor-parallel-size", 16, "max-num-batched-tokens", 512))
	if c, broken := sp.Broken(p); broken {
		t.Errorf("nothing is known of the machine, yet %s", c.Reason)
	}
}

// What an engine ignores or forces makes two spellings one configuration.
func TestRewritesMakeOneConfigurationOfTwoSpellings(t *testing.T) {
	def := space.Default()
	for _, c := range []struct {
		engine string
		a, b   []any
		same   bool
	}{
		{"vllm", []any{"all2all-backend", "deepep_v2", "enable-expert-parallel", false}, []any{"all2all-backend", "nixl_ep", "enable-expert-parallel", false}, true},
		{"vllm", []any{"tensor-parallel-size", 8, "all2all-backend", "pplx", "enable-expert-parallel", true}, []any{"tensor-parallel-size", 8, "all2all-backend", "naive", "enable-expert-parallel", true}, true},
		{"vllm", []any{"enable-expert-parallel", true, "tensor-parallel-size", 1}, []any{"enable-expert-parallel", false, "tensor-parallel-size", 1}, true},
		{"vllm", []any{"kv-cache-memory-bytes", 1000, "gpu-memory-utilization", 0.8}, []any{"kv-cache-memory-bytes", 1000, "gpu-memory-utilization", 0.9}, true},
		{"vllm", []any{"gpu-memory-utilization", 0.8}, []any{"gpu-memory-utilization", 0.9}, false},
		{"vllm", []any{"performance-mode", "throughput", "max-num-seqs", 64, "max-num-batched-tokens", 4096}, []any{"performance-mode", "balanced", "max-num-seqs", 64, "max-num-batched-tokens", 4096}, true},
		{"vllm", []any{"performance-mode", "interactivity", "max-num-seqs", 64, "max-num-batched-tokens", 4096}, []any{"performance-mode", "balanced", "max-num-seqs", 64, "max-num-batched-tokens", 4096}, false},
		{"vllm", []any{"performance-mode", "throughput", "max-num-seqs", def, "max-num-batched-tokens", def}, []any{"performance-mode", "balanced", "max-num-seqs", 2048, "max-num-batched-tokens", 16384}, true},
		{"vllm", []any{"performance-mode", "throughput", "max-num-seqs", def, "max-num-batched-tokens", 1024}, []any{"performance-mode", def, "max-num-seqs", 1024, "max-num-batched-tokens", 1024}, true},
		{"vllm", []any{"performance-mode", "throughput", "max-num-seqs", def}, []any{"performance-mode", "balanced", "max-num-seqs", def}, false},
		{"vllm", []any{"performance-mode", "throughput", "max-num-seqs", 4, "max-num-batched-tokens", def}, []any{"performance-mode", "balanced", "max-num-seqs", 4, "max-num-batched-tokens", 16384}, false},
		{"vllm", []any{"tensor-parallel-size", 1}, []any{"tensor-parallel-size", def}, true}, {"vllm", []any{"kv-cache-dtype", "auto"}, []any{"kv-cache-dtype", def}, true},
		{"vllm", []any{"max-num-batched-tokens", 8192}, []any{"max-num-batched-tokens", def}, false},
		{"vllm", []any{"enforce-eager", true, "max-cudagraph-capture-size", 256, "optimization-level", 3}, []any{"enforce-eager", true, "max-cudagraph-capture-size", 64, "optimization-level", 1}, true},
		{"vllm", []any{"enforce-eager", false, "max-cudagraph-capture-size", 256}, []any{"enforce-eager", false, "max-cudagraph-capture-size", 64}, false},
		{"vllm", []any{"enable-eplb", false, "eplb-config.num_redundant_experts", 8}, []any{"enable-eplb", false, "eplb-config.num_redundant_experts", 16}, true},
		{"vllm", []any{"enable-eplb", true, "eplb-config.num_redundant_experts", 8}, []any{"enable-eplb", true, "eplb-config.num_redundant_experts", 16}, false},
		{"vllm", []any{"enable-dbo", false, "dbo-decode-token-threshold", 8}, []any{"enable-dbo", false, "dbo-decode-token-threshold", 16}, true},
		{"vllm", []any{"enable-expert-parallel", false, "expert-placement-strategy", "round_robin"}, []any{"enable-expert-parallel", false, "expert-placement-strategy", "linear"}, true},
		{"vllm", []any{"speculative-config", `{"method":"mtp"}`, "speculative-config.method", "ngram"}, []any{"speculative-config", `{"method":"eagle"}`, "speculative-config.method", "ngram"}, true},
		{"vllm", []any{"speculative-config", `{"method":"mtp"}`}, []any{"speculative-config", `{"method":"eagle"}`}, false},
		{"sglang", []any{"attention-backend", "fa3", "kv-cache-dtype", "fp8_e5m2"}, []any{"attention-backend", "triton", "kv-cache-dtype", "fp8_e5m2"}, true},
		{"sglang", []any{"attention-backend", "fa3", "kv-cache-dtype", "fp8_e4m3"}, []any{"attention-backend", "triton", "kv-cache-dtype", "fp8_e4m3"}, false},
		{"sglang", []any{"attention-backend", "torch_native", "mem-fraction-static", 0.8, "disable-cuda-graph", true}, []any{"attention-backend", "torch_native", "mem-fraction-static", 0.8, "disable-cuda-graph", false}, true},
		{"sglang", []any{"attention-backend", "torch_native", "disable-cuda-graph", true}, []any{"attention-backend", "torch_native", "disable-cuda-graph", false}, false},
		{"sglang", []any{"disable-cuda-graph", true, "cuda-graph-max-bs-decode", 64}, []any{"disable-cuda-graph", true, "cuda-graph-max-bs-decode", 512}, true},
		{"sglang", []any{"enable-eplb", false, "eplb-rebalance-num-iterations", 64}, []any{"enable-eplb", false, "eplb-rebalance-num-iterations", 512}, true},
		{"sglang", []any{"speculative-algorithm", def, "speculative-num-steps", 3}, []any{"speculative-algorithm", def, "speculative-num-steps", 5}, true},
		{"sglang", []any{"speculative-algorithm", "EAGLE", "speculative-num-steps", 3}, []any{"speculative-algorithm", "EAGLE", "speculative-num-steps", 5}, false},
		{"sglang", []any{"enable-hierarchical-cache", false, "hicache-size", 10}, []any{"enable-hierarchical-cache", false, "hicache-size", 20}, true},
		{"sglang", []any{"enable-two-batch-overlap", false, "tbo-token-distribution-threshold", 0.3}, []any{"enable-two-batch-overlap", false, "tbo-token-distribution-threshold", 0.4}, true},
		{"sglang", []any{"enable-torch-compile", false, "torch-compile-max-bs", 8}, []any{"enable-torch-compile", false, "torch-compile-max-bs", 16}, true},
		{"sglang", []any{"disable-radix-cache", true, "radix-eviction-policy", "lfu"}, []any{"disable-radix-cache", true, "radix-eviction-policy", "lru"}, true},
		{"sglang", []any{"disable-radix-cache", false, "radix-eviction-policy", "lfu"}, []any{"disable-radix-cache", false, "radix-eviction-policy", "lru"}, false},
		{"sglang", []any{"tp-size", 8, "attn-dp-size", 1, "dp-size", 4, "enable-dp-attention", true}, []any{"tp-size", 8, "attn-dp-size", 4, "dp-size", 1, "enable-dp-attention", false}, true},
		{"sglang", []any{"tp-size", 8, "attn-dp-size", 4, "enable-dp-attention", true}, []any{"tp-size", 8, "attn-dp-size", 4, "enable-dp-attention", false}, true},
		{"sglang", []any{"tp-size", 8, "attn-dp-size", 4, "enable-dp-lm-head", true}, []any{"tp-size", 8, "attn-dp-size", 4, "enable-dp-lm-head", false}, false},
		{"sglang", []any{"dp-size", 1, "enable-dp-attention", true, "enable-dp-lm-head", true}, []any{"dp-size", 1, "enable-dp-attention", false, "enable-dp-lm-head", false}, true},
		{"sglang", []any{"moe-a2a-backend", "deepep", "tp-size", 8, "ep-size", 1}, []any{"moe-a2a-backend", "deepep", "tp-size", 8, "ep-size", 8}, true},
		{"sglang", []any{"moe-a2a-backend", "none", "tp-size", 8, "ep-size", 1}, []any{"moe-a2a-backend", "none", "tp-size", 8, "ep-size", 8}, false},
		{"sglang", []any{"moe-a2a-backend", "none", "deepep-mode", "normal"}, []any{"moe-a2a-backend", "none", "deepep-mode", "auto"}, true},
		{"sglang", []any{"moe-a2a-backend", "mori", "deepep-mode", "normal"}, []any{"moe-a2a-backend", "mori", "deepep-mode", "auto"}, true},
		{"sglang", []any{"moe-a2a-backend", "deepep", "deepep-mode", "normal"}, []any{"moe-a2a-backend", "deepep", "deepep-mode", "auto"}, false},
		{"sglang", []any{"moe-a2a-backend", "pplx", "deepep-mode", "low_latency", "moe-runner-backend", "auto"}, []any{"moe-a2a-backend", "pplx", "deepep-mode", "auto", "moe-runner-backend", "deep_gemm"}, true},
		{"sglang", []any{"moe-a2a-backend", "deepep", "moe-runner-backend", "flashinfer_cutedsl", "deepep-mode", "low_latency"}, []any{"moe-a2a-backend", "deepep", "moe-runner-backend", "flashinfer_cutedsl", "deepep-mode", "auto"}, true},
		{"sglang", []any{"attention-backend", "flashmla", "page-size", 1}, []any{"attention-backend", "flashmla", "page-size", 64}, true},
		{"sglang", []any{"attention-backend", "trtllm_mha", "page-size", 8}, []any{"attention-backend", "trtllm_mha", "page-size", 64}, true},
		{"sglang", []any{"tp-size", 8, "moe-a2a-backend", "ascend_fuseep", "ep-size", 2}, []any{"tp-size", 8, "moe-a2a-backend", "ascend_fuseep", "ep-size", 8}, true},
		{"sglang", []any{"attention-backend", "trtllm_mla", "page-size", 32}, []any{"attention-backend", "trtllm_mla", "page-size", 64}, false},
		{"sglang", []any{"pp-size", 2, "disable-overlap-schedule", true}, []any{"pp-size", 2, "disable-overlap-schedule", false}, true},
		{"sglang", []any{"speculative-algorithm", "EAGLE", "enable-mixed-chunk", true}, []any{"speculative-algorithm", "EAGLE", "enable-mixed-chunk", false}, true},
		{"sglang", []any{"speculative-algorithm", "EAGLE", "speculative-eagle-topk", 1, "speculative-num-steps", 3, "speculative-num-draft-tokens", 9}, []any{"speculative-algorithm", "EAGLE", "speculative-eagle-topk", 1, "speculative-num-steps", 3, "speculative-num-draft-tokens", 4}, true},
	} {
		_, a := world(t, c.engine, h200, engine.Model{}, 0, flags(c.a...))
		_, b := world(t, c.engine, h200, engine.Model{}, 0, flags(c.b...))
		if (a.Key() == b.Key()) != c.same {
			t.Errorf("%v and %v: keys %s and %s", c.a, c.b, a.Key(), b.Key())
		}
	}
}

// Every rule has a reason, a source and the flags that it touches, all of which the catalog knows.
func TestTheRuleBookIsWhole(t *testing.T) {
	all := map[string]bool{}
	for _, d := range engine.Catalog() {
		for _, r := range d.RuleBook() {
			if all[r.ID+r.Kind] || !strings.HasPrefix(r.ID, d.Name+"_") || r.Reason == "" || r.Source == "" || r.Kind == "" || len(r.Flags) == 0 && r.ID != d.Name+"_default" {
				t.Errorf("%s: %+v", d.Name, r)
			}
			all[r.ID+r.Kind] = true
			for _, f := range r.Flags {
				if got, ok := d.Flag(f); !ok || got.Name != f || !r.Touches(f) {
					t.Errorf("rule %s touches %s, which %s does not have", r.ID, f, d.Name)
				}
			}
		}
	}
	table, err := os.ReadFile("rules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		id, _, _ := strings.Cut(line, "\t")
		if !all[id+engine.RuleForbids] && !all[id+engine.RuleResolves] && !all[id+engine.RuleWarns] {
			t.Errorf("no rule %s", id)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		engine string
		set    []any
		want   int
	}{
		{"vllm", []any{"max-num-seqs", 16}, 0}, {"vllm", []any{"stream-interval", 4}, 1},
		{"vllm", []any{"enable-expert-parallel", true, "all2all-backend", "deepep_high_throughput", "data-parallel-size", 2}, 1},
		{"sglang", []any{"moe-a2a-backend", "deepep", "deepep-mode", "normal"}, 1}, {"sglang", []any{"deepep-mode", "normal"}, 0},
		{"sglang", []any{"tp-size", 8, "dp-size", 8, "enable-dp-attention", true, "schedule-conservativeness", 0.5}, 1}, {"sglang", []any{"schedule-conservativeness", 0.5}, 0},
		{"sglang", []any{"tp-size", 8, "dp-size", 8, "enable-dp-attention", true, "chunked-prefill-size", 8192}, 1},
	} {
		look := func(name string) (space.Value, bool) {
			for _, s := range flags(c.set...) {
				if name == c.engine+"."+s.Flag {
					return s.Value, true
				}
			}
			return space.Value{}, false
		}
		if got := find(t, c.engine).Warnings(h200, look); len(got) != c.want {
			t.Errorf("%s %v: %s", c.engine, c.set, fmt.Sprint(got))
		}
	}
}
