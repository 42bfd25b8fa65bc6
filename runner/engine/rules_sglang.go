package engine

import (
	"slices"

	"autotune/space"
)

// spreading are the all-to-all backends that set ep-size to tp-size.
var spreading = []string{"deepep", "mooncake", "nixl", "mori", "flashinfer", "megamoe", "pplx"}

// dispatchTokens is how many tokens a rank may dispatch in DeepEP's low-latency mode (SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK by default).
const dispatchTokens = 128

// snapped are the attention backends that accept certain page sizes only; the first one is what they make of any other.
var snapped = map[string][]int64{"flashmla": {64}, "cutlass_mla": {128}, "trtllm_mla": {64, 32}}

func sglangRules(c ruleContext) ([]space.Constraint, []space.Rewrite) {
	constraints := slices.Concat(sglangLayout(c), sglangExperts(c), sglangBatching(c), c.contextRules("context-length", "json-model-override-args"))
	return constraints, append(sglangRewrites(c), c.plainDefaults())
}

// dpAttention tells whether attention is data-parallel: the switch does nothing at dp 1.
func dpAttention(v view) bool { return v.on("enable-dp-attention") && v.size("dp-size") > 1 }

func sglangLayout(c ruleContext) []space.Constraint {
	return []space.Constraint{
		c.forbid("gpus", "needs tp x pp GPUs with data-parallel attention, else tp x pp x dp, more than there are", func(v view) bool {
			world := v.size("tp-size") * v.size("pp-size")
			if !dpAttention(v) {
				world *= v.size("dp-size")
			}
			return c.host.GPUs > 0 && world > c.host.GPUs
		}),
		c.forbid("dp_divides_tp", "asserts under data-parallel attention that dp-size divides tp-size", func(v view) bool {
			return dpAttention(v) && v.size("tp-size")%v.size("dp-size") != 0
		}),
		c.forbid("heads", "refuses a split that does not divide the model's attention heads", func(v view) bool {
			split := v.size("tp-size")
			if dpAttention(v) {
				split = max(1, split/v.size("dp-size"))
			}
			return c.model.Heads > 0 && c.model.Heads%split != 0
		}),
		c.forbid("dp_lm_head", "splits the LM head by data-parallel rank only with data-parallel attention", func(v view) bool {
			return v.on("enable-dp-lm-head") && !v.on("enable-dp-attention")
		}),
		c.forbid("pp_speculation", "asserts no speculation with pipeline parallelism", func(v view) bool {
			_, speculates := v.given("speculative-algorithm")
			return speculates && v.size("pp-size") > 1
		}),
	}
}

func sglangExperts(c ruleContext) []space.Constraint {
	return []space.Constraint{
		c.forbid("low_latency_tokens", "dispatches at most 128 tokens a rank in low-latency mode: max-running-requests / dp-size must not exceed it", func(v view) bool {
			running, given := v.given("max-running-requests")
			lowLatency := v.text("moe-a2a-backend") == "deepep" && v.text("deepep-mode") != "normal"
			return given && lowLatency && dpAttention(v) && running.AsInt() > dispatchTokens*int64(v.size("dp-size"))
		}),
		c.forbid("a2a_flashinfer", "runs the all-to-all backend flashinfer only with data-parallel attention, dp-size equal to tp-size and a flashinfer runner", func(v view) bool {
			runner := v.text("moe-runner-backend")
			ok := dpAttention(v) && v.size("dp-size") == v.size("tp-size") && (runner == "auto" || len(runner) > 10 && runner[:10] == "flashinfer")
			return v.text("moe-a2a-backend") == "flashinfer" && !ok
		}),
		c.forbid("a2a_pplx", "runs the all-to-all backend pplx only with data-parallel attention and without normal mode", func(v view) bool {
			return v.text("moe-a2a-backend") == "pplx" && (!dpAttention(v) || v.text("deepep-mode") == "normal")
		}),
		c.forbid("a2a_mori", "runs the all-to-all backend mori with chunks of at most 4096 tokens", func(v view) bool {
			chunk, given := v.given("chunked-prefill-size")
			return v.text("moe-a2a-backend") == "mori" && given && chunk.AsInt() > 4096
		}),
		c.forbid("cutedsl_normal", "has no normal DeepEP mode for the runner flashinfer_cutedsl", func(v view) bool {
			return v.text("moe-a2a-backend") == "deepep" && v.text("moe-runner-backend") == "flashinfer_cutedsl" && v.text("deepep-mode") == "normal"
		}),
		c.forbid("cutlass_ep", "asserts for the runner flashinfer_cutlass that ep-size is 1 or tp-size", func(v view) bool {
			ep := v.size("ep-size")
			return v.text("moe-runner-backend") == "flashinfer_cutlass" && ep != 1 && ep != v.size("tp-size")
		}),
		c.forbid("moe_dp", "asserts that ep-size x moe-dp-size is tp-size", func(v view) bool {
			return v.size("moe-dp-size") > 1 && v.size("ep-size")*v.size("moe-dp-size") != v.size("tp-size")
		}),
		c.forbid("two_batch", "overlaps two batches only with an all-to-all backend or data-parallel attention", func(v view) bool {
			return v.on("enable-two-batch-overlap") && v.text("moe-a2a-backend") == "none" && !dpAttention(v)
		}),
	}
}

