package engine

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"autotune/space"
	"autotune/tuner/memory"
)

// Geometry is what the rules need of a checkpoint whose config.json is known.
func Geometry(m memory.Model) Model {
	if !m.Known() {
		return Model{}
	}
	return Model{Heads: m.Heads, KVHeads: m.KVHeads, Hidden: m.Hidden, Experts: m.Experts, ContextLen: m.Context, DraftLayers: m.DraftLayers, Dense: m.Experts == 0}
}

// unplanned are flags that change what lies on a GPU in ways that the planner does not follow: with one of them it says nothing. A flag stands for all
// that begin with it and a dash.
var unplanned = strings.Fields(`cpu-offload offload kt enable-lora lora-paths lora-modules hf-overrides json-model-override-args attn-cp-size prefill-context-parallel-size
	model-impl quantization-config nnodes ep-num-redundant-experts num-gpu-blocks-override`)

// repacking are flags that choose kernels, which repack weights and need room of their own: what was measured with some holds with these alone. A flag
// stands for its dotted keys, too.
var repacking = strings.Fields(`quantization dtype compilation-config kernel-config attention-config optimization-level speculative-config
	speculative-algorithm speculative-num-draft-tokens enable-two-batch-overlap enable-dbo enable-dp-lm-head moe-dense-tp-size max-total-tokens enable-torch-compile
	enable-eplb enable-piecewise-cuda-graph mm-encoder-tp-mode max-loras hicache-ratio`)

// elsewhere are words in the names of flags that end in backend and choose no kernel.
var elsewhere = strings.Fields(`tokenizer grammar radix-cache hicache image-processor transfer executor data-parallel-backend global-cache lora loader`)

