package law

import "math"

// speed is how long steps of one configuration take: a roofline (Williams, Waterman and Patterson, Communications of the ACM 52, 2009) with fixed costs, in which
// reading and computing add up: in a step's many kernels one waits for the other. doc.go has the formula. Shares of the machine's peaks, and fixed costs, are
// fitted (Coefficients); numbers in this file are not, and are of the usual size.
type speed struct {
	m model
	c Config

	weightTime float64 // s to read every expert once
	restTime   float64 // s to read all other weights once
	expertFlop float64 // s of the expert layers for a token, over the GPUs of the layout
	restFlop   float64 // s of the other linear layers for a token, on its attention rank
	attnWork   float64 // s a token attending to one token takes in prefill
	indexWork  float64 // s of the indexer for the same
	cacheRead  float64 // s to read the cache of one token of context
	indexRead  float64 // s to read the indexer's cache of one token of context
	link       float64 // s a token takes to cross between the GPUs
	sequence   float64
	graph      float64
	eager      float64
	meetGraph  float64 // s that meeting of attention ranks adds to a step from a graph
	meetEager  float64 // the same launched kernel by kernel
	windowF    float64
	tokens     float64 // tokens that a sequence makes in a decoding step
}

// linkShare is the share of NVLink's peak that collectives reach.
const linkShare = 0.6

func newSpeed(m model, c Config) *speed {
	k := m.coefficient
	g := sheet(c.Machine.GPU)
	s := &speed{m: m, c: c}
	each := c.weightBytes(m)
	peak := g.flops
	if each <= 1 && g.hasFP8 {
		peak *= 2
	}
	narrow := 1.0
	if each <= 1 {
		narrow = k.Narrow
	}
	flops := peak * k.Compute * narrow * c.expertKernel()
	gpus := float64(c.TP * c.PP)
	pipeline := 1.0
	if c.PP > 1 {
		pipeline = 1.15 // bubbles
	}
	attention := float64(c.attentionTP() * c.PP)
	activeExperts := 0.0
	if m.experts > 0 {
		activeExperts = m.expert * float64(m.topK) / float64(m.experts)
	}
	bandwidth := g.bandwidth * k.Bandwidth
	weights := bandwidth * narrow
	s.weightTime = m.expert * each / gpus / weights * pipeline
	s.restTime = (m.rest*each/attention + m.embed/gpus) / weights * pipeline // of embed the head alone, half of it, is read: 2 bytes a weight
	s.expertFlop = 2 * activeExperts / gpus / flops * pipeline * c.imbalance()
	s.restFlop = 2 * m.rest / attention / flops * pipeline
	s.attentionTimes(g, bandwidth, attention)
	s.link = s.crossing(g)
	s.fixed(k)
	// One, and what is drafted and accepted: 1 + p + p² + ... (Leviathan, Kalman and Matias, Fast Inference from Transformers via Speculative Decoding, ICML
	// 2023, equation 1).
	s.tokens = 1
	for i, p := 0, 1.0; i < c.Draft; i++ {
		p *= acceptance(c.DraftMethod)
		s.tokens += p
	}
	return s
}

// attentionTimes sets what a token pays for each token that it looks at.
func (s *speed) attentionTimes(g gpu, bandwidth, attention float64) {
	m, k := s.m, s.m.coefficient
	heads := float64(m.heads) / float64(s.c.attentionTP())
	heads = max(heads, float64(m.padHeads))
	width := 2.0 * float64(m.headDim)
	if m.kvHeads == 0 {
		width = float64(2*m.latent - 64) // keys with rope, values without
	}
	layers := float64(m.attnLayers) / float64(s.c.PP)
	flops := g.flops * k.Attention * s.c.attentionKernel()
	s.attnWork = 2 * layers * heads * width / flops
	s.indexWork = 2 * layers * float64(m.indexWork) / (2 * flops) // fp8
	token, _ := s.c.cacheBytes(m)
	index := layers * float64(m.indexBytes)
	s.cacheRead = (token - index) / bandwidth
	s.indexRead = index / bandwidth
	s.windowF = float64(m.window)
}

// crossing is the time that a token's activations take between the GPUs: all-reduce under tensor parallelism, gather and
// scatter between attention ranks, dispatch to experts. An all-reduce moves 2(n-1)/n of its bytes over each link, the least there is (Patarasuk and Yuan,
// Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, Journal of Parallel and Distributed Computing 69, 2009), twice a layer.
func (s *speed) crossing(g gpu) float64 {
	n := float64(s.c.TP)
	if n < 2 {
		return 0
	}
	bytes := 2 * float64(s.m.hidden)
	layers := float64(s.m.layers)
	around := 2 * (n - 1) / n
	rate := g.link * linkShare
	switch {
	case s.c.AllToAll != "none": // eight copies in fp8 there, eight in bf16 back, from each GPU at once
		return 1.5 * bytes * float64(max(s.m.topK, 1)) * layers / n / rate
	case s.c.Ranks > 1:
		return bytes * layers * around / rate
	}
	return 2 * bytes * layers * around / rate
}

