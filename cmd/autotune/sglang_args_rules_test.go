//go:build e2e

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/space"
)

// sglangModels are the folders beside resolve.py, and what our rules know of each.
var sglangModels = map[string]engine.Model{
	"glm-5.2-fp8":   {Heads: 64, KVHeads: 64, Hidden: 6144, Experts: 256, ContextLen: 202752, DraftLayers: 1},
	"llama-3.1-8b":  {Heads: 32, KVHeads: 8, Hidden: 4096, ContextLen: 131072, Dense: true},
	"qwen3-30b-a3b": {Heads: 32, KVHeads: 4, Hidden: 2048, Experts: 128, ContextLen: 40960},
}

// ruleCase is a command line that a rule of ours bites on.
type ruleCase struct {
	rule  string // without sglang_
	model string
	args  string
	same  string // for a rewrite: another spelling of what it makes of args
	idle  string // for a rewrite that drops arguments: their names, which SGLang keeps as written; that nothing reads them is from its source
	says  string // for a constraint: part of what SGLang says when it refuses, or of the function that does
	later bool   // for a constraint: of what SGLang does after its parser, which lets the breach pass
	taken bool   // just on the allowed side of a constraint: taken by both
}

const dp8 = "--tp-size 8 --enable-dp-attention --dp-size 8 "

