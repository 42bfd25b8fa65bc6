package bench

import (
	"slices"
	"strings"

	"autotune/tuner/metric"
)

// table says which of our metrics a tool has, under which name, and where its definition differs. STAT in a name stands for each statistic.
type table struct {
	rows []row
	// stats are the tool's words for our statistics: mean, p50, p90, p95, p99.
	stats map[string]string
}

// row is one metric, or one family of statistics.
type row struct {
	ours, theirs string
	scale        float64 // theirs times this is ours; 0 stands for 1
	differs      string
}

// the words of tools that name percentiles in their keys
var numpyStats = map[string]string{"mean": "mean", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99"}

// each lists every single metric of the table.
func (t table) each(f func(r row)) {
	for _, r := range t.rows {
		if !strings.Contains(r.theirs, "STAT") {
			f(r)
			continue
		}
		for _, stat := range []string{"mean", "p50", "p90", "p95", "p99"} {
			single := r
			single.ours, single.theirs = stat+"_"+r.ours, strings.Replace(r.theirs, "STAT", t.stats[stat], 1)
			f(single)
		}
	}
}

// summed are the metrics that follow from the sums of every tool's file.
var summed = []string{"success_rate", "successful_requests", "failed_requests", "duration", "input_tokens", "output_tokens",
	"request_throughput", "input_token_throughput", "output_token_throughput", "total_token_throughput"}

// Metrics are our names of what the tool gives, in the order of the definitions. For one GPU the throughputs are had too.
func (t Tool) Metrics() []string {
	given := map[string]bool{}
	t.table.each(func(r row) { given[r.ours] = true })
	for _, name := range summed {
		given[name] = true
	}
	return slices.DeleteFunc(metric.Names(), func(name string) bool { return !given[name] })
}

// Gives tells whether the tool measures a metric, by our name of it.
func (t Tool) Gives(name string) bool {
	plain, perGPU := strings.CutSuffix(name, perGPU)
	return slices.Contains(t.Metrics(), plain) && (!perGPU || strings.HasSuffix(plain, "_throughput"))
}

const perGPU = "_per_gpu"

// PerGPU adds to metrics the throughputs for one GPU.
func PerGPU(metrics map[string]float64, gpus int) {
	for _, name := range summed {
		if v, ok := metrics[name]; ok && gpus > 0 && strings.HasSuffix(name, "_throughput") {
			metrics[name+perGPU] = v / float64(gpus)
		}
	}
}

// kin are families that stand for each other where a tool has one of them: what begins at another instant, or is weighted otherwise.
var kin = map[string][]string{"ttft": {"ttft_sent"}, "latency": {"latency_sent"}, "itl": {"request_itl", "tpot"}, "request_itl": {"tpot"}, "tpot": {"request_itl"},
	"latency_per_output_token": {"tpot"}}

// Nearest is the metric of the tool that comes nearest to one that it does not give; empty when none does.
func (t Tool) Nearest(name string) string {
	candidates := []string{strings.TrimPrefix(name, "steady_")}
	if stat, family, ok := strings.Cut(name, "_"); ok {
		for _, other := range kin[family] {
			candidates = append(candidates, stat+"_"+other)
		}
	}
	if strings.HasPrefix(name, "goodput") {
		candidates = append(candidates, strings.Replace(name, "goodput", "request_throughput", 1))
	}
	for _, c := range candidates {
		if t.Gives(c) {
			return c
		}
	}
	return ""
}
