package memory

import "math"

const mib = 1 << 20

// activations is what a step takes beside weights and cache. The lower end is the hidden state and its residual of every token, without which no layer
// runs. The upper ends were seen or are the engines' own: vLLM's profiled peak at 8192 tokens is up to 5.5 GiB for dense models and 8 for mixtures, and
// its sampler warms up with logits of every sequence, copied twice; SGLang reserves 1.5 MiB for each token of a prefill chunk.
func activations(m Model, s Setup) Range {
	chunk := s.Chunk
	if chunk <= 0 {
		chunk = 2048
	}
	perRank := chunk
	if s.Inside {
		perRank = max(1, chunk/s.DP)
	}
	low := float64(perRank) * float64(m.Hidden) * 2 * 2
	if s.Engine != "vllm" {
		return Range{low / GiB, 0.5 + 1.5*float64(max(chunk, 2048))*mib/GiB}
	}
	peak := 5.5
	if m.Experts > 0 || m.Multimodal {
		peak = 8
	}
	logits := 3 * 4 * float64(s.Sequences) * float64(m.Vocab)
	return Range{low / GiB, peak*math.Max(0.25, float64(chunk)/8192) + logits/GiB}
}

// runtime is what CUDA, NCCL and the allocator take. vLLM logs 0.13 to 0.15 GiB for one GPU and 0.6 and more for several, SGLang 1.8 to 2 for a group
// of 8 before it loads; what a driver keeps of the GPU's nominal memory is in it too.
func runtime(s Setup) Range {
	switch {
	case s.Engine != "vllm" && s.World() > 1:
		return Range{0.5, 6}
	case s.Engine != "vllm":
		return Range{0.3, 2}
	case s.World() > 1:
		return Range{0.1, 2.5}
	default:
		return Range{0.1, 1}
	}
}

// graphs is what captured graphs take, and the buffers of an all-to-all backend. SGLang's own reserve is the upper end: 2 MiB a sequence of the largest
// graph, and under data-parallel attention 3 (4.5 above 300 sequences) for every rank; measured is a fraction of it.
func graphs(s Setup) Range {
	r := Range{}
	batch := float64(s.GraphMax)
	if s.Engine == "vllm" {
		r.High = 3 * math.Min(1, batch/512)
	} else {
		r.High = 2 * batch * mib / GiB
		if s.Inside && s.DP > 1 {
			each := 3.0
			if batch > 300 {
				each = 4.5
			}
			r.High += each * batch * float64(s.DP) * mib / GiB
		}
		r.High += float64(s.TP*s.PP) / 8
	}
	if s.Away {
		r.High += 2
	}
	return r
}

// automaticShare is SGLang's mem-fraction-static where it is left out: 1 - reserved / memory (server_args.py).
func automaticShare(s Setup) float64 {
	chunk := max(s.Chunk, 2048)
	reserved := 512 + 1.5*float64(chunk) + 1024*float64(s.TP*s.PP)/8 + 2*float64(s.GraphMax)
	if s.Inside && s.DP > 1 {
		reserved += 3 * float64(s.GraphMax) * float64(s.DP)
		if s.GraphMax > 300 {
			reserved += 1.5 * float64(s.GraphMax) * float64(s.DP)
		}
	}
	if s.GiB > 60 {
		reserved = math.Max(reserved, 10*1024)
	}
	if s.Away {
		reserved += 2 * 1024
	}
	return math.Max(0.1, 1-reserved/(s.GiB*1024))
}