// listKernels lists the flags that choose kernels, by full name.
func (d *Definition) listKernels() []string {
	var names []string
	for _, f := range slices.Concat(d.flags, d.keys) {
		flag, _, _ := strings.Cut(f.Name, ".")
		backend := strings.Contains(f.Name, "backend") && !slices.ContainsFunc(elsewhere, func(word string) bool { return strings.Contains(f.Name, word) })
		if backend || slices.Contains(repacking, flag) {
			names = append(names, d.Name+"."+f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// kernels are the flags that choose kernels, as they are given: "moe-backend=marlin".
func (d *Definition) kernelsOf(look space.Lookup) string {
	text := ""
	for _, f := range d.kernels {
		if x, given := look(f); given && !x.IsDefault() {
			text += strings.TrimPrefix(f, d.Name+".") + "=" + x.String() + " "
		}
	}
	return strings.TrimSuffix(text, " ")
}

// MemorySetup is a configuration as the planner sees it, with the flags as the engine would resolve them on that machine. look gives values by full name
// (ENGINE.flag), as in Rules; longest is the tokens of the workload's longest request. unknown names the flag that the planner does not follow.
func (d *Definition) MemorySetup(h Host, look space.Lookup, longest int) (s memory.Setup, unknown string) {
	v := view{ruleContext{d: d, host: h}, look}
	for _, f := range d.unfollowed {
		if x, given := look(f); given && !x.IsDefault() && x != space.Bool(false) && x != space.Int(0) {
			return s, strings.TrimPrefix(f, d.Name+".")
		}
	}
	s = memory.Setup{Engine: d.Name, GPUs: h.GPUs, GiB: h.MemoryGiB, Longest: longest, CacheType: v.text("kv-cache-dtype"), Narrowed: narrowed(v.text("quantization")),
		Kernels: d.kernelsOf(look)}
	if d.Name == "vllm" {
		vllmSetup(&s, v)
	} else {
		sglangSetup(&s, v)
	}
	return s, ""
}

// listUnplanned lists the flags of the engine that the planner does not follow, by full name.
func (d *Definition) listUnplanned() []string {
	var names []string
	for _, f := range d.flags {
		if slices.ContainsFunc(unplanned, func(u string) bool { return f.Name == u || strings.HasPrefix(f.Name, u+"-") }) {
			names = append(names, d.Name+"."+f.Name)
		}
	}
	return names
}

// narrowed is the bytes of a weight under a quantization flag that an engine applies to a 16-bit checkpoint while loading it; 0 without one.
func narrowed(method string) float64 {
	switch {
	case method == "" || method == "none":
		return 0
	case strings.Contains(method, "8"):
		return 1
	default:
		return 0.5
	}
}

func vllmSetup(s *memory.Setup, v view) {
	s.TP, s.PP, s.DP, s.DCP = v.size("tensor-parallel-size"), v.size("pipeline-parallel-size"), v.size("data-parallel-size"), v.size("decode-context-parallel-size")
	s.EP = v.on("enable-expert-parallel")
	s.Away = s.EP && s.DP > 1 && v.text("all2all-backend") != "allgather_reducescatter"
	s.Share = vllmShare(v)
	if x, given := v.given("kv-cache-memory-bytes"); given && x.Kind() == space.KindInt {
		s.CacheBytes = x.AsInt()
	}
	double := 1
	if v.text("performance-mode") == "throughput" {
		double = 2
	}
	limit := func(flag string) int {
		if _, given := v.given(flag); given {
			return v.size(flag)
		}
		n, _ := v.int(flag)
		return n * double
	}
	s.Chunk, s.Sequences = limit("max-num-batched-tokens"), limit("max-num-seqs")
	s.Context, _ = v.int("max-model-len")
	s.GraphMax = min(2*s.Sequences, 512)
	if n, ok := v.int("max-cudagraph-capture-size"); ok {
		s.GraphMax = n
	}
	if v.on("enforce-eager") {
		s.GraphMax = 0
	}
	method := speculation(v).Method
	s.Drafts = strings.HasSuffix(method, "mtp") || method == "nextn"
}

// vllmShare is gpu-memory-utilization; its default was 0.90 before vLLM 0.24 or so, and the larger one excludes less.
func vllmShare(v view) float64 {
	if x, ok := v.given("gpu-memory-utilization"); ok && x.IsNumber() {
		return x.AsFloat()
	}
	return 0.92
}

func sglangSetup(s *memory.Setup, v view) {
	s.TP, s.PP, s.DP = v.size("tp-size"), v.size("pp-size"), v.size("dp-size")
	if s.Inside = dpAttention(v); s.Inside {
		s.DP = ranks(v)
	}
	s.EP = expertSize(v) > 1
	s.Away = v.text("moe-a2a-backend") != "" && v.text("moe-a2a-backend") != "none"
	if x, given := v.given("mem-fraction-static"); given && x.IsNumber() {
		s.Share = x.AsFloat()
	}
	s.Chunk, _ = v.int("chunked-prefill-size")
	if prefill, ok := v.int("max-prefill-tokens"); ok && s.Chunk <= 0 {
		s.Chunk = prefill
	}
	s.Sequences, _ = v.int("max-running-requests")
	s.Context, _ = v.int("context-length")
	s.GraphMax = sglangGraphs(s.GiB, s.TP)
	for _, flag := range []string{"cuda-graph-max-bs-decode", "cuda-graph-max-bs"} {
		if x, given := v.given(flag); given && x.Kind() == space.KindInt {
			s.GraphMax = int(x.AsInt())
		}
	}
	if v.on("disable-cuda-graph") {
		s.GraphMax = 0
	}
	s.Drafts = slices.Contains([]string{"NEXTN", "EAGLE"}, strings.ToUpper(v.text("speculative-algorithm"))) && !v.any("speculative-draft-model-path")
}

// sglangGraphs is the largest graph where it is not given, from SGLang's server_args.py.
func sglangGraphs(gib float64, tp int) int {
	few, many := 256, 512
	switch {
	case gib <= 0:
	case gib < 20:
		few, many = 8, 8
	case gib < 35:
		few, many = 24, 80
	case gib < 60:
		few, many = 32, 160
	}
	if tp < 4 {
		return few
	}
	return many
}

// MemoryRule excludes what cannot fit: plan says what the planner makes of a point.
func (d *Definition) MemoryRule(plan func(space.Lookup) memory.Estimate) space.Constraint {
	return space.Constraint{ID: d.Name + "_memory", Reason: "cannot fit into the GPUs' memory, not even with the least that every part needs", Engine: d.Name,
		Holds: func(look space.Lookup) bool { return plan(look).Answer != memory.Cannot }}
}

// Measured reads from a trial's facts (see Facts) what its log said of memory.
func Measured(facts map[string]string) memory.Facts {
	number := func(name string) float64 {
		x, err := strconv.ParseFloat(facts[name], 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return 0 // not a number: the fact says nothing
		}
		return x
	}
	count := func(name string) int {
		n, err := strconv.Atoi(facts[name])
		if err != nil {
			return 0
		}
		return n
	}
	m := memory.Facts{WeightsGiB: number("weights_gib"), CacheGiB: number("kv_gib"), GraphsGiB: number("graphs_gib"), Tokens: count("kv_tokens"), Allocated: count("kv_tokens_allocated")}
	if m.CacheGiB == 0 {
		m.CacheGiB = number("kv_k_gib") + number("kv_v_gib")
	}
	return m
}
