package metric

import (
	"fmt"
	"strings"
)

// Row is a line of the result block that the benchmarks of vLLM and SGLang print, of whose rows the published tables have 26.
type Row struct {
	Section string // heading before the row; empty: none
	Label   string // as people know it
	Metric  string // what stands there
	// Published is the metric that equals what published tables of guidellm runs have under the label; empty when it is Metric. Their "TPOT
	// (excl. 1st token)" holds the first token all the same, and their ITL is that of whole requests.
	Published string
	scale     float64 // from the base unit to the label's; 0: 1
	decimals  int
}

// Table is the 26 rows, in their order. Latencies count from the send, as those tools count them: the wait in the client's queue is in the
// metrics without _sent.
var Table = makeTable()

func makeTable() []Row {
	rows := []Row{
		{Label: "Successful requests", Metric: "successful_requests"},
		{Label: "Maximum request concurrency", Metric: "peak_concurrency"},
		{Label: "Benchmark duration (s)", Metric: "duration", decimals: 2},
		{Label: "Total input tokens", Metric: "input_tokens"},
		{Label: "Total generated tokens", Metric: "output_tokens"},
		{Label: "Request throughput (req/s)", Metric: "request_throughput", decimals: 2},
		{Label: "Output token throughput (tok/s)", Metric: "output_token_throughput", decimals: 2},
		{Label: "Peak output token throughput (tok/s)", Metric: "peak_output_token_throughput", decimals: 2},
		{Label: "Peak concurrent requests", Metric: "peak_concurrency", decimals: 2},
		{Label: "Total Token throughput (tok/s)", Metric: "total_token_throughput", decimals: 2},
	}
	for _, f := range []struct{ heading, label, family, published string }{
		{"Latency", "Latency(s)", "latency_sent", ""},
		{"Time to First Token", "TTFT (ms)", "ttft_sent", ""},
		{"Time per Output Token (excl. 1st token)", "TPOT (ms)", "tpot", "latency_per_output_token"},
		{"Inter-token Latency", "ITL (ms)", "itl", "request_itl"},
	} {
		for _, s := range [][2]string{{"Mean", "mean_"}, {"Median", "p50_"}, {"P95", "p95_"}, {"P99", "p99_"}} {
			r := Row{Section: f.heading, Label: s[0] + " " + f.label, Metric: s[1] + f.family, decimals: 2}
			f.heading = ""
			if f.published != "" {
				r.Published = s[1] + f.published
			}
			if strings.HasSuffix(f.label, "(ms)") {
				r.scale = 1000
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// Value writes the row's figure in the unit of its label; "n/a" when it is undefined.
func (r Row) Value(metrics map[string]float64) string {
	v, ok := metrics[r.Metric]
	if !ok {
		return "n/a"
	}
	if r.scale != 0 {
		v *= r.scale
	}
	return fmt.Sprintf("%.*f", r.decimals, v)
}
