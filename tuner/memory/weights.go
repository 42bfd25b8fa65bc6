package memory

import (
	"slices"
	"strings"
)

// weights computes the bytes of every group from the geometry.
func (c config) weights(m Model, whole config) Weights {
	n := c.types(m.Kind, m.Layers)
	w := Weights{Wide: n.wide, Unsure: n.unsure}
	hidden, layers := int64(m.Hidden), int64(m.Layers)
	linear := int64(m.LinearLayers)
	attention, keyValue, replicated := c.attentionParameters(m)
	delta := c.linearParameters(m)
	moe := int64(c.expertLayers(m))
	each := c.expertParameters(m)
	shared := c.sharedParameters(m)
	dense := 3 * hidden * int64(c.int("intermediate_size", "ffn_hidden_size", "n_inner"))

	w.Attention = bytesOf((layers-linear)*attention+linear*delta, n.attention)
	w.KeyValue = bytesOf((layers-linear)*keyValue, n.attention)
	w.Replicated = bytesOf((layers-linear)*replicated+int64(m.IndexLayers)*c.indexParameters(m), n.attention) + 2*(2*layers*hidden+moe*hidden*int64(m.Experts))
	w.Experts = bytesOf(moe*int64(m.Experts)*each, n.experts)
	w.Shared = bytesOf(moe*shared, n.dense)
	w.Dense = bytesOf((layers-moe)*dense, n.dense)
	w.Embedding = 2 * int64(m.Vocab) * hidden
	if !c.tied(m.Kind) {
		w.Head = w.Embedding
	}
	if n.few { // most tools that quantise to 4 bits leave some of these as they were, and no config says so
		w.Loose = int64(float64(w.Attention+w.KeyValue) * (2/n.attention - 1))
		if m.Experts > 0 {
			w.Loose += int64(float64(w.Shared+w.Dense) * (2/n.dense - 1))
		}
	}
	draft := attention + keyValue + replicated + 2*hidden*hidden
	if moe > 0 {
		draft += int64(m.Experts)*each + shared
	} else {
		draft += dense
	}
	w.Draft = bytesOf(int64(m.DraftLayers)*draft, n.experts)
	if total := whole.int64("total_size"); total > 0 { // the index tells what all files hold together
		w = w.scaled(float64(total) / float64(w.Total()))
		w.Loose = 0
	}
	return w
}

func (c config) int64(key string) int64 {
	if f, ok := c[key].(float64); ok && f >= 0 && f < 1<<60 {
		return int64(f)
	}
	return 0
}

// scaled makes the groups add up to what is known of all.
func (w Weights) scaled(by float64) Weights {
	for _, p := range w.each() {
		*p = int64(float64(*p) * by)
	}
	return w
}

func (w *Weights) each() []*int64 {
	return []*int64{&w.Experts, &w.Attention, &w.KeyValue, &w.Dense, &w.Shared, &w.Embedding, &w.Head, &w.Replicated, &w.Vision, &w.Draft}
}

func bytesOf(parameters int64, each float64) int64 { return int64(float64(parameters) * each) }

// attentionParameters are those of one layer, by how they are split. Latent attention: DeepSeek-V2, section 2.1; its down projections are on every GPU.
func (c config) attentionParameters(m Model) (split, keyValue, replicated int64) {
	hidden, heads := int64(m.Hidden), int64(m.Heads)
	if m.Latent == 0 {
		width := heads * int64(m.KeyDim)
		split = 2 * hidden * width
		if c.on("attn_output_gate") || strings.HasPrefix(m.Kind, "qwen3_next") || strings.HasPrefix(m.Kind, "qwen3_5") {
			split += hidden * width // queries and their gate
		}
		return split, 2 * hidden * int64(m.KVHeads) * int64(m.KeyDim), 0
	}
	nope, rope, value := int64(c.int("qk_nope_head_dim")), int64(c.int("qk_rope_head_dim")), int64(c.int("v_head_dim"))
	rank, queries := int64(c.int("kv_lora_rank")), int64(c.int("q_lora_rank"))
	split = c.latentUp(m) + heads*value*hidden
	replicated = hidden * (rank + rope)
	if queries > 0 {
		return split + queries*heads*(nope+rope), 0, replicated + hidden*queries
	}
	return split + hidden*heads*(nope+rope), 0, replicated
}

// latentUp is the projection out of the latent space of one layer.
func (c config) latentUp(m Model) int64 {
	return int64(c.int("kv_lora_rank")) * int64(m.Heads) * int64(c.int("qk_nope_head_dim")+c.int("v_head_dim"))
}

// indexParameters are those of one layer's indexer.
func (c config) indexParameters(m Model) int64 {
	width := int64(c.int("index_n_heads")) * int64(m.IndexDim)
	return int64(c.int("q_lora_rank"))*width + int64(m.Hidden)*int64(m.IndexDim+c.int("index_n_heads"))
}

// tied tells whether the head is the embedding again. A config leaves the key out where it has the default of the model's class.
func (c config) tied(kind string) bool {
	if b, told := c["tie_word_embeddings"].(bool); told {
		return b
	}
	return slices.ContainsFunc(tiedKinds, func(begin string) bool { return strings.HasPrefix(kind, begin) })
}

// tiedKinds begin the names of model types whose class ties the head to the embedding where config.json does not tell (transformers, configuration_*.py).
var tiedKinds = []string{"gemma", "cohere", "ernie4_5", "gpt2", "gpt_bigcode", "starcoder2", "falcon", "bloom", "opt"}

// linearParameters are those of a layer of linear attention (a gated delta net).
func (c config) linearParameters(m Model) int64 {
	keys := int64(c.int("linear_num_key_heads")) * int64(c.int("linear_key_head_dim"))
	values := int64(c.int("linear_num_value_heads")) * int64(c.int("linear_value_head_dim"))
	return int64(m.Hidden) * (2*keys + 3*values + 2*int64(c.int("linear_num_value_heads")))
}

// expertLayers counts the layers with routed experts.
func (c config) expertLayers(m Model) int {
	if m.Experts == 0 {
		return 0
	}
	step := max(1, c.int("decoder_sparse_step"))
	if f := c.int("moe_layer_freq"); f > 1 {
		step = f
	}
	only, _ := c["mlp_only_layers"].([]any)
	return max(0, (m.Layers-c.int("first_k_dense_replace"))/step-len(only))
}

func (c config) expertParameters(m Model) int64 {
	return 3 * int64(m.Hidden) * int64(c.int("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size"))
}

func (c config) sharedParameters(m Model) int64 {
	if width := c.int("shared_expert_intermediate_size"); width > 0 {
		return 3 * int64(m.Hidden) * int64(width)
	}
	return int64(c.int("n_shared_experts")) * c.expertParameters(m)
}
