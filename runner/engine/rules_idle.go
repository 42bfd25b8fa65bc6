package engine

import (
	"slices"

	"autotune/space"
)

// idle are flags that the engine reads only under another one.
type idle struct {
	id, reason string
	reads      func(view) bool // tells whether it reads them
	flags      []string
}

// idleRewrites drop what the engine takes no notice of, each in turn.
func (c ruleContext) idleRewrites(all []idle) []space.Rewrite {
	var out []space.Rewrite
	for _, i := range all {
		drops := unset(i.flags...)
		rule := c.resolve(i.id, i.reason, func(v view) map[string]space.Value {
			if i.reads(v) {
				return nil
			}
			return drops
		})
		r := rule
		r.Among = func(has func(string) bool) (space.Rewrite, bool) {
			return rule, slices.ContainsFunc(i.flags, func(f string) bool { return has(c.d.Name + "." + f) })
		}
		out = append(out, r)
	}
	return out
}

func isOn(flag string) func(view) bool  { return func(v view) bool { return v.on(flag) } }
func isOff(flag string) func(view) bool { return func(v view) bool { return !v.on(flag) } }
func isGiven(flag string) func(view) bool {
	return func(v view) bool { return v.any(flag) }
}

var vllmIdle = []idle{
	{"eager", "captures and compiles nothing with enforce-eager", isOff("enforce-eager"),
		[]string{"optimization-level", "cudagraph-capture-sizes", "max-cudagraph-capture-size", "compilation-config.cudagraph_mode"}},
	{"eplb_idle", "reads how experts are balanced only with enable-eplb", isOn("enable-eplb"),
		[]string{"eplb-config", "eplb-config.window_size", "eplb-config.step_interval", "eplb-config.num_redundant_experts", "eplb-config.log_balancedness", "eplb-config.use_async", "eplb-config.policy"}},
	{"dbo_idle", "reads these limits only with enable-dbo", isOn("enable-dbo"), []string{"dbo-decode-token-threshold", "dbo-prefill-token-threshold"}},
	{"placement_idle", "deals experts to ranks only with expert parallelism", isOn("enable-expert-parallel"), []string{"expert-placement-strategy"}},
}

var sglangIdle = []idle{
	{"graphs_idle", "captures no graphs, of whatever size, with disable-cuda-graph", isOff("disable-cuda-graph"),
		[]string{"cuda-graph-max-bs", "cuda-graph-max-bs-decode", "cuda-graph-max-bs-prefill", "cuda-graph-bs", "cuda-graph-bs-decode", "cuda-graph-bs-prefill", "disable-cuda-graph-padding"}},
	{"eplb_idle", "balances experts only with enable-eplb", isOn("enable-eplb"),
		[]string{"eplb-rebalance-num-iterations", "eplb-rebalance-layers-per-chunk", "eplb-min-rebalancing-utilization-threshold"}},
	{"speculation_idle", "drafts nothing without a speculative-algorithm", isGiven("speculative-algorithm"),
		[]string{"speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens", "speculative-attention-mode", "speculative-adaptive"}},
	{"hicache_idle", "has no second level of the cache without enable-hierarchical-cache", isOn("enable-hierarchical-cache"),
		[]string{"hicache-ratio", "hicache-size", "hicache-write-policy", "hicache-io-backend", "hicache-mem-layout"}},
	{"two_batch_idle", "reads it only with enable-two-batch-overlap", isOn("enable-two-batch-overlap"), []string{"tbo-token-distribution-threshold"}},
	{"compile_idle", "compiles nothing without enable-torch-compile", isOn("enable-torch-compile"), []string{"torch-compile-max-bs"}},
	{"radix_idle", "evicts nothing from a cache that is off", isOff("disable-radix-cache"), []string{"radix-eviction-policy"}},
}
