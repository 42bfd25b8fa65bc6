package bench

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"autotune/tuner/workload"
)

// guidellm is `guidellm run` (0.7 and later) and `guidellm benchmark` (before) with --output kind=json.
var guidellm = Tool{Name: "guidellm", Title: "guidellm", File: "result.json", tells: []string{"benchmarks"}, format: format{"metadata.version", 2}, parse: parseGuidellm,
	Program: []string{"guidellm"}, sub: []string{"run"}, datasets: []string{workload.Random, workload.ShareGPT}, row: guidellmRow, args: guidellmArgs, gaps: constantOrPoissonGaps,
	table: table{stats: map[string]string{"mean": "mean", "p50": "median", "p90": "percentiles.p90", "p95": "percentiles.p95", "p99": "percentiles.p99"}, rows: []row{
		{ours: "peak_concurrency", theirs: "benchmarks.0.metrics.request_concurrency.successful.max"},
		{ours: "ttft_sent", theirs: "benchmarks.0.metrics.time_to_first_token_ms.successful.STAT", scale: 1e-3, differs: "from the request's start, after the client's queue"},
		{ours: "latency_sent", theirs: "benchmarks.0.metrics.request_latency.successful.STAT", differs: "from the request's start, after the client's queue"},
		{ours: "tpot", theirs: "benchmarks.0.metrics.inter_token_latency_ms.successful.STAT", scale: 1e-3, differs: "(last - first) / (tokens - 1), weighted by tokens - 1"},
		{ours: "request_itl", theirs: "benchmarks.0.metrics.inter_token_latency_ms.successful.STAT", scale: 1e-3},
		{ours: "latency_per_output_token", theirs: "benchmarks.0.metrics.time_per_output_token_ms.successful.STAT", scale: 1e-3},
	}}}

// guidellmArgs are flags of guidellm 0.7 and later, whose words hold KEY=VALUE lists: a comma would end a value. Its own cap on concurrency differs by
// version, so that it is always told one.
func guidellmArgs(j Job, result string) ([]string, error) {
	for _, text := range []string{j.Tokenizer, result} {
		if strings.ContainsAny(text, ",") {
			return nil, fmt.Errorf("guidellm's command line cannot hold %s: a comma ends a value there", text)
		}
	}
	s := j.Spec
	profile := fmt.Sprintf("kind=throughput,max_concurrency=%d", j.inFlight())
	if s.Rate > 0 {
		kind := "constant"
		if s.Burstiness == 1 {
			kind = "poisson"
		}
		profile = fmt.Sprintf("kind=%s,rate=%s,max_concurrency=%d", kind, number64(s.Rate), j.inFlight())
	}
	format, data := "/v1/completions", fmt.Sprintf("kind=synthetic_text,prompt_tokens=%d,output_tokens=%d", s.InputTokens, s.OutputTokens)
	if s.Endpoint == workload.Chat {
		format = "/v1/chat/completions"
	}
	if s.Dataset == workload.ShareGPT {
		data = "kind=json_file,path=" + j.rows()
	}
	return []string{
		"--backend", fmt.Sprintf("kind=openai_http,target=%s,model=%s,request_format=%s", j.URL, j.Model, format),
		"--profile", profile, "--constraint", fmt.Sprintf("kind=max_requests,count=%d", s.Requests),
		"--data", data,
		"--tokenizer", "kind=huggingface_auto,model=" + j.Tokenizer, "--seed", "kind=static,value=" + j.seed(),
		"--output", "kind=json,path=" + result, "--disable-progress"}, nil
}

// parseGuidellm reads the one benchmark of a file. Its rates are of the span of token events, and leave out what ends after it: ours are made of the sums.
func parseGuidellm(doc document) (*report, *Refusal) {
	r := newReport()
	r.version = doc.text("metadata.guidellm_version")
	all := doc.list("benchmarks")
	if len(all) != 1 {
		return nil, refuse("schema", "the file has %d benchmarks; one is needed: a profile of a single rate or concurrency", len(all))
	}
	totals := "benchmarks.0.metrics.request_totals."
	if !doc.has(totals + "successful") {
		totals = "benchmarks.0.request_totals." // before 0.4
	}
	var errored, unfinished int
	var ok [3]bool
	r.done, ok[0] = doc.count(totals + "successful")
	errored, ok[1] = doc.count(totals + "errored")
	unfinished, ok[2] = doc.count(totals + "incomplete")
	if !ok[0] || !ok[1] || !ok[2] {
		return nil, refuse("schema", "request_totals with successful, errored and incomplete is missing")
	}
	r.failed = errored + unfinished
	for _, v := range doc.list("benchmarks.0.requests.errored") {
		if request, isMap := v.(map[string]any); isMap {
			d := document(request)
			if r.example = cmp.Or(d.text("info.error"), d.text("error")); r.example != "" {
				break
			}
		}
	}
	if !r.sums(doc) {
		return nil, refuse("schema", "neither the requests nor the sums of tokens and the duration can be read")
	}
	for _, strategy := range []string{"benchmarks.0.args.strategy.", "benchmarks.0.config.strategy."} {
		for _, name := range []string{"max_concurrency", "streams"} {
			if n, there := doc.count(strategy + name); there {
				r.limit = n
			}
		}
	}
	return r, nil
}

// sums reads tokens and duration from the requests when the file has them, else from the totals.
func (r *report) sums(doc document) bool {
	first, last := math.Inf(1), math.Inf(-1)
	for _, v := range doc.list("benchmarks.0.requests.successful") {
		request, _ := v.(map[string]any)
		d := document(request)
		in, hasIn := d.number("input_metrics.text_tokens")
		if !hasIn {
			in, hasIn = d.number("prompt_tokens")
		}
		out, hasOut := d.number("output_metrics.text_tokens")
		if !hasOut {
			out, hasOut = d.number("output_tokens")
		}
		start, hasStart := d.number("info.timings.request_start")
		end, hasEnd := d.number("info.timings.request_end")
		if !hasStart && !hasEnd {
			start, hasStart = d.number("start_time")
			end, hasEnd = d.number("end_time")
		}
		if !hasIn || !hasOut || !hasStart || !hasEnd {
			return r.totals(doc)
		}
		r.input, r.output, r.outputs = r.input+in, r.output+out, append(r.outputs, out)
		first, last = math.Min(first, start), math.Max(last, end)
	}
	if len(r.outputs) != r.done || r.done == 0 {
		return r.totals(doc)
	}
	r.duration = last - first
	return true
}

// totals reads the sums of the statistics; of a file of failures alone there are none.
func (r *report) totals(doc document) bool {
	r.input, r.output, r.outputs = 0, 0, nil
	in, hasIn := doc.number("benchmarks.0.metrics.prompt_token_count.successful.total_sum")
	out, hasOut := doc.number("benchmarks.0.metrics.output_token_count.successful.total_sum")
	duration, hasDuration := doc.number("benchmarks.0.duration")
	r.input, r.output, r.duration = in, out, duration
	return hasIn && hasOut && hasDuration || r.done == 0
}
