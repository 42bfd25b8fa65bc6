package engine_test

import (
	"strings"
	"testing"

	"autotune/space"
)

func choices(t *testing.T, pairs ...any) space.Domain {
	t.Helper()
	var values []space.Value
	for _, p := range pairs {
		values = append(values, flags("x", p)[0].Value)
	}
	d, err := space.Choices(values...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCheckDomainSaysWhatIsAllowed(t *testing.T) {
	def := space.Default()
	ints := func(lo, hi int64) space.Domain {
		d, err := space.Ints(lo, hi, 1, false, def)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	floats := func(lo, hi float64) space.Domain {
		d, err := space.Floats(lo, hi, 0, false, def)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		engine, flag string
		domain       space.Domain
		want         string // part of the error; empty: all is well
	}{
		{"vllm", "max-num-seqs", ints(1, 1024), ""}, {"vllm", "max-num-seqs", ints(0, 1024), "vLLM takes no 0 for max-num-seqs: a whole number from 1 is allowed"},
		{"vllm", "max-num-seqs", choices(t, def, 2.5), "a whole number from 1 is needed"}, {"vllm", "max-num-seqs", choices(t, true), "vLLM takes no true"}, {"vllm", "max-num-seqs", choices(t, "many"), `takes no "many"`},
		{"vllm", "max-num-batched-tokens", choices(t, def, 16384, "16K"), "write 16384, so that one value has one spelling"},
		{"vllm", "max-model-len", choices(t, "auto"), "write -1"}, {"vllm", "max-model-len", choices(t, -1, 4096), ""},
		{"vllm", "gpu-memory-utilization", floats(0.5, 1), ""}, {"vllm", "gpu-memory-utilization", floats(0, 0.9), "above 0 and up to 1"}, {"vllm", "gpu-memory-utilization", floats(0.9, 1.1), "takes no 1."}, {"vllm", "gpu-memory-utilization", choices(t, 1), ""},
		{"vllm", "kv-cache-dtype", choices(t, "auto", "fp8"), ""}, {"vllm", "kv-cache-dtype", choices(t, "fp8_e4m4"), "(did you mean fp8_e4m3?)"},
		{"vllm", "enforce-eager", space.Bools(), ""}, {"vllm", "enforce-eager", choices(t, "on"), "it is a switch: true, false or default"},
		{"vllm", "optimization-level", ints(0, 3), ""}, {"vllm", "optimization-level", ints(0, 5), "takes no 4"},
		{"vllm", "speculative-config", choices(t, def, `{"a": 1}`), ""}, {"vllm", "speculative-config", choices(t, "{a"), "one JSON value is needed"},
		{"vllm", "compilation-config.cudagraph_mode", choices(t, "FULL", "NONE"), ""}, {"vllm", "compilation-config.cudagraph_mode", choices(t, "FULL_DECODE"), "did you mean FULL_DECODE_ONLY?"}, {"vllm", "compilation-config.a_new_key", choices(t, "FULL", 3), ""}, {"vllm", "speculative-config.num_speculative_tokens", choices(t, 0), "from 1 is allowed"}, {"vllm", "attention-backend", choices(t, "A_PLUGIN"), ""},
		{"vllm", "cudagraph-capture-sizes", choices(t, "1 2 4"), ""}, {"vllm", "cudagraph-capture-sizes", choices(t, "1 x"), "invalid int value: 'x'"},
		{"vllm", "from-the-future", choices(t, "anything", 1, true), ""},
		{"sglang", "deepep-mode", choices(t, "auto", "fast"), "allowed are auto, normal, low_latency"}, {"sglang", "chunked-prefill-size", choices(t, def, -1, 8192), ""},
		{"sglang", "deepep-config", choices(t, "/a/file.json"), ""},
		{"sglang", "max-running-requests", choices(t, 8).Allowing(space.String("lots")), `takes no "lots"`},
	} {
		err := find(t, c.engine).CheckDomain(c.flag, c.domain)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v, want %q", c.engine, c.flag, err, c.want)
		}
	}
}
