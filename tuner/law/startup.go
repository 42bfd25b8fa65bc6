package law

import (
	"fmt"
	"time"
)

// Rates of a start: reading weights from local storage by all GPUs together, capturing a graph, compiling.
const (
	loadRate    = 4.0  // GiB/s
	captureEach = 0.15 // s a graph
)

func seconds(s float64) time.Duration {
	return time.Duration(s*1e6) * time.Microsecond
}

// Startup lists the stages of the start, with the markers that the real engine logs.
func (s *Simulation) Startup() []Stage {
	if s.cfg.Engine == "vllm" {
		return s.startupVLLM()
	}
	return s.startupSGLang()
}

// loadTime is the time to read the weights of every GPU.
func (s *Simulation) loadTime() float64 {
	return 3 + s.memory.weights*float64(s.cfg.gpus())/loadRate
}

// graphCount is how many batch sizes are captured up to the largest: each up to 8, then every 8th.
func (c Config) graphCount() int {
	if c.GraphMax == 0 {
		return 0
	}
	return min(c.GraphMax, 4) + c.GraphMax/8
}

func (s *Simulation) startupVLLM() []Stage {
	m, c := s.memory, s.cfg
	load := s.loadTime()
	stages := []Stage{
		{"init", "INFO [api_server.py:1839] vLLM API server version 0.24.0", seconds(6)},
		{"load", fmt.Sprintf("INFO [default_loader.py:384] Loading weights took %.2f seconds", load-1), seconds(load - 1)},
		{"load", fmt.Sprintf("INFO [gpu_model_runner.py:4879] Model loading took %.2f GiB memory and %.6f seconds", m.weights, load), seconds(1)},
	}
	compile := 10 + 0.5*float64(s.model.layers)
	if c.Graphs != "none" {
		stages = append(stages, Stage{"profile", fmt.Sprintf("INFO [monitor.py:34] torch.compile takes %.2f s in total", compile), seconds(compile)})
	} else {
		compile = 0
	}
	stages = append(stages,
		Stage{"profile", fmt.Sprintf("INFO [gpu_worker.py:298] Available KV cache memory: %.2f GiB", m.cache), seconds(4)},
		Stage{"profile", fmt.Sprintf("INFO [kv_cache_utils.py:1087] GPU KV cache size: %s tokens", thousands(m.tokens)), seconds(0.2)},
		Stage{"profile", fmt.Sprintf("INFO [kv_cache_utils.py:1091] Maximum concurrency for %s tokens per request: %.2fx", thousands(m.context), float64(m.tokens)/float64(max(m.context, 1))), 0})
	graphs := captureEach * float64(c.graphCount())
	if n := c.graphCount(); n > 0 {
		stages = append(stages,
			Stage{"capture", fmt.Sprintf("Capturing CUDA graphs (mixed prefill-decode, PIECEWISE): 100%%|##########| %d/%d [00:%02d<00:00, %.2fit/s]", n, n, int(graphs), 1/captureEach), seconds(graphs)},
			Stage{"capture", fmt.Sprintf("INFO [gpu_model_runner.py:1608] Graph capturing finished in %.0f secs, took %.2f GiB", graphs, m.graphs), seconds(0.5)})
	}
	return append(stages,
		Stage{"capture", fmt.Sprintf("INFO [core.py:162] init engine (profile, create kv cache, warmup model) took %.2f seconds", compile+4.7+graphs), seconds(0.5)},
		Stage{"serve", "INFO [api_server.py:1634] Starting vLLM API server 0", seconds(1)},
		Stage{"serve", "INFO:     Application startup complete.", seconds(0.5)})
}

func (s *Simulation) startupSGLang() []Stage {
	m, c := s.memory, s.cfg
	free := c.Machine.MemoryGiB - m.overhead
	left := free - m.weights
	stages := []Stage{
		{"init", fmt.Sprintf("Load weight begin. avail mem=%.2f GB", free), seconds(12)},
		{"load", fmt.Sprintf("Load weight end. type=%s, dtype=torch.bfloat16, avail mem=%.2f GB, mem usage=%.2f GB.", s.model.class(), left, m.weights), seconds(s.loadTime())},
		{"profile", fmt.Sprintf("KV Cache is allocated. #tokens: %d, K size: %.2f GB, V size: %.2f GB", m.tokens, m.cache/2, m.cache/2), seconds(1)},
		{"profile", fmt.Sprintf("Memory pool end. avail mem=%.2f GB", m.reserve), seconds(0.5)},
	}
	if n := c.graphCount(); n > 0 {
		took := 2 * captureEach * float64(n)
		stages = append(stages,
			Stage{"capture", fmt.Sprintf("Capture cuda graph begin. This can take up to several minutes. avail mem=%.2f GB", m.reserve), seconds(1)},
			Stage{"capture", fmt.Sprintf("Capture cuda graph end. Time elapsed: %.2f s. mem usage=%.2f GB. avail mem=%.2f GB.", took, m.graphs+m.buffers, m.reserve-m.graphs-m.buffers), seconds(took)})
	}
	chunk := c.Chunk * c.Ranks
	if c.Chunk > 1<<24 {
		chunk = -1
	}
	return append(stages,
		Stage{"capture", fmt.Sprintf("max_total_num_tokens=%d, chunked_prefill_size=%d, max_prefill_tokens=%d, max_running_requests=%d, context_len=%d, available_gpu_mem=%.2f GB",
			m.tokens, chunk, c.MaxPrefill, m.running*c.Ranks, m.context, m.reserve-m.graphs-m.buffers), seconds(0.5)},
		Stage{"serve", "INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)", seconds(1)},
		Stage{"serve", "The server is fired up and ready to roll!", seconds(4)})
}

// class is the name of the model's class that a log shows.
func (m model) class() string {
	if m.experts > 0 {
		return "MoeForCausalLM"
	}
	return "ForCausalLM"
}

// thousands writes a number with commas, as vLLM does.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
