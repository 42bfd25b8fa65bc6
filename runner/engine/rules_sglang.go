package engine

import (
	"slices"

	"autotune/space"
)

// snapped are the attention backends that accept certain page sizes only; the first one is what they make of any other.
var snapped = map[string][]int64{
	"flashmla": {64}, "cutlass_mla": {128}, "trtllm_mla": {64, 32}, "cutedsl_mla": {64, 32}, "trtllm_mha": {64, 16, 32, 128}, "hpc_ops": {64},
}

func sglangRules(c ruleContext) ([]space.Constraint, []space.Rewrite) {
	constraints := slices.Concat(sglangLayout(c), sglangExperts(c), sglangBatching(c), c.contextRules("context-length", "json-model-override-args"))
	return constraints, append(sglangRewrites(c), c.plainDefaults())
}

// ranks are the data-parallel ranks of attention inside tp-size, 1 for none: attn-dp-size, or the spelling before it and beside it, dp-size with enable-dp-attention.
func ranks(v view) int {
	switch n := v.size("attn-dp-size"); {
	case n > 1:
		return n
	case v.on("enable-dp-attention"):
		return v.size("dp-size")
	}
	return 1
}

// dpAttention tells whether attention is data-parallel: the switch does nothing at dp 1.
func dpAttention(v view) bool { return ranks(v) > 1 }

func sglangLayout(c ruleContext) []space.Constraint {
	return []space.Constraint{
		c.forbid("gpus", "needs tp x pp GPUs with data-parallel attention, else tp x pp x dp, more than there are", func(v view) bool {
			world := v.size("tp-size") * v.size("pp-size")
			if !dpAttention(v) {
				world *= v.size("dp-size")
			}
			return c.host.GPUs > 0 && world > c.host.GPUs
		}),
		c.forbid("attn_dp_replicas", "refuses replicas (dp-size) beside attn-dp-size", func(v view) bool {
			return v.size("attn-dp-size") > 1 && v.size("dp-size") > 1
		}),
		c.forbid("dp_divides_tp", "asserts under data-parallel attention that its ranks divide tp-size", func(v view) bool {
			return dpAttention(v) && v.size("tp-size")%ranks(v) != 0
		}),
		c.forbid("heads", "refuses a split that does not divide the model's attention heads", func(v view) bool {
			split := v.size("tp-size")
			if dpAttention(v) {
				split = max(1, split/ranks(v))
			}
			return c.model.Heads > 0 && c.model.Heads%split != 0
		}),
		c.forbid("dp_lm_head", "splits the LM head by data-parallel rank only with data-parallel attention", func(v view) bool {
			return v.on("enable-dp-lm-head") && !v.on("enable-dp-attention") && v.size("dp-size") > 1 && !dpAttention(v)
		}),
		c.forbid("dense_tp", "asserts that moe-dense-tp-size is 1 or tp-size", func(v view) bool {
			dense, given := v.given("moe-dense-tp-size")
			return given && dense.AsInt() != 1 && dense.AsInt() != int64(v.size("tp-size"))
		}),
		c.forbid("flex_speculation", "has no speculation with the attention backend flex_attention", func(v view) bool {
			return v.text("attention-backend") == "flex_attention" && v.any("speculative-algorithm")
		}),
		c.forbid("pp_speculation", "asserts no speculation with pipeline parallelism", func(v view) bool {
			_, speculates := v.given("speculative-algorithm")
			return speculates && v.size("pp-size") > 1
		}),
	}
}

func sglangBatching(c ruleContext) []space.Constraint {
	return []space.Constraint{
		c.forbid("running_dp", "divides max-running-requests by dp-size and keeps one back: it must be at least 2 x dp-size", func(v view) bool {
			running, given := v.given("max-running-requests")
			return given && dpAttention(v) && running.AsInt() < 2*int64(ranks(v))
		}),
		c.forbid("chunk_page", "asserts that page-size divides the prefill chunk, after its division by dp-size", func(v view) bool {
			chunk, given := v.given("chunked-prefill-size")
			page := pageSize(v)
			return given && page > 0 && chunk.AsInt() > 0 && perRank(v, chunk.AsInt())%page != 0
		}),
		c.forbid("dequantised_prefill", "takes a prefill-kv-cache-dequant-dtype other than auto only with a KV cache of nvfp4", func(v view) bool {
			dtype, given := v.given("prefill-kv-cache-dequant-dtype")
			return given && dtype.String() != "auto" && v.text("kv-cache-dtype") != "nvfp4"
		}),
		c.forbid("graph_padding", "asserts padded graphs with torch.compile: else each batch size would be compiled on its own", func(v view) bool {
			return v.on("disable-cuda-graph-padding") && v.on("enable-torch-compile")
		}),
		c.forbid("hierarchical", "refuses a hierarchical cache without the radix cache", func(v view) bool {
			return v.on("enable-hierarchical-cache") && v.on("disable-radix-cache")
		}),
	}
}

