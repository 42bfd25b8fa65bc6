package runner

import (
	"context"
	"time"

	"autotune/tuner/metric"
)

// gaugeNames are the engines' names of the gauges, without the prefix: running, waiting, use of the KV cache.
var gaugeNames = map[string]string{
	"num_requests_running": "running", "num_running_reqs": "running",
	"num_requests_waiting": "waiting", "num_queue_reqs": "waiting",
	"kv_cache_usage_perc": "kv", "gpu_cache_usage_perc": "kv", "token_usage": "kv",
}

// witnessEvery is how often the server is asked how it stands.
const witnessEvery = time.Second

// witness asks the server now and again how it stands, until ctx ends. before are its counters at the start. Nil when it does not tell.
func (a *attempt) witness(ctx context.Context, before map[string]float64, every time.Duration) *metric.Gauges {
	if before == nil {
		return nil
	}
	var g metric.Gauges
	tick := time.NewTicker(every)
	defer tick.Stop()
	for start := time.Now(); ; {
		select {
		case <-ctx.Done():
			if len(g.At) == 0 {
				return nil
			}
			return &g
		case <-tick.C:
			if _, look, answered := a.lookAtServer(ctx, before, time.Since(start)); answered {
				g.Add(look)
			}
		}
	}
}

// readGauge reads a look at the server out of Prometheus's text format.
func readGauge(text, prefix string, before map[string]float64, at time.Duration) metric.Gauge {
	sums, counts := map[string]float64{}, map[string]float64{}
	counters := map[string]float64{}
	readSamples(text, prefix, func(name string, v float64) {
		if gauge, ok := gaugeNames[name]; ok {
			sums[gauge] += v
			counts[gauge]++
		}
		counters[name] += v
	})
	grown := func(names ...string) (sum float64) {
		for _, name := range names {
			sum += counters[name] - before[name]
		}
		return sum
	}
	return metric.Gauge{At: at, Running: sums["running"], Waiting: sums["waiting"], KVUse: sums["kv"] / max(1, counts["kv"]),
		PrefixHits: grown("prefix_cache_hits_total", "cached_tokens_total"), Preempted: grown("num_preemptions_total", "num_retracted_requests_total")}
}
