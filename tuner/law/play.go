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
}

// player drives a simulation by a plan.
type player struct {
	sim     *Simulation
	plan    Plan
	records []metric.Record
	ends    []time.Duration // instants at which requests ended, in order
	next    int             // the request that is sent next
}

// Play drives a simulation by a plan: request i is sent at max(arrival i, the instant at which a slot became free), in order.
// A Failure says that the server crashed under the load; the records tell what was served until then.
func Play(s *Simulation, p Plan) ([]metric.Record, *Failure) {
	d := player{sim: s, plan: p, records: make([]metric.Record, len(p.Arrivals))}
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
		if due, known := d.due(); known && (!busy || due < happens) {
			if d.plan.Limit > 0 && due >= d.plan.Limit {
				d.next = len(d.records) // nothing is sent any more
				continue
			}
			d.send(due)
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

// due is the instant at which the next request is sent, when it is known already.
func (d *player) due() (time.Duration, bool) {
	if d.next == len(d.records) {
		return 0, false
	}
	at, freed := d.plan.Arrivals[d.next], d.next-d.plan.Cap
	if d.plan.Cap == 0 || freed < 0 {
		return at, true
	}
	if freed >= len(d.ends) {
		return 0, false
	}
	return max(at, d.ends[freed]), true
}

func (d *player) send(at time.Duration) {
	r := &d.records[d.next]
	r.Sent, r.Error, r.Status = at, metric.ErrTruncated, 200
	d.sim.Submit(Request{ID: d.next, At: at, Input: r.AskedIn, Output: r.AskedOut})
	d.next++
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
	d.ends = append(d.ends, e.At)
}

// breakOff ends what a crash left unfinished.
func (d *player) breakOff(f *Failure) {
	for i := range d.records[:d.next] {
		if r := &d.records[i]; r.End == 0 {
			r.End, r.Error, r.Detail = max(f.At, r.Sent), metric.ErrStream, f.Message
		}
	}
}
