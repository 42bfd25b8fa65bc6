package studyfile

import (
	"fmt"
	"slices"
	"time"

	"autotune/tuner/workload"
)

// Arrivals that are written as one word.
const (
	arriveConstant = "constant"
	arrivePoisson  = "poisson"
	arriveFile     = "file"
	arriveLoop     = "closed_loop"
	arriveAtOnce   = "all_at_once"
)

var arrivalWords = []string{arriveConstant, arrivePoisson, arriveLoop, arriveAtOnce, arriveFile}

// mostBursty bounds the shape of a gamma distribution: above it gaps are all but constant, below its inverse nearly all requests come together.
const mostBursty = 1e4

// arrival reads when requests are sent, and checks it against the rate, the cap and the dataset.
func (r *reader) arrival(w *workload.Spec, n *node, p path) {
	q := p.child("arrival")
	before := len(r.errs)
	word := ""
	if n.kind == scalarNode {
		r.oneOf(&word, arrivalWords...)(n, q)
	} else {
		r.fields(n, q,
			field{name: "gamma", read: r.number(&w.Burstiness, 1/mostBursty, mostBursty, false, "the shape of the distribution of gaps, 0.0001 to 10000: 1 is Poisson, less is burstier")},
			field{name: "ramp", read: r.ramp(&w.Ramp)},
		)
		if n.kind == mapNode && len(n.entries) == 0 {
			r.fail(n, q, "nothing stands here", "{gamma: SHAPE}, {ramp: {from: RATE, to: RATE, over: TIME}}")
		}
	}
	if len(r.errs) > before {
		return
	}
	switch word {
	case arrivePoisson:
		w.Burstiness = 1
	case arriveLoop, arriveAtOnce:
		w.AtOnce = true
	}
	if problem, allowed := clash(*w, word); problem != "" {
		r.failAt(n.at, q, FieldError{Problem: problem, Allowed: allowed})
	}
}

// clash says what an arrival lacks, or what it excludes.
func clash(w workload.Spec, word string) (problem, allowed string) {
	ramps := w.Ramp != (workload.Ramp{})
	switch {
	case ramps && w.Rate > 0:
		return "clashes with rate: a ramp has rates of its own", "no rate"
	case ramps && w.Speed > 0:
		return "clashes with speed, which is about the file's arrivals", "no speed"
	case (word == arriveConstant || w.Burstiness > 0) && !ramps && w.Rate == 0:
		return "needs a rate", "rate: REQUESTS A SECOND beside it"
	case word == arriveFile && w.Rate > 0:
		return "clashes with rate, which replaces the file's arrivals", "one of the two"
	case word == arriveFile && !workload.Timed(w.Dataset):
		return fmt.Sprintf("the dataset %s has no arrivals", w.Dataset), "another arrival, or one of the datasets " + fmt.Sprint(slices.DeleteFunc(workload.Datasets(), func(d string) bool { return !workload.Timed(d) }))
	case w.AtOnce && w.Rate > 0:
		return "clashes with rate: nothing is paced", "no rate"
	case w.AtOnce && w.Speed > 0:
		return "clashes with speed, which is about the file's arrivals", "no speed"
	case word == arriveLoop && w.MaxConcurrency == 0:
		return "needs max_concurrency: so many are in flight, and as one ends the next is sent", "max_concurrency: 1 or more beside it"
	case word == arriveAtOnce && w.MaxConcurrency > 0:
		return "clashes with max_concurrency", "closed_loop, or no max_concurrency"
	}
	return "", ""
}

func (r *reader) ramp(to *workload.Ramp) func(*node, path) {
	return func(n *node, p path) {
		const rate = "requests a second, at most 1000000"
		ramp := workload.Ramp{From: -1}
		before := len(r.errs)
		r.fields(n, p,
			field{name: "from", read: r.number(&ramp.From, 0, mostRate, false, rate), need: rate},
			field{name: "to", read: r.number(&ramp.To, 0, mostRate, true, rate+", above 0"), need: rate},
			field{name: "over", read: r.duration(&ramp.Over, false), need: "a time such as 2m"},
		)
		if len(r.errs) == before && ramp.Over < time.Microsecond {
			r.fail(n, p, "out of range", "a time of 1us or more")
		}
		*to = ramp
	}
}

// arrivalText is the arrival of a workload as a spec has it; empty when it says none.
func arrivalText(w workload.Spec) string {
	text := ""
	switch {
	case w.AtOnce && w.MaxConcurrency > 0:
		return arriveLoop
	case w.AtOnce:
		return arriveAtOnce
	case w.Burstiness == 1:
		text = arrivePoisson
	case w.Burstiness > 0:
		text = fmt.Sprintf("gamma %g", w.Burstiness)
	}
	if w.Ramp != (workload.Ramp{}) {
		text += fmt.Sprintf(" ramp %g to %g over %v", w.Ramp.From, w.Ramp.To, w.Ramp.Over)
	}
	return text
}
