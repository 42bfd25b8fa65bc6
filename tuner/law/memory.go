package law

import "math"

const (
	gib = 1 << 30
	mib = 1 << 20
)

// memory is where a GPU's memory goes, in GiB, and what fits into the rest.
type memory struct {
	weights   float64 // of the layout, a GPU's share
	graphs    float64
	buffers   float64 // of an all-to-all backend
	overhead  float64 // context, communication
	workspace float64 // activations of the largest step
	perToken  float64 // GiB of activations a token of a step, over all attention ranks
	reserve   float64 // what is left for graphs, buffers and activations beside the static pool (SGLang)
	cache     float64 // KV cache and states
	share     float64 // as resolved
	tokens    int     // in the KV cache of one attention rank
	running   int     // most running sequences of one attention rank, after every limit
	context   int     // longest request, after fitting
	tokenB    float64 // bytes a token takes in the cache of a GPU
	stateB    float64 // bytes a running sequence takes beside that
}

// plan does the memory maths of a configuration.
func (c Config) plan(m model) memory {
	total := c.Machine.MemoryGiB
	p := memory{overhead: m.coefficient.Overhead}
	if c.TP == 1 {
		p.overhead *= 0.6 // no communication buffers
	}
	p.weights = c.weights(m)
	p.tokenB, p.stateB = c.cacheBytes(m)
	p.graphs = m.coefficient.Graphs * float64(c.GraphMax) / 512
	if c.Ranks == 1 {
		p.graphs *= plainGraphs
	}
	if c.AllToAll != "none" {
		p.buffers = 2
	}
	p.perToken = m.coefficient.Workspace * mib / gib
	switch c.Engine {
	case "vllm":
		p.perToken *= compiledWorkspace
		p.workspace = 0.5 + p.perToken*float64(c.largestStep(m))
		p.share = c.MemoryShare
		p.cache = total*p.share - p.weights - p.workspace - p.graphs - p.buffers - p.overhead
		if c.CacheBytes > 0 {
			p.cache = float64(c.CacheBytes) / gib
			p.share = (p.cache + p.weights + p.workspace + p.graphs + p.buffers + p.overhead) / total
		}
	default:
		p.workspace = p.perToken * float64(c.largestStep(m))
		p.share = c.MemoryShare
		if p.share == 0 {
			p.share = c.automaticShare()
		}
		before := total - p.overhead // free before loading
		p.cache = before*p.share - p.weights
		p.reserve = before * (1 - p.share)
	}
	c.fill(&p, m)
	return p
}

// plainGraphs is the size of graphs without the buffers in which attention ranks meet, relative to those with them.
// SGLang's own reserve for graphs of 512 on 8 GPUs is 1 GiB plain and 19 with dp 8: an upper bound that no one reaches.
const plainGraphs = 0.4

// compiledWorkspace is what vLLM's compiled graphs need of the workspace of eager kernels: its profiled peak is about 8 GiB for
// mixture models at 8192 tokens.
const compiledWorkspace = 0.6

// largestStep is the most tokens of a step over all attention ranks that meet in the expert layers.
func (c Config) largestStep(m model) int {
	chunk := min(c.Chunk, c.MaxPrefill)
	if c.MaxPrefill < 0 || c.Chunk == math.MaxInt32 {
		chunk = max(min(c.Chunk, c.MaxPrefill), min(m.context, 16384))
	}
	if c.Engine == "sglang" {
		chunk *= c.Ranks
	} else if m.experts > 0 && c.Ranks > 1 {
		chunk *= min(c.Ranks, 2) // gathered, but never all ranks with full prefill chunks at once in profiling
	}
	return chunk
}

// weights is the GiB of weights on one GPU: experts over all GPUs, the rest over those of an attention rank.
func (c Config) weights(m model) float64 {
	each := c.weightBytes(m)
	all := float64(c.TP * c.PP)
	attention := float64(c.attentionTP() * c.PP)
	w := m.expert*each/all + m.rest*each/attention + m.embed*2/all
	if c.Draft > 0 && c.DraftMethod != "ngram" {
		w *= 1 + 1/float64(m.layers) // the draft is about a layer
	}
	return w / gib
}

