package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"autotune/tuner/memory"
)

// Checkpoint is what its config.json, or failing that its name, tells of a model. 0 and false are unknown.
type Checkpoint struct {
	Model
	Architecture string  // the class that serves it: Qwen3MoeForCausalLM
	Layers       int     // of the model without its draft
	Latent       bool    // multi-head latent attention: its cache is not divided by tensor parallelism
	Hybrid       string  // what some layers have in place of full attention; empty: all have that
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

// ReadCheckpoint reads a model's config.json, as the memory planner reads it. The error is that it is none.
func ReadCheckpoint(text []byte) (Checkpoint, error) {
	m, err := memory.ReadConfig(text)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("not the config.json of a language model: %w", err)
	}
	c := Checkpoint{Model: Geometry(m), Architecture: m.Architecture, Layers: m.Layers, Latent: m.Latent > 0}
	switch {
	case m.LinearLayers > 0:
		c.Hybrid = "linear attention in some layers"
	case m.WindowLayers > 0:
		c.Hybrid = "a sliding window in some layers"
	}
	c.WeightsGiB, c.ExpertsGiB = float64(m.Weights.Total()-m.Weights.Draft)/memory.GiB, float64(m.Weights.Experts)/memory.GiB
	return c, nil
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
	size, bits := 0.0, 0.0
	if m := billions.FindStringSubmatch(base); m != nil {
		size, _ = strconv.ParseFloat(m[1], 64)
	}
	if active.MatchString(base) {
		c.Experts = 2 // how many is not known, only that there are some
	}
	for _, f := range families {
		if strings.HasPrefix(base, f.name) && !strings.Contains(base, "distill") {
			c.Experts, c.Latent, bits = f.experts, f.latent, f.bits
			if size == 0 {
				size = f.billion
			}
			break
		}
	}
	switch {
	case strings.Contains(base, "fp8") || strings.Contains(base, "int8") || strings.Contains(base, "w8a8"):
		bits = 8
	case strings.Contains(base, "fp4") || strings.Contains(base, "int4") || strings.Contains(base, "awq") || strings.Contains(base, "gptq"):
		bits = 4.5
	case bits == 0:
		bits = 16
	}
	c.WeightsGiB = size * 1e9 * bits / 8 / (1 << 30)
	if c.isMoE() {
		c.ExpertsGiB = usualExperts * c.WeightsGiB
	}
	return c
}
