package bench

import (
	"maps"
	"math"
	"slices"
	"strings"

	"autotune/tuner/metric"
)

// Limits beyond which a result is not believed.
const (
	sumShare     = 0.05 // by which a rate may differ from its sum over the duration
	littleShare  = 0.05 // by which rate times mean latency (Little's law) may exceed the cap on concurrency
	lengthsShare = 0.01 // by which the sum of forced answers may differ from what was forced
)

// validate says which rule a result breaks; nil when it can be believed.
func (r *report) validate(asked Asked) *Refusal {
	for _, rule := range []func(Asked) *Refusal{r.counts, r.lengths, r.gate, r.whole, r.numbers, r.order, r.arithmetic} {
		if refusal := rule(asked); refusal != nil {
			return refusal
		}
	}
	return nil
}

// counts holds the file's counts against the number asked for.
func (r *report) counts(asked Asked) *Refusal {
	words := ""
	if r.example != "" {
		words = "; the first error: " + short(r.example)
	}
	switch {
	case r.done == 0:
		return refuse("no_success", "none of %d requests succeeded: every figure of this file is one of nothing%s", asked.Requests, words)
	case r.done+max(0, r.failed) > asked.Requests:
		return refuse("counts", "the file counts %d requests, %d were asked for: it is of another run", r.done+max(0, r.failed), asked.Requests)
	case r.failed >= 0 && r.done+r.failed < asked.Requests:
		return refuse("counts", "%d requests succeeded and %d failed of %d: %d are in no list%s", r.done, r.failed, asked.Requests, asked.Requests-r.done-r.failed, words)
	case r.told >= 0 && r.told != asked.Requests:
		return refuse("counts", "the file says that %d requests were to be sent, and %d were asked for: it is of another run", r.told, asked.Requests)
	}
	return nil
}

// lengths takes answers without a token, or of another length than was forced, for failures.
func (r *report) lengths(asked Asked) *Refusal {
	good, empty := 0, 0
	for _, n := range r.outputs {
		switch {
		case n == 0:
			empty++
		case asked.OutputTokens == 0 || n == float64(asked.OutputTokens):
			good++
		}
	}
	if len(r.outputs) > 0 && good < r.done {
		if asked.OutputTokens > 0 && good+empty < len(r.outputs) {
			return refuse("lengths", "%d of %d answers have %d tokens as was forced, %d have none: the server did not do what was asked", good, len(r.outputs), asked.OutputTokens, empty)
		}
		r.warn("%d requests are called successful without a token: they count as failed", r.done-good)
		r.done = good
		return nil // the gate has the word
	}
	if want := float64(asked.OutputTokens * r.done); len(r.outputs) == 0 && want > 0 && math.Abs(r.output-want) > lengthsShare*want {
		return refuse("lengths", "%d answers have %.0f tokens together, %.0f were forced", r.done, r.output, want)
	}
	return nil
}

func (r *report) gate(asked Asked) *Refusal {
	rate := float64(r.done) / float64(asked.Requests)
	if rate >= asked.Gate && r.done > 0 {
		return nil
	}
	words := ""
	if r.example != "" {
		words = "; the first error: " + short(r.example)
	}
	return refuse("low_success", "%d of %d requests succeeded, %s, and the gate is %s%s", r.done, asked.Requests,
		metric.Format("success_rate", rate), metric.Format("success_rate", asked.Gate), words)
}

// whole refuses a run that the tool itself calls no whole one.
func (r *report) whole(Asked) *Refusal {
	if r.broken == "" {
		return nil
	}
	return refuse("broken", "the tool says of its own run: %s", r.broken)
}

