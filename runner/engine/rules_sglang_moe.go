package engine

import (
	"slices"
	"strings"

	"autotune/space"
)

// spreading are the all-to-all backends that set ep-size to tp-size.
var spreading = []string{"deepep", "deepep_v2", "mooncake", "nixl", "mori", "flashinfer", "flashinfer_megamoe", "megamoe", "ascend_fuseep", "pplx"}

// Tokens that a rank may dispatch at once, by default: SGLANG_DEEPEP_, SGLANG_MORI_ and SGLANG_PPLX_NUM_MAX_DISPATCH_TOKENS_PER_RANK.
const (
	deepepTokens = 128
	moriTokens   = 4096
	pplxTokens   = 128
)

func sglangExperts(c ruleContext) []space.Constraint {
	return slices.Concat(sglangAllToAll(c), sglangRunners(c))
}

// sglangAllToAll are the rules of moe-a2a-backend.
func sglangAllToAll(c ruleContext) []space.Constraint {
	a2a := func(v view) string { return v.text("moe-a2a-backend") }
	return []space.Constraint{
		c.forbid("low_latency_tokens", "dispatches at most 128 tokens a rank in low-latency mode: max-running-requests / dp-size must not exceed it", func(v view) bool {
			running, given := v.given("max-running-requests")
			return given && a2a(v) == "deepep" && v.text("deepep-mode") != "normal" && dpAttention(v) && perRank(v, running.AsInt()) > deepepTokens
		}),
		c.forbid("a2a_flashinfer", "runs the all-to-all backend flashinfer only with data-parallel attention and dp-size equal to tp-size", func(v view) bool {
			return a2a(v) == "flashinfer" && !(dpAttention(v) && ranks(v) == v.size("tp-size"))
		}),
		c.forbid("a2a_flashinfer_runner", "runs the all-to-all backend flashinfer only with a flashinfer runner (newer releases: deep_gemm too)", func(v view) bool {
			runner := v.text("moe-runner-backend")
			known := strings.HasPrefix(runner, "flashinfer") || slices.Contains([]string{"auto", "deep_gemm"}, runner) // what auto becomes depends on the model and the GPU
			return a2a(v) == "flashinfer" && !known
		}),
		c.forbid("flashinfer_dispatch", "takes flashinfer-a2a-dispatch-type only with the all-to-all backend flashinfer", func(v view) bool {
			return v.any("flashinfer-a2a-dispatch-type") && a2a(v) != "flashinfer"
		}),
		c.forbid("a2a_pplx", "runs the all-to-all backend pplx only with data-parallel attention, without normal mode, and with the runner deep_gemm", func(v view) bool {
			runner := v.text("moe-runner-backend")
			return a2a(v) == "pplx" && (!dpAttention(v) || v.text("deepep-mode") == "normal" || runner != "auto" && runner != "deep_gemm")
		}),
		c.forbid("a2a_pplx_tokens", "dispatches at most 128 tokens a rank with pplx: the prefill chunk / dp-size and the largest graph must not exceed it", func(v view) bool {
			chunk, known := v.int("chunked-prefill-size")
			graph, _ := v.given("cuda-graph-max-bs-decode")
			over := perRank(v, int64(chunk)) > pplxTokens || graph.AsInt() > pplxTokens
			return a2a(v) == "pplx" && known && chunk > 0 && over
		}),
		c.forbid("a2a_mori", "dispatches at most 4096 tokens a rank with mori: the prefill chunk (/ dp-size with data-parallel attention) must not exceed it", func(v view) bool {
			chunk, known := v.int("chunked-prefill-size")
			return a2a(v) == "mori" && known && perRank(v, int64(chunk)) > moriTokens
		}),
		c.forbid("two_batch", "overlaps two batches only with an all-to-all backend or data-parallel attention", func(v view) bool {
			return v.on("enable-two-batch-overlap") && a2a(v) == "none" && !dpAttention(v)
		}),
	}
}

