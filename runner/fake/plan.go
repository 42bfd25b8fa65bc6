package fake

import (
	"fmt"
	"sync"
	"time"

	"autotune/runner/internal/lawtime"
	"autotune/tuner/law"
)

const (
	// stallLimit is how long, in real time, a plan waits for its next request before it takes its client for gone.
	stallLimit = 30 * time.Second
	// refusalTime is what an answer other than 200 takes in law time: 1 ms.
	refusalTime = int64(1000)
	// lawBatch is how many tokens an event carries in law time.
	lawBatch = 256
)

// planRun carries out one plan: it runs the simulation up to, and never past, the earliest instant at which the next request may still be
// sent, and waits there until that request has come. What it gives depends on the plan and the requests alone. It has no goroutine of its
// own: whoever brings a request carries the simulation on.
type planRun struct {
	mu      sync.Mutex
	plan    lawtime.Plan
	sim     *law.Simulation
	queue   *law.Queue    // says which request is sent next
	arrived map[int]*call // came over HTTP before their turn
	seen    []bool
	calls   map[int]*call // in the simulation
	refused []*call       // sent and refused, their end not yet reached, by instant
	at      int64         // the instant that the simulation has reached
	watch   *watch
	frozen  bool
	over    string // why the plan takes no more requests; empty while it does
	stall   *time.Timer
	hooks   hooks
}

func newPlanRun(p lawtime.Plan, sim *law.Simulation, w *watch, h hooks) *planRun {
	r := &planRun{plan: p, queue: law.NewQueue(queued(p)), sim: sim, arrived: map[int]*call{}, seen: make([]bool, len(p.Arrivals)), calls: map[int]*call{}, watch: w, hooks: h}
	r.stall = time.AfterFunc(stallLimit, func() { r.stop("the plan's next request did not come in time") })
	return r
}

// queued is what the rule of sending goes by.
func queued(p lawtime.Plan) *law.Plan {
	q := &law.Plan{Cap: p.Cap, Limit: duration(p.Limit), Turns: p.Turns, Think: duration(p.Think)}
	for _, at := range p.Arrivals {
		q.Arrivals = append(q.Arrivals, duration(at))
	}
	return q
}

// checkPlan refuses a plan that no workload makes.
func checkPlan(p lawtime.Plan) error {
	if p.ID == "" {
		return fmt.Errorf("the plan has no id")
	}
	if p.Cap < 0 || p.Limit < 0 || p.Think < 0 {
		return fmt.Errorf("cap %d, limit %d and think time %d may not be negative", p.Cap, p.Limit, p.Think)
	}
	if len(p.Turns) > 0 && len(p.Turns) != len(p.Arrivals) {
		return fmt.Errorf("%d turns are given for %d requests", len(p.Turns), len(p.Arrivals))
	}
	for i, turn := range p.Turns {
		if turn != 0 && (i == 0 || turn != p.Turns[i-1]+1) {
			return fmt.Errorf("request %d is turn %d and does not follow the turn before", i, turn)
		}
	}
	for i, at := range p.Arrivals {
		if at < 0 || i > 0 && at < p.Arrivals[i-1] {
			return fmt.Errorf("arrival %d at %d us: arrivals are ascending and not negative", i, at)
		}
	}
	return nil
}

// arrive brings a request of the plan and carries the simulation on as far as it goes.
func (r *planRun) arrive(c *call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over != "":
		return fmt.Errorf("plan %s is over: %s", r.plan.ID, r.over)
	case c.index < 0 || c.index >= len(r.plan.Arrivals):
		return fmt.Errorf("plan %s has no request %d: it announced %d", r.plan.ID, c.index, len(r.plan.Arrivals))
	case r.seen[c.index]:
		return fmt.Errorf("request %d of plan %s came twice", c.index, r.plan.ID)
	}
	r.seen[c.index] = true
	r.arrived[c.index] = c
	r.stall.Reset(stallLimit)
	r.advance()
	return nil
}

// upcoming is the next instant at which something happens by itself.
func (r *planRun) upcoming() (at int64, refusal, ok bool) {
	next, busy := r.sim.Next()
	if len(r.refused) > 0 && (!busy || r.refused[0].received+refusalTime <= micros(next)) {
		return r.refused[0].received + refusalTime, true, true
	}
	return micros(next), false, busy
}

// advance runs as far as it may.
func (r *planRun) advance() {
	for r.over == "" && !r.frozen {
		if fault := r.watch.due(); fault != "" {
			r.freeze(func() { r.hooks.strike(fault) })
			return
		}
		happens, refusal, busy := r.upcoming()
		if next, due, known := r.queue.Next(); known && (!busy || micros(due) < happens) {
			c := r.arrived[next]
			if c == nil || !r.send(c, micros(due)) {
				return
			}
			continue
		}
		if !busy {
			r.end("it ran to its end")
			return
		}
		r.step(refusal)
	}
}

// send takes the next request in at its instant; false when the client's idea of that instant is another one.
func (r *planRun) send(c *call, due int64) bool {
	if c.said != due {
		r.fail(fmt.Sprintf("request %d is sent at %d us by the plan, but its header says %d us", c.index, due, c.said))
		return false
	}
	delete(r.arrived, c.index)
	r.queue.Sent(c.index)
	c.received = due
	if c.refused() {
		r.refused = append(r.refused, c)
		return true
	}
	r.calls[c.index] = c
	r.sim.Submit(law.Request{ID: c.index, At: duration(due), Input: c.input, Output: c.output})
	return true
}

// step lets the next thing happen.
func (r *planRun) step(refusal bool) {
	if refusal {
		c := r.refused[0]
		r.refused = r.refused[1:]
		r.finished(c.received+refusalTime, c.index)
		c.stream.finish(c.received+refusalTime, "")
		return
	}
	at, _ := r.sim.Next()
	r.finished(micros(at), deliver(r.sim.Step(), r.calls, r.hooks.tokens)...)
	if f := r.sim.Crashed(); f != nil {
		r.freeze(func() { r.hooks.crash(f) })
	}
}

func (r *planRun) finished(at int64, indexes ...int) {
	r.at = at
	r.watch.finished += len(indexes)
	for _, i := range indexes {
		r.queue.Ended(i, duration(at))
	}
}

// freeze stops the simulation for good; the client is not to blame, so it is not waited for either.
func (r *planRun) freeze(tell func()) {
	r.frozen = true
	r.stall.Stop()
	tell()
}

func (r *planRun) end(why string) {
	r.over = why
	r.stall.Stop()
}

// fail ends the plan and every request of it that has come.
func (r *planRun) fail(why string) {
	r.end(why)
	for _, waiting := range []map[int]*call{r.arrived, r.calls} {
		for i, c := range waiting {
			delete(waiting, i)
			c.stream.finish(r.at, why)
		}
	}
	for _, c := range r.refused {
		c.stream.finish(c.received+refusalTime, "")
	}
	r.refused = nil
}

// stop ends the plan from outside, unless it is over.
func (r *planRun) stop(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over == "" {
		r.fail(why)
	}
}

func (r *planRun) counters() law.Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sim.Counters()
}
