package memory

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func read(t *testing.T, config string) Model {
	t.Helper()
	m, err := ReadConfig([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const (
	llama8  = `{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "vocab_size": 128256, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "max_position_embeddings": 8192}`
	llama70 = `{"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "vocab_size": 128256, "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672, "max_position_embeddings": 8192}`
	qwen8   = `{"model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096, "vocab_size": 151936, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288}`
	seekV3  = `{"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168, "vocab_size": 129280, "num_attention_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "num_nextn_predict_layers": 1, "quantization_config": {"quant_method": "fp8"}}`
	gptOSS  = `{"model_type": "gpt_oss", "num_hidden_layers": 36, "hidden_size": 2880, "vocab_size": 201088, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 128, "sliding_window": 128, "layer_types": [%s], "quantization_config": {"quant_method": "mxfp4"}}`
)

// TestTokenBytes holds the cache of a token against sizes worked out by hand.
func TestTokenBytes(t *testing.T) {
	for _, c := range []struct {
		name, config string
		setup        Setup
		want         float64
	}{
		{"Llama-3-8B", llama8, Setup{Engine: "vllm", TP: 1}, 131072},
		{"Llama-3-8B on 2", llama8, Setup{Engine: "vllm", TP: 2}, 65536},
		{"Llama-3-8B, more GPUs than KV heads", llama8, Setup{Engine: "vllm", TP: 16}, 16384},
		{"Llama-3-8B, two stages", llama8, Setup{Engine: "vllm", TP: 1, PP: 2}, 65536},
		{"Llama-3-70B on 8", llama70, Setup{Engine: "vllm", TP: 8}, 40960},
		{"Llama-3-70B on 8, fp8", llama70, Setup{Engine: "sglang", TP: 8, CacheType: "fp8_e5m2"}, 20480},
		{"Llama-3-70B, attention in 4 ranks of 2", llama70, Setup{Engine: "sglang", TP: 8, DP: 4, Inside: true}, 163840},
		{"Qwen3-8B", qwen8, Setup{Engine: "sglang", TP: 1}, 147456},
		{"DeepSeek-V3: not divided", seekV3, Setup{Engine: "sglang", TP: 8}, 70272},
		{"DeepSeek-V3 in ranks", seekV3, Setup{Engine: "sglang", TP: 8, DP: 8, Inside: true}, 70272},
		{"DeepSeek-V3 with its draft", seekV3, Setup{Engine: "vllm", TP: 8, Drafts: true}, 70272 * 62 / 61},
		{"DeepSeek-V3, context split", seekV3, Setup{Engine: "vllm", TP: 8, DCP: 4}, 70272 / 4},
	} {
		if got := TokenBytes(read(t, c.config), c.setup); got != c.want {
			t.Errorf("%s: %.0f, want %.0f", c.name, got, c.want)
		}
	}
}

// TestWindowsStopGrowing: layers with a window keep no more of a long request than of a short one.
func TestWindowsStopGrowing(t *testing.T) {
	types := strings.Repeat(`"sliding_attention", "full_attention", `, 18)
	m := read(t, fmt.Sprintf(gptOSS, strings.TrimSuffix(types, ", ")))
	if m.WindowLayers != 18 || m.FullLayers != 18 || m.Window != 128 {
		t.Fatalf("%+v", m)
	}
	layer := 2 * 8 * 64 * 2.0
	if got, want := RequestGiB(m, Setup{Engine: "vllm", TP: 1}, 1000).Low*GiB, 18*layer*1000+18*layer*128; got != want {
		t.Errorf("%.0f, want %.0f", got, want)
	}
}

// TestWeights against parameter counts as published: 8.03 and 70.6 billion, 671 with experts of 8 bits, 117 with experts of 4.25.
func TestWeights(t *testing.T) {
	for _, c := range []struct {
		name, config string
		want         float64 // billions of bytes
	}{
		{"Llama-3-8B", llama8, 16.06}, {"Llama-3-70B", llama70, 141.1}, {"Qwen3-8B", qwen8, 16.38},
		{"DeepSeek-V3", seekV3, 671 + 1.9}, {"gpt-oss-120b", fmt.Sprintf(gptOSS, ""), 65.2},
	} {
		w := read(t, c.config).Weights
		if got := float64(w.Total()-w.Draft) / 1e9; got < 0.99*c.want || got > 1.01*c.want {
			t.Errorf("%s: %.2f GB, want %.2f", c.name, got, c.want)
		}
	}
}

// TestMoreOfAFlagNeedsMore: what a plan says is ordered as memory is, for any model and setup.
func TestMoreOfAFlagNeedsMore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...int) int { return of[r.IntN(len(of))] }
	models := []Model{read(t, llama8), read(t, llama70), read(t, qwen8), read(t, seekV3), read(t, fmt.Sprintf(gptOSS, ""))}
	for range 2000 {
		m := models[r.IntN(len(models))]
		s := Setup{Engine: []string{"vllm", "sglang"}[r.IntN(2)], GPUs: 16, GiB: 141, TP: pick(1, 2, 4, 8), PP: pick(1, 2), DP: 1, EP: r.IntN(2) == 0, Share: 0.5 + r.Float64()/2,
			Chunk: pick(512, 2048, 8192, 32768), Sequences: pick(16, 256), GraphMax: pick(0, 256, 512), Context: 4096, Longest: pick(0, 1000, 4000)}
		if s.Engine == "sglang" && r.IntN(2) == 0 {
			s.DP, s.Inside = s.TP, s.TP > 1
		}
		e := Plan(m, s)
		room, ok := e.Headroom()
		if !ok {
			t.Fatalf("%+v: %+v", s, e)
		}
		for _, sum := range e.Sums {
			for _, term := range sum.Terms {
				if term.GiB.Low < 0 || term.GiB.Low > term.GiB.High {
					t.Fatalf("%+v: %+v", s, term)
				}
			}
		}
		if e.Tokens.Low < 0 || e.Tokens.Low > e.Tokens.High {
			t.Fatalf("%+v: %+v", s, e.Tokens)
		}
		chunk, split, narrow := s, s, s
		chunk.Chunk *= 2
		split.TP *= 2
		narrow.CacheType = "fp8"
		if less, _ := Plan(m, chunk).Headroom(); less > room {
			t.Errorf("%+v: a larger chunk leaves %.2f, not %.2f", s, less, room)
		}
		if a, b := WeightsPerGPU(m, split), WeightsPerGPU(m, s); !s.Inside && (a.Low > b.Low || a.High > b.High) {
			t.Errorf("%+v: more GPUs hold more each: %v, %v", s, a, b)
		}
		if more := Plan(m, narrow).Tokens; more.Low < e.Tokens.Low || more.High < e.Tokens.High {
			t.Errorf("%+v: a narrower cache holds fewer tokens: %v, %v", s, more, e.Tokens)
		}
		if e.Answer == Fits && room < 0 || e.Answer == Cannot && room > 0 {
			t.Errorf("%+v: %s with %.2f GiB of headroom", s, e.Answer, room)
		}
	}
}

// FuzzReadConfig: no text of a config.json, however absurd, panics or makes a plan without an answer.
func FuzzReadConfig(f *testing.F) {
	for _, seed := range []string{llama8, seekV3, fmt.Sprintf(gptOSS, `"sliding_attention"`), `{"text_config": {"text_config": {}}}`, `{"num_hidden_layers": 1e300}`, `[]`, `{"quantization_config": 5}`,
		`{"num_hidden_layers": 1, "hidden_size": 1, "vocab_size": 1, "num_attention_heads": 3, "linear_num_value_heads": 2147483647, "linear_key_head_dim": 2147483647, "linear_value_head_dim": 2147483647, "full_attention_interval": 2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ReadConfig(text)
		if err != nil {
			return
		}
		for _, engine := range []string{"vllm", "sglang"} {
			if e := Plan(m, Setup{Engine: engine, GPUs: 8, GiB: 80, TP: 2, DP: 2, Inside: engine == "sglang", Share: 0.9, Chunk: 8192, Longest: 9000}); e.Answer == "" {
				t.Errorf("%s: no answer", text)
			}
		}
	})
}

func TestMemoryOf(t *testing.T) {
	for name, want := range map[string]float64{"H200": 140.4, "NVIDIA H200": 140.4, "NVIDIA H100 80GB HBM3": 79.6, "NVIDIA H100 NVL": 93.6, "NVIDIA L40S": 45, "nvidia l4": 22.5, "NVIDIA A100-SXM4-80GB": 80, "H2000": 0, "": 0, "L": 0} {
		if got, ok := MemoryOf(name); got != want || ok != (want > 0) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
