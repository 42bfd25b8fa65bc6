package law

import (
	"fmt"
	"math"
	"time"
)

// contextGiB is what the driver, the CUDA context and a little fragmentation keep of a GPU whatever an engine plans.
const contextGiB = 0.6

// samplerBytes is what vLLM's sampler needs for one sequence beside everything it has planned: logits of a vocabulary of 150 thousand
// in 32 bits, sorted and as probabilities.
const samplerBytes = 150e3 * 4 * 3

// failure makes a Failure at the end of the stages before a phase.
func (s *Simulation) failure(phase, signature, message string, lines ...string) *Failure {
	f := &Failure{Phase: phase, Signature: signature, Message: message, Exit: 1}
	for _, stage := range s.Startup() {
		if stage.Phase == phase {
			break
		}
		f.At += stage.Took
		f.Lines = append(f.Lines, stage.Line)
	}
	if phase == "serve" {
		f.Lines = nil
	}
	f.Lines = append(f.Lines, lines...)
	if s.cfg.Engine == "sglang" {
		f.Exit = -9
		f.Lines = append(f.Lines, "Received sigquit from a child proces. It usually means the child failed.")
	} else if phase != "serve" {
		f.Lines = append(f.Lines, "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}")
	}
	return f
}

// cudaOOM is PyTorch's sentence for memory that is not there.
func (s *Simulation) cudaOOM(wanted, free float64) string {
	const text = "CUDA out of memory. Tried to allocate %.2f GiB. GPU 0 has a total capacity of %.2f GiB of which %.2f GiB is free."
	return fmt.Sprintf(text, max(wanted, 0.02), s.cfg.Machine.MemoryGiB, max(free, 0.01))
}

// startFailure says how the start ends; nil when it ends well.
func (s *Simulation) startFailure() *Failure {
	m := s.memory
	total := s.cfg.Machine.MemoryGiB
	if free := total - contextGiB; m.weights > free {
		message := s.cudaOOM(m.weights/float64(s.model.layers), free-m.weights)
		return s.failure("load", "cuda_oom_torch", fmt.Sprintf("the weights take %.1f GiB of each GPU, which has %.1f", m.weights, total), "torch.OutOfMemoryError: "+message)
	}
	if s.cfg.Engine == "vllm" {
		return s.startVLLM()
	}
	return s.startSGLang()
}

func (s *Simulation) startVLLM() *Failure {
	m, total := s.memory, s.cfg.Machine.MemoryGiB
	if m.cache <= 0 || m.tokens <= 0 {
		return s.failure("profile", "vllm_no_blocks", fmt.Sprintf("weights and activations leave no memory for the KV cache under a share of %.3g", m.share),
			"ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.")
	}
	if s.cfg.Context > 0 && m.tokens < s.cfg.Context {
		need := float64(s.cfg.Context) * m.tokenB / gib
		return s.failure("profile", "vllm_kv_too_small", fmt.Sprintf("the KV cache holds %d tokens, fewer than one request of %d", m.tokens, s.cfg.Context),
			fmt.Sprintf("ValueError: To serve at least one request with the models's max seq len (%d), (%.2f GiB KV cache is needed, "+
				"which is larger than the available KV cache memory (%.2f GiB). "+
				"Based on the available memory, the estimated maximum model length is %d. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
				s.cfg.Context, need, m.cache, m.tokens))
	}
	free := total - contextGiB - total*m.share
	if sampler := float64(s.cfg.MaxRunning) * samplerBytes / gib; sampler > free {
		return s.failure("capture", "vllm_sampler_warmup_oom", fmt.Sprintf("%d sequences of the sampler need %.2f GiB beside a share of %.3g", s.cfg.MaxRunning, sampler, m.share),
			"torch.OutOfMemoryError: "+s.cudaOOM(sampler, free),
			fmt.Sprintf("RuntimeError: CUDA out of memory occurred when warming up sampler with %d dummy requests. "+
				"Please try lowering `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.", s.cfg.MaxRunning))
	}
	return nil
}

func (s *Simulation) startSGLang() *Failure {
	m := s.memory
	if m.cache <= 0 || m.tokens <= 0 {
		return s.failure("profile", "sgl_not_enough_mem", fmt.Sprintf("the weights leave no memory for the KV cache under a fraction of %.3g", m.share),
			"RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.")
	}
	if s.cfg.CacheTokens > m.tokens+max(s.cfg.Page, 1) {
		return s.failure("profile", "sgl_max_total_tokens", fmt.Sprintf("%d tokens are wanted in a KV cache that has room for %d", s.cfg.CacheTokens, m.tokens),
			fmt.Sprintf("RuntimeError: max_total_tokens=%d is larger than the profiled value %d. Use the profiled value instead.", s.cfg.CacheTokens, m.tokens))
	}
	if free := m.reserve - m.graphs - m.buffers; free < 0 {
		return s.failure("capture", "sgl_capture_oom", fmt.Sprintf("a fraction of %.3g leaves %.1f GiB, and graphs and buffers need %.1f", m.share, m.reserve, m.graphs+m.buffers),
			"Exception: Capture cuda graph failed: "+s.cudaOOM(0.44, 0.1))
	}
	return nil
}

// slack is the memory, in GiB, that a step's activations may take while the server serves.
func (s *Simulation) slack() float64 {
	m := s.memory
	if s.cfg.Engine == "vllm" {
		return math.Inf(1) // it has profiled the largest step before it sized the cache
	}
	return m.reserve - m.graphs - m.buffers
}

// serveFailure says whether a step of so many tokens, over all ranks, is the server's last.
func (s *Simulation) serveFailure(now time.Duration, tokens int, ranks []*rank) *Failure {
	running := 0
	for _, k := range ranks {
		running = max(running, k.running())
	}
	return s.overload(now, tokens, running)
}

// overload is serveFailure where at most so many sequences run on a rank.
func (s *Simulation) overload(now time.Duration, tokens, running int) *Failure {
	if wanted := float64(tokens) * s.memory.perToken; wanted > s.room {
		f := s.failure("serve", "cuda_oom_torch", fmt.Sprintf("a step of %d tokens needs %.1f GiB beside the static pool, which leaves %.1f", tokens, wanted, s.room),
			"Scheduler hit an exception: Traceback (most recent call last):", "torch.OutOfMemoryError: "+s.cudaOOM(wanted/4, s.room-wanted*3/4))
		f.At = now
		return f
	}
	if s.cfg.Draft == 0 || s.model.state == 0 || s.cfg.Engine != "vllm" || s.cfg.DraftMethod == "ngram" {
		return nil
	}
	// Each drafted token of a linear-attention layer keeps a state of its own, which no release planned for when it was measured.
	if wanted := float64(running*s.cfg.Draft) * s.memory.stateB / gib; wanted > s.memory.cache {
		f := s.failure("serve", "illegal_access", fmt.Sprintf("the states of %d drafting sequences need %.1f GiB and the cache has %.1f", running, wanted, s.memory.cache),
			"torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
			"vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.")
		f.At = now
		return f
	}
	return nil
}
