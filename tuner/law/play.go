package law

import (
	"time"

	"autotune/tuner/metric"
)

// Plan is a workload as a client sends it.
type Plan struct {
	Arrivals []time.Duration // by index, ascending
	Input    []int           // prompt tokens
	Output   []int           // tokens to generate
	Cap      int             // most requests in flight; 0: no cap
	Limit    time.Duration   // nothing is sent from this instant on; 0: none
	Turns    []int           // of its conversation that each request is, from 0: one above 0 follows the request before it; nil: each stands alone
	Think    time.Duration   // from a turn's end to the next turn
}

// player drives a simulation by a plan.
type player struct {
	sim     *Simulation
	plan    Plan
	records []metric.Record
	queue   *Queue
	sent    []bool
}

// Play drives a simulation by a plan, as its Queue says: request i is sent at max(arrival i, the instant at which a slot became free), in order.
// A Failure says that the server crashed under the load; the records tell what was served until then.
func Play(s *Simulation, p Plan) ([]metric.Record, *Failure) {
	d := player{sim: s, plan: p, records: make([]metric.Record, len(p.Arrivals)), sent: make([]bool, len(p.Arrivals))}
	d.queue = NewQueue(&d.plan)
	tokens := 0
	for _, n := range p.Output {
		tokens += max(n, 1)
	}
	arena := make([]metric.Event, tokens)
	for i := range d.records {
		n := max(p.Output[i], 1)
		d.records[i] = metric.Record{Index: i, Scheduled: p.Arrivals[i], AskedIn: p.Input[i], AskedOut: p.Output[i], Error: metric.ErrUnsent, Tokens: arena[:0:n]}
		arena = arena[n:]
	}
	d.run()
	if f := s.Crashed(); f != nil {
		d.breakOff(f)
		return d.records, f
	}
	return d.records, nil
}

func (d *player) run() {
	for {
		happens, busy := d.sim.Next()
		if i, due, known := d.queue.Next(); known && (!busy || due < happens) {
			d.send(i, due)
			continue
		}
		if !busy {
			return
		}
		for _, e := range d.sim.Step() {
			d.note(e)
		}
	}
}

func (d *player) send(i int, at time.Duration) {
	r := &d.records[i]
	r.Sent, r.Error, r.Status = at, metric.ErrTruncated, 200
	if d.plan.turn(i) > 0 {
		r.Scheduled = at
	}
	d.sent[i] = true
	d.queue.Sent(i)
	d.sim.Submit(Request{ID: i, At: at, Input: r.AskedIn, Output: r.AskedOut})
}

func (d *player) note(e Event) {
	r := &d.records[e.ID]
	if e.Tokens > 0 {
		if len(r.Tokens) == 0 {
			r.FirstByte = e.At
		}
		r.Tokens = append(r.Tokens, metric.Event{At: e.At, Tokens: e.Tokens})
		r.Output += e.Tokens
	}
	if !e.Done {
		return
	}
	r.End, r.Input, r.Error = e.At, r.AskedIn, ""
	if e.Err != "" {
		r.Error, r.Detail, r.Status = metric.ErrRefused, e.Err, 400
	}
	d.queue.Ended(e.ID, e.At)
}

// breakOff ends what a crash left unfinished.
func (d *player) breakOff(f *Failure) {
	for i := range d.records {
		if r := &d.records[i]; d.sent[i] && r.End == 0 {
			r.End, r.Error, r.Detail = max(f.At, r.Sent), metric.ErrStream, f.Message
		}
	}
}
