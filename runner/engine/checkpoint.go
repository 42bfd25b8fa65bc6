package engine

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Checkpoint is what its config.json, or failing that its name, tells of a model. 0 and false are unknown.
type Checkpoint struct {
	Model
	Architecture string  // the class that serves it: Qwen3MoeForCausalLM
	Layers       int     // of the model without its draft
	Latent       bool    // multi-head latent attention: its cache is not divided by tensor parallelism
	Hybrid       string  // what some layers have in place of full attention; empty: all have that
	WeightBits   float64 // of a weight outside embeddings
	WeightsGiB   float64 // of the whole checkpoint, by arithmetic
	ExpertsGiB   float64 // of the routed experts among them
	Guessed      bool    // it was told from the name alone
}

func (c Checkpoint) isMoE() bool { return c.Experts > 1 }

// Kind is what sort of model it is, in words; empty when that is not known.
func (c Checkpoint) Kind() string {
	var parts []string
	switch {
	case c.isMoE() && c.Guessed:
		parts = append(parts, "mixture of experts")
	case c.isMoE():
		parts = append(parts, fmt.Sprintf("mixture of %d experts", c.Experts))
	case c.Dense:
		parts = append(parts, "dense")
	}
	if c.Latent {
		parts = append(parts, "latent attention (MLA)")
	}
	if c.Hybrid != "" {
		parts = append(parts, c.Hybrid)
	}
	return strings.Join(parts, ", ")
}

// config are the keys of a config.json that matter, some under several names.
type config struct {
	Architectures []string `json:"architectures"`
	Text          *config  `json:"text_config"`

	Hidden       int      `json:"hidden_size"`
	Layers       int      `json:"num_hidden_layers"`
	Heads        int      `json:"num_attention_heads"`
	KVHeads      int      `json:"num_key_value_heads"`
	HeadDim      int      `json:"head_dim"`
	ValueDim     int      `json:"v_head_dim"`
	Intermediate float64  `json:"intermediate_size"`
	MoEWidth     float64  `json:"moe_intermediate_size"`
	Routed       int      `json:"n_routed_experts"`
	Experts      int      `json:"num_experts"`
	LocalExperts int      `json:"num_local_experts"`
	Shared       int      `json:"n_shared_experts"`
	SharedWidth  float64  `json:"shared_expert_intermediate_size"`
	FirstDense   int      `json:"first_k_dense_replace"`
	Vocabulary   float64  `json:"vocab_size"`
	LoraKV       int      `json:"kv_lora_rank"`
	LoraQ        int      `json:"q_lora_rank"`
	Rope         int      `json:"qk_rope_head_dim"`
	NoRope       int      `json:"qk_nope_head_dim"`
	LayerTypes   []string `json:"layer_types"`
	Window       int      `json:"sliding_window"`
	FullEvery    int      `json:"full_attention_interval"`
	Context      int      `json:"max_position_embeddings"`
	DType        string   `json:"dtype"`
	TorchDType   string   `json:"torch_dtype"`
	Tied         bool     `json:"tie_word_embeddings"`
	Draft        int      `json:"num_nextn_predict_layers"`
	Quantization *struct {
		Method    string  `json:"quant_method"`
		Bits      float64 `json:"bits"`
		Algorithm string  `json:"quant_algo"`
		Groups    map[string]struct {
			Weights struct {
				Bits float64 `json:"num_bits"`
			} `json:"weights"`
		} `json:"config_groups"`
	} `json:"quantization_config"`
}

