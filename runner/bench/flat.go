package bench

import (
	"math"
	"strconv"

	"autotune/tuner/workload"
)

// SGLang's tool began as vLLM's: their flat result files and their flags of the traffic are the same but for some names.

// flatTable is what both files have, and a tool's own.
func flatTable(own []row) table {
	return table{stats: numpyStats, rows: append(own,
		row{ours: "request_throughput", theirs: "request_throughput"},
		row{ours: "output_token_throughput", theirs: "output_throughput"},
		row{ours: "duration", theirs: "duration"},
		row{ours: "input_tokens", theirs: "total_input_tokens", differs: "counted by the client's tokenizer"},
		row{ours: "output_tokens", theirs: "total_output_tokens"},
		row{ours: "peak_concurrency", theirs: "max_concurrent_requests", differs: "requests that touch one second, so that it may exceed the cap"},
		row{ours: "peak_output_token_throughput", theirs: "max_output_tokens_per_s", differs: "events of one second, a token each"},
		row{ours: "ttft_sent", theirs: "STAT_ttft_ms", scale: 1e-3},
		row{ours: "tpot", theirs: "STAT_tpot_ms", scale: 1e-3, differs: "(latency - TTFT) / (tokens - 1)"},
		row{ours: "itl", theirs: "STAT_itl_ms", scale: 1e-3, differs: "gaps between events, however many tokens one carries"},
	)}
}

// flatTraffic are the flags of what is sent and when: random is the tool's word for random prompts, ratio its word for exact lengths, and gaps are further flags
// that go with a rate.
func flatTraffic(j Job, random, ratio string, gaps ...string) []string {
	s := j.Spec
	var args []string
	if s.Dataset == workload.Random {
		args = append(args, "--dataset-name", random, "--random-input-len", strconv.Itoa(s.InputTokens), "--random-output-len", strconv.Itoa(s.OutputTokens), "--random-range-ratio", ratio)
	} else {
		args = append(args, "--dataset-name", "sharegpt", "--dataset-path", j.Path)
		if s.OutputTokens > 0 {
			args = append(args, "--sharegpt-output-len", strconv.Itoa(s.OutputTokens))
		}
	}
	args = append(args, "--num-prompts", strconv.Itoa(s.Requests))
	if s.Rate > 0 {
		args = append(append(args, "--request-rate", number64(s.Rate)), gaps...)
	}
	if s.MaxConcurrency > 0 {
		args = append(args, "--max-concurrency", strconv.Itoa(s.MaxConcurrency))
	}
	return args
}

// flat reads the counts and sums.
func (r *report) flat(doc document) *Refusal {
	var ok bool
	if r.done, ok = doc.count("completed"); !ok {
		return refuse("schema", "the file does not say how many requests were completed")
	}
	for name, to := range map[string]*float64{"duration": &r.duration, "total_input_tokens": &r.input, "total_output_tokens": &r.output} {
		if *to, ok = doc.number(name); !ok {
			return refuse("schema", "%s is missing", name)
		}
	}
	r.limit, _ = doc.count("max_concurrency")
	for i, v := range doc.list("output_lens") {
		n := number(v)
		if !(n >= 0) || n != math.Trunc(n) {
			return refuse("numbers", "output_lens has %v at place %d, which is no number of tokens", v, i+1)
		}
		r.outputs = append(r.outputs, n)
	}
	for _, v := range doc.list("errors") {
		if text, _ := v.(string); text != "" {
			r.example = text
			break
		}
	}
	return nil
}
