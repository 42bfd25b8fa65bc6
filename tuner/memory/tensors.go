package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Tensor is one entry of a safetensors header.
type Tensor struct {
	Name  string
	Type  string // F32, BF16, F8_E4M3, U8, ...
	Rank  int    // number of dimensions
	Bytes int64
}

// ReadHeader reads the JSON header of a safetensors file: the format's specification has it follow 8 bytes with its length.
func ReadHeader(text []byte) ([]Tensor, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("the header is not JSON: %w", err)
	}
	tensors := make([]Tensor, 0, len(entries))
	for name, raw := range entries {
		if name == "__metadata__" {
			continue
		}
		var e struct {
			Type    string  `json:"dtype"`
			Shape   []int64 `json:"shape"`
			Offsets []int64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &e); err != nil || len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] {
			return nil, fmt.Errorf("the header's entry %q has no place in the file", name)
		}
		tensors = append(tensors, Tensor{Name: name, Type: e.Type, Rank: len(e.Shape), Bytes: e.Offsets[1] - e.Offsets[0]})
	}
	if len(tensors) == 0 {
		return nil, errors.New("the header names no tensor")
	}
	return tensors, nil
}

// ReadIndex reads model.safetensors.index.json: the bytes of all tensors together (0: not told), and the files that hold them.
func ReadIndex(text []byte) (total int64, files []string, err error) {
	var index struct {
		Metadata struct {
			Total float64 `json:"total_size"`
		} `json:"metadata"`
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return 0, nil, fmt.Errorf("model.safetensors.index.json: %w", err)
	}
	seen := map[string]bool{}
	for _, file := range index.Map {
		if !seen[file] {
			seen[file] = true
			files = append(files, file)
		}
	}
	if index.Metadata.Total >= 0 && index.Metadata.Total < 1<<60 {
		total = int64(index.Metadata.Total)
	}
	return total, files, nil
}

// WithTotal is the model whose weights together are what the index of its files says; how they divide into groups stays that of the geometry.
func (m Model) WithTotal(total int64) Model {
	if computed := m.Weights.Total(); total > 0 && computed > 0 {
		m.Weights = m.Weights.scaled(float64(total) / float64(computed))
		m.Weights.Unsure, m.Weights.Loose = false, 0
	}
	return m
}

// WithTensors is the model whose weights are those of its files, grouped by the tensors' names. A head that is the embedding again counts once, and
// 32-bit matrices of a checkpoint that is served with 16 bits count half.
func (m Model) WithTensors(tensors []Tensor) Model {
	w := Weights{Exact: true, Wide: true}
	for _, t := range tensors {
		bytes := t.Bytes
		if t.Type == "F32" && t.Rank > 1 && !strings.Contains(t.Name, "scale") {
			bytes /= 2
		}
		if t.Rank > 1 && t.Type != "BF16" && t.Type != "F16" && t.Type != "F32" {
			w.Wide = false
		}
		*w.group(t.Name, m.Layers) += bytes
	}
	if m.Weights.Head == 0 && m.Weights.Embedding > 0 {
		w.Head = 0
	}
	m.Weights = w
	return m
}

var layerNumber = regexp.MustCompile(`(?:^|\.)layers\.(\d+)\.`)

// group is where a tensor belongs, by its name in the Hugging Face spelling.
func (w *Weights) group(name string, layers int) *int64 {
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(name, word) {
				return true
			}
		}
		return false
	}
	if n := layerNumber.FindStringSubmatch(name); n != nil && !has("visual", "vision", "audio") {
		if l, err := strconv.Atoi(n[1]); err == nil && l >= layers {
			return &w.Draft
		}
	}
	switch {
	case strings.HasPrefix(name, "mtp.") || has(".mtp.", "mtp_"):
		return &w.Draft
	case has("visual", "vision", "vit.", "audio", "multi_modal_projector", "mm_projector", "aligner"):
		return &w.Vision
	case has("shared_expert"):
		return &w.Shared
	case has(".experts."):
		return &w.Experts
	case has("embed_tokens", "word_embeddings", "wte."):
		return &w.Embedding
	case has("lm_head", "embed_out"):
		return &w.Head
	case has("q_a_proj", "kv_a_proj", "indexer", "norm"):
		return &w.Replicated
	case has("attn", "attention"):
		if has("k_proj", "v_proj") {
			return &w.KeyValue
		}
		return &w.Attention
	case has(".gate.", "router"):
		return &w.Replicated
	case has("mlp", "feed_forward", "ffn"):
		return &w.Dense
	default:
		return &w.Replicated
	}
}
