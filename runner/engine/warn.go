package engine

import (
	"autotune/space"
)

// Warnings says what an engine does with a configuration that runs but is not what it seems, as sentences for people. look gives
// values by full name (ENGINE.flag), as in Rules.
func (d *Definition) Warnings(h Host, look space.Lookup) []string {
	var said []string
	v := view{ruleContext{d: d, host: h}, look}
	for _, w := range d.warnings {
		if w.bites(v) {
			said = append(said, d.Title+" "+w.text)
		}
	}
	return said
}

// warning is a rule that refuses nothing.
type warning struct {
	text  string
	bites func(view) bool
}

var vllmWarnings = []warning{
	{"runs without CUDA graphs with the all-to-all backend deepep_high_throughput and data parallelism", func(v view) bool {
		return v.on("enable-expert-parallel") && v.text("all2all-backend") == "deepep_high_throughput" && v.size("data-parallel-size") > 1
	}},
	{"sends several tokens in an event at this stream-interval: inter-token latency means nothing", manyTokensAnEvent},
}

var sglangWarnings = []warning{
	{"decodes without CUDA graphs at deepep-mode normal, which was measured 4.2 times slower", func(v view) bool {
		return v.text("moe-a2a-backend") == "deepep" && v.text("deepep-mode") == "normal"
	}},
	{"takes the attention backend triton instead of fa3 for a KV cache of fp8_e5m2", func(v view) bool {
		return v.text("attention-backend") == "fa3" && v.text("kv-cache-dtype") == "fp8_e5m2"
	}},
	{"runs without CUDA graphs with this attention backend", func(v view) bool {
		backend := v.text("attention-backend")
		return backend == "torch_native" || backend == "flex_attention"
	}},
	{"divides chunked-prefill-size by dp-size under data-parallel attention", func(v view) bool {
		_, given := v.given("chunked-prefill-size")
		return given && dpAttention(v)
	}},
	{"sends several tokens in an event at this stream-interval: inter-token latency means nothing", manyTokensAnEvent},
}

func manyTokensAnEvent(v view) bool { return v.size("stream-interval") > 1 }
