package runner

import (
	"math"
	"slices"
	"time"
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

// at is the traffic at another rate.
func (t Traffic) at(rate float64) Traffic {
	requests := slices.Clone(t.Requests)
	for i := range requests {
		requests[i].Arrival = time.Duration(float64(requests[i].Arrival) * t.Workload.Rate / rate).Truncate(time.Microsecond)
	}
	t.Requests, t.Workload.Rate = requests, rate
	return t
}
