package metric

import "strings"

// Thin keeps of each request its first and its last event with tokens; the last stands for all after the first. What hangs on single events cannot be computed
// from that any more: see NeedsEvents. The records given are not changed.
func Thin(records []Record) []Record {
	out := make([]Record, len(records))
	for i, r := range records {
		if n := len(r.Tokens); n > 2 {
			last := Event{At: r.Tokens[n-1].At}
			for _, e := range r.Tokens[1:] {
				last.Tokens += e.Tokens
			}
			r.Tokens = []Event{r.Tokens[0], last}
		}
		out[i] = r
	}
	return out
}

// NeedsEvents tells whether a metric hangs on every event of a request, and not on its first and last alone.
func NeedsEvents(name string) bool {
	name = strings.TrimSuffix(name, "_per_gpu")
	_, family, _ := strings.Cut(name, "_")
	switch {
	case family == "itl", name == "tokens_per_event", name == "peak_output_token_throughput", name == "steady_output_token_throughput", name == "steady_total_token_throughput":
		return true
	}
	return false
}
