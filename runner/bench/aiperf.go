package bench

import (
	"math"
	"strings"
)

// aiperf is `aiperf profile`: profile_export_aiperf.json. Each metric says its unit; the statistics stand beside it.
var aiperf = Tool{Name: "aiperf", Title: "aiperf", File: "profile_export_aiperf.json", tells: []string{"request_latency", "aiperf_version"}, parse: parseAiperf,
	table: table{stats: map[string]string{"mean": "avg", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99"}, rows: []row{
		{ours: "request_throughput", theirs: "request_throughput.avg"},
		{ours: "output_token_throughput", theirs: "output_token_throughput.avg"},
		{ours: "total_token_throughput", theirs: "total_token_throughput.avg"},
		{ours: "duration", theirs: "benchmark_duration.avg"},
		{ours: "input_tokens", theirs: "total_isl.avg"},
		{ours: "output_tokens", theirs: "total_osl.avg", differs: "counted by the client's tokenizer, unless --use-server-token-count"},
		{ours: "ttft_sent", theirs: "time_to_first_token.STAT"},
		{ours: "latency_sent", theirs: "request_latency.STAT"},
		{ours: "tpot", theirs: "inter_token_latency.STAT", differs: "(latency - TTFT) / (tokens - 1)"},
		{ours: "itl", theirs: "inter_chunk_latency.STAT", differs: "gaps between events, however many tokens one carries"},
	}}}

// units are what one of a unit is in seconds; a rate or a count needs none.
var units = map[string]float64{"ms": 1e-3, "milliseconds": 1e-3, "s": 1, "sec": 1, "seconds": 1, "us": 1e-6, "microseconds": 1e-6, "ns": 1e-9, "nanoseconds": 1e-9}

func parseAiperf(doc document) (*report, *Refusal) {
	r := newReport()
	r.version = doc.text("aiperf_version")
	var ok bool
	if r.done, ok = doc.count("request_count.avg"); !ok {
		return nil, refuse("schema", "request_count is missing: no request succeeded, or the file is of a version that is not known")
	}
	if n, counted := doc.count("error_request_count.avg"); counted {
		r.failed = n
	}
	if errors := doc.list("error_summary"); len(errors) > 0 {
		r.example = firstText(errors[0])
	}
	if refusal := scaleTimes(doc); refusal != nil {
		return nil, refusal
	}
	r.duration, r.input, r.output = aiperfSums(doc, r.done)
	if second, there := doc.number("time_to_second_token.p50"); there && second < 1e-3 && !(r.output <= float64(r.done)) {
		r.warn("the second token comes %.3g ms after the first: the server or the client joins events, and time per token and between tokens is not what it says", 1e3*second)
	}
	r.limit, _ = doc.count("input_config.loadgen.concurrency")
	return r, nil
}

// scaleTimes brings every time to seconds by the unit that stands with it.
func scaleTimes(doc document) *Refusal {
	for name, v := range doc {
		stats, isMap := v.(map[string]any)
		unit, _ := stats["unit"].(string)
		if !isMap || unit == "" {
			continue
		}
		scale, isTime := units[strings.ToLower(unit)]
		for _, want := range []string{"time_to_", "latency", "duration"} {
			if strings.Contains(name, want) && !isTime {
				return refuse("schema", "%s has the unit %q, which is none of time that is known", name, unit)
			}
		}
		if !isTime {
			continue
		}
		for stat, x := range stats {
			if f, isNumber := x.(float64); isNumber && stat != "count" {
				stats[stat] = f * scale
			}
		}
	}
	return nil
}

// aiperfSums reads the duration and the tokens; what a file lacks follows from its rates, or is NaN.
func aiperfSums(doc document, done int) (duration, input, output float64) {
	duration, hasDuration := doc.number("benchmark_duration.avg")
	if rate, ok := doc.number("request_throughput.avg"); !hasDuration && ok && rate > 0 {
		duration = float64(done) / rate
	}
	input, hasInput := doc.number("total_isl.avg")
	if mean, ok := doc.number("input_sequence_length.avg"); !hasInput && ok {
		input = mean * float64(done)
	} else if !hasInput {
		input = math.NaN()
	}
	output, hasOutput := doc.number("total_osl.avg")
	if mean, ok := doc.number("output_sequence_length.avg"); !hasOutput && ok {
		output = mean * float64(done)
	} else if rate, ok := doc.number("output_token_throughput.avg"); !hasOutput && ok {
		output = rate * duration
	} else if !hasOutput {
		output = math.NaN()
	}
	return duration, input, output
}

// firstText is the first text in a value of any shape, by a message's key when it has one.
func firstText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		for _, key := range []string{"message", "error_details", "error", "details", "type"} {
			if text := firstText(v[key]); text != "" {
				return text
			}
		}
	}
	return ""
}
