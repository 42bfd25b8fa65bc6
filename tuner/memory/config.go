package memory

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// config is config.json as it lies: keys that are missing, null or of another type than expected read as 0.
type config map[string]any

// ReadConfig makes a Model of the text of a config.json, its weights computed from the geometry: see WithTensors for those of the files.
// The error says what is missing or absurd.
func ReadConfig(text []byte) (Model, error) {
	var whole config
	if err := json.Unmarshal(text, &whole); err != nil {
		return Model{}, fmt.Errorf("config.json is not a JSON object: %w", err)
	}
	return whole.model()
}

func (whole config) model() (Model, error) {
	c := whole.text()
	m := Model{
		Kind: c.word("model_type"), Layers: c.int("num_hidden_layers", "n_layer", "num_layers"), Hidden: c.int("hidden_size", "n_embd", "d_model"),
		Vocab: c.int("vocab_size"), Heads: c.int("num_attention_heads", "n_head"), Context: c.int("max_position_embeddings", "model_max_length", "n_positions"),
		Experts: c.int("n_routed_experts", "num_experts", "num_local_experts"), DraftLayers: c.int("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers"),
		Multimodal: whole["vision_config"] != nil || whole["audio_config"] != nil,
	}
	if names, ok := whole["architectures"].([]any); ok && len(names) > 0 {
		m.Architecture, _ = names[0].(string)
	}
	for _, need := range []struct {
		key   string
		value int
	}{{"num_hidden_layers", m.Layers}, {"hidden_size", m.Hidden}, {"num_attention_heads", m.Heads}, {"vocab_size", m.Vocab}} {
		if need.value <= 0 {
			return Model{}, fmt.Errorf("config.json has no %s", need.key)
		}
	}
	if m.Layers > 10_000 || m.Hidden > 1<<20 || m.Vocab > 1<<28 || m.Heads > 1<<16 || m.Experts > 1<<16 {
		return Model{}, fmt.Errorf("config.json describes no model: %d layers, hidden size %d, vocabulary %d, %d heads, %d experts", m.Layers, m.Hidden, m.Vocab, m.Heads, m.Experts)
	}
	c.attention(&m)
	c.linear(&m)
	c.layers(&m)
	m.LatentUp = int64(m.FullLayers) * c.latentUp(m)
	m.KnownCache = slices.Contains(knownKinds, m.Kind) && c["compress_ratios"] == nil
	m.Weights = c.weights(m, whole)
	return m, nil
}

// knownKinds are the model types whose cache is as this package computes it.
var knownKinds = strings.Fields(`llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text qwen2_vl_text
	qwen2_5_vl_text qwen3_vl_text qwen3_vl_moe_text deepseek_v2 deepseek_v3 deepseek_v32 kimi_k2 glm glm4 glm4_moe glm_moe_dsa gpt_oss gemma2 gemma3 gemma3_text
	phi3 olmo2 granite granitemoe ernie4_5 ernie4_5_moe seed_oss exaone4 minimax_m2`)

// text is the part that describes the language model: multimodal checkpoints nest it.
func (whole config) text() config {
	for _, key := range []string{"text_config", "llm_config", "language_config", "thinker_config"} {
		inner, ok := whole[key].(map[string]any)
		if !ok {
			continue
		}
		c := config(inner).text()
		for _, outer := range []string{"quantization_config", "dtype", "torch_dtype", "tie_word_embeddings", "model_type"} {
			if c[outer] == nil && whole[outer] != nil {
				c[outer] = whole[outer]
			}
		}
		return c
	}
	return whole
}

func (c config) int(keys ...string) int {
	for _, k := range keys {
		if f, ok := c[k].(float64); ok && f >= 0 && f <= math.MaxInt32 {
			return int(f)
		}
	}
	return 0
}

func (c config) word(keys ...string) string {
	for _, k := range keys {
		if s, ok := c[k].(string); ok {
			return s
		}
	}
	return ""
}

func (c config) on(key string) bool { b, _ := c[key].(bool); return b }