var ruleCases = []ruleCase{
	{rule: "gpus", model: "llama-3.1-8b", args: "--tp-size 8 --dp-size 2", later: true},
	{rule: "dp_divides_tp", model: "glm-5.2-fp8", args: "--tp-size 8 --dp-size 3 --enable-dp-attention", says: "handle_data_parallelism"},
	{rule: "heads", model: "llama-3.1-8b", args: "--tp-size 3", later: true},
	{rule: "dp_lm_head", model: "qwen3-30b-a3b", args: "--tp-size 2 --dp-size 2 --enable-dp-lm-head", says: "enable-dp-lm-head requires"},
	{rule: "pp_speculation", model: "llama-3.1-8b", args: "--tp-size 2 --pp-size 2 --speculative-algorithm NGRAM", says: "Pipeline parallelism currently"},
	{rule: "running_dp", model: "glm-5.2-fp8", args: dp8 + "--max-running-requests 8", later: true},
	{rule: "chunk_page", model: "llama-3.1-8b", args: "--chunked-prefill-size 1000 --page-size 64", says: "must be divisible by page_size"},
	{rule: "chunk_page", model: "qwen3-30b-a3b", args: dp8 + "--chunked-prefill-size 1088 --page-size 64", says: "must be divisible by page_size"},
	{rule: "hierarchical", model: "llama-3.1-8b", args: "--enable-hierarchical-cache --disable-radix-cache", says: "mutually exclusive"},
	{rule: "context_requests", model: "llama-3.1-8b", args: "--context-length 4096", later: true},
	{rule: "context_model", model: "llama-3.1-8b", args: "--context-length 262144", says: "greater than the derived context_length"},
	{rule: "low_latency_tokens", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend deepep --max-running-requests 2048", later: true},
	{rule: "a2a_flashinfer", model: "qwen3-30b-a3b", args: "--tp-size 8 --moe-a2a-backend flashinfer --moe-runner-backend flashinfer_cutlass", says: "requires --attn-dp-size equal"},
	{rule: "a2a_flashinfer_runner", model: "qwen3-30b-a3b", args: dp8 + "--moe-a2a-backend flashinfer --moe-runner-backend cutlass", says: "is supported with flashinfer_cutlass"},
	{rule: "a2a_pplx", model: "glm-5.2-fp8", args: "--tp-size 8 --moe-a2a-backend pplx --chunked-prefill-size 128", says: "moe_a2a_backend='pplx'"},
	{rule: "a2a_pplx", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend pplx --deepep-mode normal --chunked-prefill-size 1024", says: "moe_a2a_backend='pplx'"},
	{rule: "a2a_pplx", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend pplx --moe-runner-backend triton --chunked-prefill-size 1024", says: "moe_a2a_backend='pplx'"},
	{rule: "a2a_pplx_tokens", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend pplx --chunked-prefill-size 8192", says: "per-rank pplx dispatch tokens"},
	{rule: "a2a_pplx_tokens", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend pplx --chunked-prefill-size 1024 --cuda-graph-max-bs-decode 256", says: "per-rank pplx dispatch tokens"},
	{rule: "a2a_mori", model: "glm-5.2-fp8", args: "--tp-size 8 --moe-a2a-backend mori --chunked-prefill-size 8192", says: "per-rank MoRI dispatch tokens"},
	{rule: "two_batch", model: "qwen3-30b-a3b", args: "--tp-size 8 --enable-two-batch-overlap", says: "attention DP (--attn-dp-size) is required"},
	{rule: "cutedsl_normal", model: "qwen3-30b-a3b", args: "--tp-size 4 --quantization modelopt_fp4 --moe-a2a-backend deepep --moe-runner-backend flashinfer_cutedsl --deepep-mode normal", says: "DeepEP normal"},
	{rule: "experts_ep", model: "qwen3-30b-a3b", args: "--tp-size 8 --ep-size 3", later: true},
	{rule: "cutlass_ep", model: "qwen3-30b-a3b", args: "--tp-size 8 --ep-size 2 --moe-runner-backend flashinfer_cutlass", says: "must be 1 or the same"},
	{rule: "cutlass_fp8_ep", model: "qwen3-30b-a3b", args: "--tp-size 4 --ep-size 4 --quantization fp8 --moe-runner-backend cutlass", says: "only supported with ep_size == 1"},
	{rule: "moe_dp", model: "qwen3-30b-a3b", args: "--tp-size 8 --moe-dp-size 3", says: "moe_dp_size"},
	{rule: "moe_dp", model: "qwen3-30b-a3b", args: "--tp-size 8 --moe-dp-size 2 --ep-size 2", says: "moe_dp_size"},

	{rule: "dense_tp", model: "glm-5.2-fp8", args: "--tp-size 8 --moe-dense-tp-size 4", says: "moe_dense_tp_size only supports"},
	{rule: "flex_speculation", model: "llama-3.1-8b", args: "--attention-backend flex_attention --speculative-algorithm NGRAM", says: "peculative"},
	{rule: "eplb_ep", model: "glm-5.2-fp8", args: "--tp-size 8 --enable-eplb", says: "handle_eplb_and_dispatch"},
	{rule: "graph_padding", model: "llama-3.1-8b", args: "--disable-cuda-graph-padding --enable-torch-compile", says: "incompatible with --enable-torch-compile"},
	{rule: "flashinfer_dispatch", model: "llama-3.1-8b", args: "--flashinfer-a2a-dispatch-type bf16", says: "requires --moe-a2a-backend flashinfer"},
	{rule: "dequantised_prefill", model: "llama-3.1-8b", args: "--prefill-kv-cache-dequant-dtype fp8_e4m3", says: "applies only with --kv-cache-dtype=nvfp4"},
	{rule: "attn_dp_replicas", model: "llama-3.1-8b", args: "--tp-size 4 --attn-dp-size 2 --dp-size 2", says: "are not supported"},
	{rule: "attn_dp_replicas", model: "llama-3.1-8b", args: "--tp-size 4 --attn-dp-size 2", taken: true},
	{rule: "dp_divides_tp", model: "glm-5.2-fp8", args: "--tp-size 8 --attn-dp-size 3", says: "handle_data_parallelism"},
	{rule: "dp_divides_tp", model: "glm-5.2-fp8", args: "--tp-size 8 --dp-size 4 --enable-dp-attention", taken: true},
	{rule: "chunk_page", model: "qwen3-30b-a3b", args: dp8 + "--chunked-prefill-size 1030 --page-size 64", taken: true},
	{rule: "chunk_page", model: "llama-3.1-8b", args: "--chunked-prefill-size -1 --page-size 64", taken: true},
	{rule: "a2a_flashinfer_runner", model: "qwen3-30b-a3b", args: dp8 + "--moe-a2a-backend flashinfer --moe-runner-backend flashinfer_cutlass", taken: true},
	{rule: "a2a_flashinfer_runner", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend flashinfer --moe-runner-backend deep_gemm", taken: true},
	{rule: "a2a_flashinfer_runner", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend flashinfer --moe-runner-backend triton", says: "is supported with flashinfer_cutlass"},
	{rule: "a2a_pplx_tokens", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend pplx --chunked-prefill-size 1024", taken: true},
	{rule: "a2a_pplx_tokens", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend pplx --chunked-prefill-size -1", taken: true},
	{rule: "a2a_mori", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend mori --chunked-prefill-size 32768", taken: true},
	{rule: "moe_dp", model: "qwen3-30b-a3b", args: "--tp-size 8 --moe-dp-size 2 --attn-cp-size 2 --ep-size 4", taken: true},
	{rule: "moe_dp", model: "qwen3-30b-a3b", args: "--tp-size 8 --moe-dp-size 2", says: "only supported when moe_dp_size == 1"},
	{rule: "cutlass_ep", model: "qwen3-30b-a3b", args: "--tp-size 8 --ep-size 8 --moe-runner-backend flashinfer_cutlass", taken: true},
	{rule: "context_model", model: "llama-3.1-8b", args: "--context-length 131072", taken: true},

	{rule: "a2a_ep", model: "glm-5.2-fp8", args: "--tp-size 8 --moe-a2a-backend deepep --ep-size 4", same: "--tp-size 8 --moe-a2a-backend deepep --ep-size 8"},
	{rule: "deepep_idle", model: "glm-5.2-fp8", args: "--tp-size 8 --deepep-mode low_latency", same: "--tp-size 8", idle: "deepep_mode"},
	{rule: "deepep_auto", model: "glm-5.2-fp8", args: "--tp-size 8 --moe-a2a-backend mori --deepep-mode auto --chunked-prefill-size 4096", same: "--tp-size 8 --moe-a2a-backend mori --deepep-mode normal --chunked-prefill-size 4096"},
	{rule: "deepep_auto", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend pplx --deepep-mode auto --chunked-prefill-size 1024", same: dp8 + "--moe-a2a-backend pplx --deepep-mode low_latency --chunked-prefill-size 1024"},
	{rule: "pplx_runner", model: "glm-5.2-fp8", args: dp8 + "--moe-a2a-backend pplx --moe-runner-backend auto --chunked-prefill-size 1024", same: dp8 + "--moe-a2a-backend pplx --moe-runner-backend deep_gemm --chunked-prefill-size 1024"},
	{rule: "dp_one", model: "glm-5.2-fp8", args: "--tp-size 8 --enable-dp-attention --enable-dp-lm-head", same: "--tp-size 8"},
	{rule: "attn_dp", model: "glm-5.2-fp8", args: "--tp-size 8 --dp-size 4 --enable-dp-attention", same: "--tp-size 8 --attn-dp-size 4"},
	{rule: "attn_dp", model: "glm-5.2-fp8", args: "--tp-size 8 --attn-dp-size 4 --enable-dp-attention", same: "--tp-size 8 --attn-dp-size 4"},
	{rule: "page_size", model: "glm-5.2-fp8", args: "--tp-size 8 --attention-backend flashmla --page-size 32", same: "--tp-size 8 --attention-backend flashmla --page-size 64"},
	{rule: "page_size", model: "llama-3.1-8b", args: "--attention-backend trtllm_mha --page-size 8", same: "--attention-backend trtllm_mha --page-size 64"},
	{rule: "page_size", model: "llama-3.1-8b", args: "--attention-backend hpc_ops --page-size 32", same: "--attention-backend hpc_ops --page-size 64"},
	{rule: "pp_overlap", model: "llama-3.1-8b", args: "--tp-size 2 --pp-size 2", same: "--tp-size 2 --pp-size 2 --disable-overlap-schedule"},
	{rule: "speculation", model: "llama-3.1-8b", args: "--speculative-algorithm NGRAM --enable-mixed-chunk", same: "--speculative-algorithm NGRAM"},
	{rule: "speculation", model: "glm-5.2-fp8", args: "--tp-size 8 --speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 8",
		same: "--tp-size 8 --speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"},
	{rule: "fa3_e5m2", model: "llama-3.1-8b", args: "--attention-backend fa3 --kv-cache-dtype fp8_e5m2", same: "--attention-backend triton --kv-cache-dtype fp8_e5m2"},
	{rule: "graphless", model: "llama-3.1-8b", args: "--attention-backend torch_native --mem-fraction-static 0.8", same: "--attention-backend torch_native --mem-fraction-static 0.8 --disable-cuda-graph", idle: "disable_cuda_graph"},
	{rule: "graphless", model: "llama-3.1-8b", args: "--attention-backend flex_attention --mem-fraction-static 0.8", same: "--attention-backend flex_attention --mem-fraction-static 0.8 --disable-cuda-graph", idle: "disable_cuda_graph"},
	{rule: "graphs_idle", model: "llama-3.1-8b", args: "--disable-cuda-graph --cuda-graph-max-bs-decode 64", same: "--disable-cuda-graph", idle: "cuda_graph_max_bs_decode cuda_graph_config"},
	{rule: "eplb_idle", model: "glm-5.2-fp8", args: "--tp-size 8 --eplb-rebalance-num-iterations 500", same: "--tp-size 8", idle: "eplb_rebalance_num_iterations expert_distribution_recorder_buffer_size"},
	{rule: "speculation_idle", model: "llama-3.1-8b", args: "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4", same: "--tp-size 1", idle: "speculative_num_steps speculative_eagle_topk speculative_num_draft_tokens"},
	{rule: "hicache_idle", model: "llama-3.1-8b", args: "--hicache-size 10 --hicache-ratio 3", same: "--tp-size 1", idle: "hicache_size hicache_ratio hicache_host_memory_fraction"},
	{rule: "two_batch_idle", model: "llama-3.1-8b", args: "--tbo-token-distribution-threshold 0.4", same: "--tp-size 1", idle: "tbo_token_distribution_threshold"},
	{rule: "compile_idle", model: "llama-3.1-8b", args: "--torch-compile-max-bs 16", same: "--tp-size 1", idle: "torch_compile_max_bs"},
	{rule: "radix_idle", model: "llama-3.1-8b", args: "--disable-radix-cache --radix-eviction-policy lfu", same: "--disable-radix-cache", idle: "radix_eviction_policy"},
	{rule: "default", model: "glm-5.2-fp8", args: "--tp-size 8 --schedule-policy fcfs --dp-size 1 --moe-a2a-backend none", same: "--tp-size 8"},
}

// TestSGLangArgsByRule holds each of our rules for SGLang against it: a constraint on a line that it refuses, a rewrite on a pair that it makes one.
func TestSGLangArgsByRule(t *testing.T) {
	var lines [][]string
	for _, c := range ruleCases {
		for _, args := range []string{c.args, c.same} {
			lines = append(lines, append([]string{"--model-path=" + c.model}, strings.Fields(args)...))
		}
	}
	results := resolveSGLang(t, h200MiB, lines)
	var tried []string
	kept, later, made, taken := 0, 0, 0, 0
	for i, c := range ruleCases {
		theirs, same := results[2*i], results[2*i+1]
		tried = append(tried, "sglang_"+c.rule)
		rule, ours, key, keySame := c.ours(t)
		switch {
		case c.taken && (ours != "" || theirs.Refused != ""):
			t.Errorf("%s: not taken by both: we say %q, SGLang %q (%s): %s", c.rule, ours, theirs.Refused, theirs.Where, c.args)
		case c.taken:
			taken++
		case c.same == "" && ours != "sglang_"+c.rule:
			t.Errorf("%s: we refuse by %q: %s", c.rule, ours, c.args)
		case c.same == "" && (theirs.Refused == "") != c.later:
			t.Errorf("%s: SGLang says %q (%s), kept later: %v: %s", c.rule, theirs.Refused, theirs.Where, c.later, c.args)
		case c.same == "" && c.later:
			later++
		case c.same == "" && !strings.Contains(theirs.Refused+" "+theirs.Where, c.says):
			t.Errorf("%s: refused for another reason: %s (%s): %s", c.rule, theirs.Refused, theirs.Where, c.args)
		case c.same == "":
			fmt.Printf("%-22s %s (%s)\n", c.rule, theirs.Refused, theirs.Where)
			kept++
		case ours != "":
			t.Errorf("%s: we refuse by %s: %s", c.rule, ours, c.args)
		case key != keySame:
			t.Errorf("%s: two configurations for us:\n  %s\n  %s", rule, key, keySame)
		case theirs.Refused != "" || same.Refused != "":
			t.Errorf("%s: SGLang refuses: %q (%s) and %q (%s): %s", c.rule, theirs.Refused, theirs.Where, same.Refused, same.Where, c.args)
		default:
			names := slices.DeleteFunc(differing(theirs, same), func(n string) bool { return slices.Contains(strings.Fields(c.idle), n) })
			if len(names) > 0 {
				t.Errorf("%s: SGLang resolves %v differently: %v, %v: %s", c.rule, names, theirs.Resolved[names[0]], same.Resolved[names[0]], c.args)
				continue
			}
			made++
		}
	}
	d, _ := engine.Find("sglang")
	constraints, rewrites := d.Rules(engine.Host{GPUs: 8}, engine.Model{}, 0)
	for _, c := range constraints {
		if !slices.Contains(tried, c.ID) {
			t.Errorf("no line tries the constraint %s", c.ID)
		}
	}
	for _, r := range rewrites {
		if !slices.Contains(tried, r.ID) {
			t.Errorf("no line tries the rewrite %s", r.ID)
		}
	}
	fmt.Printf("%d constraints and %d rewrites on %d lines: %d refused by both, %d by us alone (not a matter of its parser), %d on the allowed side taken by both, %d pairs one configuration for both\n",
		len(constraints), len(rewrites), len(ruleCases), kept, later, taken, made)
}

// ours is the rule that refuses the case's line with us ("" when none), and the keys of its two spellings in a space of all their flags.
func (c ruleCase) ours(t *testing.T) (rule, broken, key, keySame string) {
	t.Helper()
	d, _ := engine.Find("sglang")
	constraints, rewrites := d.Rules(engine.Host{GPUs: 8, GPU: "H200", MemoryGiB: h200MiB / 1024.0}, sglangModels[c.model], 9000)
	constraints = slices.DeleteFunc(constraints, func(x space.Constraint) bool {
		return x.ID == "sglang_context_requests" && c.rule != "context_requests"
	})
	given := [2]map[string]space.Value{{}, {}}
	var params []space.Param
	for i, args := range []string{c.args, c.same} {
		_, settings, err := d.Parse(append([]string{"--model-path=" + c.model}, strings.Fields(args)...))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range settings {
			given[i]["sglang."+s.Flag] = s.Value
		}
	}
	for _, values := range given {
		for name := range values {
			if slices.ContainsFunc(params, func(p space.Param) bool { return p.Name == name }) {
				continue
			}
			domain := []space.Value{space.Default()}
			for _, of := range given {
				if v, ok := of[name]; ok && !slices.Contains(domain, v) {
					domain = append(domain, v)
				}
			}
			choices, err := space.Choices(domain...)
			if err != nil {
				t.Fatal(err)
			}
			params = append(params, space.Param{Name: name, Engine: "sglang", Flag: strings.TrimPrefix(name, "sglang."), Domain: choices})
		}
	}
	root, err := space.Choices(space.String("sglang"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(append(params, space.Param{Name: space.EngineParam, Domain: root}), constraints, rewrites)
	if err != nil {
		t.Fatal(err)
	}
	var points [2]space.Point
	for i := range points {
		points[i] = s.Build(func(p space.Param, _ space.Lookup) space.Value {
			if v, ok := given[i][p.Name]; ok {
				return v
			}
			return p.Domain.At(0)
		})
	}
	if b, is := s.Broken(points[0]); is {
		broken = b.ID
	}
	return c.rule, broken, points[0].Key(), points[1].Key()
}
