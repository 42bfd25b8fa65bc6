package fake

import (
	"fmt"
	"hash/maphash"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"autotune/tuner/law"
)

// counts are the server's own counters, over its whole life.
type counts struct {
	promptTokens, generationTokens atomic.Int64
	queried, hit                   atomic.Int64 // tokens looked for and found in the prefix cache
	stopped, lengthened            atomic.Int64 // requests by finish reason
	aborted, failed                atomic.Int64
}

// generated counts tokens as the simulation reads and gives them, as an engine does, whether or not a client takes them.
func (c *counts) generated(prompt, n int) {
	c.promptTokens.Add(int64(prompt))
	c.generationTokens.Add(int64(n))
}

// ended counts a request by how it ended.
func (c *counts) ended(finish string) {
	switch finish {
	case "stop":
		c.stopped.Add(1)
	case "length":
		c.lengthened.Add(1)
	case "abort":
		c.aborted.Add(1)
	case "":
		c.failed.Add(1)
	}
}

// seenPrompts stands for the prefix cache: it knows whole prompts again, and counts; the simulation takes no less time for them.
type seenPrompts struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64]bool
}

func newSeenPrompts() *seenPrompts {
	return &seenPrompts{seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
}

// look tells whether a prompt was seen since the last flush.
func (p *seenPrompts) look(body []byte) bool {
	h := maphash.Bytes(p.seed, body)
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.seen[h]
	p.seen[h] = true
	return known
}

// lookUp counts a prompt's tokens as looked for in the prefix cache, and as found when the whole request was seen before.
func (s *server) lookUp(tokens int, body []byte) {
	s.metrics.queried.Add(int64(tokens))
	if s.cache.look(body) {
		s.metrics.hit.Add(int64(tokens))
	}
}

func (p *seenPrompts) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.seen)
}

// counters are the gauges of the simulation.
func (s *server) counters() law.Counters {
	if s.law() {
		return s.plans.counters()
	}
	return s.wall.counters()
}

// sample is one line of the exposition.
type sample struct {
	name, kind, labels string // labels besides the engine's own
	value              float64
}

// serveMetrics answers /metrics in the text format of Prometheus, under the engine's real names.
func (s *server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	samples, prefix, labels := s.vllmSamples(), "vllm:", fmt.Sprintf("engine=\"0\",model_name=%q", s.served)
	if s.sglang() {
		samples, prefix, labels = s.sglangSamples(), "sglang:", fmt.Sprintf("model_name=%q", s.served)
	}
	var b strings.Builder
	last := ""
	for _, m := range samples {
		if m.name != last {
			fmt.Fprintf(&b, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix, m.name, strings.ReplaceAll(m.name, "_", " "), prefix, m.name, m.kind)
			last = m.name
		}
		all := labels
		if m.labels != "" {
			all += "," + m.labels
		}
		fmt.Fprintf(&b, "%s%s{%s} %g\n", prefix, m.name, all, m.value)
	}
	w.Header().Set("Content-Type", "text/plain; version=1.0.0; charset=utf-8")
	_, _ = w.Write([]byte(b.String()))
}

func (s *server) vllmSamples() []sample {
	c, m := s.counters(), s.metrics
	kv := s.facts["kv_tokens"]
	return []sample{
		{"num_requests_running", "gauge", "", float64(c.Running)},
		{"num_requests_waiting", "gauge", "", float64(c.Waiting)},
		{"kv_cache_usage_perc", "gauge", "", c.KVUse},
		{"prefix_cache_queries_total", "counter", "", float64(m.queried.Load())},
		{"prefix_cache_hits_total", "counter", "", float64(m.hit.Load())},
		{"num_preemptions_total", "counter", "", float64(c.Preemptions)},
		{"prompt_tokens_total", "counter", "", float64(m.promptTokens.Load())},
		{"generation_tokens_total", "counter", "", float64(m.generationTokens.Load())},
		{"request_success_total", "counter", `finished_reason="stop"`, float64(m.stopped.Load())},
		{"request_success_total", "counter", `finished_reason="length"`, float64(m.lengthened.Load())},
		{"request_success_total", "counter", `finished_reason="abort"`, float64(m.aborted.Load())},
		{"request_success_total", "counter", `finished_reason="error"`, float64(m.failed.Load())},
		{"cache_config_info", "gauge", fmt.Sprintf(`block_size="16",num_gpu_blocks="%d",gpu_memory_utilization="%g"`, int(kv)/16, s.config.MemoryShare), 1},
	}
}

func (s *server) sglangSamples() []sample {
	c, m := s.counters(), s.metrics
	kv := s.facts["kv_tokens"]
	const rank = `engine_type="unified",pp_rank="0",tp_rank="0"`
	return []sample{
		{"num_running_reqs", "gauge", rank, float64(c.Running)},
		{"num_queue_reqs", "gauge", rank, float64(c.Waiting)},
		{"token_usage", "gauge", rank, c.KVUse},
		{"num_used_tokens", "gauge", rank, float64(int(c.KVUse * kv))},
		{"max_total_num_tokens", "gauge", rank, kv},
		{"num_retracted_requests_total", "counter", rank, float64(c.Preemptions)},
		{"prompt_tokens_total", "counter", "", float64(m.promptTokens.Load())},
		{"generation_tokens_total", "counter", "", float64(m.generationTokens.Load())},
		{"cached_tokens_total", "counter", `cache_source="device"`, float64(m.hit.Load())},
		{"num_requests_total", "counter", "", float64(m.stopped.Load() + m.lengthened.Load() + m.aborted.Load() + m.failed.Load())},
		{"num_aborted_requests_total", "counter", "", float64(m.aborted.Load())},
		{"weight_memory_usage_gb", "gauge", "", s.facts["weights_gib"]},
		{"kv_cache_memory_usage_gb", "gauge", "", s.facts["kv_gib"]},
	}
}
