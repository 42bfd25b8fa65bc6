package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// certain is what can be said of a run's final metrics whatever still comes of its requests, by arithmetic alone.
type certain struct {
	requests []metric.Sight
	now      time.Duration
	failed   int
	gpus     float64
	// spare is how many of the requests that have not ended may fail before the gate is broken. Only successes count in a latency: that many of
	// the slowest may drop out of it; if more do, the trial has no score at all.
	spare int
}

func newCertain(p tuner.Partial, gate float64) certain {
	c := certain{requests: p.Requests, now: p.Elapsed, gpus: float64(p.GPUs)}
	for _, r := range p.Requests {
		if r.State == metric.Failed {
			c.failed++
		}
	}
	n := len(p.Requests)
	allowed := n
	for allowed > 0 && float64(n-allowed)/float64(n) < gate {
		allowed--
	}
	c.spare = max(0, allowed-c.failed)
	return c
}

// mostSuccess is the highest success rate that is still possible.
func (c certain) mostSuccess() float64 {
	return float64(len(c.requests)-c.failed) / float64(len(c.requests))
}

// breaks says how a bound is broken for certain; empty when it is not.
func (c certain) breaks(b tuner.Bound) string {
	limit, word, ok := 0.0, "", false
	switch b.Op {
	case "<=":
		limit, ok = c.least(b.Metric)
		word = "at least"
		ok = ok && limit > b.Limit
	case ">=":
		limit, ok = c.most(b.Metric)
		word = "at most"
		ok = ok && limit < b.Limit
	}
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s is %s %s", b.Metric, word, metric.Format(b.Metric, limit))
}

// most is the highest that a metric can still become; ok is false for a metric of which nothing is certain.
func (c certain) most(name string) (float64, bool) {
	switch name {
	case "success_rate":
		return c.mostSuccess(), true
	case "successful_requests":
		return float64(len(c.requests) - c.failed), true
	}
	tokens, ok := tokensFor(name, c.requests, 0, c.gpus)
	took := c.now - firstSent(c.requests)
	if !ok || took <= 0 || !c.open() {
		return 0, false
	}
	return tokens / took.Seconds(), true
}

// open tells whether anything may still come.
func (c certain) open() bool {
	return slices.ContainsFunc(c.requests, func(r metric.Sight) bool { return !r.State.Ended() })
}

// least is the lowest that a metric can still become; ok is false for a metric of which nothing is certain.
func (c certain) least(name string) (float64, bool) {
	switch name {
	case "failed_requests":
		return float64(c.failed), true
	case "duration":
		return max(0, (c.now - firstSent(c.requests)).Seconds()), c.open()
	}
	statistic, family, _ := strings.Cut(name, "_")
	if latencies[family] == nil {
		return 0, false
	}
	values, lost := c.lowest(latencies[family])
	if statistic == "mean" {
		return leastMean(values, lost), len(values) > lost
	}
	q, known := quantiles[statistic]
	if !known {
		return 0, false
	}
	return leastPercentile(values, lost, q)
}

