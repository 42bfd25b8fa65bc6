package runner

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// How a rate is searched for.
const (
	rateEdge  = 1.05 // the search ends when the rate that holds and the one that does not are so near, as a ratio
	rateTwice = 2    // how often the final rate has to hold, each time with new content
	rateMost  = 16   // probes, at most
	rateIdle  = 0.1  // requests in flight on average: so few that they hardly ever meet
	rateLeast = 1e-3 // of the rate that the search began with: below it nothing is looked for
	// A rate is first raised by rateStep over one that another trial has reached, since gains are mostly small, and doubled where nothing is known;
	// each further step is the square of the one before.
	rateStep      = 1.25
	rateFirstStep = 2.0
)

// probes is the search for the highest rate that keeps the bounds: bracketed, then halved on a logarithmic scale, then repeated at its edge.
type probes struct {
	rate, step float64
	first      float64
	low, high  float64 // the highest rate that holds, the lowest that does not
	held       map[float64]int
	n          int
}

func newProbes(start, step float64) probes {
	return probes{rate: start, first: start, step: step, high: math.Inf(1), held: map[float64]int{}}
}

// told takes what came of the probe at the present rate, and gives whether there is a next one, whose rate is then in rate.
func (p *probes) told(holds bool) (more bool) {
	p.n++
	switch {
	case holds:
		p.held[p.rate]++
		p.low = max(p.low, p.rate)
	default:
		p.high = min(p.high, p.rate)
		delete(p.held, p.rate)
		p.low = 0
		for rate := range p.held {
			if rate < p.high {
				p.low = max(p.low, rate)
			}
		}
	}
	switch {
	case p.n >= rateMost:
		return false
	case math.IsInf(p.high, 1):
		p.rate, p.step = p.low*p.step, p.step*p.step
	case p.low == 0:
		p.rate = p.high / rateFirstStep
		return p.rate >= rateLeast*p.first
	case p.high/p.low > rateEdge:
		p.rate = math.Sqrt(p.high * p.low)
	case p.held[p.low] < rateTwice:
		p.rate = p.low
	default:
		return false
	}
	return true
}

// findRate searches for the highest rate of requests that keeps the bounds, on the server that runs. What counts is the best probe, and the others are
// kept beside it; a configuration that does not even hold the rate to beat is left after one probe.
func (a *attempt) findRate(ctx context.Context, t Traffic) (load.Result, error) {
	beat := a.tell(tuner.Partial{Phase: tuner.PhaseBench, Begins: true, Workload: t.Workload.Name}).Beat
	p := newProbes(t.Workload.Rate, rateFirstStep)
	if beat > 0 {
		p = newProbes(beat, rateStep)
	}
	var all []*tuner.Measurement
	var result load.Result
	elapsed := time.Duration(0)
	for more := true; more; {
		a.Traffic, a.repeat = t.at(p.rate), p.n
		var why error
		if result, why = a.serve(ctx); why != nil || result.Ending == load.Hang || result.Ending == load.Stopped && a.verdict.Rule != tuner.RuleBroken {
			return result, why
		}
		m := a.probed(result)
		if rule, _ := a.disbelief(result, m); a.answered(result, m) && rule != "" {
			return result, nil
		}
		elapsed += result.Elapsed
		all = append(all, m)
		holds := a.holds(result, m)
		more = p.told(holds) && (p.low > 0 || !idle(m))
		if !holds && beat > 0 && p.n == 1 {
			a.left = true
			break
		}
	}
	result.Elapsed = elapsed
	last := all[len(all)-1]
	if rate, known := last.Metrics["success_rate"]; p.low == 0 && !a.left && known && rate < a.Gate {
		return result, nil // it fails at any rate, and the last probe was at the lowest
	}
	if a.found = at(all, p.low); a.found == nil {
		a.found = last
	}
	if m := at(all, p.high); m != nil && a.RateGoal.TotalViolation(m) == 0 && !metric.Sustained(m.Metrics) {
		a.warn("at %.4g requests/s the bounds hold, and the server does not keep up: of a run as long as these %d requests the bounds do not tell; a bound on ttft or latency would", p.high, t.Workload.Requests)
	}
	a.found.Identity = t.Workload.Identity(t.FileHash) // the question is the same whatever the answer
	a.found.Also = slices.DeleteFunc(all, func(m *tuner.Measurement) bool { return m == a.found })
	return result, nil
}

// idle tells whether requests had the server to themselves, by Little's law: what breaks a bound even then breaks it at every lower rate.
func idle(m *tuner.Measurement) bool {
	latency, ok := m.Metrics["mean_latency"]
	return ok && latency*m.Metrics["request_throughput"] < rateIdle
}

// at is the last probe at a rate; nil when there is none.
func at(all []*tuner.Measurement, rate float64) *tuner.Measurement {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Metrics[metric.RequestRate] == rate {
			return all[i]
		}
	}
	return nil
}

// at is the traffic at another rate.
func (t Traffic) at(rate float64) Traffic {
	requests := slices.Clone(t.Requests)
	for i := range requests {
		requests[i].Arrival = time.Duration(float64(requests[i].Arrival) * t.Workload.Rate / rate).Truncate(time.Microsecond)
	}
	t.Requests, t.Workload.Rate = requests, rate
	return t
}

// probed is the measurement of one rate. Of one that was cut short the metrics are what the whole of it would have come to.
func (a *attempt) probed(result load.Result) *tuner.Measurement {
	m := a.measurement(result)
	m.Repeat = a.repeat
	if result.Ending == load.Stopped {
		m.Share, m.Metrics = a.verdict.Share, maps.Clone(a.verdict.Expected)
	}
	if m.Metrics == nil { // it was ended before anything could be foreseen
		m.Metrics = map[string]float64{}
	}
	m.Metrics[metric.RequestRate] = a.Workload.Rate
	return m
}

// answered tells whether a probe came to its end and passes the gate.
func (a *attempt) answered(result load.Result, m *tuner.Measurement) bool {
	return (result.Ending == load.Complete || result.Ending == load.WallLimit) && m.Metrics["success_rate"] >= a.Gate
}

// holds tells whether a probe was answered, keeps every bound, and was sustained: see metric.Sustained.
func (a *attempt) holds(result load.Result, m *tuner.Measurement) bool {
	return a.answered(result, m) && a.RateGoal.TotalViolation(m) == 0 && metric.Sustained(m.Metrics)
}
