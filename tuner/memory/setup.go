package memory

// Setup is a configuration as far as memory depends on it, as the engine resolves its flags.
type Setup struct {
	Engine string  // vllm or sglang: they divide a GPU differently
	GPUs   int     // that there are; 0: unknown
	GiB    float64 // memory of one of them; 0: unknown

	TP, PP int // GPUs that share a layer; stages
	// DP is the number of attention ranks with a KV cache each. With Inside they lie inside TP (SGLang's data-parallel attention); otherwise
	// they multiply the GPUs.
	DP     int
	Inside bool
	DCP    int  // GPUs over which the context of a request is split while decoding; 1: none
	EP     bool // whole experts lie on each GPU
	Away   bool // an all-to-all backend carries tokens to experts: shared experts are then whole on each GPU, and its buffers take room

	Share      float64 // of the GPU: for everything (vLLM), for weights and cache (SGLang); 0: the engine finds it
	CacheBytes int64   // of each GPU, whatever Share says; 0: not given
	CacheType  string  // kv-cache-dtype as written; empty or auto: 16 bits
	Narrowed   float64 // bytes of a weight that the engine narrows to while loading; 0: as the checkpoint has them

	Chunk     int  // tokens of a step of one replica; 0: unknown
	Sequences int  // at once; 0: unknown
	GraphMax  int  // sequences of a rank in the largest graph; 0: no graphs
	Context   int  // longest request that the server promises; 0: the model's, negative: what fits
	Longest   int  // of the workload, input and output; 0: unknown
	Drafts    bool // it speculates with the draft layers of the checkpoint

	// Kernels are the flags that choose kernels, as written: they repack weights and need room to work in. What was measured with some is not carried
	// over to others.
	Kernels string
}

// World is how many GPUs the layout needs.
func (s Setup) World() int {
	n := s.TP * s.PP
	if !s.Inside {
		n *= s.DP
	}
	return n
}

// attentionTP is the number of GPUs that share the heads of one attention rank.
func (s Setup) attentionTP() int {
	if s.Inside {
		return max(1, s.TP/s.DP)
	}
	return s.TP
}

// expertGPUs is the number of GPUs over which the experts of a stage lie: vLLM splits them over its data-parallel ranks too, with or without expert
// parallelism; SGLang over its tensor-parallel group, in which the ranks of data-parallel attention lie.
func (s Setup) expertGPUs() int {
	if s.Engine == "vllm" {
		return s.TP * s.DP
	}
	return s.TP
}

// complete fills in what is left out.
func (s Setup) complete() Setup {
	for _, p := range []*int{&s.TP, &s.PP, &s.DP, &s.DCP} {
		*p = max(*p, 1)
	}
	return s
}

// weightsLayout is what the bytes of the weights on a GPU depend on.
func (s Setup) weightsLayout() Setup {
	return Setup{Engine: s.Engine, TP: s.TP, PP: s.PP, DP: s.DP, Inside: s.Inside, EP: s.EP, Away: s.Away, Narrowed: s.Narrowed, Drafts: s.Drafts, Kernels: s.Kernels}
}

// graphsLayout is what captured graphs depend on.
func (s Setup) graphsLayout() Setup {
	l := s.weightsLayout()
	l.GraphMax = s.GraphMax
	return l
}

// cacheLayout is what the bytes of a token in the cache depend on.
func (s Setup) cacheLayout() Setup {
	return Setup{Engine: s.Engine, TP: s.TP, PP: s.PP, DP: s.DP, Inside: s.Inside, DCP: s.DCP, CacheType: s.CacheType, Drafts: s.Drafts, Kernels: s.Kernels}
}

// stepLayout is what a step's memory depends on, beside the numbers that it grows with.
func (s Setup) stepLayout() Setup {
	l := s.weightsLayout()
	l.DCP, l.CacheType, l.GiB = s.DCP, s.CacheType, s.GiB
	return l
}

// group is the GPUs that SGLang joins before it loads.
func (s Setup) group() Setup {
	return Setup{Engine: s.Engine, TP: s.TP, PP: s.PP, DP: s.DP, Inside: s.Inside, Away: s.Away, GiB: s.GiB}
}

// place is all that asksNoMore does not compare.
func (s Setup) place() Setup {
	s.Share, s.Chunk, s.Sequences, s.GraphMax, s.Context, s.Longest = 0, 0, 0, 0, 0, 0
	return s
}

// asksNoMore tells whether the configuration needs no more memory than another one of the same place, and has no smaller pools.
func (s Setup) asksNoMore(than Setup) bool {
	larger := s.Share == than.Share || s.Engine == "vllm" && s.Share >= than.Share
	shorter := s.Context == than.Context || s.Context < 0 || s.Context > 0 && (than.Context == 0 || s.Context <= than.Context)
	return larger && shorter && s.takesNoMore(than) && s.Longest <= than.Longest
}

// takesNoMore tells whether a step takes no more memory than one of another configuration of the same layout.
func (s Setup) takesNoMore(than Setup) bool {
	return (s.Chunk == than.Chunk || s.Chunk > 0 && s.Chunk <= than.Chunk) && (s.Sequences == than.Sequences || s.Sequences > 0 && s.Sequences <= than.Sequences) &&
		s.GraphMax <= than.GraphMax
}
