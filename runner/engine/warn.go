package engine

import (
	"autotune/space"
)

// Warnings says what an engine does with a configuration that runs but is not what it seems, as sentences for people. look gives
// values by full name (ENGINE.flag), as in Rules.
func (d *Definition) Warnings(h Host, look space.Lookup) []string {
	var said []string
	for _, w := range d.Warned(h, look) {
		said = append(said, d.Title+" "+w.Reason)
	}
	return said
}

// Warned lists the rules that refuse nothing and bite here.
func (d *Definition) Warned(h Host, look space.Lookup) []Rule {
	var out []Rule
	v := view{ruleContext{d: d, host: h}, look}
	for _, w := range d.warnings {
		if w.bites(v) {
			out = append(out, Rule{ID: d.Name + "_" + w.id, Kind: RuleWarns, Reason: w.text})
		}
	}
	return out
}

// warning is a rule that refuses nothing.
type warning struct {
	id    string // without the engine's name
	text  string
	bites func(view) bool
}

var vllmWarnings = []warning{
	{"graphless_deepep", "runs without CUDA graphs with the all-to-all backend deepep_high_throughput and data parallelism", func(v view) bool {
		return v.on("enable-expert-parallel") && v.text("all2all-backend") == "deepep_high_throughput" && v.size("data-parallel-size") > 1
	}},
	{"events", "sends several tokens in an event at this stream-interval: inter-token latency means nothing", manyTokensAnEvent},
}

var sglangWarnings = []warning{
	{"graphless_deepep", "decodes without CUDA graphs at deepep-mode normal, which was measured 4.2 times slower", func(v view) bool {
		return v.text("moe-a2a-backend") == "deepep" && v.text("deepep-mode") == "normal"
	}},
	{"chunk_dp", "divides chunked-prefill-size by dp-size under data-parallel attention", func(v view) bool {
		_, given := v.given("chunked-prefill-size")
		return given && dpAttention(v)
	}},
	{"conservativeness_dp", "multiplies schedule-conservativeness by 0.3 under data-parallel attention", func(v view) bool {
		return v.any("schedule-conservativeness") && dpAttention(v)
	}},
	{"events", "sends several tokens in an event at this stream-interval: inter-token latency means nothing", manyTokensAnEvent},
}

func manyTokensAnEvent(v view) bool { return v.size("stream-interval") > 1 }