// ReadCheckpoint reads a model's config.json. The error is that it is none.
func ReadCheckpoint(text []byte) (Checkpoint, error) {
	var whole config
	if err := json.Unmarshal(text, &whole); err != nil {
		return Checkpoint{}, fmt.Errorf("not a model's config.json: %w", err)
	}
	c := whole
	if whole.Text != nil {
		c = *whole.Text
		if c.Quantization == nil {
			c.Quantization = whole.Quantization
		}
		c.DType, c.TorchDType, c.Architectures = orElse(c.DType, whole.DType), orElse(c.TorchDType, whole.TorchDType), whole.Architectures
	}
	if c.Hidden <= 0 || c.Layers <= 0 || c.Heads <= 0 {
		return Checkpoint{}, fmt.Errorf("not the config.json of a language model: hidden_size, num_hidden_layers or num_attention_heads is missing")
	}
	experts := max(c.Routed, c.Experts, c.LocalExperts)
	out := Checkpoint{Layers: c.Layers, Latent: c.LoraKV > 0, Hybrid: c.hybrid(), WeightBits: c.bits(),
		Model: Model{Heads: c.Heads, KVHeads: max(c.KVHeads, b2i(c.KVHeads == 0)*c.Heads), Hidden: c.Hidden, Experts: experts, ContextLen: c.Context, DraftLayers: c.Draft, Dense: experts <= 1}}
	if len(c.Architectures) > 0 {
		out.Architecture = c.Architectures[0]
	}
	weights, routed := c.weights(experts)
	out.WeightsGiB, out.ExpertsGiB = weights/(1<<30), routed/(1<<30)
	return out, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func orElse(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// hybrid names what some layers have in place of full attention.
func (c config) hybrid() string {
	for _, t := range c.LayerTypes {
		switch {
		case strings.Contains(t, "linear"), strings.Contains(t, "mamba"), strings.Contains(t, "ssm"):
			return "linear attention in some layers"
		case strings.Contains(t, "sliding"), strings.Contains(t, "chunked"):
			return "a sliding window in some layers"
		}
	}
	if c.FullEvery > 1 {
		return "linear attention in some layers"
	}
	return ""
}

// bits of a weight in the layers.
func (c config) bits() float64 {
	if q := c.Quantization; q != nil {
		name := strings.ToLower(q.Method + " " + q.Algorithm)
		for _, g := range q.Groups {
			if g.Weights.Bits > 0 {
				return g.Weights.Bits + b2f(g.Weights.Bits == 4)*0.5
			}
		}
		switch {
		case strings.Contains(name, "fp4"):
			return 4.5
		case q.Bits > 0:
			return q.Bits + b2f(q.Bits == 4)*0.5 // with its scales
		case strings.Contains(name, "fp8"), strings.Contains(name, "int8"):
			return 8
		}
	}
	if strings.Contains(orElse(c.DType, c.TorchDType), "float32") {
		return 32
	}
	return 16
}

func b2f(b bool) float64 { return float64(b2i(b)) }

// weights are the bytes of the checkpoint, and of its routed experts: attention, feed-forward and experts at the layers' width, embeddings at two bytes.
func (c config) weights(experts int) (whole, routed float64) {
	h, heads := float64(c.Hidden), float64(c.Heads)
	head := float64(max(c.HeadDim, b2i(c.HeadDim == 0)*c.Hidden/c.Heads))
	kv := float64(max(c.KVHeads, b2i(c.KVHeads == 0)*c.Heads))
	attention := h*heads*head*2 + 2*h*kv*head
	if c.LoraKV > 0 {
		rope, plain, value, rank := float64(c.Rope), float64(c.NoRope), float64(c.ValueDim), float64(c.LoraKV)
		query := h * heads * (plain + rope)
		if c.LoraQ > 0 {
			query = float64(c.LoraQ) * (h + heads*(plain+rope))
		}
		attention = query + h*(rank+rope) + rank*heads*(plain+value) + heads*value*h
	}
	layers, moe := float64(c.Layers), 0.0
	if experts > 1 {
		moe = layers - float64(c.FirstDense)
	}
	width := c.MoEWidth
	if width == 0 {
		width = c.Intermediate
	}
	shared := c.SharedWidth
	if shared == 0 {
		shared = float64(c.Shared) * width
	}
	routed = moe * 3 * h * float64(experts) * width * c.bits() / 8
	parameters := layers*attention + (layers-moe)*3*h*c.Intermediate + moe*3*h*shared
	embeddings := c.Vocabulary * h * (2 - b2f(c.Tied))
	return routed + parameters*c.bits()/8 + embeddings*2, routed
}

var (
	billions = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])([0-9]+(?:\.[0-9]+)?)b(?:$|[^a-z0-9])`)
	active   = regexp.MustCompile(`(?i)[-_]a[0-9]+(?:\.[0-9]+)?b`)
)

// families are published models whose names tell little: experts, parameters in billions, and the bits of a weight as published. The first that
// matches counts.
var families = []struct {
	name    string // how the name of the model begins
	latent  bool
	experts int
	billion float64
	bits    float64
}{
	{"deepseek-v3", true, 256, 671, 8},
	{"deepseek-r1", true, 256, 671, 8},
	{"deepseek-v2-lite", true, 64, 15.7, 16},
	{"deepseek-v2", true, 160, 236, 16},
	{"glm-5", true, 256, 744, 16},
	{"glm-4.5-air", false, 128, 106, 16},
	{"glm-4.5", false, 160, 355, 16},
	{"glm-4.6", false, 160, 355, 16},
	{"glm-4.7", false, 160, 355, 16},
	{"kimi-k2", true, 384, 1026, 8},
	{"minimax-m2", false, 256, 230, 8},
	{"gpt-oss", false, 128, 117, 4.5},
	{"mixtral-8x7b", false, 8, 47, 16},
	{"mixtral-8x22b", false, 8, 141, 16},
	{"llama-4-scout", false, 16, 109, 16},
	{"llama-4-maverick", false, 128, 400, 16},
}

// usualExperts is the share of a mixture's weights that lies in its routed experts: 0.92 in Qwen3.5-35B-A3B, 0.97 in DeepSeek-V3.
const usualExperts = 0.92

// GuessCheckpoint tells from a name what it can: experts (30B-A3B) and latent attention of well-known families, size and width of the weights.
func GuessCheckpoint(name string) Checkpoint {
	base := strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	c := Checkpoint{Guessed: true}
	size := 0.0
	if m := billions.FindStringSubmatch(base); m != nil {
		size, _ = strconv.ParseFloat(m[1], 64)
	}
	if active.MatchString(base) {
		c.Experts = 2 // how many is not known, only that there are some
	}
	for _, f := range families {
		if strings.HasPrefix(base, f.name) && !strings.Contains(base, "distill") {
			c.Experts, c.Latent, c.WeightBits = f.experts, f.latent, f.bits
			if size == 0 {
				size = f.billion
			}
			break
		}
	}
	switch {
	case strings.Contains(base, "fp8") || strings.Contains(base, "int8") || strings.Contains(base, "w8a8"):
		c.WeightBits = 8
	case strings.Contains(base, "fp4") || strings.Contains(base, "int4") || strings.Contains(base, "awq") || strings.Contains(base, "gptq"):
		c.WeightBits = 4.5
	case c.WeightBits == 0:
		c.WeightBits = 16
	}
	c.WeightsGiB = size * 1e9 * c.WeightBits / 8 / (1 << 30)
	if c.isMoE() {
		c.ExpertsGiB = usualExperts * c.WeightsGiB
	}
	return c
}
