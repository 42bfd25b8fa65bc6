package bench

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"autotune/tuner/workload"
)

// aiperf is `aiperf profile`: profile_export_aiperf.json. Each metric says its unit; the statistics stand beside it. Its rates are not taken over: 0.13 divides by
// its whole profiling phase, which ends some tenths of a second behind the last answer. Ours are made of the sums and the time from the first request to the last answer.
var aiperf = Tool{Name: "aiperf", Title: "aiperf", File: "profile_export_aiperf.json", tells: []string{"request_latency", "aiperf_version"}, format: format{"schema_version", 1}, parse: parseAiperf,
	Program: []string{"aiperf"}, sub: []string{"profile"}, datasets: []string{workload.Random, workload.ShareGPT}, row: aiperfRow, requestLimit: true, args: aiperfArgs, gaps: anyGaps,
	table: table{stats: map[string]string{"mean": "avg", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99"}, rows: []row{
		{ours: "duration", theirs: "benchmark_duration.avg"},
		{ours: "input_tokens", theirs: "total_isl.avg"},
		{ours: "output_tokens", theirs: "total_osl.avg", differs: "counted by the client's tokenizer, unless --use-server-token-count"},
		{ours: "ttft_sent", theirs: "time_to_first_token.STAT"},
		{ours: "latency_sent", theirs: "request_latency.STAT"},
		{ours: "tpot", theirs: "inter_token_latency.STAT", differs: "(latency - TTFT) / (tokens - 1)"},
		{ours: "itl", theirs: "inter_chunk_latency.STAT", differs: "gaps between events, however many tokens one carries"},
	}}}

// aiperfArgs are flags of aiperf 0.3 and later. There are as many prompts as requests: some versions make 100 and send them again and again. Without a rate it sends as fast as its cap on concurrency allows, and a cap above the requests is refused.
func aiperfArgs(j Job, result string) ([]string, error) {
	s := j.Spec
	endpoint, requests := "completions", strconv.Itoa(s.Requests)
	if s.Endpoint == workload.Chat {
		endpoint = "chat"
	}
	args := []string{"--model", j.Model, "--url", j.URL, "--endpoint-type", endpoint, "--streaming", "--tokenizer", j.Tokenizer}
	body := []string{"--extra-inputs", "ignore_eos:true"}
	if s.Dataset == workload.ShareGPT { // each row forces its own length
		args = append(args, "--input-file", j.rows(), "--custom-dataset-type", "single_turn")
	} else {
		out := strconv.Itoa(s.OutputTokens)
		args = append(args, "--isl", strconv.Itoa(s.InputTokens), "--isl-stddev", "0", "--osl", out, "--osl-stddev", "0")
		body = append(body, "--extra-inputs", "min_tokens:"+out)
	}
	args = append(append(args, body...), "--extra-inputs", "temperature:0", "--use-server-token-count", "--request-count", requests)
	if s.Dataset == workload.Random {
		args = append(args, "--num-dataset-entries", requests)
	}
	if s.Rate > 0 {
		args = append(args, "--request-rate", number64(s.Rate))
		switch s.Burstiness {
		case 0:
			args = append(args, "--arrival-pattern", "constant")
		case 1:
			args = append(args, "--arrival-pattern", "poisson")
		default:
			args = append(args, "--arrival-pattern", "gamma", "--arrival-smoothness", number64(s.Burstiness))
		}
	}
	if s.Rate == 0 || s.MaxConcurrency > 0 {
		args = append(args, "--concurrency", strconv.Itoa(j.inFlight()))
	}
	if s.RequestLimit > 0 {
		args = append(args, "--request-timeout-seconds", number64(s.RequestLimit.Seconds()))
	}
	return append(args, "--random-seed", j.seed(), "--artifact-dir", filepath.Dir(result), "--ui", "none", "--export-level", "summary"), nil
}

// units are what one of a unit is in seconds; a rate or a count needs none.
var units = map[string]float64{"ms": 1e-3, "milliseconds": 1e-3, "s": 1, "sec": 1, "seconds": 1, "us": 1e-6, "microseconds": 1e-6, "ns": 1e-9, "nanoseconds": 1e-9}

func parseAiperf(doc document) (*report, *Refusal) {
	r := newReport()
	r.version = doc.text("aiperf_version")
	if n, counted := doc.count("error_request_count.avg"); counted {
		r.failed = n
	}
	if errors := doc.list("error_summary"); len(errors) > 0 {
		r.example = firstText(errors[0])
	}
	var ok bool
	if r.done, ok = doc.count("request_count.avg"); !ok && r.failed > 0 {
		return r, nil // nothing but failures: it has no figure
	} else if !ok {
		return nil, refuse("schema", "request_count is missing: no request succeeded, or the file is of a version that is not known")
	}
	if refusal := scaleTimes(doc); refusal != nil {
		return nil, refusal
	}
	r.duration, r.input, r.output = aiperfSums(doc, r.done)
	if refusal := r.aiperfRates(doc); refusal != nil {
		return nil, refusal
	}
	if second, there := doc.number("time_to_second_token.p50"); there && second < 1e-3 && !(r.output <= float64(r.done)) {
		r.warn("the second token comes %.3g ms after the first: the server or the client joins events, and time per token and between tokens is not what it says", 1e3*second)
	}
	r.limit, _ = doc.count("input_config.loadgen.concurrency")
	if v, _ := doc.at("was_cancelled"); v == true {
		r.broken = "was_cancelled is true"
	} else if v, there := doc.at("is_complete"); there && v == false {
		r.broken = "is_complete is false"
	}
	return r, nil
}

// scaleTimes brings every time to seconds by the unit that stands with it.
func scaleTimes(doc document) *Refusal {
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		stats, isMap := doc[name].(map[string]any)
		if _, isMetric := stats["avg"]; !isMap || !isMetric {
			continue
		}
		unit, _ := stats["unit"].(string)
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

// aiperfRates holds its rates against the sums: over the span of the requests, or over the longer phase where the file dates it.
func (r *report) aiperfRates(doc document) *Refusal {
	if !(r.duration > 0) {
		return nil // which is refused as such
	}
	phase := r.duration
	from, err1 := time.Parse(aiperfTime, doc.text("start_time"))
	to, err2 := time.Parse(aiperfTime, doc.text("end_time"))
	if err1 == nil && err2 == nil {
		phase = max(phase, to.Sub(from).Seconds())
	}
	for _, c := range []struct {
		name string
		sum  float64
	}{{"request_throughput", float64(r.done)}, {"output_token_throughput", r.output}, {"total_token_throughput", r.input + r.output}} {
		v, ok := doc.number(c.name + ".avg")
		if ok && math.IsNaN(v) {
			return refuse("numbers", "%s.avg is no number", c.name)
		}
		if least, most := c.sum/phase, c.sum/r.duration; ok && (v < least*(1-sumShare) || v > most*(1+sumShare)) {
			return refuse("arithmetic", "%s.avg is %.5g, but the file's own sum over its duration is %.5g", c.name, v, most)
		}
	}
	return nil
}

// aiperfTime is how its files date things, without a zone.
const aiperfTime = "2006-01-02T15:04:05.999999"

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