// weightBytes is the bytes of one weight.
func (c Config) weightBytes(m model) float64 {
	switch c.WeightType {
	case "fp8":
		return min(m.bytes, 1)
	case "int4":
		return min(m.bytes, 0.56)
	}
	return m.bytes
}

// cacheBytes is what a token takes in the cache of a GPU, and what a running sequence takes beside its tokens.
func (c Config) cacheBytes(m model) (token, state float64) {
	each := map[string]float64{"bf16": 2, "fp8": 1, "fp4": 0.56}[c.CacheType]
	layers := float64(m.attnLayers)
	if m.kvHeads == 0 { // latent: every GPU of a rank holds all of it
		token = layers * (float64(m.latent)*each + float64(m.indexBytes))
	} else {
		heads := max(1, float64(m.kvHeads)/float64(c.attentionTP()))
		token = layers * 2 * heads * float64(m.headDim) * each
	}
	if c.Draft > 0 && c.DraftMethod != "ngram" {
		token *= 1 + 1/float64(m.layers)
	}
	return token / float64(c.PP), m.state / float64(c.attentionTP()*c.PP)
}

// automaticShare is SGLang's formula for mem-fraction-static, in MiB: what is left beside 512 of constants, 1.5 for a token of the largest chunk, an eighth of
// 1024 for each GPU, graphs (2 for a sequence of the largest, 3 or 4.5 more for each attention rank), 10240 of it all at least on a large GPU, and 2048 for an
// all-to-all. Releases with graphs for prompts (0.5.23) reserve 1536 more for these on latent attention, 8 for each size otherwise; the law does not.
func (c Config) automaticShare() float64 {
	gpu := c.Machine.MemoryGiB * 1024
	chunk := float64(min(c.Chunk, math.MaxInt32/c.Ranks) * c.Ranks)
	if c.Chunk == math.MaxInt32 {
		chunk = 16384
	}
	bs := float64(c.GraphMax)
	reserved := 512 + 1.5*max(chunk, 2048) + 1024*float64(c.TP*c.PP)/8 + 2*bs
	if c.Ranks > 1 {
		reserved += 3 * bs * float64(c.Ranks)
		if bs > 300 {
			reserved += 1.5 * bs * float64(c.Ranks)
		}
	}
	if c.Machine.MemoryGiB > 60 {
		reserved = max(reserved, 10*1024)
	}
	if c.AllToAll != "none" {
		reserved += 2 * 1024
	}
	return math.Round(1000*(1-reserved/gpu)) / 1000
}

// mambaShare is the part of SGLang's pool that goes to states of linear-attention layers: of the default mamba-full-memory-ratio, 0.9 parts to 1 part of cache.
const mambaShare = 0.9 / 1.9

// fill turns the room into tokens and running sequences.
func (c Config) fill(p *memory, m model) {
	room := max(p.cache, 0) * gib
	p.running = c.MaxRunning
	if p.stateB > 0 && c.Engine == "sglang" {
		slots := int(room * mambaShare / p.stateB)
		room *= 1 - mambaShare
		limit := max(slots/c.StatePerSlot, 1)
		if p.running == 0 || p.running > limit {
			p.running = limit
		}
	}
	p.tokens = int(min(room/p.tokenB, math.MaxInt32/2))
	if c.CacheTokens > 0 {
		p.tokens = min(p.tokens, c.CacheTokens)
	}
	p.tokens -= p.tokens % max(c.Page, 1)
	p.context = c.Context
	if p.context < 0 {
		p.context = min(m.context, p.tokens)
	}
	if p.running == 0 { // SGLang's formula, for the whole server
		all := min(max(512*p.tokens/max(p.context, 1), 2048), 4096)
		p.running = max(1, min(all, p.tokens/2)/c.Ranks)
	}
}
