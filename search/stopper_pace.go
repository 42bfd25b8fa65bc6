package search

import (
	"math"
	"slices"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// pace is how a server has worked through a workload so far: a point for each report, from the start of the benchmark.
type pace struct {
	at    []float64 // s
	read  []float64 // tokens of prompts read up to then: of the requests whose first token has come
	made  []float64 // tokens generated up to then
	batch []float64 // requests being answered then

	unread    float64 // tokens of prompts that are left
	unmade    float64 // tokens that are left to generate
	begun     int     // requests whose first token has come
	succeeded int
	arriving  bool // requests are still to arrive
}

// newPace sorts the requests into time. ok is false when it is not known how many tokens are asked for.
func newPace(p tuner.Partial) (c pace, ok bool) {
	n := len(p.Pace) + 1
	c = pace{at: make([]float64, n), read: make([]float64, n), made: make([]float64, n), batch: make([]float64, n)}
	for i, e := range p.Pace {
		c.at[i+1], c.made[i+1] = e.At.Seconds(), c.made[i]+float64(e.Tokens)
	}
	prompt, asked := meanPrompt(p.Requests), 0.0
	for _, r := range p.Requests {
		in := lengthOr(r.AskedIn, prompt)
		switch {
		case r.AskedOut == 0:
			return c, false
		case r.State == metric.Failed:
			continue
		case r.First == 0:
			c.unread += in
			c.arriving = c.arriving || r.Scheduled > p.Elapsed
		default:
			c.begun++
			c.add(c.read, r.First, in)
			c.add(c.batch, r.First, 1)
		}
		asked += float64(r.AskedOut)
		if r.State == metric.Succeeded {
			c.succeeded++
			c.add(c.batch, r.Last, -1)
		}
	}
	for i := 1; i < n; i++ {
		c.read[i] += c.read[i-1]
		c.batch[i] += c.batch[i-1]
	}
	c.unmade = max(0, asked-c.made[n-1])
	return c, n > 1
}

// meanPrompt is the mean length of the prompts that the server has counted; it stands in for those that nobody has counted yet. 1 while there are none.
func meanPrompt(requests []metric.Sight) float64 {
	sum, n := 0, 0
	for _, r := range requests {
		if r.Input > 0 {
			sum, n = sum+r.Input, n+1
		}
	}
	if n == 0 {
		return 1
	}
	return float64(sum) / float64(n)
}

// lengthOr is a length when it is known, else what stands in for it.
func lengthOr(known int, or float64) float64 {
	if known > 0 {
		return float64(known)
	}
	return or
}

// add counts something to the first report that knows of it.
func (c *pace) add(to []float64, at time.Duration, n float64) {
	i, _ := slices.BinarySearch(c.at, at.Seconds())
	to[min(i, len(to)-1)] += n
}

// now is the instant of the last report.
func (c *pace) now() float64 { return c.at[len(c.at)-1] }

// A server has settled when a good part of its first batch is through: from then on what a full batch does to prompts and to answers has been
// seen. Earlier the rates still rise, and nothing is foreseen. The figures are chosen, with a wide margin to where the benchmark on the law
// shows the first wrong bound; only the first wave of answers matters to it.
const (
	settledAfter  = 60.0    // s; a shorter run is not worth cutting
	settledBegun  = 20      // requests whose first token has come: rates count whole requests
	settledEnded  = 10      // successes, and
	settledWave   = 0.1     // of the largest batch so far, that share
	settledBefore = 2.0 / 3 // by that share of the time so far
	settledLevel  = 0.95    // that share of its peak was reached: of the batch, and of a rate
)

func (c *pace) settled() bool {
	peak, early := 0.0, 0.0
	for i, n := range c.batch {
		peak = math.Max(peak, n)
		if c.at[i] <= settledBefore*c.now() {
			early = math.Max(early, n)
		}
	}
	return c.now() >= settledAfter && c.begun >= settledBegun && early >= settledLevel*peak &&
		float64(c.succeeded) >= math.Max(settledEnded, settledWave*peak)
}

// rateWindow is how long a rate must have lasted to count, in seconds: long enough to hold many steps of a server, which are what comes at once.
const rateWindow = 30.0

// bestRates are the highest rate of work in any window so far, and in any that ended early (settledBefore), a generated token being worth so
// much of a prompt's.
func (c *pace) bestRates(worth float64) (best, early float64) {
	from := 0
	for to := range c.at {
		for from+1 < to && c.at[from+1] <= c.at[to]-rateWindow {
			from++
		}
		took := c.at[to] - c.at[from]
		if took < rateWindow {
			continue
		}
		best = math.Max(best, (c.read[to]-c.read[from]+worth*(c.made[to]-c.made[from]))/took)
		if c.at[to] <= settledBefore*c.now() {
			early = best
		}
	}
	return best, early
}

// outlook is how long a whole run takes, in seconds.
type outlook struct {
	least  float64 // if from now on the server is as fast as in its best window
	likely float64 // if it goes on as on average
}

// since is the report from which on the pace is typical. Where requests are still to arrive, a server begins with few of them, and takes as long as an answer
// takes to get used to more: the latter half of the time is typical. Otherwise all are there from the start, and prompts and answers come in waves,
// which only the whole time evens out: all but that to the first token.
func (c *pace) since() int {
	from := 0.0
	if c.arriving {
		from = c.now() / 2
	}
	i := 0
	for i < len(c.at)-2 && (c.at[i] < from || c.read[i] == 0) {
		i++
	}
	return i
}

// The rates at which a generated token is exchanged for tokens of prompts: from 0, where answers cost nothing, by factors to the last.
const (
	worthFirst  = 0.25
	worthFactor = math.Sqrt2
	worthLast   = 1024
)

// outlook bounds the length of the run from below; ok is false while the server has not settled.
//
// Reading prompts and generating tokens share the machine in a ratio that changes all the time: some engines do one after the other, some
// both at once. So work is counted at every exchange rate. At each one the rest of the work takes at least as long as it does at the highest
// rate of any window so far, and the longest of these times is a bound: by the duality of linear programming, at fine enough rates, it
// is the time that the rest takes in the best mixture of all windows seen. A rate that still rises bounds nothing. The likely length is counted
// at the same exchange rate, by the mean rate since the start: ramp-up included, it is on the slow side by what the drain at the end costs.
func (c *pace) outlook() (o outlook, ok bool) {
	if !c.settled() {
		return o, false
	}
	last := len(c.at) - 1
	for worth := 0.0; worth <= worthLast; worth = math.Max(worthFirst, worth*worthFactor) {
		best, early := c.bestRates(worth)
		if best <= 0 || early < settledLevel*best {
			continue
		}
		left := c.unread + worth*c.unmade
		if least := c.now() + left/best; least > o.least {
			o.least, ok = least, true
			from := c.since()
			rate := (c.read[last] - c.read[from] + worth*(c.made[last]-c.made[from])) / (c.now() - c.at[from])
			o.likely = math.Max(least, c.now()+left/rate)
		}
	}
	return o, ok
}
