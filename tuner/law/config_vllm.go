package law

import (
	"encoding/json"
	"math"
	"strings"
)

// vllmShare is gpu-memory-utilization's default, 0.92 since vLLM 0.24 or so, 0.90 before.
const vllmShare = 0.92

// resolveVLLM makes of vLLM's flags what its EngineArgs make of them.
func resolveVLLM(c *Config, r *reader, m model) {
	big := c.Machine.MemoryGiB >= 70 && sheet(c.Machine.GPU).name != "A100"
	dp := r.int(1, "data-parallel-size")
	tp := r.int(1, "tensor-parallel-size")
	c.PP = r.int(1, "pipeline-parallel-size")
	if m.experts > 0 { // attention is replicated and the experts lie over all
		c.TP, c.Ranks = tp*max(dp, 1), max(dp, 1)
		c.ExpertParallel = r.on(false, "enable-expert-parallel") && c.TP > 1
	} else {
		c.TP, c.Replicas = tp, max(dp, 1)
	}
	c.Balanced = c.ExpertParallel && r.on(false, "enable-eplb")
	c.vllmAllToAll(r.text("allgather_reducescatter", "all2all-backend"))
	c.TwoBatch = c.AllToAll != "none" && r.on(false, "enable-dbo")
	c.CacheBytes = int64(r.number(0, "kv-cache-memory-bytes"))
	if c.CacheBytes == 0 {
		c.MemoryShare = r.number(vllmShare, "gpu-memory-utilization")
	}
	c.CacheType = resolveCache(r.text("auto", "kv-cache-dtype"))
	c.WeightType = resolveWeights(r.text("", "quantization"), m)
	c.Context = r.int(m.context, "max-model-len")
	if c.Context <= 0 {
		c.Context = -1 // what fits
	}
	c.vllmBatch(r, big)
	c.Page = r.int(map[bool]int{true: 64, false: 16}[m.kvHeads == 0], "block-size")
	c.Mixed = true
	c.Overlap = r.on(true, "async-scheduling")
	c.vllmGraphs(r)
	c.Attention = strings.ToLower(r.text("auto", "attention-backend"))
	c.Experts = strings.ToLower(r.text("auto", "moe-backend"))
	c.vllmSpeculation(r.text("", "speculative-config"))
}

func (c *Config) vllmAllToAll(backend string) {
	if !c.ExpertParallel || c.Ranks == 1 {
		return // without attention ranks nothing is dispatched
	}
	switch {
	case strings.Contains(backend, "high_throughput"), backend == "deepep_v2":
		c.AllToAll = "normal"
	case strings.Contains(backend, "low_latency"), backend == "nixl_ep":
		c.AllToAll = "low_latency"
	}
}

// vllmBatch resolves the two limits of a step. performance-mode throughput doubles those that are not set.
func (c *Config) vllmBatch(r *reader, big bool) {
	tokens, seqs := 2048, 256
	if big {
		tokens, seqs = 8192, 1024
	}
	if c.Machine.MemoryGiB >= 160 {
		tokens = 16384
	}
	if c.AllToAll == "low_latency" {
		tokens, seqs = 256, 256
	}
	mode := r.text("balanced", "performance-mode")
	if mode == "throughput" {
		tokens, seqs = 2*tokens, 2*seqs
	}
	c.Interactive = mode == "interactivity"
	c.Chunk = r.int(tokens, "max-num-batched-tokens")
	c.MaxRunning = r.int(min(seqs, c.Chunk), "max-num-seqs")
	c.MaxPrefill = c.Chunk
	if !r.on(true, "enable-chunked-prefill") {
		c.MaxPrefill = -1 // prompts are not split
	}
}

func (c *Config) vllmGraphs(r *reader) {
	var compile struct {
		Mode json.RawMessage `json:"cudagraph_mode"`
		Max  int             `json:"max_cudagraph_capture_size"`
	}
	if text := r.text("", "compilation-config"); strings.HasPrefix(strings.TrimSpace(text), "{") {
		if err := json.Unmarshal([]byte(text), &compile); err != nil && r.err == nil {
			r.err = err
		}
	}
	mode := strings.ToUpper(strings.Trim(string(compile.Mode), `"`))
	mode = strings.ToUpper(r.text(mode, "compilation-config.cudagraph_mode"))
	switch mode {
	case "NONE", "0":
		c.Graphs = "none"
	case "PIECEWISE", "1":
		c.Graphs = "piecewise"
	case "FULL_DECODE_ONLY":
		c.Graphs = "decode"
	}
	if r.on(false, "enforce-eager") || c.AllToAll == "normal" {
		c.Graphs = "none"
	}
	c.GraphMax = min(2*c.MaxRunning, 512)
	if compile.Max > 0 {
		c.GraphMax = compile.Max
	}
	c.GraphMax = r.int(c.GraphMax, "max-cudagraph-capture-size")
	if c.Graphs == "none" {
		c.GraphMax = 0
	}
}

func (c *Config) vllmSpeculation(text string) {
	if text == "" {
		return
	}
	var s struct {
		Method string `json:"method"`
		Tokens int    `json:"num_speculative_tokens"`
	}
	if json.Unmarshal([]byte(text), &s) == nil {
		c.Draft = min(max(s.Tokens, 0), math.MaxInt16)
		c.DraftMethod = strings.ToLower(s.Method)
	}
}
