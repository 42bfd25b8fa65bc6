package metric

import (
	"slices"
	"time"
)

// Basis is what the metrics of a run refer to besides its records.
type Basis struct {
	GPUs int  // of the server; 0: nothing is given for one GPU
	SLOs SLOs // of the workload; none: there is no goodput
}

// Compute gives every metric of a run without SLOs: see Basis.Compute.
func Compute(records []Record, gpus int) map[string]float64 {
	return Basis{GPUs: gpus}.Compute(records)
}

// Compute gives every metric of a run by its canonical name. What is undefined (a TPOT of answers with one token, a latency when nothing
// succeeded) is absent, never 0: to whoever minimises, 0 would be perfect.
func (b Basis) Compute(records []Record) map[string]float64 {
	out := make(map[string]float64, 96)
	if len(records) == 0 {
		return out
	}
	b.computeTotals(out, records)
	computeSteady(out, records, b.GPUs)
	computeLatencies(out, records)
	computeITL(out, records)
	if slope, ok := ttftGrowth(records); ok {
		out["ttft_growth"] = slope
	}
	computeLag(out, records)
	return out
}

// wasSent tells a request that went out from one that never did.
func (r Record) wasSent() bool { return r.Error != ErrUnsent }

// span is the run's time from the first send to the last end; ok is false when nothing was sent.
func span(records []Record) (from, to time.Duration, ok bool) {
	for _, r := range records {
		if !r.wasSent() {
			continue
		}
		if !ok || r.Sent < from {
			from = r.Sent
		}
		if !ok || r.End > to {
			to = r.End
		}
		ok = true
	}
	return from, to, ok
}

func (b Basis) computeTotals(out map[string]float64, records []Record) {
	successful, kept, input, output, events := 0, 0, 0, 0, 0
	for _, r := range records {
		if b.SLOs.Kept(r) {
			kept++
		}
		if r.OK() {
			successful++
			input += r.Input
			output += r.Output
			events += len(r.Tokens)
		}
	}
	out["success_rate"] = float64(successful) / float64(len(records))
	out["successful_requests"] = float64(successful)
	out["failed_requests"] = float64(len(records) - successful)
	from, to, ok := span(records)
	if !ok {
		return
	}
	out["duration"] = (to - from).Seconds()
	out["peak_concurrency"] = float64(peakConcurrency(records))
	if successful == 0 {
		return
	}
	out["input_tokens"], out["output_tokens"] = float64(input), float64(output)
	if events > 0 {
		out["tokens_per_event"] = float64(output) / float64(events)
		out["peak_output_token_throughput"] = peakOutput(records, from)
	}
	totals := map[string]int{
		"request_throughput": successful, "input_token_throughput": input,
		"output_token_throughput": output, "total_token_throughput": input + output,
	}
	if !b.SLOs.None() {
		out["slo_attainment"] = float64(kept) / float64(len(records))
		totals["goodput"] = kept
	}
	if to > from {
		putRates(out, (to - from).Seconds(), b.GPUs, totals)
	}
}

// peakConcurrency sweeps over the sends and ends; a request that ends at an instant does not meet one sent then.
func peakConcurrency(records []Record) int {
	var sends, ends []time.Duration
	for _, r := range records {
		if r.wasSent() {
			sends, ends = append(sends, r.Sent), append(ends, r.End)
		}
	}
	slices.Sort(sends)
	slices.Sort(ends)
	peak, ended := 0, 0
	for i, at := range sends {
		for ended < len(ends) && ends[ended] <= at {
			ended++
		}
		peak = max(peak, i+1-ended)
	}
	// Requests that took no time at all were in flight all the same.
	return max(peak, min(1, len(sends)))
}

func peakOutput(records []Record, from time.Duration) float64 {
	bySecond := map[int64]int{}
	for _, r := range records {
		if !r.OK() {
			continue
		}
		for _, e := range r.Tokens {
			bySecond[int64((e.At-from)/time.Second)] += e.Tokens
		}
	}
	peak := 0
	for _, tokens := range bySecond {
		peak = max(peak, tokens)
	}
	return float64(peak)
}

func computeLatencies(out map[string]float64, records []Record) {
	var ttft, ttftSent, latency, latencySent, tpot, requestITL, perToken sample
	for _, r := range records {
		t, ok := r.timing()
		if !ok {
			continue
		}
		ttft.add(t.ttft, 1)
		ttftSent.add(t.ttftSent, 1)
		latency.add(t.latency, 1)
		latencySent.add(t.latencySent, 1)
		if t.rest > 0 {
			tpot.addSeconds(t.tpot(), 1)
			requestITL.addSeconds(t.tpot(), t.rest)
		}
		if r.Output > 0 {
			perToken.addSeconds(t.latencySent.Seconds()/float64(r.Output), r.Output)
		}
	}
	ttft.report(out, "ttft")
	ttftSent.report(out, "ttft_sent")
	latency.report(out, "latency")
	latencySent.report(out, "latency_sent")
	tpot.report(out, "tpot")
	requestITL.report(out, "request_itl")
	perToken.report(out, "latency_per_output_token")
}

func computeITL(out map[string]float64, records []Record) {
	events := 0
	for _, r := range records {
		events += len(r.Tokens)
	}
	gaps := sample{values: make([]weighted, 0, events)}
	for _, r := range records {
		if !r.OK() {
			continue
		}
		for i := 1; i < len(r.Tokens); i++ {
			tokens := max(1, r.Tokens[i].Tokens)
			gaps.addSeconds((r.Tokens[i].At-r.Tokens[i-1].At).Seconds()/float64(tokens), tokens)
		}
	}
	gaps.report(out, "itl")
}

func computeLag(out map[string]float64, records []Record) {
	var lag sample
	for _, r := range records {
		if r.wasSent() {
			lag.add(r.Lag, 1)
		}
	}
	if len(lag.values) == 0 {
		return
	}
	lag.sort()
	out["client_lag_p50"], out["client_lag_p99"] = lag.percentile(0.50), lag.percentile(0.99)
	out["client_lag_max"] = lag.percentile(1)
}
