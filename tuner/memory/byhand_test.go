package memory

import (
	"math"
	"strings"
	"testing"
)

// mixture is a small mixture of experts whose groups are worked out by hand, in millions of bytes at 16 bits:
//
//	attention   10 layers x 2 (queries, output) x 1000 x 1000 x 2 = 40
//	key, value  10 x 2 x 1000 x 500 x 2                          = 20
//	experts     10 x 10 x 3 x 1000 x 100 x 2                     = 60
//	shared      10 x 1 x 3 x 1000 x 100 x 2                      = 6
//	embedding, head  2000 x 1000 x 2                             = 4 each
//	norms and routers  (10 x 2 x 1000 + 10 x 1000 x 10) x 2      = 0.24
const mixture = `{"model_type": "qwen3_moe", "num_hidden_layers": 10, "hidden_size": 1000, "vocab_size": 2000, "num_attention_heads": 10, "num_key_value_heads": 5, "head_dim": 100,
	"num_experts": 10, "moe_intermediate_size": 100, "n_shared_experts": 1EXTRA}`

func TestWeightsPerGPUByHand(t *testing.T) {
	for _, c := range []struct {
		name, extra string
		setup       Setup
		want        float64 // million bytes at the least, before the two hundredths that are taken off
	}{
		{"whole", ``, Setup{Engine: "vllm"}, 40 + 20 + 60 + 6 + 4 + 4 + 0.24},
		{"tied embeddings", `, "tie_word_embeddings": true`, Setup{Engine: "vllm"}, 40 + 20 + 60 + 6 + 4 + 0.24},
		{"tp 2", ``, Setup{Engine: "vllm", TP: 2}, 20 + 10 + 30 + 3 + 2 + 2 + 0.24},
		{"tp 10: two GPUs for each KV head", ``, Setup{Engine: "vllm", TP: 10}, 4 + 4 + 6 + 0.6 + 0.4 + 0.4 + 0.24},
		{"tp 2, pp 2: a stage without embedding or head", ``, Setup{Engine: "vllm", TP: 2, PP: 2}, (20 + 10 + 30 + 3 + 0.24) / 2},
		{"vllm tp 2, dp 2: experts over four GPUs", ``, Setup{Engine: "vllm", TP: 2, DP: 2}, 20 + 10 + 15 + 3 + 2 + 2 + 0.24},
		{"vllm tp 2, dp 2, ep: three of ten experts on a GPU", ``, Setup{Engine: "vllm", TP: 2, DP: 2, EP: true}, 20 + 10 + 18 + 3 + 2 + 2 + 0.24},
		{"sglang tp 10, dp 5 inside: attention over two, experts over ten", ``, Setup{Engine: "sglang", TP: 10, DP: 5, Inside: true}, 20 + 10 + 6 + 0.6 + 0.4 + 0.4 + 0.24},
		{"fp8", `, "quantization_config": {"quant_method": "fp8"}`, Setup{Engine: "vllm"}, 20 + 10 + 30 + 3 + 4 + 4 + 0.24},
		{"fp8, attention left", `, "quantization_config": {"quant_method": "fp8", "ignored_layers": ["re:.*self_attn.*", "lm_head"]}`, Setup{Engine: "vllm"}, 40 + 20 + 30 + 3 + 4 + 4 + 0.24},
		{"fp8, attention left in half of the layers", `, "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.k_proj",
			"model.layers.1.self_attn", "model.layers.2.self_attn", "model.layers.3.self_attn", "model.layers.4.self_attn", "model.visual.blocks.5.self_attn"]}`,
			Setup{Engine: "vllm"}, 30 + 15 + 30 + 3 + 4 + 4 + 0.24},
		{"compressed-tensors, 8 bits", `, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}}`,
			Setup{Engine: "vllm"}, 20 + 10 + 30 + 3 + 4 + 4 + 0.24},
		{"gptq of 8 bits and a 16-bit scale for 128", `, "quantization_config": {"quant_method": "gptq", "bits": 8}`, Setup{Engine: "vllm"}, 1.02*(20+10+30+3) + 4 + 4 + 0.24},
		{"awq", `, "quantization_config": {"quant_method": "awq", "bits": 4}`, Setup{Engine: "vllm"}, 1.04*(10+5+15+1.5) + 4 + 4 + 0.24},
		{"compressed-tensors, integers of 4 bits", `, "quantization_config": {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}}}`,
			Setup{Engine: "vllm"}, 1.04*(10+5+15+1.5) + 4 + 4 + 0.24},
		{"nvfp4, a byte for 16: and not sure of it", `, "quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}`, Setup{Engine: "vllm"}, 0.9 * (1.125*(10+5+15+1.5) + 4 + 4 + 0.24)},
		{"narrowed while loading", ``, Setup{Engine: "vllm", Narrowed: 1}, 20 + 10 + 30 + 3 + 4 + 4 + 0.24},
	} {
		m := read(t, strings.Replace(mixture, "EXTRA", c.extra, 1))
		got := WeightsPerGPU(m, c.setup)
		if low := got.Low * GiB / 1e6; math.Abs(low-0.98*c.want) > 0.03 {
			t.Errorf("%s: %.3f million bytes at the least, want %.3f", c.name, low, 0.98*c.want)
		}
		if got.High < got.Low {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestHeadsThatAreTiedByDefault: Gemma's config.json does not say that the head is the embedding again; a Llama's would.
func TestHeadsThatAreTiedByDefault(t *testing.T) {
	for kind, tied := range map[string]bool{"gemma3_text": true, "gemma2": true, "ernie4_5": true, "llama": false, "qwen3": false} {
		if w := read(t, strings.Replace(llama8, `"llama"`, `"`+kind+`"`, 1)).Weights; (w.Head == 0) != tied {
			t.Errorf("%s: a head of %d bytes", kind, w.Head)
		}
	}
}

// TestHybridByHand: one layer in four has a KV cache, of 2 heads x (100 + 100) values of 2 bytes = 800 bytes a token; three keep a state of
// 4 x 100 x 100 values and a window of 3 x (2 x 200 + 400) of 2 bytes, whatever the length.
func TestHybridByHand(t *testing.T) {
	m := read(t, `{"model_type": "qwen3_next", "num_hidden_layers": 4, "hidden_size": 1000, "vocab_size": 2000, "num_attention_heads": 10, "num_key_value_heads": 2, "head_dim": 100,
		"intermediate_size": 100, "full_attention_interval": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 100, "linear_value_head_dim": 100,
		"linear_conv_kernel_dim": 4}`)
	if m.LinearLayers != 3 || m.FullLayers != 1 || !m.KnownCache {
		t.Fatalf("%+v", m)
	}
	s := Setup{Engine: "vllm"}
	if got, want := TokenBytes(m, s), 800.0; got != want {
		t.Errorf("a token of %.0f bytes, want %.0f", got, want)
	}
	const state = 3 * (4*100*100 + 3*(2*200+400)) * 2.0
	for _, tokens := range []int{1, 1000, 100000} {
		if got, want := RequestGiB(m, s, tokens).Low*GiB, 800*float64(tokens)+state; math.Abs(got-want) > 1 {
			t.Errorf("%d tokens: %.0f bytes, want %.0f", tokens, got, want)
		}
	}
	// Over two GPUs each has a KV head and half of the state; over four there is still a whole KV head.
	if got, want := RequestGiB(m, Setup{Engine: "vllm", TP: 2}, 1000).Low*GiB, 400*1000+state/2; math.Abs(got-want) > 1 {
		t.Errorf("tp 2: %.0f bytes, want %.0f", got, want)
	}
	// 1000 x (2 x 200 + 3 x 400 + 2 x 4) parameters of a linear layer; queries with their gate, and output: 3 x 1000 x 1000.
	if got, want := m.Weights.Attention, int64(2*(3*1000*(400+1200+8)+3*1000*1000)); got != want {
		t.Errorf("attention of %d bytes, want %d", got, want)
	}
}

// TestCacheTypesByHand: latent attention of 512 + 64 values on every GPU alike, by engine and type; the indexer's keys of 128 bytes and a scale of 4.
func TestCacheTypesByHand(t *testing.T) {
	m := read(t, glm)
	for _, c := range []struct {
		setup Setup
		want  float64
	}{
		{Setup{Engine: "vllm", TP: 8}, 78 * (576*2 + 132)},
		{Setup{Engine: "vllm", TP: 8, PP: 2}, 39 * (576*2 + 132)},
		{Setup{Engine: "vllm", TP: 8, CacheType: "fp8"}, 78 * (656 + 132)},
		{Setup{Engine: "sglang", TP: 8, DP: 8, Inside: true, CacheType: "fp8_e4m3"}, 78 * (576 + 132)},
	} {
		if got := TokenBytes(m, c.setup); got != c.want {
			t.Errorf("%+v: %.0f bytes, want %.0f", c.setup, got, c.want)
		}
	}
}
