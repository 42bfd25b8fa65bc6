package metric

import (
	"sort"
	"strings"
)

// Definition says what a metric means. Base units: seconds, tokens/s, requests/s, a ratio from 0 to 1, counts.
type Definition struct {
	Name    string `json:"name"`
	Unit    string `json:"unit"` // "s", "tokens/s", "requests/s", "ratio", "tokens", "requests", "tokens/event"
	Help    string `json:"help"`
	Formula string `json:"formula,omitempty"`
	Better  string `json:"better,omitempty"` // "higher", "lower", or empty: no goal by itself
	// Statistics says that the name stands for its family: mean_NAME, p50_NAME, p90_NAME, p95_NAME, p99_NAME.
	Statistics bool `json:"statistics"`
	// Derived says that the metric comes of more than one run's records, or of something else: Compute does not give it.
	Derived bool `json:"derived,omitempty"`
}

// Metrics that are derived.
const (
	Retained    = "retained"     // what a guard is bounded by
	RequestRate = "request_rate" // what a search for a rate comes to
	// What the load generator says of itself, on the wall clock.
	ClientCPU     = "client_cpu"
	ClientDropped = "client_dropped"
	ClientFiles   = "client_files"
)

// Statistics are the prefixes of a family's members. Percentiles interpolate linearly between the two nearest values.
var Statistics = []string{"mean", "p50", "p90", "p95", "p99"}

