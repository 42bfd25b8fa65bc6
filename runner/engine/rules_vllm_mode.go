package engine

import (
	"slices"
	"strings"

	"autotune/space"
)

// contextLeast is the context that every model worth serving has, in tokens: vLLM also bounds a default of max-num-batched-tokens by max-num-seqs x context.
const contextLeast = 2048

// throughputMode says what performance-mode throughput is: max-num-seqs and max-num-batched-tokens doubled where they are left out, and nothing else
// (_set_default_max_num_seqs_and_batched_tokens_args, the same in every release from 0.17.0 to 0.34.0). With numbers for what is doubled it is balanced.
func (c ruleContext) throughputMode(v view) map[string]space.Value {
	if v.text("performance-mode") != "throughput" {
		return nil
	}
	out := map[string]space.Value{"performance-mode": space.String("balanced")}
	tokens, tokensGiven := v.given("max-num-batched-tokens")
	seqs, seqsGiven := v.given("max-num-seqs")
	if tokensGiven && seqsGiven {
		return out
	}
	defaultTokens, knownTokens := c.d.ResolvedDefault("max-num-batched-tokens", c.host)
	defaultSeqs, knownSeqs := c.d.ResolvedDefault("max-num-seqs", c.host)
	if !knownTokens || !knownSeqs || !c.steadyDefaults() || c.batchedExperts(v) || !v.on("enable-chunked-prefill") {
		return nil
	}
	if !tokensGiven {
		tokens = space.Int(2 * defaultTokens.AsInt())
	}
	if !seqsGiven {
		seqs = space.Int(min(2*defaultSeqs.AsInt(), tokens.AsInt()))
	}
	if !tokensGiven && seqs.AsInt()*contextLeast < tokens.AsInt() {
		return nil
	}
	for flag, to := range map[string]space.Value{"max-num-batched-tokens": tokens, "max-num-seqs": seqs} {
		if _, there := v.look(v.full(flag)); !there {
			return nil // the point has no place for the number
		}
		out[flag] = to
	}
	return out
}

// steadyDefaults tells whether the defaults of the two limits are the same in every release that has the mode: above 160 GiB they rose in 0.28.0, and for a GB10 they fell in 0.33.0.
func (c ruleContext) steadyDefaults() bool {
	return c.host.MemoryGiB < 160 && !strings.Contains(strings.ToUpper(c.host.GPU), "GB10")
}

// batchedExperts tells whether max-num-batched-tokens has a default of its own (256): low-latency kernels between data-parallel ranks with whole experts.
func (c ruleContext) batchedExperts(v view) bool {
	return v.on("enable-expert-parallel") && v.size("data-parallel-size") > 1 && slices.Contains([]string{"deepep_low_latency", "nixl_ep"}, v.text("all2all-backend"))
}
