package engine

import (
	"fmt"

	"autotune/space"
)

// proposeVLLM knows vLLM: for dense models tensor parallelism against replicas; for experts also whether each GPU has whole ones.
func proposeVLLM(c Checkpoint, h Host) Proposal {
	var p Proposal
	list, fits := layouts(c, h, c.spread)
	p.Notes = described(c, h, fits)
	first := list[0]
	switch {
	case h.GPUs == 0:
	case len(list) == 1:
		if first.tp > 1 || h.GPUs > 1 {
			p.Fixed = append(p.Fixed, choice("tensor-parallel-size", space.Int(int64(first.tp)), "GPUs that share each layer"))
		}
	default:
		p.Layout = []Dimension{
			{Flag: "tensor-parallel-size", Values: sizes(list, func(l layout) int { return l.tp }), Why: "GPUs that share each layer: more is faster for one request"},
			{Flag: "data-parallel-size", Values: sizes(list, func(l layout) int { return l.dp }), Why: vllmReplicas(c)},
		}
		p.Require, p.RequireWhy = together(list, "tensor-parallel-size", "data-parallel-size"), "every layout uses every GPU"
		p.Baseline = []Choice{
			choice("tensor-parallel-size", space.Int(int64(first.tp)), "the model over all GPUs, which is how most begin"),
			choice("data-parallel-size", space.Int(int64(first.dp)), ""),
		}
	}
	switch {
	case c.Dense || h.GPUs < 2:
	case !c.isMoE():
		p.Layout = append(p.Layout, Dimension{Flag: "enable-expert-parallel", Values: bools, Off: true, Why: "mixture-of-experts models only: whole experts on each GPU"})
	default:
		p.Layout = append(p.Layout, Dimension{Flag: "enable-expert-parallel", Values: bools, Why: "whole experts on each GPU instead of a slice of every one"},
			Dimension{Flag: "all2all-backend", Values: words("default", "deepep_high_throughput", "deepep_low_latency"), When: "enable-expert-parallel", Off: true,
				Why: "how tokens reach their experts with data-parallel attention; where DeepEP is installed"},
			Dimension{Flag: "enable-eplb", Values: bools, When: "enable-expert-parallel", Off: true, Why: "experts are moved so that the GPUs are evenly loaded"})
	}
	p.Tuning = vllmTuning(c, h)
	p.Seeds = vllmSeeds(c, h, list)
	return p
}

func vllmReplicas(c Checkpoint) string {
	if c.isMoE() {
		return "copies of attention and its cache; the experts lie over all GPUs"
	}
	return "copies of the model behind one address: more is faster for many requests"
}

func vllmTuning(c Checkpoint, h Host) []Dimension {
	dims := []Dimension{
		{Flag: "max-num-seqs", Values: words("default"), Lo: 16, Hi: 1024, Whole: true, Log: true, Why: "requests in a step"},
		{Flag: "max-num-batched-tokens", Values: orDefault(ints(2048, 4096, 8192, 16384)), Why: "tokens in a step: larger ones are better used and need more memory"},
	}
	if h.GPUs > 0 {
		dims = append(dims,
			Dimension{Flag: "gpu-memory-utilization", Values: words("default"), Lo: 0.80, Hi: 0.96, Step: 0.01, Why: "what is not for weights and activations holds requests; too much of it ends out of memory"},
			Dimension{Flag: "kv-cache-dtype", Values: words("auto", "fp8"), Why: "a narrower cache holds twice as many tokens; compare the answers before you deploy it"})
	}
	dims = append(dims, Dimension{Flag: "performance-mode", Values: words("balanced", "throughput"), Why: "throughput doubles the two limits above where they are not set"})
	if c.DraftLayers > 0 {
		dims = append(dims, Dimension{Flag: "speculative-config", Values: append(words("default"), space.String(fmt.Sprintf(`{"method":"mtp","num_speculative_tokens":%d}`, c.DraftLayers))), Off: true,
			Why: "the model's own draft layers guess tokens ahead: faster with few requests, seldom with many"})
	}
	return append(dims,
		Dimension{Flag: "enforce-eager", Values: bools, Off: true, Why: "no graphs: starts sooner, runs slower"},
		Dimension{Flag: "max-model-len", Values: ints(8192), Off: true, Why: "input and output of the longest request; a shorter context leaves more room"})
}

// vllmSeeds follow vLLM's own advice: experts and attention in parallel for load, larger steps for throughput.
func vllmSeeds(c Checkpoint, h Host, list []layout) []Seed {
	if h.GPUs == 0 {
		return nil
	}
	busy := []Setting{{"max-num-batched-tokens", space.Int(16384)}, {"kv-cache-dtype", space.String("fp8")}}
	layoutOf := func(l layout) []Setting { return l.settings(list, "tensor-parallel-size", "data-parallel-size") }
	first, last := list[0], list[len(list)-1]
	seeds := []Seed{{append(layoutOf(first), busy...), "longer steps and a narrower cache, for throughput"}}
	if c.isMoE() && h.GPUs > 1 {
		experts := append(layoutOf(first), Setting{"enable-expert-parallel", space.Bool(true)})
		seeds = append(seeds, Seed{experts, "tensor and expert parallelism, as vLLM's recipes have it for few requests"})
	}
	if len(list) > 1 {
		wide := append(layoutOf(last), busy...)
		why := "replicas instead of a split: no exchange between GPUs"
		if c.isMoE() {
			wide, why = append(wide, Setting{"enable-expert-parallel", space.Bool(true)}), "data-parallel attention and expert parallelism, as vLLM's recipes have it for many requests"
		}
		seeds = append(seeds, Seed{wide, why})
	}
	return seeds
}
