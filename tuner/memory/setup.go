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
