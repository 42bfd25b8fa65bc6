package runner

import (
	"cmp"
	"fmt"

	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

const (
	// fullShare is of the cap on concurrency: a load with so many in flight on average was bounded by the cap. Bursts that touch the cap now and again are not.
	fullShare = 0.5
	// arrivalShare is of the run that had gone by when the last request was due: before that the server had the say.
	arrivalShare = 0.5
)

// belowKnee says that requests waited for their arrivals and not for the server, whichever arrivals they were: far fewer were in flight than may be, nothing
// queued, the waits did not grow, and most of the run went by before the last request was due. Such a load says little of what a server can do, and tells no
// configurations apart by throughput.
func (a *attempt) belowKnee(m *tuner.Measurement) string {
	w, last := a.Workload, lastDue(a.Workload, m.Records)
	busy := m.Metrics["mean_latency_sent"] * m.Metrics["request_throughput"] // in flight on average, by Little's law
	switch {
	case last <= 0 || busy <= 0 || last < arrivalShare*m.Metrics["duration"]:
		return ""
	case w.MaxConcurrency > 0 && busy >= fullShare*float64(w.MaxConcurrency):
		return ""
	case m.Gauges != nil && metric.Mean(m.Gauges.Waiting) >= 1, !metric.Sustained(m.Metrics):
		return ""
	}
	served, offered := m.Metrics["request_throughput"], w.Rate
	if offered == 0 {
		offered = float64(len(m.Records)) / last
	}
	return fmt.Sprintf("below the knee: requests waited for their arrivals, not for the server (%.3g in flight on average, %.3g of the %.3g requests/s offered were served): "+
		"throughput tells configurations apart only under a load that fills the server; %s", busy, min(served, offered), offered, fuller(w, busy, served))
}

// lastDue is when the last request was due that waited for no answer before it, in seconds.
func lastDue(w workload.Spec, records []metric.Record) (last float64) {
	for _, r := range records {
		if w.Turns < 2 || r.Index%w.Turns == 0 { // later turns follow answers
			last = max(last, r.Scheduled.Seconds())
		}
	}
	return last
}

// fuller says which load would discriminate: one without waits for arrivals, or one that is so much quicker that, at the latencies seen, the cap is full.
func fuller(w workload.Spec, busy, served float64) string {
	what, leave := "the rate", "leave rate out"
	factor := float64(w.MaxConcurrency) / busy
	at := fmt.Sprintf("to %.3g or more", served*factor)
	switch {
	case w.Ramp != (workload.Ramp{}):
		what, leave, at = "the ramp", "leave arrival out", fmt.Sprintf("to {from: %.3g, to: %.3g} or more", w.Ramp.From*factor, w.Ramp.To*factor)
	case w.Rate == 0:
		what, leave, at = "speed", "say arrival: closed_loop", fmt.Sprintf("to %.3g or more", cmp.Or(w.Speed, 1)*factor)
	}
	if w.MaxConcurrency > 0 {
		return fmt.Sprintf("%s, so that %d are always in flight, or raise %s %s", leave, w.MaxConcurrency, what, at)
	}
	return fmt.Sprintf("%s and give a max_concurrency, or raise %s until requests queue", leave, what)
}
