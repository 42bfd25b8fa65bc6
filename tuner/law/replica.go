package law

import (
	"fmt"
	"time"
)

// replica is one engine: attention ranks that take their steps together, each with a queue and a cache of its own.
type replica struct {
	sim    *Simulation
	ranks  []*rank
	shares []share
	turn   int
	busy   bool // something ends at end
	asleep bool // and it is the scheduler's waking up, no step
	end    time.Duration
}

func newReplica(s *Simulation) *replica {
	r := &replica{sim: s, shares: make([]share, s.cfg.Ranks)}
	for range s.cfg.Ranks {
		r.ranks = append(r.ranks, &rank{sim: s, ratio: s.cfg.reserveRatio()})
	}
	return r
}

// submit queues a request: SGLang deals them out in turn, vLLM gives each to the rank with the least to do.
func (r *replica) submit(q *sequence, input int) {
	m := r.sim.memory
	if limit := min(m.context, m.tokens-r.sim.cfg.Page); input+q.left > limit {
		q.err = fmt.Sprintf("This model's maximum context length is %d tokens. "+
			"However, you requested %d tokens (%d in the prompt; %d for the completion).", limit, input+q.left, input, q.left)
	}
	k := r.ranks[r.turn]
	if r.sim.cfg.Engine == "vllm" {
		for _, other := range r.ranks {
			if other.load() < k.load() {
				k = other
			}
		}
	}
	r.turn = (r.turn + 1) % len(r.ranks)
	k.waiting.push(q)
	if !r.busy {
		r.busy, r.asleep, r.end = true, true, q.at+handover
	}
}

// finish ends the step at hand and plans the next one.
func (r *replica) finish() {
	if !r.asleep {
		for i, k := range r.ranks {
			k.apply(r.end, &r.shares[i])
		}
	}
	r.asleep = false
	r.plan(r.end)
}

// plan decides what the step that begins now does, or when the scheduler wakes up again.
func (r *replica) plan(now time.Duration) {
	total := 0
	for i, k := range r.ranks {
		r.shares[i] = share{}
		k.refuse(now)
		k.plan(now, &r.shares[i])
		total += r.shares[i].prefill + r.shares[i].decode
	}
	if total > 0 {
		if f := r.sim.serveFailure(now, total, r.ranks); f != nil {
			r.sim.crashed = f
			return
		}
		took := time.Duration(r.sim.speed.step(r.shares)*r.sim.pace*1e6) * time.Microsecond
		r.busy, r.end = true, now+max(took, time.Microsecond)
		return
	}
	r.busy = false
	for _, k := range r.ranks {
		if q := k.ready(now); q != nil && k.running() == 0 {
			q.err = "The request can never be scheduled under this configuration."
		}
		if q := k.waiting.first(); q != nil && (!r.busy || q.at+handover < r.end) {
			r.busy, r.asleep, r.end = true, true, max(q.at+handover, now+time.Microsecond)
		}
	}
}
