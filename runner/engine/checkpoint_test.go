package engine_test

import (
	"math"
	"strings"
	"testing"

	"autotune/runner/engine"
)

// TestReadCheckpointKnowsTheSizeOfPublishedModels holds the arithmetic against the parameter counts that the models' makers give.
func TestReadCheckpointKnowsTheSizeOfPublishedModels(t *testing.T) {
	for _, c := range []struct {
		config   string
		billions float64 // parameters as published
		bits     float64 // of a weight in the layers
		kind     string
	}{
		{`{"architectures":["LlamaForCausalLM"],"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256,"torch_dtype":"bfloat16"}`,
			8.03, 16, "dense"},
		{`{"hidden_size":8192,"num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"vocab_size":128256}`, 70.6, 16, "dense"},
		{`{"hidden_size":2048,"num_hidden_layers":48,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,"moe_intermediate_size":768,"num_experts":128,"vocab_size":151936}`,
			30.5, 16, "mixture of 128 experts"},
		{`{"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"num_local_experts":8,"vocab_size":32000,"sliding_window":null}`,
			46.7, 16, "mixture of 8 experts"},
		{`{"hidden_size":7168,"num_hidden_layers":61,"num_attention_heads":128,"num_key_value_heads":128,"intermediate_size":18432,"moe_intermediate_size":2048,"n_routed_experts":256,"n_shared_experts":1,
			"first_k_dense_replace":3,"kv_lora_rank":512,"q_lora_rank":1536,"qk_rope_head_dim":64,"qk_nope_head_dim":128,"v_head_dim":128,"vocab_size":129280,"num_nextn_predict_layers":1,"quantization_config":{"quant_method":"fp8"}}`,
			671, 8, "mixture of 256 experts, latent attention (MLA)"},
	} {
		got, err := engine.ReadCheckpoint([]byte(c.config))
		if err != nil {
			t.Fatal(err)
		}
		want := c.billions * 1e9 * c.bits / 8 / (1 << 30)
		if math.Abs(got.WeightsGiB/want-1) > 0.02 || got.Kind() != c.kind || got.Guessed {
			t.Errorf("%.1f billion: %.1f GiB, want %.1f; %s", c.billions, got.WeightsGiB, want, got.Kind())
		}
	}
}

// TestReadCheckpointRefusesWhatIsNone, and says so at once; what it reads of layers is in words.
func TestReadCheckpointRefusesWhatIsNone(t *testing.T) {
	for types, want := range map[string]string{`"linear_attention","full_attention"`: "linear attention in some layers", `"sliding_attention","full_attention"`: "a sliding window in some layers", ``: ""} {
		c, err := engine.ReadCheckpoint([]byte(`{"hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":100,"sliding_window":8,"layer_types":[` + types + `]}`))
		if err != nil || c.Hybrid != want {
			t.Errorf("%s: %q, %v", types, c.Hybrid, err)
		}
	}
	for _, text := range []string{"", "{", "[]", "{}", `{"hidden_size": "x"}`, `{"hidden_size":64,"num_hidden_layers":0,"num_attention_heads":4}`} {
		if _, err := engine.ReadCheckpoint([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "not ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestGuessCheckpointReadsNames(t *testing.T) {
	for name, want := range map[string]struct {
		kind string
		gib  float64
	}{
		"Qwen/Qwen3-8B":                           {"", 14.9},
		"Qwen/Qwen3-235B-A22B-FP8":                {"mixture of experts", 218.9},
		"deepseek-ai/DeepSeek-R1-0528":            {"mixture of experts, latent attention (MLA)", 624.9},
		"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": {"", 13.0},
		"zai-org/GLM-5.2-FP8":                     {"mixture of experts, latent attention (MLA)", 692.9},
		"openai/gpt-oss-120b":                     {"mixture of experts", 62.9},
		"mistralai/Mixtral-8x7B-Instruct-v0.1":    {"mixture of experts", 87.5},
		"someone/model":                           {"", 0},
		"":                                        {"", 0},
	} {
		c := engine.GuessCheckpoint(name)
		if c.Kind() != want.kind || math.Abs(c.WeightsGiB-want.gib) > 0.1 || !c.Guessed {
			t.Errorf("%s: %q, %.1f GiB, want %+v", name, c.Kind(), c.WeightsGiB, want)
		}
	}
}
