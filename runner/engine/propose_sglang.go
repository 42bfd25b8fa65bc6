package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autotune/space"
)

// proposeSGLang knows SGLang: data-parallel attention is what experts and latent attention gain from, replicas are for what fits one GPU.
func proposeSGLang(c Checkpoint, h Host) Proposal {
	var p Proposal
	list, fits := layouts(c, h, c.whole)
	p.Notes = described(c, h, fits)
	ranks := attentionRanks(c, h, list)
	sglangLayouts(&p, c, h, list, ranks)
	p.Tuning = sglangTuning(c, h)
	p.Seeds = sglangSeeds(c, h, list, ranks)
	return p
}

// attentionRanks are the numbers of attention ranks worth trying: for experts or a latent cache, where one split takes every GPU. Beside other layouts
// they are numbers that dp-size has there too.
func attentionRanks(c Checkpoint, h Host, list []layout) (ranks []int) {
	tp := list[0].tp
	if h.GPUs < 2 || tp != h.GPUs || !c.isMoE() && !c.Latent {
		return nil
	}
	for n := 2; n <= tp; n *= 2 {
		known := len(list) == 1 || slices.ContainsFunc(list, func(l layout) bool { return l.dp == n })
		if tp%n == 0 && known {
			ranks = append(ranks, n)
		}
	}
	return ranks
}

func sglangLayouts(p *Proposal, c Checkpoint, h Host, list []layout, ranks []int) {
	first := list[0]
	top := space.Int(int64(first.tp))
	if h.GPUs > 0 && len(list) == 1 && (first.tp > 1 || h.GPUs > 1) {
		p.Fixed = append(p.Fixed, choice("tp-size", top, "GPUs that share each layer"))
	}
	inside := Dimension{Flag: "enable-dp-attention", Values: bools, Why: "attention and its cache by rank instead of split: room for more requests"}
	switch {
	case len(list) > 1:
		p.Layout = append(p.Layout, Dimension{Flag: "tp-size", Values: sizes(list, func(l layout) int { return l.tp }), Why: "GPUs that share each layer: more is faster for one request"},
			Dimension{Flag: "dp-size", Values: sizes(list, func(l layout) int { return l.dp }), Why: "replicas of the model; with data-parallel attention the ranks inside tp-size"})
		p.Baseline = []Choice{choice("tp-size", top, "the model over all GPUs, which is how most begin"), choice("dp-size", space.Int(int64(first.dp)), "")}
		p.Require, p.RequireWhy = together(list, "tp-size", "dp-size"), "every layout uses every GPU"
		if len(ranks) > 0 {
			p.Layout = append(p.Layout, inside)
			p.Require = fmt.Sprintf("enable-dp-attention && tp-size == %d && dp-size in [%s] || !enable-dp-attention && (%s)", first.tp, joined(ranks), p.Require)
		}
	case len(ranks) > 0:
		p.Layout = append(p.Layout, inside, Dimension{Flag: "dp-size", Values: numbers(ranks), When: "enable-dp-attention", Why: "attention ranks"})
	case !c.Dense && h.GPUs > 1:
		inside.Off, inside.Why = true, "mixture-of-experts and latent-attention models: "+inside.Why
		p.Layout = append(p.Layout, inside, Dimension{Flag: "dp-size", Values: ints(2), When: "enable-dp-attention", Off: true, Why: "attention ranks"})
	}
	if !c.isMoE() || h.GPUs < 2 {
		return
	}
	p.Layout = append(p.Layout,
		Dimension{Flag: "moe-a2a-backend", Values: words("none", "deepep"), Why: "how tokens reach their experts; deepep makes ep-size equal to tp-size, where it is installed", Off: h.GPUs < 4},
		Dimension{Flag: "deepep-mode", Values: words("auto", "low_latency"), When: "moe-a2a-backend == deepep", Why: "auto: normal kernels in prefill, low_latency in decode", Off: h.GPUs < 4},
		Dimension{Flag: "moe-runner-backend", Values: words("default", "triton", "deep_gemm"), Off: true, Why: "kernels of the experts"})
}

func joined(ranks []int) string {
	var texts []string
	for _, n := range ranks {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, ", ")
}

func numbers(list []int) []space.Value {
	var out []space.Value
	for _, n := range list {
		out = append(out, space.Int(int64(n)))
	}
	return out
}

func sglangTuning(c Checkpoint, h Host) []Dimension {
	dims := []Dimension{
		{Flag: "max-running-requests", Values: words("default"), Lo: 16, Hi: 1024, Whole: true, Log: true, Why: "requests at a time"},
		{Flag: "chunked-prefill-size", Values: orDefault(ints(2048, 4096, 8192, 16384)), Why: "tokens of a piece of a prompt: larger ones are better used and need more memory"},
	}
	if h.GPUs > 0 {
		dims = append(dims,
			Dimension{Flag: "mem-fraction-static", Values: words("default"), Lo: 0.70, Hi: 0.92, Step: 0.01, Why: "for weights and cache; too little of it does not start, too much ends out of memory"},
			Dimension{Flag: "kv-cache-dtype", Values: words("auto", "fp8_e4m3"), Why: "a narrower cache holds twice as many tokens; compare the answers before you deploy it"})
	}
	dims = append(dims, Dimension{Flag: "schedule-policy", Values: words("fcfs", "lpm"), Why: "lpm favours prompts whose beginning is cached"})
	if c.DraftLayers > 0 {
		dims = append(dims, Dimension{Flag: "speculative-algorithm", Values: words("default", "NEXTN"), Off: true, Why: "the model's own draft layers guess tokens ahead: faster with few requests, seldom with many"})
	}
	return append(dims, Dimension{Flag: "schedule-conservativeness", Values: []space.Value{space.Default(), space.Float(0.3), space.Float(1.3)}, Off: true, Why: "lower admits more requests and takes more back"})
}

// sglangSeeds follow SGLang's own advice for many requests: attention ranks over all GPUs, a large static share, an all-to-all backend for experts.
func sglangSeeds(c Checkpoint, h Host, list []layout, ranks []int) []Seed {
	if h.GPUs == 0 {
		return nil
	}
	busy := []Setting{{"mem-fraction-static", space.Float(0.85)}, {"kv-cache-dtype", space.String("fp8_e4m3")}}
	layoutOf := func(l layout) []Setting { return l.settings(list, "tp-size", "dp-size") }
	first, last := list[0], list[len(list)-1]
	seeds := []Seed{{append(layoutOf(first), busy...), "a narrower cache, for throughput"}}
	if len(ranks) > 0 {
		set := []Setting{{"enable-dp-attention", space.Bool(true)}, {"dp-size", space.Int(int64(ranks[len(ranks)-1]))}}
		if len(list) > 1 {
			set = append([]Setting{{"tp-size", space.Int(int64(first.tp))}}, set...)
		}
		why := "an attention rank on each GPU"
		if c.isMoE() && h.GPUs >= 4 {
			set, why = append(set, Setting{"moe-a2a-backend", space.String("deepep")}, Setting{"max-running-requests", space.Int(256)}), why+" and DeepEP between experts, for many requests"
		}
		seeds = append(seeds, Seed{append(set, busy...), why})
	}
	if len(list) > 1 {
		seeds = append(seeds, Seed{append(layoutOf(last), busy...), "replicas instead of a split: no exchange between GPUs"})
	}
	return seeds
}
