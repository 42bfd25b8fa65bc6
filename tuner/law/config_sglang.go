package law

import (
	"math"
	"strings"
)

// resolveSGLang makes of SGLang's flags what its ServerArgs make of them.
func resolveSGLang(c *Config, r *reader, m model) {
	c.TP = r.int(1, "tp-size", "tensor-parallel-size", "tp")
	c.PP = r.int(1, "pp-size", "pipeline-parallel-size", "pp")
	dp := max(1, r.int(1, "dp-size", "data-parallel-size", "dp"))
	switch ranks := r.int(1, "attn-dp-size", "attention-data-parallel-size"); {
	case ranks > 1:
		c.Ranks = ranks
	case dp > 1 && r.on(false, "enable-dp-attention"):
		c.Ranks = dp
	default:
		c.Replicas = dp // with one rank the engine drops enable-dp-attention
	}
	c.sglangExperts(r, m)
	c.MemoryShare = r.number(0, "mem-fraction-static")
	c.CacheTokens = r.int(0, "max-total-tokens")
	c.CacheType = resolveCache(r.text("auto", "kv-cache-dtype"))
	c.WeightType = resolveWeights(r.text("", "quantization"), m)
	c.Context = r.int(m.context, "context-length")
	c.sglangBatch(r)
	c.Overlap = !r.on(false, "disable-overlap-schedule") && c.PP == 1
	c.TwoBatch = r.on(false, "enable-two-batch-overlap") && c.AllToAll != "none"
	c.Compile = r.on(false, "enable-torch-compile")
	c.Attention = strings.ToLower(r.text("auto", "attention-backend"))
	c.Experts = strings.ToLower(r.text("auto", "moe-runner-backend"))
	c.StatePerSlot = 3 // the prefix cache keeps snapshots beside the running request's state
	if r.on(false, "disable-radix-cache") {
		c.StatePerSlot = 1
	}
	c.sglangGraphs(r)
	if method := strings.ToLower(r.text("", "speculative-algorithm")); method != "" && method != "none" {
		c.DraftMethod = method
		steps := r.int(3, "speculative-num-steps")
		c.Draft = max(1, r.int(steps+1, "speculative-num-draft-tokens")-1)
		c.Mixed = false
		if c.MaxRunning == 0 {
			c.MaxRunning = max(1, 48/c.Ranks)
		}
	}
}

func (c *Config) sglangExperts(r *reader, m model) {
	if m.experts == 0 {
		return
	}
	c.ExpertParallel = r.int(1, "ep-size", "expert-parallel-size", "ep") > 1
	backend := r.text("none", "moe-a2a-backend")
	mode := r.text("auto", "deepep-mode")
	if backend != "none" {
		c.ExpertParallel = c.TP > 1 // these set ep-size to tp-size
		c.AllToAll = "auto"
		if backend == "deepep" || backend == "mori" {
			c.AllToAll = mode
		}
	}
	c.Balanced = c.ExpertParallel && r.on(false, "enable-eplb")
}

// sglangBatch resolves the limits of a step: those of the whole server are divided over the attention ranks.
func (c *Config) sglangBatch(r *reader) {
	chunk := 16384
	switch mem := c.Machine.MemoryGiB; {
	case mem < 35:
		chunk = 2048
	case mem < 60:
		chunk = 4096
	case mem < 160:
		chunk = 8192
	}
	chunk = r.int(chunk, "chunked-prefill-size")
	c.MaxPrefill = max(1, r.int(16384, "max-prefill-tokens"))
	if chunk <= 0 {
		c.Chunk = math.MaxInt32
	} else {
		c.Chunk = max(1, chunk/c.Ranks)
		c.MaxPrefill = max(c.MaxPrefill, c.Chunk)
	}
	if n := r.int(0, "max-running-requests"); n > 0 {
		c.MaxRunning = max(1, n/c.Ranks)
		if c.Ranks > 1 {
			c.MaxRunning = max(1, c.MaxRunning-1) // each rank stays one below its share
		}
	}
	c.Page = max(1, r.int(1, "page-size"))
	c.Mixed = r.on(false, "enable-mixed-chunk")
	c.Conservative = r.number(1, "schedule-conservativeness")
	if c.Ranks > 1 {
		c.Conservative *= 0.3
	}
}

func (c *Config) sglangGraphs(r *reader) {
	c.GraphMax = 512
	switch mem := c.Machine.MemoryGiB; {
	case mem < 20:
		c.GraphMax = 8
	case mem < 35:
		c.GraphMax = map[bool]int{true: 24, false: 80}[c.TP < 4]
	case mem < 60:
		c.GraphMax = map[bool]int{true: 32, false: 160}[c.TP < 4]
	default:
		c.GraphMax = map[bool]int{true: 256, false: 512}[c.TP < 4]
	}
	c.GraphMax = r.int(c.GraphMax, "cuda-graph-max-bs-decode", "cuda-graph-max-bs")
	off := r.on(false, "disable-cuda-graph", "disable-decode-cuda-graph")
	off = off || c.Attention == "torch_native" || c.Attention == "flex_attention" || c.AllToAll == "normal"
	c.Graphs = "decode"
	if off || c.GraphMax <= 0 {
		c.Graphs, c.GraphMax = "none", 0
	}
}
