package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/space"
)

func TestEffectiveConfigurationOfVLLM(t *testing.T) {
	d := find(t, "vllm")
	raw, err := os.ReadFile("testdata/vllm/server_info.json")
	if err != nil {
		t.Fatal(err)
	}
	got := d.Effective(raw)
	for flag, want := range map[string]any{
		"tensor-parallel-size": 1, "max-num-seqs": 128, "max-num-batched-tokens": 2048, "gpu-memory-utilization": 0.92, "block-size": 128, "kv-cache-dtype": "auto",
		"enable-prefix-caching": true, "enable-chunked-prefill": true, "async-scheduling": false, "scheduling-policy": "fcfs", "performance-mode": "balanced",
		"optimization-level": 2, "compilation-config.cudagraph_mode": "NONE", "compilation-config.mode": 2, "eplb-config.window_size": 1000, "enforce-eager": false,
		"moe-backend": "auto", "all2all-backend": "allgather_reducescatter", "kv-cache-memory-bytes": 1073741824, "stream-interval": 1, "dtype": "bfloat16",
	} {
		if v, ok := got[flag]; !ok || fmt.Sprint(v) != fmt.Sprint(want) {
			t.Errorf("%s is %v (%v), want %v", flag, v, ok, want)
		}
	}
	if v, ok := got["attention-backend"]; ok {
		t.Errorf("an unset attention-backend is %v", v)
	}
}

// The configuration that vLLM prints at its start says the same, as far as the line goes.
func TestEffectiveConfigurationFromTheLog(t *testing.T) {
	d := find(t, "vllm")
	text, err := os.ReadFile("testdata/logs/healthy/vllm_startup_warm.log")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]space.Value
	for line := range strings.Lines(string(text)) {
		if raw := d.LoggedConfig(line); raw != nil {
			got = d.Effective(raw)
		}
	}
	for flag, want := range map[string]any{"tensor-parallel-size": 1, "enforce-eager": false, "kv-cache-dtype": "auto", "enable-prefix-caching": true, "dtype": "bfloat16", "trust-remote-code": false} {
		if v, ok := got[flag]; !ok || fmt.Sprint(v) != fmt.Sprint(want) {
			t.Errorf("%s is %v (%v), want %v", flag, v, ok, want)
		}
	}
	full := `config: model='a, b', compilation_config={'mode': <CompilationMode.VLLM_COMPILE: 3>, 'cudagraph_mode': <CUDAGraphMode.FULL_AND_PIECEWISE: (2, 1)>, 'passes': {'a': 1}}, max_num_seqs=12, kv_cache_dtype=fp8, enforce_ea`
	got = d.Effective(d.LoggedConfig("LLM engine (v1) with " + full))
	for flag, want := range map[string]string{"compilation-config.cudagraph_mode": "FULL_AND_PIECEWISE", "max-num-seqs": "12", "kv-cache-dtype": "fp8"} {
		if v := got[flag]; v.String() != want {
			t.Errorf("%s is %v, want %s", flag, v, want)
		}
	}
	s := find(t, "sglang")
	got = s.Effective(s.LoggedConfig(`[2025-10-14 09:11:02] server_args=ServerArgs(model_path='acme/chat-8b', mem_fraction_static=0.88, attention_backend='fa3', enable_dp_attention=True, cuda_graph_bs=[1, 2, 4], dp_size=8, chunked_prefill_size=1024, schedule_conservativeness=0.3, tp_size=8, host=None)`))
	for flag, want := range map[string]string{"mem-fraction-static": "0.88", "attention-backend": "fa3", "enable-dp-attention": "true", "dp-size": "8", "chunked-prefill-size": "8192", "schedule-conservativeness": "1.0", "tp-size": "8"} {
		if v := got[flag]; v.String() != want {
			t.Errorf("sglang's %s is %v, want %s", flag, v, want)
		}
	}
	if _, ok := got["host"]; ok {
		t.Error("None is a value")
	}
	for _, line := range []string{"", "server_args=ServerArgs(", "x server_args=ServerArgs(a='", ")))", " with config: {{{", "server_args=ServerArgs()"} {
		if raw := s.LoggedConfig(line); raw != nil && len(s.Effective(raw)) > 0 {
			t.Errorf("%q is read as %s", line, raw)
		}
	}
}

func TestDifferences(t *testing.T) {
	s := find(t, "sglang")
	effective := s.Effective([]byte(`{"tp_size": 8, "dp_size": 1, "enable_dp_attention": false, "ep_size": 8, "kv_cache_dtype": "fp8_e4m3", "mem_fraction_static": 0.85, "attention_backend": "triton", "page_size": 64}`))
	asked := flags("tp-size", 8, "enable-dp-attention", true, "ep-size", 4, "kv-cache-dtype", "auto", "mem-fraction-static", 0.85, "attention-backend", "FA3", "page-size", space.Default(), "moe-a2a-backend", "deepep")
	var said []string
	for _, x := range s.Differences(asked, effective) {
		said = append(said, x.String())
	}
	want := "asked enable-dp-attention, engine runs without; asked ep-size=4, engine runs 8; asked attention-backend=FA3, engine runs triton"
	if got := strings.Join(said, "; "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	v := find(t, "vllm")
	if x := v.Differences(flags("max-model-len", -1, "kv-cache-dtype", "fp8", "max_num_seqs", 64), v.Effective([]byte(`{"vllm_config": {"model_config": {"max_model_len": 4096}, "cache_config": {"cache_dtype": "fp8"}, "scheduler_config": {"max_num_seqs": 64}}}`))); len(x) > 0 {
		t.Errorf("nothing differs, yet %v", x)
	}
	for _, raw := range []string{"", "null", "[]", `{"vllm_config": "model='x'"}`, `{"a": {"b": {"c": [1, {}]}}}`, `{"tp_size": 1e300}`} {
		v.Effective([]byte(raw))
		s.Effective([]byte(raw))
	}
	_ = engine.Setting{}
}