// fixed sets the costs of a step that do not depend on what is in it.
func (s *speed) fixed(k Coefficients) {
	c := s.c
	s.graph, s.eager = k.SGLGraph, k.SGLEager
	if c.Engine == "vllm" {
		s.graph, s.eager = k.VLLMGraph, k.VLLMEager
		if c.Graphs == "piecewise" {
			s.graph = k.VLLMGraph + 0.25*(k.VLLMEager-k.VLLMGraph)
		}
	}
	s.sequence = k.Sequence
	if !c.Overlap { // the host's share of the work is no longer hidden
		s.graph += 0.15 * (s.eager - s.graph)
		s.sequence *= 1.1
	}
	if c.Compile {
		s.graph *= 0.97
	}
	if c.Interactive {
		s.graph *= 0.95
	}
	if c.Ranks > 1 {
		switch c.AllToAll {
		case "none":
			s.meetGraph, s.meetEager = k.Gather, k.Gather+0.5*k.Dispatch
		case "normal":
			s.meetGraph, s.meetEager = k.Dispatch, k.Dispatch
		case "low_latency":
			s.meetGraph, s.meetEager = 0, 0.3*k.Dispatch
		default: // auto
			s.meetGraph, s.meetEager = 0, k.Dispatch
		}
	}
}

// imbalance is how much longer the busiest GPU's experts take than the mean, when whole experts lie on each GPU.
func (c Config) imbalance() float64 {
	switch {
	case !c.ExpertParallel:
		return 1
	case c.Balanced:
		return 1.02
	}
	return 1.06
}

// expertKernel is the speed of the expert layers' backend relative to the one that the engine picks.
func (c Config) expertKernel() float64 {
	switch c.Experts {
	case "triton", "triton_kernel":
		return 0.93
	case "cutlass", "flashinfer_cutlass":
		return 0.97
	case "marlin":
		return 0.85
	}
	return 1
}

// attentionKernel is the same for attention.
func (c Config) attentionKernel() float64 {
	switch c.Attention {
	case "triton", "triton_attn", "triton_mla":
		return 0.8
	case "flashinfer", "flashinfer_mla":
		return 0.95
	case "torch_native", "flex_attention":
		return 0.3
	}
	return 1
}

// share is what one attention rank does in a step.
type share struct {
	prefill  int     // prompt tokens
	looked   float64 // sum over prompt tokens of the tokens that each attends to
	indexed  float64 // the same without a window
	decode   int     // tokens that decode
	seqs     int     // sequences that decode
	context  float64 // sum of the tokens that the decoding sequences attend to
	contextI float64 // the same without a window
	done     int     // prompts that end in this step
}

// step is the time of one step in which the ranks do their shares, and whether a graph served it.
func (s *speed) step(ranks []share) float64 {
	total, most, prefill, seqs := 0, 0, 0, 0
	attention := 0.0
	for i := range ranks {
		r := &ranks[i]
		n := r.prefill + r.decode
		total += n
		most = max(most, n)
		prefill += r.prefill
		seqs = max(seqs, r.seqs)
		verify := float64(max(r.decode, 1)) / float64(max(r.seqs, 1))
		attention = max(attention, s.attnWork*r.looked+s.indexWork*r.indexed+
			(s.cacheRead*r.context+s.indexRead*r.contextI)*(1+0.1*(verify-1))+
			s.sequence*float64(r.seqs+r.done))
	}
	if total == 0 {
		return 0
	}
	t := s.restTime + s.weightTime*s.touched(total)
	compute := s.expertFlop*float64(total) + s.restFlop*float64(most)
	cross := s.link * float64(total)
	if s.c.TwoBatch && total > 512 {
		cross *= 0.4
		compute *= 1.02
	}
	device := t + compute + cross + attention
	host, graph := s.launch(prefill, most, seqs)
	if graph {
		return device + host
	}
	return math.Hypot(device, host) // kernels are launched while others run, so each hides a part of the other
}

// launch is the fixed cost of a step, and whether a graph is replayed.
func (s *speed) launch(prefill, most, seqs int) (cost float64, graph bool) {
	c := s.c
	graph = seqs <= c.GraphMax && prefill == 0
	if c.Engine == "vllm" {
		graph = most <= c.GraphMax && (prefill == 0 || c.Graphs != "decode")
	}
	graph = graph && c.Graphs != "none"
	cost = s.eager + s.meetEager
	if graph {
		cost = s.graph + s.meetGraph
	} else if c.Graphs == "none" && c.Engine == "vllm" && c.AllToAll != "normal" {
		cost += s.eager // not compiled either
	}
	return cost + s.graph*draftCost(c)*float64(c.Draft), graph
}

// draftCost is what one drafted token costs of a step's fixed time.
func draftCost(c Config) float64 {
	if c.DraftMethod == "ngram" {
		return 0.01
	}
	return 0.12
}

// touched is the share of the experts that a step of n tokens has to read: each token picks k of n experts, as if at random, and 1 - (1 - k/n)^tokens of them
// are picked by one token or more.
func (s *speed) touched(n int) float64 {
	if s.m.experts == 0 {
		return 0
	}
	return 1 - math.Pow(1-float64(s.m.topK)/float64(s.m.experts), float64(n))
}

// looked sums, over the prompt tokens from..to-1, how many tokens each attends to, with and without the window: those before it and, for the mean of both ways to
// count, half of itself.
func (s *speed) looked(from, to int) (windowed, all float64) {
	f, t := float64(from), float64(to)
	all = (t*t - f*f) / 2
	w := s.windowF
	switch {
	case w == 0 || t <= w:
		return all, all
	case f >= w:
		return (t - f) * w, all
	}
	return (w*w-f*f)/2 + (t-w)*w, all
}

// acceptance, of the usual size, is the chance that one drafted token is accepted, given that those before it were.
func acceptance(method string) float64 {
	switch method {
	case "ngram", "suffix":
		return 0.35
	case "draft_model", "standalone":
		return 0.65
	}
	return 0.75
}