var quantiles = map[string]float64{"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}

// latencies are the families of which each request has one value: how low it can be at an instant when first and last are the
// instants of the first and the last token, or that instant itself while they have not come. ok is false for a request without a value.
var latencies = map[string]func(r metric.Sight, first, last time.Duration) (seconds float64, ok bool){
	"ttft": func(r metric.Sight, first, _ time.Duration) (float64, bool) {
		return (first - r.Scheduled).Seconds(), true
	},
	"ttft_sent": func(r metric.Sight, first, _ time.Duration) (float64, bool) {
		return (first - sentBy(r, first)).Seconds(), true
	},
	"latency": func(r metric.Sight, _, last time.Duration) (float64, bool) {
		return (last - r.Scheduled).Seconds(), true
	},
	"latency_sent": func(r metric.Sight, _, last time.Duration) (float64, bool) {
		return (last - sentBy(r, last)).Seconds(), true
	},
	"tpot": func(r metric.Sight, first, last time.Duration) (float64, bool) {
		rest := r.Output - r.Burst
		if r.State != metric.Succeeded {
			rest = r.AskedOut - 1 // more may turn out to have come later than with the first
		}
		return (last - first).Seconds() / float64(max(1, rest)), rest > 0
	},
}

// sentBy is when a request was sent: an unsent one may be sent at any later instant.
func sentBy(r metric.Sight, or time.Duration) time.Duration {
	if r.State == metric.Unsent {
		return or
	}
	return r.Sent
}

// lowest are the values that the successes of the whole run will have at least: of the first so many, the lost, each may still drop out. Those
// descend; they are the slowest of the requests that have not ended. The others are in no order.
func (c certain) lowest(of func(metric.Sight, time.Duration, time.Duration) (float64, bool)) (values []float64, lost int) {
	var ended []float64
	for _, r := range c.requests {
		if r.State == metric.Failed {
			continue
		}
		first, last := r.First, r.Last
		if first == 0 {
			first = max(c.now, r.Scheduled)
		}
		if r.State != metric.Succeeded {
			last = max(c.now, first)
		}
		v, ok := of(r, first, last)
		switch {
		case !ok:
		case r.State == metric.Succeeded:
			ended = append(ended, v)
		default:
			values = append(values, v)
		}
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	return append(values, ended...), min(c.spare, len(values))
}

// leastMean is the lowest mean that is possible when any of the first so many values may drop out; these descend.
func leastMean(values []float64, lost int) float64 {
	sum, n := 0.0, float64(len(values))
	for _, v := range values {
		sum += v
	}
	for _, v := range values[:lost] {
		if n <= 1 || v <= sum/n {
			break
		}
		sum, n = sum-v, n-1
	}
	return sum / n
}

// leastPercentile is a percentile that is reached for certain when any of the first so many values, the largest of those that are open, may drop out.
// Each of these is put at the lower end instead, which lowers the percentile by no less; ok is false where it would be one of them.
func leastPercentile(values []float64, lost int, q float64) (float64, bool) {
	position := q*float64(len(values)-1) - float64(lost)
	if position < 0 {
		return 0, false
	}
	rest := slices.Sorted(slices.Values(values[lost:]))
	below := int(position)
	if below+1 >= len(rest) {
		return rest[len(rest)-1], true
	}
	return rest[below] + (position-float64(below))*(rest[below+1]-rest[below]), true
}

// firstSent is when the run's clock of durations begins; 0 when nothing was sent.
func firstSent(requests []metric.Sight) time.Duration {
	first, any := time.Duration(0), false
	for _, r := range requests {
		if r.State != metric.Unsent && (!any || r.Sent < first) {
			first, any = r.Sent, true
		}
	}
	return first
}

// throughputs say what each of a family counts.
var throughputs = map[string]struct{ requests, input, output bool }{
	"request_throughput":      {requests: true},
	"input_token_throughput":  {input: true},
	"output_token_throughput": {output: true},
	"total_token_throughput":  {input: true, output: true},
}

const forOneGPU = "_per_gpu"

// tokensFor is what a throughput divides by the duration, if every request that has not failed succeeds. prompt stands in for the length of a
// prompt that is not known; 0: nothing does. ok is false for other metrics, and where a length is not known.
func tokensFor(name string, requests []metric.Sight, prompt, gpus float64) (float64, bool) {
	base, one := strings.CutSuffix(name, forOneGPU)
	counts, ok := throughputs[base]
	if !ok || one && gpus <= 0 {
		return 0, false
	}
	sum := 0.0
	for _, r := range requests {
		in, out := float64(max(r.AskedIn, r.Input)), float64(max(r.AskedOut, r.Output))
		if in == 0 {
			in = prompt
		}
		switch {
		case r.State == metric.Failed:
		case counts.requests:
			sum++
		case counts.input && in == 0 || counts.output && out == 0:
			return 0, false
		default:
			if counts.input {
				sum += in
			}
			if counts.output {
				sum += out
			}
		}
	}
	if one {
		sum /= gpus
	}
	return sum, true
}