// numbers refuses what can be no figure. Where answers have one token no time passes between tokens: those figures are left out.
func (r *report) numbers(asked Asked) *Refusal {
	single := r.output <= float64(r.done)
	var timeless []string
	for _, name := range slices.Sorted(maps.Keys(r.metrics)) {
		v := r.metrics[name]
		between := strings.HasSuffix(name, "_tpot") || strings.HasSuffix(name, "_itl")
		switch {
		case between && single:
			r.drop(name)
		case math.IsNaN(v) || math.IsInf(v, 0):
			return refuse("numbers", "%s is no number", r.theirs[name].Name)
		case v < 0:
			return refuse("numbers", "%s is negative: %v", r.theirs[name].Name, v)
		case v == 0 && between: // the answers came in one piece, or nobody counted
			timeless = append(timeless, r.theirs[name].Name)
			r.drop(name)
		case v == 0 && mustPass(name):
			return refuse("numbers", "%s is 0, with %d successful requests", r.theirs[name].Name, r.done)
		}
	}
	if len(timeless) > 0 {
		r.warn("%s say that no time passes between tokens, in answers of %.4g tokens: they came in pieces, so that time per token was not measured and is left out (n/a)", strings.Join(timeless, ", "), r.output/float64(r.done))
	}
	if single {
		r.warn("every answer has one token: time per token and between tokens is undefined (n/a)")
	}
	if !(r.duration > 0) || math.IsInf(r.duration, 0) {
		return refuse("numbers", "the run's duration is %v", r.duration)
	}
	if r.output <= 0 || math.IsInf(r.output, 0) || math.IsInf(r.input, 0) || r.input < 0 {
		return refuse("numbers", "the run has %v tokens in and %v out", r.input, r.output)
	}
	return nil
}

// mustPass are the figures that cannot be 0 in a run with a success.
func mustPass(name string) bool {
	family := name[strings.IndexByte(name, '_')+1:]
	return strings.HasPrefix(family, "ttft") || strings.HasPrefix(family, "latency") || name == "duration" ||
		strings.HasSuffix(name, "_throughput") && !strings.HasPrefix(name, "input")
}

// order refuses percentiles out of order, and a first token later than the last.
func (r *report) order(Asked) *Refusal {
	for _, family := range []string{"ttft_sent", "latency_sent", "tpot", "itl", "latency_per_output_token"} {
		last, name := 0.0, ""
		for _, stat := range []string{"p50", "p90", "p95", "p99"} {
			v, ok := r.metrics[stat+"_"+family]
			if !ok {
				continue
			}
			if v < last*(1-1e-9) {
				return refuse("order", "%s (%v) is below %s (%v)", r.theirs[stat+"_"+family].Name, v, r.theirs[name].Name, last)
			}
			last, name = v, stat+"_"+family
		}
	}
	for _, stat := range metric.Statistics {
		ttft, first := r.metrics[stat+"_ttft_sent"]
		latency, whole := r.metrics[stat+"_latency_sent"]
		if first && whole && ttft > latency*(1+1e-9) {
			return refuse("order", "%s (%v s) is above %s (%v s)", r.theirs[stat+"_ttft_sent"].Name, ttft, r.theirs[stat+"_latency_sent"].Name, latency)
		}
	}
	for _, name := range []string{"mean_ttft_sent", "mean_latency_sent"} {
		if v, ok := r.metrics[name]; ok && v > r.duration*(1+sumShare) {
			return refuse("order", "%s (%.4g s) is longer than the whole run (%.4g s)", r.theirs[name].Name, v, r.duration)
		}
	}
	return nil
}

// arithmetic holds rates against sums and durations.
func (r *report) arithmetic(Asked) *Refusal {
	for _, c := range []struct {
		name string
		sum  float64
	}{
		{"request_throughput", float64(r.done)}, {"input_token_throughput", r.input},
		{"output_token_throughput", r.output}, {"total_token_throughput", r.input + r.output},
	} {
		v, ok := r.metrics[c.name]
		if want := c.sum / r.duration; ok && math.Abs(v-want) > sumShare*want {
			return refuse("arithmetic", "%s is %.5g, but the file's own sum over its duration is %.5g", r.theirs[c.name].Name, v, want)
		}
	}
	if latency, ok := r.metrics["mean_latency_sent"]; ok && r.limit > 0 {
		if busy := latency * float64(r.done) / r.duration; busy > float64(r.limit)*(1+littleShare) {
			return refuse("arithmetic", "by rate and mean latency %.1f requests were in flight on average, and the cap is %d", busy, r.limit)
		}
	}
	return nil
}

// short is the last line of an error's text that says something, which in a traceback names the cause.
func short(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	line := []rune(strings.TrimSpace(lines[len(lines)-1]))
	if len(line) > 200 {
		return string(line[:200]) + "…"
	}
	return string(line)
}
