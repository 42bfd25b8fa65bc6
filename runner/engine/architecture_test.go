package engine

import (
	"strings"
	"testing"
)

func TestServes(t *testing.T) {
	for _, c := range []struct {
		engine, architecture, version string
		want                          Presence
	}{
		{"vllm", "LlamaForCausalLM", "", Present}, {"sglang", "LlamaForCausalLM", "0.4.0", Present}, {"sglang", "LlamaForCausalLM", "99.0.0", Present},
		{"vllm", "Qwen3MoeForCausalLM", "0.8.0", Absent}, {"vllm", "Qwen3MoeForCausalLM", "0.9.2", Present},
		{"sglang", "GlmMoeDsaForCausalLM", "0.5.3", Absent}, {"sglang", "GlmMoeDsaForCausalLM", "", Present},
		{"vllm", "NobodysForCausalLM", "", Absent}, {"vllm", "NobodysForCausalLM", "99.0.0", NotKnown}, {"vllm", "", "", NotKnown}, {"vllm", "LlamaForCausalLM", "main", NotKnown},
		{"vllm", "MllamaForConditionalGeneration", "", Absent}, {"sglang", "MllamaForConditionalGeneration", "", Present},
	} {
		d, _ := Find(c.engine)
		if got := d.Serves(c.architecture, c.version); got != c.want {
			t.Errorf("%s %s %s: %d, want %d", c.engine, c.version, c.architecture, got, c.want)
		}
	}
}

func TestLacksArchitectureSaysWhichReleasesHaveIt(t *testing.T) {
	d, _ := Find("vllm")
	for _, c := range [][3]string{
		{"Qwen3MoeForCausalLM", "0.8.0", "vLLM 0.8.0 has no code of its own for Qwen3MoeForCausalLM (releases that have it: since 0.9.0 (0.8.0 lacks it))"},
		{"NobodysForCausalLM", "", "(no release that was read has any)"}, {"LlamaForCausalLM", "", ""},
	} {
		if got := d.LacksArchitecture(c[0], c[1]); !strings.Contains(got, c[2]) || (got == "") != (c[2] == "") {
			t.Errorf("%s: %q", c[0], got)
		}
	}
}