// definitions is every metric's one definition. sent, first, last, end are instants of a request (first and last: its first and last
// event with tokens), out its completion tokens and in its prompt tokens by usage. Only successful requests count, except where it says otherwise.
var definitions = []Definition{
	{Name: "success_rate", Unit: "ratio", Better: "higher", Help: "share of the requests asked for that succeeded", Formula: "successful / asked; a request that was never sent counts as asked"},
	{Name: "request_throughput", Unit: "requests/s", Better: "higher", Help: "successful requests a second over the whole run", Formula: "successful / duration"},
	{Name: "input_token_throughput", Unit: "tokens/s", Better: "higher", Help: "prompt tokens a second over the whole run", Formula: "sum(in) / duration"},
	{Name: "output_token_throughput", Unit: "tokens/s", Better: "higher", Help: "generated tokens a second over the whole run", Formula: "sum(out) / duration"},
	{Name: "total_token_throughput", Unit: "tokens/s", Better: "higher", Help: "prompt and generated tokens a second over the whole run", Formula: "sum(in + out) / duration"},
	{Name: "request_throughput_per_gpu", Unit: "requests/s", Better: "higher", Help: "request_throughput for one GPU", Formula: "request_throughput / GPUs"},
	{Name: "input_token_throughput_per_gpu", Unit: "tokens/s", Better: "higher", Help: "input_token_throughput for one GPU", Formula: "input_token_throughput / GPUs"},
	{Name: "output_token_throughput_per_gpu", Unit: "tokens/s", Better: "higher", Help: "output_token_throughput for one GPU", Formula: "output_token_throughput / GPUs"},
	{Name: "total_token_throughput_per_gpu", Unit: "tokens/s", Better: "higher", Help: "total_token_throughput for one GPU", Formula: "total_token_throughput / GPUs"},
	{Name: "goodput", Unit: "requests/s", Better: "higher", Help: "successful requests a second that keep every SLO under the workload's goodput", Formula: "count of requests with ttft, ttft_sent, tpot, latency, latency_sent <= its limit, for each that has one / duration; a request without a tpot keeps a limit on it"},
	{Name: "goodput_per_gpu", Unit: "requests/s", Better: "higher", Help: "goodput for one GPU", Formula: "goodput / GPUs"},
	{Name: "slo_attainment", Unit: "ratio", Better: "higher", Help: "share of the requests asked for that keep every SLO under the workload's goodput", Formula: "count as in goodput / asked"},
	{Name: "steady_duration", Unit: "s", Help: "length of the steady part: the run without ramp-up and drain", Formula: "end - begin; begin: the first instant with as many requests in flight as are for at least half of the time between the first and the last send; end: the last send; none when shorter than mean_latency_sent"},
	{Name: "steady_request_throughput", Unit: "requests/s", Better: "higher", Help: "successful requests a second in the steady part", Formula: "requests whose last token came within it / steady_duration"},
	{Name: "steady_input_token_throughput", Unit: "tokens/s", Better: "higher", Help: "prompt tokens a second in the steady part", Formula: "sum(in) of requests whose first token came within it / steady_duration"},
	{Name: "steady_output_token_throughput", Unit: "tokens/s", Better: "higher", Help: "generated tokens a second in the steady part", Formula: "tokens that came within it / steady_duration"},
	{Name: "steady_total_token_throughput", Unit: "tokens/s", Better: "higher", Help: "prompt and generated tokens a second in the steady part", Formula: "steady_input_token_throughput + steady_output_token_throughput"},
	{Name: "steady_request_throughput_per_gpu", Unit: "requests/s", Better: "higher", Help: "steady_request_throughput for one GPU", Formula: "steady_request_throughput / GPUs"},
	{Name: "steady_input_token_throughput_per_gpu", Unit: "tokens/s", Better: "higher", Help: "steady_input_token_throughput for one GPU", Formula: "steady_input_token_throughput / GPUs"},
	{Name: "steady_output_token_throughput_per_gpu", Unit: "tokens/s", Better: "higher", Help: "steady_output_token_throughput for one GPU", Formula: "steady_output_token_throughput / GPUs"},
	{Name: "steady_total_token_throughput_per_gpu", Unit: "tokens/s", Better: "higher", Help: "steady_total_token_throughput for one GPU", Formula: "steady_total_token_throughput / GPUs"},
	{Name: "ttft", Unit: "s", Better: "lower", Statistics: true, Help: "time to first token, with the wait in the client's queue", Formula: "first - scheduled"},
	{Name: "ttft_sent", Unit: "s", Better: "lower", Statistics: true, Help: "time to first token as the server saw it", Formula: "first - sent"},
	{Name: "tpot", Unit: "s", Better: "lower", Statistics: true, Help: "time per output token, first token excluded", Formula: "(last - first) / (out - tokens of the first event), a value a request; none when nothing follows the first event"},
	{Name: "request_itl", Unit: "s", Better: "lower", Statistics: true, Help: "tpot weighted by the tokens that it stands for; guidellm prints it as ITL", Formula: "sum(last - first) / sum(out - tokens of the first event); percentiles of (last - first) / (out - tokens of the first event) weighted by its divisor"},
	{Name: "itl", Unit: "s", Better: "lower", Statistics: true, Help: "inter-token latency; believable only when tokens_per_event is about 1", Formula: "gaps between successive events, pooled over all requests; a gap before an event of k tokens counts as k gaps of a k-th"},
	{Name: "latency", Unit: "s", Better: "lower", Statistics: true, Help: "end-to-end latency, with the wait in the client's queue", Formula: "last - scheduled"},
	{Name: "latency_sent", Unit: "s", Better: "lower", Statistics: true, Help: "end-to-end latency as the server saw it", Formula: "last - sent"},
	{Name: "latency_per_output_token", Unit: "s", Better: "lower", Statistics: true, Help: "latency spread over all output tokens, the first included; some tools print it as TPOT", Formula: "sum(last - sent) / sum(out); percentiles of (last - sent) / out weighted by out"},
	{Name: "duration", Unit: "s", Better: "lower", Help: "length of the run", Formula: "latest end - earliest sent, failed requests included"},
	{Name: "input_tokens", Unit: "tokens", Help: "prompt tokens", Formula: "sum(in)"},
	{Name: "output_tokens", Unit: "tokens", Help: "generated tokens", Formula: "sum(out)"},
	{Name: "successful_requests", Unit: "requests", Better: "higher", Help: "requests that succeeded", Formula: "count"},
	{Name: "failed_requests", Unit: "requests", Better: "lower", Help: "requests that did not succeed, never sent ones included", Formula: "asked - successful"},
	{Name: "peak_concurrency", Unit: "requests", Help: "most requests in flight at one instant, failed ones included", Formula: "max over time of requests with sent <= t < end"},
	{Name: "peak_output_token_throughput", Unit: "tokens/s", Help: "generated tokens in the busiest whole second, counted from the first send", Formula: "max over seconds of tokens that came in it"},
	{Name: "tokens_per_event", Unit: "tokens/event", Help: "tokens in a streamed event; above 1 the gaps between events are not gaps between tokens", Formula: "sum(out) / count of events with tokens"},
	{Name: "ttft_growth", Unit: "s/s", Better: "lower", Help: "by how much each second of arrivals makes the wait for a first token longer; above 0 more arrives than is served", Formula: "max(0, slope of the least-squares line through t_1 - scheduled over scheduled)"},
	{Name: Retained, Unit: "ratio", Better: "higher", Derived: true, Help: "the objective's metric on a guard, as a share of the reference's", Formula: "value / the reference's value; the other way round for what is minimized"},
	{Name: RequestRate, Unit: "requests/s", Better: "higher", Derived: true, Help: "the highest rate of arrivals at which every bound holds and the server keeps up", Formula: "bracketed and halved on one running server to within 5 %, and held twice"},
	{Name: "client_lag_p50", Unit: "s", Better: "lower", Help: "the load generator's own lateness, median", Formula: "sent - max(scheduled, instant a slot became free), over every request sent"},
	{Name: "client_lag_p99", Unit: "s", Better: "lower", Help: "the load generator's own lateness, 99th percentile", Formula: "as client_lag_p50"},
	{Name: "client_lag_max", Unit: "s", Better: "lower", Help: "the load generator's own lateness, worst", Formula: "as client_lag_p50"},
	{Name: ClientCPU, Unit: "processors", Better: "lower", Derived: true, Help: "processors that the load generator used on average, on the wall clock", Formula: "CPU seconds of its process / seconds of the run"},
	{Name: ClientDropped, Unit: "requests", Better: "lower", Derived: true, Help: "requests that the load generator's machine could not send for want of files, ports or memory, on the wall clock; with one of them the run is not believed", Formula: "count"},
	{Name: ClientFiles, Unit: "files", Derived: true, Help: "files and connections that the load generator might have open at once, on the wall clock", Formula: "the soft limit of RLIMIT_NOFILE during the run"},
}