func sglangBatching(c ruleContext) []space.Constraint {
	return []space.Constraint{
		c.forbid("running_dp", "divides max-running-requests by dp-size and keeps one back: it must be at least 2 x dp-size", func(v view) bool {
			running, given := v.given("max-running-requests")
			return given && dpAttention(v) && running.AsInt() < 2*int64(v.size("dp-size"))
		}),
		c.forbid("chunk_page", "asserts that page-size divides the prefill chunk, also after its division by dp-size", func(v view) bool {
			chunk, given := v.given("chunked-prefill-size")
			page, paged := v.given("page-size")
			if !given || !paged || chunk.AsInt() <= 0 || page.AsInt() <= 0 {
				return false
			}
			dp := int64(1)
			if dpAttention(v) {
				dp = int64(v.size("dp-size"))
			}
			return chunk.AsInt()%page.AsInt() != 0 || (chunk.AsInt()/dp)%page.AsInt() != 0
		}),
		c.forbid("hierarchical", "refuses a hierarchical cache without the radix cache", func(v view) bool {
			return v.on("enable-hierarchical-cache") && v.on("disable-radix-cache")
		}),
	}
}

func sglangRewrites(c ruleContext) []space.Rewrite {
	return slices.Concat(sglangExpertRewrites(c), []space.Rewrite{
		c.resolve("dp_one", "drops data-parallel attention at dp-size 1", func(v view) map[string]space.Value {
			if v.size("dp-size") > 1 {
				return nil
			}
			return map[string]space.Value{"enable-dp-attention": space.Default(), "enable-dp-lm-head": space.Default()}
		}),
		c.resolve("page_size", "has one page size for this attention backend", func(v view) map[string]space.Value {
			pages := snapped[v.text("attention-backend")]
			if len(pages) == 0 {
				return nil
			}
			if page, given := v.given("page-size"); given && slices.Contains(pages, page.AsInt()) {
				return nil
			}
			return map[string]space.Value{"page-size": space.Int(pages[0])}
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
	})
}

func sglangExpertRewrites(c ruleContext) []space.Rewrite {
	return []space.Rewrite{
		c.resolve("a2a_ep", "sets ep-size to tp-size with this all-to-all backend", func(v view) map[string]space.Value {
			if !slices.Contains(spreading, v.text("moe-a2a-backend")) {
				return nil
			}
			return map[string]space.Value{"ep-size": space.Int(int64(v.size("tp-size")))}
		}),
		c.resolve("deepep_idle", "uses deepep-mode only with the all-to-all backends deepep and mori", func(v view) map[string]space.Value {
			switch v.text("moe-a2a-backend") {
			case "deepep", "mori", "pplx":
				return nil
			default:
				return unset("deepep-mode")
			}
		}),
		c.resolve("mori_auto", "runs mori in normal mode when deepep-mode is auto", func(v view) map[string]space.Value {
			if v.text("moe-a2a-backend") == "mori" && v.text("deepep-mode") == "auto" {
				return map[string]space.Value{"deepep-mode": space.String("normal")}
			}
			return nil
		}),
		c.resolve("cutedsl_auto", "runs the runner flashinfer_cutedsl in low-latency mode when deepep-mode is auto", func(v view) map[string]space.Value {
			if v.text("moe-a2a-backend") == "deepep" && v.text("moe-runner-backend") == "flashinfer_cutedsl" && v.text("deepep-mode") == "auto" {
				return map[string]space.Value{"deepep-mode": space.String("low_latency")}
			}
			return nil
		}),
	}
}