func (c config) words(key string) []string {
	list, _ := c[key].([]any)
	var out []string
	for _, v := range list {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

// attention reads the shape of heads, or of the latent space.
func (c config) attention(m *Model) {
	m.KVHeads = c.int("num_key_value_heads", "num_kv_heads", "multi_query_group_num")
	if m.KVHeads == 0 {
		m.KVHeads = m.Heads
	}
	m.KeyDim = c.int("head_dim", "kv_channels")
	if m.KeyDim == 0 {
		m.KeyDim = m.Hidden / m.Heads
	}
	m.ValDim = m.KeyDim
	rank := c.int("kv_lora_rank")
	if rank == 0 {
		return
	}
	m.Latent = rank + c.int("qk_rope_head_dim")
	m.KVHeads, m.KeyDim, m.ValDim = 0, 0, 0
	if m.IndexDim = c.int("index_head_dim"); m.IndexDim == 0 {
		return
	}
	// Layers that reuse the choice of the one before have no indexer (vLLM's and SGLang's deepseek_v2: index_topk_freq, index_skip_topk_offset).
	freq, offset := max(1, c.int("index_topk_freq")), c.int("index_skip_topk_offset")
	if offset == 0 {
		offset = 1
	}
	for l := range m.Layers {
		if max(l-offset+1, 0)%freq == 0 {
			m.IndexLayers++
		}
	}
}

// linear reads the state that layers of linear attention keep of a request: gated delta nets, as Qwen3-Next and its heirs have them.
func (c config) linear(m *Model) {
	keys, values := c.int("linear_num_key_heads"), c.int("linear_num_value_heads")
	k, v := c.int("linear_key_head_dim"), c.int("linear_value_head_dim")
	m.State = int64(values) * int64(k) * int64(v)
	m.Conv = (2*int64(keys)*int64(k) + int64(values)*int64(v)) * int64(max(c.int("linear_conv_kernel_dim")-1, 0))
}

// layers counts the layers by what they keep of a request.
func (c config) layers(m *Model) {
	m.Window = c.int("sliding_window")
	if b, set := c["use_sliding_window"].(bool); set && !b {
		m.Window = 0
	}
	types := c.words("layer_types")
	if len(types) != m.Layers {
		types = c.layerTypes(*m)
	}
	for _, t := range types {
		switch {
		case t == "linear_attention":
			m.LinearLayers++
		case m.Window > 0 && (t == "sliding_attention" || t == "chunked_attention"):
			m.WindowLayers++
		default:
			m.FullLayers++
		}
	}
	m.FullLayers = max(0, m.FullLayers-c.int("num_kv_shared_layers"))
	m.State, m.Conv = m.State*int64(m.LinearLayers), m.Conv*int64(m.LinearLayers)
}

// layerTypes says what each layer is where the config has no list of it.
func (c config) layerTypes(m Model) []string {
	types := make([]string, m.Layers)
	every := c.int("full_attention_interval")
	pattern := c.int("sliding_window_pattern")
	if pattern == 0 && m.Kind == "gemma2" {
		pattern = 2
	}
	for l := range types {
		switch {
		case every > 0 && m.State > 0 && (l+1)%every != 0:
			types[l] = "linear_attention"
		case pattern > 1 && m.Window > 0 && (l+1)%pattern != 0, pattern == 0 && m.Window > 0 && m.Kind == "mistral":
			types[l] = "sliding_attention"
		}
	}
	return types
}

// Keys are the keys of a config.json that a spec may give by itself, sorted.
func Keys() []string {
	keys := strings.Fields(`model_type num_hidden_layers hidden_size vocab_size num_attention_heads num_key_value_heads head_dim v_head_dim intermediate_size
		moe_intermediate_size shared_expert_intermediate_size n_routed_experts num_experts num_local_experts n_shared_experts first_k_dense_replace decoder_sparse_step
		kv_lora_rank q_lora_rank qk_nope_head_dim qk_rope_head_dim index_head_dim index_n_heads index_topk_freq index_skip_topk_offset sliding_window
		sliding_window_pattern full_attention_interval linear_num_key_heads linear_num_value_heads linear_key_head_dim linear_value_head_dim linear_conv_kernel_dim
		attn_output_gate max_position_embeddings tie_word_embeddings dtype quant_method num_nextn_predict_layers mtp_num_hidden_layers total_size`)
	slices.Sort(keys)
	return keys
}
