package search

import (
	"math"
	"slices"
	"strings"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// expect is how much of a run has been seen, and what its metrics would have come to had it gone on as it did: the fairest value to learn
// from. The metrics of what has ended so far would not be fair: at first nothing has ended, and what waits longest has no latency yet.
//
// So the run is completed on paper, and measured as any other is. Its length is the likely one of outlook, whose error on the law the
// benchmark of the stoppers prints; before a server has settled all work is taken to go on as on average so far. First tokens that have not come
// are spread evenly over the time that is left, in the order in which the requests are sent, or follow their requests as fast as lately where a
// server keeps up with requests that still arrive; an answer lasts as long for each token as answers have lasted so far. What depends
// on single events (gaps between tokens, peaks, the client's lag) is left out, and so is everything while no token has come. Least is known of the tail of the
// time to the first token where requests arrive slowly: a queue that will grow is hard to see early.
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
	c := completion{Partial: now, whole: whole, each: secondsPerToken(now), prompt: meanPrompt(now.Requests), queued: wait(now)}
	c.keepsUp = keepsUp(now, whole, c.queued, c.each)
	for _, r := range now.Requests {
		if r.State <= metric.Waiting {
			c.waiting++
		}
		c.capped = c.capped || r.State == metric.Unsent && r.Scheduled <= now.Elapsed
	}
	records := make([]metric.Record, len(now.Requests))
	var ends []time.Duration // of the requests that have not ended, as slots become free
	for i, r := range now.Requests {
		records[i] = c.record(i, r)
		if !r.State.Ended() {
			ends = append(ends, records[i].End)
		}
	}
	slices.Sort(ends)
	next := 0
	for i, r := range now.Requests {
		if r.State == metric.Unsent && c.capped {
			records[i].Sent = min(max(r.Scheduled, ends[next]), records[i].Tokens[0].At)
			next++
		}
	}
	return records
}

// completion is what a run is completed from.
type completion struct {
	tuner.Partial
	whole   float64 // s from the start: when the last answer ends
	each    float64 // s an answer takes for each token
	queued  float64 // s from sending to the first token, lately
	prompt  float64 // tokens of a prompt that nobody has counted
	keepsUp bool
	capped  bool // requests wait for a slot
	waiting int  // requests without a first token
	turn    int  // of them, those that have been looked at
}

// record completes one request.
func (c *completion) record(i int, r metric.Sight) metric.Record {
	out := metric.Record{Index: i, Scheduled: r.Scheduled, Sent: max(r.Scheduled, r.Sent), Status: 200, AskedIn: r.AskedIn, AskedOut: r.AskedOut,
		Input: max(r.AskedIn, r.Input), Output: max(r.AskedOut, r.Output)}
	if out.Input == 0 {
		out.Input = int(math.Round(c.prompt))
	}
	if r.State == metric.Failed {
		out.End, out.Error = r.Last, metric.ErrTruncated
		return out
	}
	first, last := r.First, r.Last
	took := c.each * float64(r.AskedOut)
	if r.State <= metric.Waiting {
		first = max(instant(c.first(r, took)), out.Sent)
	}
	if r.State != metric.Succeeded {
		last = max(c.Elapsed, min(first+instant(took), max(instant(c.whole), first)))
	}
	burst := min(max(1, r.Burst), out.Output)
	out.Tokens = []metric.Event{{At: first, Tokens: burst}}
	if out.Output > burst {
		out.Tokens = append(out.Tokens, metric.Event{At: last, Tokens: out.Output - burst})
	}
	out.FirstByte, out.End = first, last
	return out
}

// first is when a request's first token comes that has not come yet, in seconds; its answer takes so long.
func (c *completion) first(r metric.Sight, took float64) float64 {
	elapsed := c.Elapsed.Seconds()
	c.turn++
	if c.keepsUp {
		return math.Max(elapsed, r.Scheduled.Seconds()+c.queued)
	}
	return elapsed + math.Max(0, c.whole-took-elapsed)*float64(c.turn)/float64(c.waiting)
}

func instant(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// Where requests still arrive, a server keeps up with them when no more of them wait than did at half of the time so far, give or take, and when the
// run is not likely to last longer than the last of them needs, give or take as much as that length is off.
const (
	queueGrowth = 1.25
	queueSpare  = 3
	lengthOff   = 1.05
)

// keepsUp tells whether a server does. whole is the likely length of the run, queued the wait for a first token lately, each the time that an answer takes for a token.
func keepsUp(now tuner.Partial, whole, queued, each float64) bool {
	half := now.Elapsed / 2
	arriving, then, waiting, needed := false, 0, 0, 0.0
	for _, r := range now.Requests {
		arriving = arriving || r.Scheduled > now.Elapsed
		needed = math.Max(needed, r.Scheduled.Seconds()+queued+each*float64(r.AskedOut))
		if r.State == metric.Waiting {
			waiting++
		}
		if r.Before(half).State == metric.Waiting {
			then++
		}
	}
	return arriving && float64(waiting) <= queueGrowth*float64(then)+queueSpare && whole <= lengthOff*needed
}

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

// wait is the mean time from sending to the first token lately, in seconds: of the requests sent in the latter half of the time so far. What
// still waits counts as if its token came now.
func wait(now tuner.Partial) float64 {
	sum, n := 0.0, 0
	for _, r := range now.Requests {
		switch {
		case r.State == metric.Unsent || r.State == metric.Failed || r.Sent < now.Elapsed/2:
			continue
		case r.First > 0:
			sum += (r.First - r.Sent).Seconds()
		default:
			sum += (now.Elapsed - r.Sent).Seconds()
		}
		n++
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
