package search

import (
	"math"
	"strings"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// expect is how much of a run has been seen, and what its metrics would have come to had it gone on as it did: the fairest value to learn
// from. The metrics of what has ended so far would not be fair: at first nothing has ended, and what waits longest has no latency yet.
//
// So the run is completed on paper, and measured as any other is. Its length is the likely one of outlook, whose error on the law is stated by the
// benchmark of the stoppers; before a server has settled all work is taken to go on as on average so far. First tokens that have not come are spread evenly
// over the time that is left, in the order in which the requests are sent; an answer lasts as long for each token as answers have lasted
// so far. What depends on single events (gaps between tokens, peaks, the client's lag) is left out, and so is everything while no token has come.
func expect(now tuner.Partial) (share float64, metrics map[string]float64) {
	whole, ok := likelyLength(now)
	if !ok {
		return now.Share, nil
	}
	all := metric.Compute(complete(now, whole), now.GPUs)
	metrics = map[string]float64{}
	for name, v := range all {
		if foreseen(name) {
			metrics[name] = v
		}
	}
	if rate, ok := successSoFar(now); ok {
		metrics["success_rate"] = rate
	}
	return math.Min(1, now.Elapsed.Seconds()/whole), metrics
}

// foreseen tells which metrics a run that is completed on paper has.
func foreseen(name string) bool {
	if _, ok := throughputs[strings.TrimSuffix(name, forOneGPU)]; ok {
		return true
	}
	_, family, _ := strings.Cut(name, "_")
	_, latency := latencies[family]
	switch name {
	case "duration":
		return true
	}
	return latency
}

// successSoFar is the share of successes among the requests that have ended.
func successSoFar(now tuner.Partial) (rate float64, ok bool) {
	ended, good := 0, 0
	for _, r := range now.Requests {
		if r.State.Ended() {
			ended++
		}
		if r.State == metric.Succeeded {
			good++
		}
	}
	return float64(good) / float64(max(1, ended)), ended > 0
}

// likelyLength is how long the whole run would have taken, in seconds from the start.
func likelyLength(now tuner.Partial) (seconds float64, ok bool) {
	c, ok := newPace(now)
	if !ok {
		return 0, false
	}
	if o, settled := c.outlook(); settled {
		return math.Max(o.likely, c.now()), true
	}
	last := len(c.at) - 1
	done := c.read[last] + c.made[last]
	if done <= 0 {
		return 0, false
	}
	return c.now() * (1 + (c.unread+c.unmade)/done), true
}

// complete writes the records of a run as if it had gone on to the end, whole seconds from its start.
func complete(now tuner.Partial, whole float64) []metric.Record {
	each := secondsPerToken(now)
	waiting := 0
	for _, r := range now.Requests {
		if r.State <= metric.Waiting {
			waiting++
		}
	}
	records := make([]metric.Record, len(now.Requests))
	turn, queued, prompt := 0, wait(now), meanPrompt(now.Requests)
	for i, r := range now.Requests {
		first, took := r.First.Seconds(), each*float64(r.AskedOut)
		if r.State <= metric.Waiting {
			turn++
			room := math.Max(0, whole-took-now.Elapsed.Seconds())
			first = now.Elapsed.Seconds() + room*float64(turn)/float64(waiting)
		}
		if r.AskedIn == 0 && r.Input == 0 {
			r.Input = int(math.Round(prompt))
		}
		end := math.Min(math.Max(now.Elapsed.Seconds(), first+took), math.Max(whole, now.Elapsed.Seconds()))
		records[i] = completed(i, r, first, end, queued)
	}
	return records
}

// completed is the record of a request whose first token comes and whose answer ends at these instants, in seconds, unless it has ended already.
func completed(i int, r metric.Sight, first, end, wait float64) metric.Record {
	out := metric.Record{Index: i, Scheduled: r.Scheduled, Sent: r.Sent, Status: 200, AskedIn: r.AskedIn, AskedOut: r.AskedOut, Input: max(r.AskedIn, r.Input), Output: max(r.AskedOut, r.Output)}
	if r.State == metric.Failed {
		out.End, out.Error = r.Last, metric.ErrTruncated
		return out
	}
	begin, last := r.First, r.Last
	if r.State <= metric.Waiting {
		begin = max(instant(first), r.Scheduled)
	}
	if r.State != metric.Succeeded {
		last = max(instant(end), begin)
	}
	if r.State == metric.Unsent {
		out.Sent = max(r.Scheduled, begin-instant(wait))
	}
	burst := min(max(1, r.Burst), out.Output)
	out.Tokens = []metric.Event{{At: begin, Tokens: burst}}
	if out.Output > burst {
		out.Tokens = append(out.Tokens, metric.Event{At: last, Tokens: out.Output - burst})
	}
	out.FirstByte, out.End = begin, last
	return out
}

func instant(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// secondsPerToken is how long answers have lasted for each token: those that have ended, else those that are under way.
func secondsPerToken(now tuner.Partial) float64 {
	sum, tokens, under, flying := 0.0, 0, 0.0, 0
	for _, r := range now.Requests {
		switch r.State {
		case metric.Succeeded:
			sum, tokens = sum+(r.Last-r.First).Seconds(), tokens+r.Output
		case metric.Answering:
			under, flying = under+(now.Elapsed-r.First).Seconds(), flying+1
		}
	}
	if tokens > 0 {
		return sum / float64(tokens)
	}
	made := 0
	for _, e := range now.Pace {
		made += e.Tokens
	}
	if flying == 0 || made == 0 {
		return 0
	}
	return under / float64(made)
}

// wait is the mean time from sending to the first token so far, in seconds; what still waits counts as if its token came now.
func wait(now tuner.Partial) float64 {
	sum, n := 0.0, 0
	for _, r := range now.Requests {
		switch {
		case r.State == metric.Unsent || r.State == metric.Failed:
		case r.First > 0:
			sum, n = sum+(r.First-r.Sent).Seconds(), n+1
		default:
			sum, n = sum+(now.Elapsed-r.Sent).Seconds(), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
