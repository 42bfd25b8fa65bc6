package runner

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"autotune/tuner/metric"
)

// counterNames are the server's own counters that are compared with ours or kept beside them, without the engine's prefix.
var counterNames = []string{
	"prompt_tokens_total", "generation_tokens_total", "prefix_cache_queries_total", "prefix_cache_hits_total", "cached_tokens_total",
	"num_preemptions_total", "num_retracted_requests_total", "request_success_total", "num_requests_total", "num_aborted_requests_total",
	"spec_decode_num_drafts_total", "spec_decode_num_accepted_tokens_total",
}

const generated = "generation_tokens_total"

// finishedCounter is the engine's name of the counter of finished requests: vLLM's, or SGLang's.
func finishedCounter(counters map[string]float64) string {
	if _, sglang := counters["num_requests_total"]; sglang {
		return "num_requests_total"
	}
	return "request_success_total"
}

// chanceTokens are so many tokens with which random prompts may begin alike by chance, of which SGLang's cache, unlike vLLM's blocks of 16, knows each.
const chanceTokens = 2

// cacheKnew gives how many prompt tokens a cache of prefixes knew that it did not know by chance, and of how many. SGLang counts the tokens of a request that
// was put back for want of memory again, so that of such a run it says nothing.
func cacheKnew(grown map[string]float64) (hits, queries float64) {
	if cached, sglang := grown["cached_tokens_total"]; sglang {
		if grown["num_retracted_requests_total"] > 0 {
			return 0, 0
		}
		return max(0, cached-chanceTokens*grown["num_requests_total"]), grown["prompt_tokens_total"]
	}
	return grown["prefix_cache_hits_total"], grown["prefix_cache_queries_total"]
}

// counters reads the server's own counters, summed over its ranks; nil when it has none.
func (a *attempt) counters(ctx context.Context) map[string]float64 {
	text, err := a.get(ctx, "/metrics")
	if err != nil {
		return nil
	}
	return readCounters(string(text), a.plan.Engine.Name+":")
}

// readCounters sums the counters that are wanted over the server's ranks; nil when there are none.
func readCounters(text, prefix string) map[string]float64 {
	var sums map[string]float64
	readSamples(text, prefix, func(name string, v float64) {
		if !slices.Contains(counterNames, name) {
			return
		}
		if sums == nil {
			sums = map[string]float64{}
		}
		sums[name] += v
	})
	return sums
}

// readSamples reads Prometheus's text format: every finite sample under a prefix. Of samples that every tensor-parallel rank repeats only rank 0's counts.
func readSamples(text, prefix string, each func(name string, v float64)) {
	for line := range strings.Lines(text) {
		rest, ours := strings.CutPrefix(line, prefix)
		end := strings.IndexAny(rest, "{ ")
		if !ours || end < 0 {
			continue
		}
		value := rest[end:]
		if close := strings.LastIndexByte(value, '}'); close >= 0 {
			if strings.Contains(value, `tp_rank="`) && !strings.Contains(value, `tp_rank="0"`) {
				continue
			}
			value = value[close+1:]
		}
		fields := strings.Fields(value)
		if len(fields) == 0 {
			continue
		}
		if v, err := strconv.ParseFloat(fields[0], 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			each(rest[:end], v)
		}
	}
}

// Engines count behind their answers: the counters may come this much later.
const (
	counterWait = time.Second
	counterPoll = 20 * time.Millisecond
)

// growth keeps by how much the counters have grown, once they have caught up with the generated tokens that were received.
func (a *attempt) growth(ctx context.Context, before map[string]float64, received int) {
	if before == nil {
		return
	}
	for deadline := time.Now().Add(counterWait); ; {
		after := a.counters(ctx)
		if after == nil {
			return
		}
		a.grown = grownBy(before, after)
		if a.grown[generated] >= float64(received) || time.Now().After(deadline) || ctx.Err() != nil {
			return
		}
		timer := time.NewTimer(counterPoll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// grownBy is by how much counters have grown.
func grownBy(before, after map[string]float64) map[string]float64 {
	grown := make(map[string]float64, len(after))
	for name, v := range after {
		grown[name] = v - before[name]
	}
	return grown
}

// received is every generated token that reached us, those of failed requests included.
func received(records []metric.Record) int {
	sum := 0
	for _, r := range records {
		streamed := 0
		for _, e := range r.Tokens {
			streamed += e.Tokens
		}
		sum += max(streamed, r.Output)
	}
	return sum
}

func failures(records []metric.Record) int {
	n := 0
	for _, r := range records {
		if !r.OK() {
			n++
		}
	}
	return n
}