// aliases are other tools' names of families.
var aliases = map[string]string{"e2e": "latency", "e2el": "latency", "e2e_latency": "latency"}

// Definitions lists every metric, a family as one row.
func Definitions() []Definition { return append([]Definition(nil), definitions...) }

// Names lists every name under which Compute gives a value, in the order of the definitions.
func Names() []string {
	var names []string
	for _, d := range definitions {
		if !d.Derived {
			names = append(names, d.Names()...)
		}
	}
	return names
}

// Lookup finds the definition of a metric by any name that people use for it; the definition's Name is the canonical one, never a family's.
func Lookup(name string) (Definition, bool) {
	for _, d := range definitions {
		if !d.Statistics && d.Name == name {
			return d, true
		}
	}
	stat, family, found := strings.Cut(name, "_")
	if !found {
		return Definition{}, false
	}
	if stat == "median" {
		stat = "p50"
	}
	if full, ok := aliases[family]; ok {
		family = full
	}
	for _, s := range Statistics {
		for _, d := range definitions {
			if d.Statistics && s == stat && d.Name == family {
				d.Name, d.Statistics = stat+"_"+family, false
				return d, true
			}
		}
	}
	return Definition{}, false
}

// Canonical gives the name under which Compute reports a metric: median_ttft is p50_ttft, p95_e2e is p95_latency.
func Canonical(name string) (string, bool) {
	d, ok := Lookup(name)
	return d.Name, ok
}

// Known tells whether a name, or an alias of one, is a metric.
func Known(name string) bool {
	_, ok := Lookup(name)
	return ok
}

// Unit is a metric's unit, also of one on a workload (chat.p95_ttft); empty when the name is not known.
func Unit(name string) string {
	if _, plain, qualified := strings.Cut(name, "."); qualified {
		name = plain
	}
	d, _ := Lookup(name)
	return d.Unit
}

// Near is the known name that is nearest to a wrong one; empty when none is near. A name without a statistic gets p95_.
func Near(name string) string {
	if Known("p95_" + name) {
		canonical, _ := Canonical("p95_" + name)
		return canonical
	}
	candidates := Names()
	sort.Strings(candidates)
	best, least := "", len(name)/2+1
	for _, c := range candidates {
		if d := distance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, drop or replace to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			diagonal = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
