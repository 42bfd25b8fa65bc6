package metric

import (
	"cmp"
	"slices"
	"time"
)

// Steady is the part of a run between ramp-up and drain. It begins when as many requests are in flight for the first time as are for at least
// half of the time from the first send to the last one (in a closed loop: when the cap is reached; at a constant rate that the server keeps
// up with: about when the first requests end), and it ends at the last send: from then on the load only falls. ok is false when that is shorter than
// the mean latency_sent, as when all requests are sent at once or a cap lets fewer than about two waves of them through: it would then be
// mostly the ramp-up of requests that never met a load that lasts.
func Steady(records []Record) (from, to time.Duration, ok bool) {
	from, to, level := plateau(records)
	if level == 0 {
		return 0, 0, false
	}
	sum, n := time.Duration(0), 0
	for _, r := range records {
		if t, ok := r.timing(); ok {
			sum, n = sum+t.latencySent, n+1
		}
	}
	if n == 0 || to <= from || to-from < sum/time.Duration(n) {
		return 0, 0, false
	}
	return from, to, true
}

// change is by how many requests in flight there are more, or fewer, from an instant on.
type change struct {
	at time.Duration
	by int
}

// plateau is how many requests are in flight for at least half of the time between the first send and the last, when that many are for the
// first time, and the last send; level is 0 when nothing was sent.
func plateau(records []Record) (reached, last time.Duration, level int) {
	var changes []change
	for _, r := range records {
		if r.wasSent() {
			changes = append(changes, change{r.Sent, 1}, change{r.End, -1})
			last = max(last, r.Sent)
		}
	}
	// A request that ends at an instant does not meet one sent then, unless it is the same one.
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	var lasted []time.Duration // by level
	total, flying := time.Duration(0), 0
	for i, c := range changes {
		flying += c.by
		for flying >= len(lasted) {
			lasted = append(lasted, 0)
		}
		if i+1 < len(changes) && flying >= 0 {
			d := min(changes[i+1].at, last) - min(c.at, last)
			lasted[flying] += d
			total += d
		}
	}
	above := time.Duration(0)
	for level = len(lasted) - 1; level > 1; level-- {
		if above += lasted[level]; 2*above >= total && above > 0 {
			break
		}
	}
	if len(changes) == 0 {
		return 0, 0, 0
	}
	level, flying = max(level, 1), 0
	for _, c := range changes {
		if flying += c.by; flying >= level {
			return c.at, last, level
		}
	}
	return last, last, level // every request took no time at all
}

// computeSteady counts what came after the steady part began, up to its end: output tokens with their events, a prompt's tokens with its first
// token, a request with its last one.
func computeSteady(out map[string]float64, records []Record, gpus int) {
	from, to, ok := Steady(records)
	if !ok {
		return
	}
	within := func(at time.Duration) bool { return at > from && at <= to }
	requests, input, output := 0, 0, 0
	for _, r := range records {
		if !r.OK() || len(r.Tokens) == 0 {
			continue
		}
		if within(r.Tokens[0].At) {
			input += r.Input
		}
		if within(r.Tokens[len(r.Tokens)-1].At) {
			requests++
		}
		for _, e := range r.Tokens {
			if within(e.At) {
				output += e.Tokens
			}
		}
	}
	out["steady_duration"] = (to - from).Seconds()
	putRates(out, (to - from).Seconds(), gpus, map[string]int{
		"steady_request_throughput": requests, "steady_input_token_throughput": input,
		"steady_output_token_throughput": output, "steady_total_token_throughput": input + output,
	})
}

// putRates writes rates and what of each falls to one GPU.
func putRates(out map[string]float64, seconds float64, gpus int, totals map[string]int) {
	for name, total := range totals {
		rate := float64(total) / seconds
		out[name] = rate
		if gpus > 0 {
			out[name+"_per_gpu"] = rate / float64(gpus)
		}
	}
}
