package searchbench

import (
	"fmt"
	"math"
	"math/rand/v2"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/law"
	"autotune/tuner/memory"
)

// geometries are the numbers of config.json of the models that the law is fitted to: those of public copies.
var geometries = map[string]string{
	bigModel: `{"model_type": "glm_moe_dsa", "num_hidden_layers": 78, "hidden_size": 6144, "vocab_size": 154880, "num_attention_heads": 64, "intermediate_size": 12288,
		"moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 2048,
		"qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256, "index_head_dim": 128, "index_n_heads": 32, "index_topk_freq": 4,
		"index_skip_topk_offset": 3, "quant_method": "fp8", "max_position_embeddings": 202752}`,
	smallModel: `{"model_type": "qwen3_5_moe", "num_hidden_layers": 40, "hidden_size": 2048, "vocab_size": 248320, "num_attention_heads": 16, "num_key_value_heads": 2,
		"head_dim": 256, "num_experts": 256, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "full_attention_interval": 4,
		"linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
		"mtp_num_hidden_layers": 1, "max_position_embeddings": 262144}`,
	smallModel + "-FP8": `{"model_type": "qwen3_5_moe", "num_hidden_layers": 40, "hidden_size": 2048, "vocab_size": 248320, "num_attention_heads": 16, "num_key_value_heads": 2,
		"head_dim": 256, "num_experts": 256, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "full_attention_interval": 4,
		"linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
		"mtp_num_hidden_layers": 1, "max_position_embeddings": 262144, "quant_method": "fp8"}`,
}

// Where the planner is wrong it is so by factors that hang on engine, checkpoint, cache type and layout: of this spread, in logs, for what the cache holds, and in
// GiB for the headroom.
const (
	wrongShare    = 1.0 / 3 // of the seeds
	wrongCache    = 0.7
	wrongHeadroom = 8.0
)

// capacity is what the memory planner makes of the surface's points: not what the law has, whose memory is another one and has changed coefficients. In a third of
// the seeds it is wrong by far.
func (v *serving) capacity(seed uint64) (func(space.Lookup) (tuner.Capacity, bool), error) {
	models := map[string]memory.Model{}
	for name, text := range geometries {
		m, err := memory.ReadConfig([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("the geometry of %s: %w", name, err)
		}
		models[name] = m
	}
	wrong := rand.New(rand.NewPCG(seed, 0x77726f6e67)).Float64() < wrongShare
	return func(look space.Lookup) (tuner.Capacity, bool) {
		engine, _ := look(space.EngineParam)
		cfg, err := law.Resolve(engine.String(), v.modelOf(look), v.flagsOf(look), v.machine)
		if err != nil {
			return tuner.Capacity{}, false
		}
		s := setup(cfg, v.traffic)
		e := memory.Plan(models[cfg.Model], s)
		room, ok := e.Headroom()
		c := tuner.Capacity{Headroom: room, Sequences: e.Sequences(s, float64(v.traffic.Input+v.traffic.Output)) * float64(cfg.Replicas)}
		if wrong {
			r := rand.New(rand.NewPCG(mix(fmt.Sprint(cfg.Engine, cfg.Model, cfg.CacheType, cfg.Ranks, cfg.TP, cfg.AllToAll != "none"), seed), 0x6f6666))
			c.Sequences *= math.Exp(wrongCache * r.NormFloat64())
			c.Headroom += wrongHeadroom * r.NormFloat64()
		}
		c.Sequences = math.Min(c.Sequences, float64(v.traffic.Concurrency))
		return c, ok
	}, nil
}

// setup is a configuration as the planner sees it.
func setup(c law.Config, t law.Traffic) memory.Setup {
	s := memory.Setup{Engine: c.Engine, GPUs: c.Machine.GPUs, GiB: c.Machine.MemoryGiB, TP: c.TP, PP: c.PP, DP: c.Ranks, Inside: c.Engine == "sglang" && c.Ranks > 1,
		EP: c.ExpertParallel, Away: c.AllToAll != "none", Share: c.MemoryShare, CacheBytes: c.CacheBytes, CacheType: c.CacheType, Chunk: c.Chunk,
		Sequences: c.MaxRunning, GraphMax: c.GraphMax, Context: c.Context, Longest: t.Input + t.Output}
	if !s.Inside {
		s.TP /= c.Ranks
	} else {
		s.Chunk, s.Sequences = min(s.Chunk, math.MaxInt32/c.Ranks)*c.Ranks, s.Sequences*c.Ranks
	}
	switch c.CacheType {
	case "bf16":
		s.CacheType = ""
	case "fp4":
		s.CacheType = "nvfp4"
	}
	if c.Graphs == "none" {
		s.GraphMax = 0
	}
	s.Drafts = c.Draft > 0 && c.DraftMethod != "ngram"
	return s
}