// sglangRunners are the rules of moe-runner-backend and of the sizes that experts are split by.
func sglangRunners(c ruleContext) []space.Constraint {
	return []space.Constraint{
		c.forbid("cutedsl_normal", "has no normal DeepEP mode for the runner flashinfer_cutedsl", func(v view) bool {
			return v.text("moe-a2a-backend") == "deepep" && v.text("moe-runner-backend") == "flashinfer_cutedsl" && v.text("deepep-mode") == "normal"
		}),
		c.forbid("experts_ep", "asserts that ep-size divides the model's experts", func(v view) bool {
			_, more := v.given("ep-num-redundant-experts")
			return c.model.Experts > 0 && !more && c.model.Experts%expertSize(v) != 0
		}),
		c.forbid("cutlass_ep", "asserts for the runner flashinfer_cutlass that ep-size is 1 or tp-size", func(v view) bool {
			ep := expertSize(v)
			return v.text("moe-runner-backend") == "flashinfer_cutlass" && ep != 1 && ep != v.size("tp-size")
		}),
		c.forbid("cutlass_fp8_ep", "runs FP8 experts with the runner cutlass only at ep-size 1", func(v view) bool {
			narrow := slices.Contains([]string{"fp8", "mxfp8"}, v.text("quantization"))
			return v.text("moe-runner-backend") == "cutlass" && narrow && expertSize(v) != 1
		}),
		c.forbid("eplb_ep", "asserts for expert balancing that ep-size is above 1", func(v view) bool {
			return v.on("enable-eplb") && expertSize(v) <= 1
		}),
		c.forbid("moe_dp", "asserts that moe-dp-size divides tp-size, that ep-size x moe-dp-size is tp-size when experts are split, and that attn-cp-size is moe-dp-size", func(v view) bool {
			dp, ep, tp := v.size("moe-dp-size"), expertSize(v), v.size("tp-size")
			return dp > 1 && (v.size("attn-cp-size") != dp || tp%dp != 0 || ep*dp > tp || ep > 1 && ep*dp != tp)
		}),
	}
}

// expertSize is ep-size as the engine resolves it.
func expertSize(v view) int {
	if slices.Contains(spreading, v.text("moe-a2a-backend")) {
		return v.size("tp-size")
	}
	return v.size("ep-size")
}

func sglangExpertRewrites(c ruleContext) []space.Rewrite {
	return []space.Rewrite{
		c.resolve("a2a_ep", "sets ep-size to tp-size with this all-to-all backend", func(v view) map[string]space.Value {
			if !slices.Contains(spreading, v.text("moe-a2a-backend")) {
				return nil
			}
			return map[string]space.Value{"ep-size": space.Int(int64(v.size("tp-size")))}
		}),
		c.resolve("deepep_idle", "uses deepep-mode only with the all-to-all backends deepep, mori and pplx", func(v view) map[string]space.Value {
			switch v.text("moe-a2a-backend") {
			case "deepep", "mori", "pplx":
				return nil
			default:
				return unset("deepep-mode")
			}
		}),
		c.resolve("deepep_auto", "has one mode for deepep-mode auto: normal with mori, low_latency with pplx and with the runner flashinfer_cutedsl", func(v view) map[string]space.Value {
			a2a, cutedsl := v.text("moe-a2a-backend"), v.text("moe-runner-backend") == "flashinfer_cutedsl"
			switch {
			case v.text("deepep-mode") != "auto":
				return nil
			case a2a == "mori":
				return map[string]space.Value{"deepep-mode": space.String("normal")}
			case a2a == "pplx", a2a == "deepep" && cutedsl:
				return map[string]space.Value{"deepep-mode": space.String("low_latency")}
			default:
				return nil
			}
		}),
		c.resolve("pplx_runner", "runs pplx with the runner deep_gemm", func(v view) map[string]space.Value {
			if v.text("moe-a2a-backend") == "pplx" && v.text("moe-runner-backend") == "auto" {
				return map[string]space.Value{"moe-runner-backend": space.String("deep_gemm")}
			}
			return nil
		}),
	}
}
