package searchbench

import (
	"maps"
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// Weights by which flags ask for memory.
const (
	hungryShare   = 2
	hungryChunk   = 1.5
	hungryRunning = 0.5
	hungryDraft   = 0.3
)

// bigSpace is the space of the surfaces with a big model on eight GPUs: two engines, 7 and 13 flags that may change.
func bigSpace() (*space.Space, []*flags, error) {
	vllm := newFlags("vllm", vllmHungry())
	vllm.fix("tensor-parallel-size", space.Int(8))
	vllmBatch(vllm, 1024, 0.85, 0.95)
	vllm.toggle("enable-expert-parallel", "")
	sglang := newFlags("sglang", sglangHungry())
	sglang.fix("tp-size", space.Int(8))
	sglang.toggle("enable-dp-attention", "")
	sglang.choice("dp-size", "enable-dp-attention", space.Int(1), space.Int(2), space.Int(4), space.Int(8))
	sglang.choice("moe-a2a-backend", "", space.String("none"), words("none", "deepep")...)
	// The third mode, low_latency, dispatches 128 tokens of a rank at most: too few to read prompts.
	sglang.choice("deepep-mode", "moe-a2a-backend == deepep", space.String("auto"), words("auto", "normal")...)
	sglangBatch(sglang)
	sglang.choice("attention-backend", "", space.String("auto"), words("auto", "flashinfer", "triton")...)
	sglang.choice("cuda-graph-max-bs", "", space.Int(512), numbers(64, 128, 256)...)
	engines := []*flags{vllm, sglang}
	s, err := joinEngines(nil, engines, append(vllmRules(), sglangRules()...))
	return s, engines, err
}

// smallSpace is the space of the surface with a small model on one GPU: two checkpoints, two engines, 8 and 11 flags that may change.
func smallSpace(checkpoints []string) (*space.Space, []*flags, error) {
	vllm := newFlags("vllm", vllmHungry())
	vllm.hungry["vllm.speculative-config"] = hungryDraft
	vllm.fix("max-model-len", space.Int(32768))
	vllmBatch(vllm, 2048, 0.80, 0.97)
	vllm.choice("performance-mode", "", space.String("balanced"), words("balanced", "throughput", "interactivity")...)
	vllm.choice("speculative-config", "", space.Value{}, append([]space.Value{space.Default()},
		words(`{"method":"mtp","num_speculative_tokens":1}`, `{"method":"mtp","num_speculative_tokens":4}`)...)...)
	sglang := newFlags("sglang", sglangHungry())
	sglang.hungry["sglang.speculative-num-steps"] = hungryDraft
	sglang.fix("context-length", space.Int(32768))
	sglangBatch(sglang)
	sglang.toggle("disable-radix-cache", "")
	sglang.choice("speculative-algorithm", "", space.Value{}, space.Default(), space.String("NEXTN"))
	sglang.choice("speculative-num-steps", "speculative-algorithm == NEXTN", space.Int(3), numbers(1, 2, 5)...)
	sglang.choice("cuda-graph-max-bs", "", space.Int(256), numbers(32, 64, 128)...)
	engines := []*flags{vllm, sglang}
	s, err := joinEngines(checkpoints, engines, append(vllmRules(), sglangRules()...))
	return s, engines, err
}

func vllmHungry() map[string]float64 {
	return map[string]float64{"vllm.gpu-memory-utilization": hungryShare, "vllm.max-num-batched-tokens": hungryChunk, "vllm.max-num-seqs": hungryRunning}
}

// vllmBatch adds the flags that both models' spaces have.
func vllmBatch(f *flags, most int64, lo, hi float64) {
	f.integers("max-num-seqs", space.Int(1024), 64, most)
	f.choice("max-num-batched-tokens", "", space.Int(8192), numbers(2048, 4096, 16384, 32768)...)
	f.share("gpu-memory-utilization", space.Float(0.92), lo, hi)
	f.choice("kv-cache-dtype", "", space.String("auto"), words("auto", "fp8")...)
	f.choice("compilation-config.cudagraph_mode", "", space.Value{}, append([]space.Value{space.Default()}, words("FULL_DECODE_ONLY", "PIECEWISE", "NONE")...)...)
	f.choice("async-scheduling", "", space.Bool(true), space.Default(), space.Bool(false))
}

func sglangHungry() map[string]float64 {
	return map[string]float64{"sglang.mem-fraction-static": hungryShare, "sglang.chunked-prefill-size": hungryChunk, "sglang.max-running-requests": hungryRunning}
}

// sglangBatch adds the flags that both models' spaces have.
func sglangBatch(f *flags) {
	f.share("mem-fraction-static", space.Value{}, 0.70, 0.92)
	f.choice("chunked-prefill-size", "", space.Int(8192), numbers(2048, 4096, 16384, 32768)...)
	f.integers("max-running-requests", space.Value{}, 64, 1024)
	f.choice("kv-cache-dtype", "", space.String("auto"), words("auto", "fp8_e4m3")...)
	f.choice("schedule-conservativeness", "", space.Float(1), space.Default(), space.Float(0.3), space.Float(0.6), space.Float(1.5))
	f.choice("moe-runner-backend", "", space.String("auto"), words("auto", "triton", "cutlass")...)
	f.toggle("enable-mixed-chunk", "")
}

// vllmRules and sglangRules are what the engines refuse before they start.
func vllmRules() []space.Constraint {
	return []space.Constraint{
		forbid("vllm", "batched_tokens", "refuses max-num-batched-tokens below max-num-seqs", func(r reader) bool {
			return r.number("max-num-batched-tokens", 1<<30) < r.number("max-num-seqs", 0)
		}),
	}
}

func sglangRules() []space.Constraint {
	return []space.Constraint{
		forbid("sglang", "low_latency_tokens", "dispatches at most 128 tokens a rank in low-latency mode", func(r reader) bool {
			ranks := r.number("dp-size", 1)
			return r.is("moe-a2a-backend", "deepep") && !r.is("deepep-mode", "normal") && r.is("enable-dp-attention", "true") && r.number("max-running-requests", 0)/ranks > 128
		}),
		forbid("sglang", "mixed_speculation", "does not mix chunks into speculative steps", func(r reader) bool {
			return r.is("enable-mixed-chunk", "true") && r.is("speculative-algorithm", "NEXTN")
		}),
	}
}

// joinEngines puts engines under the root choices.
func joinEngines(checkpoints []string, engines []*flags, rules []space.Constraint) (*space.Space, error) {
	var names []string
	for _, f := range engines {
		if f.err != nil {
			return nil, f.err
		}
		names = append(names, f.engine)
	}
	domain, err := space.Choices(words(names...)...)
	if err != nil {
		return nil, err
	}
	params := []space.Param{{Name: space.EngineParam, Domain: domain}}
	if len(checkpoints) > 0 {
		if domain, err = space.Choices(words(checkpoints...)...); err != nil {
			return nil, err
		}
		params = append(params, space.Param{Name: space.CheckpointParam, Domain: domain})
	}
	for _, f := range engines {
		params = append(params, f.params...)
	}
	return space.New(params, rules, []space.Rewrite{plainDefaults(params)})
}

// problem makes what a sampler sees: baselines are the engines with nothing tuned, the last engine is the reference.
func problem(s *space.Space, engines []*flags, goal tuner.Goal, seed uint64) (tuner.Problem, error) {
	p := tuner.Problem{Space: s, Goal: goal, Seed: seed, Hungry: map[string]float64{}, Reference: engines[len(engines)-1].engine}
	for _, f := range engines {
		maps.Copy(p.Hungry, f.hungry)
		baseline, err := s.Point(withDefaults(s, f, nil))
		if err != nil {
			return p, err
		}
		p.Baselines = append(p.Baselines, baseline)
	}
	return p, nil
}

// withDefaults gives an engine's flags their fixed values, those that are set (by flag), and default for everything else.
func withDefaults(s *space.Space, f *flags, set map[string]space.Value) map[string]space.Value {
	values := map[string]space.Value{space.EngineParam: space.String(f.engine)}
	if p, ok := s.Param(space.CheckpointParam); ok {
		values[space.CheckpointParam] = p.Domain.At(0)
		if v, ok := set[space.CheckpointParam]; ok {
			values[space.CheckpointParam] = v
		}
	}
	for _, p := range f.params {
		values[p.Name] = space.Default()
	}
	maps.Copy(values, f.fixed)
	for _, flag := range slices.Sorted(maps.Keys(set)) {
		if flag != space.CheckpointParam {
			values[f.engine+"."+flag] = set[flag]
		}
	}
	return values
}
