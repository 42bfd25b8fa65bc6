package engine_test

import (
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/space"
)

// Every configuration of the two published studies ran, or ran out of memory: no rule may forbid one.
func TestPublishedConfigurationsAreAllowed(t *testing.T) {
	const dp = "--tp-size=8 --dp-size=8 --enable-dp-attention"
	const qwen = "--reasoning-parser=qwen3 --max-model-len=32768"
	for _, c := range []struct {
		engine string
		host   engine.Host
		args   []string
	}{
		{"vllm", h200, []string{"--tensor-parallel-size=8"}},
		{"sglang", h200, []string{"--tp-size=8", "--tp-size=8 --enable-dp-attention", dp, dp + " --ep-size=8", dp + " --mem-fraction-static=0.8", dp + " --mem-fraction-static=0.85",
			dp + " --mem-fraction-static=0.85 --chunked-prefill-size=8192", dp + " --mem-fraction-static=0.85 --chunked-prefill-size=16384", dp + " --mem-fraction-static=0.85 --chunked-prefill-size=32768",
			dp + " --mem-fraction-static=0.85 --moe-a2a-backend=deepep --max-running-requests=64", dp + " --mem-fraction-static=0.85 --moe-a2a-backend=deepep --max-running-requests=256",
			dp + " --mem-fraction-static=0.85 --moe-a2a-backend=deepep --max-running-requests=512", dp + " --mem-fraction-static=0.85 --moe-a2a-backend=deepep --max-running-requests=256 --deepep-mode=normal",
			dp + " --mem-fraction-static=0.85 --moe-a2a-backend=deepep --max-running-requests=256 --kv-cache-dtype=fp8_e4m3"}},
		{"vllm", engine.Host{GPUs: 1, GPU: "H200", MemoryGiB: 140.4}, []string{qwen, qwen + " --enable-prefix-caching", qwen + " --performance-mode=throughput --enable-prefix-caching --kv-cache-dtype=fp8",
			qwen + " --performance-mode=throughput --enable-prefix-caching --async-scheduling", qwen + ` --speculative-config={"method":"mtp","num_speculative_tokens":4}`}},
		{"sglang", engine.Host{GPUs: 1, GPU: "H200", MemoryGiB: 140.4}, []string{"--reasoning-parser=qwen3 --context-length=32768"}},
	} {
		d := find(t, c.engine)
		for _, args := range c.args {
			words := strings.Fields(args)
			if c.engine == "sglang" {
				words = append([]string{"--model-path=m"}, words...)
			}
			_, settings, err := d.Parse(words)
			if err != nil {
				t.Errorf("%s: %v", args, err)
				continue
			}
			sp, p := world(t, c.engine, c.host, engine.Model{}, 9216, settings)
			if rule, broken := sp.Broken(p); broken {
				t.Errorf("%s %s breaks %s: %s", c.engine, args, rule.ID, rule.Reason)
			}
		}
	}
}

// What SGLang makes of the published study's flags: data-parallel attention goes at dp 1, an all-to-all backend sets ep-size, a chunk is divided.
func TestResolutionsOfThePublishedSpace(t *testing.T) {
	def := space.Default()
	for _, c := range []struct {
		set  []any
		want map[string]space.Value // by flag
		ids  string
	}{
		{[]any{"tp-size", 8, "dp-size", 1, "enable-dp-attention", true}, map[string]space.Value{"enable-dp-attention": def, "dp-size": def}, "sglang_dp_one sglang_default"},
		{[]any{"tp-size", 8, "dp-size", 8, "enable-dp-attention", true}, map[string]space.Value{"enable-dp-attention": space.Bool(true)}, ""},
		{[]any{"tp-size", 8, "moe-a2a-backend", "deepep", "ep-size", 4}, map[string]space.Value{"ep-size": space.Int(8)}, "sglang_a2a_ep"},
		{[]any{"tp-size", 8, "moe-a2a-backend", "deepep", "ep-size", def}, map[string]space.Value{"ep-size": space.Int(8)}, "sglang_a2a_ep"},
		{[]any{"tp-size", 8, "moe-a2a-backend", "none", "ep-size", 4}, map[string]space.Value{"ep-size": space.Int(4), "moe-a2a-backend": def}, "sglang_default"},
	} {
		sp, p := world(t, "sglang", h200, engine.Model{}, 9216, flags(c.set...))
		look := sp.Resolved(p)
		for flag, want := range c.want {
			if got, _ := look("sglang." + flag); got != want {
				t.Errorf("%v: %s is resolved to %v, want %v", c.set, flag, got, want)
			}
		}
		if got := strings.Join(sp.Resolutions(p), " "); got != c.ids {
			t.Errorf("%v: %q bite, want %q", c.set, got, c.ids)
		}
	}
	// The division of the chunk shows in what the engine reports, and is no difference from what was asked.
	d := find(t, "sglang")
	asked := flags("tp-size", 8, "dp-size", 8, "enable-dp-attention", true, "chunked-prefill-size", 8192)
	if x := d.Differences(asked, d.Effective([]byte(`{"tp_size": 8, "dp_size": 8, "enable_dp_attention": true, "chunked_prefill_size": 1024}`))); len(x) > 0 {
		t.Errorf("%v", x)
	}
	look := func(name string) (space.Value, bool) {
		for _, s := range asked {
			if name == "sglang."+s.Flag {
				return s.Value, true
			}
		}
		return space.Value{}, false
	}
	if w := d.Warned(h200, look); len(w) != 1 || w[0].ID != "sglang_chunk_dp" {
		t.Errorf("warned: %v", w)
	}
}
