package load

import (
	"time"

	"autotune/tuner/workload"
)

// Turns of a conversation have indexes one after the other. A conversation takes a slot at its first turn and gives it back after its last one, so that
// a cap on concurrency is one on conversations, as with people who each have one. What becomes of a turn does not change what is asked next.

// converses tells whether any request follows another.
func (r *run) converses() bool {
	return r.Spec.Turns > 1 && len(r.requests) > 1 && r.requests[1].Turn > 0
}

// turnAfter is the next turn of a request's conversation, if there is one.
func (r *run) turnAfter(i int) (workload.Request, bool) {
	if i+1 < len(r.requests) && r.requests[i+1].Turn > 0 {
		return r.requests[i+1], true
	}
	return workload.Request{}, false
}

// firsts are the requests that follow none.
func firsts(requests []workload.Request) []workload.Request {
	var out []workload.Request
	for _, q := range requests {
		if q.Turn == 0 {
			out = append(out, q)
		}
	}
	return out
}

// converse carries out a request on the wall clock, and the turns of its conversation after it. The next turn is written while the answer comes.
func (w *wall) converse(q workload.Request, m message, free time.Duration) {
	defer w.wg.Done()
	for {
		next, more := w.turnAfter(q.Index)
		written := make(chan message, 1)
		if more {
			go func(q workload.Request) { written <- w.message(q) }(next)
		}
		w.send(q, m, free)
		if !more {
			return
		}
		next.Arrival = w.records[q.Index].End + next.Think
		q, m, free = next, <-written, 0
		if !waitUntil(w.ctx, w.start.Add(q.Arrival)) {
			return
		}
		w.records[q.Index].Scheduled = q.Arrival
		w.count()
	}
}