// perRank is what a rank's scheduler gets of a limit that is the whole server's.
func perRank(v view, n int64) int64 {
	if dpAttention(v) {
		return n / int64(ranks(v))
	}
	return n
}

// pageSize is the page that the engine will use; 0 when it is not known.
func pageSize(v view) int64 {
	page, given := v.given("page-size")
	pages := snapped[v.text("attention-backend")]
	switch {
	case len(pages) == 0 && given:
		return page.AsInt()
	case len(pages) == 0:
		return 0
	case given && slices.Contains(pages, page.AsInt()):
		return page.AsInt()
	default:
		return pages[0]
	}
}

func sglangRewrites(c ruleContext) []space.Rewrite {
	return slices.Concat(sglangExpertRewrites(c), []space.Rewrite{
		c.resolve("fa3_e5m2", "takes the attention backend triton instead of fa3 for a KV cache of fp8_e5m2", func(v view) map[string]space.Value {
			if v.text("attention-backend") != "fa3" || v.text("kv-cache-dtype") != "fp8_e5m2" {
				return nil
			}
			return map[string]space.Value{"attention-backend": space.String("triton")}
		}),
		c.resolve("graphless", "runs without CUDA graphs with the attention backends torch_native and flex_attention, under the memory share that is set", func(v view) map[string]space.Value {
			backend := v.text("attention-backend")
			// A memory share that is left out is worked out before that, with room for the graphs unless they are switched off by hand.
			if !v.any("mem-fraction-static") || backend != "torch_native" && backend != "flex_attention" {
				return nil
			}
			return map[string]space.Value{"disable-cuda-graph": space.Bool(true)}
		}),
		c.resolve("dp_one", "drops data-parallel attention at dp-size 1", func(v view) map[string]space.Value {
			if v.size("dp-size") > 1 || dpAttention(v) {
				return nil
			}
			return map[string]space.Value{"enable-dp-attention": space.Default(), "enable-dp-lm-head": space.Default()}
		}),
		c.resolve("attn_dp", "has one data-parallel attention under two spellings: dp-size with enable-dp-attention is attn-dp-size, and beside that the switch says nothing", func(v view) map[string]space.Value {
			if _, there := v.look(v.full("attn-dp-size")); !there || !dpAttention(v) {
				return nil
			}
			if v.size("attn-dp-size") > 1 {
				return map[string]space.Value{"enable-dp-attention": space.Default()}
			}
			return map[string]space.Value{"attn-dp-size": space.Int(int64(ranks(v))), "dp-size": space.Default(), "enable-dp-attention": space.Default()}
		}),
		c.resolve("page_size", "has one page size for this attention backend", func(v view) map[string]space.Value {
			if len(snapped[v.text("attention-backend")]) == 0 {
				return nil
			}
			return map[string]space.Value{"page-size": space.Int(pageSize(v))}
		}),
		c.resolve("pp_overlap", "switches the overlap schedule off with pipeline parallelism", func(v view) map[string]space.Value {
			if v.size("pp-size") > 1 {
				return map[string]space.Value{"disable-overlap-schedule": space.Bool(true)}
			}
			return nil
		}),
		c.resolve("speculation", "switches mixed chunks off when it speculates, and derives the number of draft tokens at eagle-topk 1", func(v view) map[string]space.Value {
			if _, given := v.given("speculative-algorithm"); !given {
				return nil
			}
			out := map[string]space.Value{"enable-mixed-chunk": space.Default()}
			topk, ok := v.given("speculative-eagle-topk")
			if steps, given := v.given("speculative-num-steps"); ok && given && topk == space.Int(1) {
				out["speculative-num-draft-tokens"] = space.Int(steps.AsInt() + 1)
			}
			return out
		}),
	}, c.idleRewrites(sglangIdle))
}
