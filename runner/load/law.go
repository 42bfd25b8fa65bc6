package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"autotune/runner/internal/lawtime"
	"autotune/tuner/metric"
)

const (
	// lawSilence is how long, on the wall clock, a server in law time may compute without telling anything.
	lawSilence = time.Minute
	// forgetLimit bounds the call that takes a plan back.
	forgetLimit = time.Second
)

var plans atomic.Int64 // numbers plans, so that a server never takes one for another

// law is a run in law time. One goroutine (the caller's) decides; each request has one that follows its answer.
type law struct {
	*run
	ctx   context.Context
	end   context.CancelCauseFunc
	plan  lawtime.Plan
	next  int   // the first turn that is sent next
	never bool  // a later turn is not sent any more: the workload's limit comes first
	slots slots // free ones
	known horizon
	tally lawTally
	early early
	// observed is the last instant of which the observer was told.
	observed time.Duration
	news     chan news
	wg       sync.WaitGroup
}

// news is what a request's goroutine tells: how far its answer is known.
type news struct {
	index int
	at    time.Duration
	ended bool
}

// lawTime announces the plan, sends every request as its rule says, and returns what cut the run short, if anything did.
func (r *run) lawTime(parent context.Context) (*cutOff, time.Duration, error) {
	ctx, end := context.WithCancelCause(parent)
	defer end(nil)
	l := &law{run: r, ctx: ctx, end: end, known: newHorizon(len(r.requests)), news: make(chan news, 64),
		tally: lawTally{second: r.second, counts: map[int64]Progress{}}}
	l.early.limit = r.FailFast
	l.slots = newSlots(r.Spec.MaxConcurrency, len(r.requests))
	if err := l.announce(); err != nil {
		if cut := cutBy(ctx); cut != nil {
			return cut, 0, nil
		}
		return nil, 0, err
	}
	cut, at := l.carry()
	if cut != nil {
		end(cut)
		l.forget()
	}
	for range l.known.flying {
		l.settle()
	}
	l.wg.Wait()
	r.truncate(cut, at)
	return cut, r.elapsed(), nil
}

func (l *law) announce() error {
	l.plan = lawtime.Plan{ID: fmt.Sprintf("trial%d-repeat%d-%d", l.Trial, l.Repeat, plans.Add(1)), Cap: l.Spec.MaxConcurrency,
		Limit: l.Spec.WallLimit.Microseconds(), Arrivals: make([]int64, len(l.requests))}
	for i, q := range l.requests {
		l.plan.Arrivals[i] = q.Arrival.Microseconds()
	}
	if l.converses() {
		l.plan.Think = l.Spec.ThinkTime.Microseconds()
		for _, q := range l.requests {
			l.plan.Turns = append(l.plan.Turns, q.Turn)
		}
	}
	body, err := json.Marshal(l.plan)
	if err != nil {
		return err
	}
	status, text, err := l.client.ask(l.ctx, http.MethodPost, lawtime.Path, body)
	switch {
	case err != nil:
		return fmt.Errorf("announcing the workload in law time: %s", plain(err))
	case status != http.StatusOK:
		return fmt.Errorf("announcing the workload in law time: the server answered %d: %s", status, shorten(errorText(text)))
	}
	return nil
}

// forget takes the plan back, so that the server does not wait for the rest of it.
func (l *law) forget() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), forgetLimit)
	defer cancel()
	_, _, _ = l.client.ask(ctx, http.MethodDelete, lawtime.Path, nil) // a server that is gone has forgotten it
}

// carry sends and listens until all has ended, or until something cuts the run short as of an instant.
func (l *law) carry() (cut *cutOff, at time.Duration) {
	limit := l.Silence
	if limit <= 0 {
		limit = lawSilence
	}
	silence := time.NewTimer(limit)
	defer silence.Stop()
	for {
		l.sendDue()
		if cut, at := l.look(); cut != nil {
			return cut, at
		}
		if l.known.flying == 0 {
			return nil, 0
		}
		select {
		case n := <-l.news:
			l.hear(n)
			silence.Reset(limit)
		case <-silence.C:
			return cutHang(limit), forever
		case <-l.ctx.Done():
			return cutBy(l.ctx), forever
		}
	}
}

// look goes over what has become certain since it last did, in the order of the instants, whatever the order in which it was heard: that
// is why a run that is cut short is cut at the same instant on every machine.
func (l *law) look() (*cutOff, time.Duration) {
	low := l.known.low()
	cut, at := l.early.check(low)
	if w := l.Spec.WallLimit; w > 0 && w < low && w < at && (l.known.last > w || l.never || l.records[len(l.records)-1].Error == metric.ErrUnsent) {
		cut, at = cutWall(w), w
	}
	for ; l.observed+l.second < min(low, at, l.known.last); l.observed += l.second {
		if l.Observe == nil {
			continue
		}
		p := l.tally.until(l.observed+l.second, len(l.requests))
		p.Requests = l.sights.at(p.Elapsed)
		if word := l.Observe(p); word != "" {
			return cutStop(word), l.observed + l.second
		}
	}
	return cut, at
}

func (l *law) hear(n news) {
	l.known.hear(n)
	if n.ended {
		l.follow(n)
		l.early.ended(&l.records[n.index], n.at)
	}
}

// follow sends the turn after one that has ended, or frees the slot of a conversation that is over.
func (l *law) follow(n news) {
	if q, later := l.turnAfter(n.index); later {
		due := n.at + q.Think
		if w := l.Spec.WallLimit; w <= 0 || due < w {
			l.records[q.Index].Scheduled = due
			l.start(q.Index, due)
			return
		}
		l.never = true
	}
	l.slots.release(n.at)
}

// settle waits for a request's goroutine to tell its end.
func (l *law) settle() {
	for n := range l.news {
		if n.ended {
			return
		}
	}
}

// sendDue sends every first turn whose instant is known: the later of its arrival and the instant at which the longest free slot became free.
func (l *law) sendDue() {
	for l.next < len(l.requests) && len(l.slots) > 0 {
		due := max(l.requests[l.next].Arrival, l.slots[0])
		if w := l.Spec.WallLimit; w > 0 && due >= w {
			l.next = len(l.requests) // nothing is sent any more
			return
		}
		l.slots.take()
		l.start(l.next, due)
		l.next++
		for l.next < len(l.requests) && l.requests[l.next].Turn > 0 {
			l.next++
		}
	}
}

// start sends a request as of an instant.
func (l *law) start(i int, due time.Duration) {
	l.known.send(i, due)
	l.tally.add(due, Progress{Sent: 1})
	l.wg.Add(1)
	go l.send(i, due)
}

// send carries out one request.
func (l *law) send(i int, due time.Duration) {
	defer l.wg.Done()
	m := l.message(l.requests[i])
	x := &exchange{path: m.path, body: m.body, extra: []string{lawtime.HeaderPlan, l.plan.ID,
		lawtime.HeaderIndex, strconv.Itoa(i), lawtime.HeaderSent, strconv.FormatInt(due.Microseconds(), 10)}}
	x.rec, x.law = l.begin(i, m, due, 0), true
	x.now = func() time.Duration { return 0 }
	x.heard = func(tokens int, at time.Duration) {
		l.tally.stream(x.chunk.stamps)
		l.sights.look(x.rec, false)
		l.news <- news{index: i, at: at}
	}
	x.ended = func(cut *cutOff) { l.ended(x, cut) }
	l.client.talk(l.ctx, x)
}

// ended completes a record in law time: an end that nobody stated is that of the last token, else the instant of sending.
func (l *law) ended(x *exchange, cut *cutOff) {
	rec := x.rec
	if !x.stated {
		rec.End = rec.Sent
		if n := len(rec.Tokens); n > 0 {
			rec.End = rec.Tokens[n-1].At
		}
	}
	if cut == nil && (rec.Error == metric.ErrConnect || rec.Error == metric.ErrTruncated && !x.done) && rec.Status == 0 {
		rec.Detail = "no connection, or it broke before an answer" // what the socket says depends on who was faster
	}
	end := rec.End // the slot is taken until then, whatever the request's own limit says
	if limit := l.Spec.RequestLimit; limit > 0 && end-rec.Sent > limit {
		clip(rec, rec.Sent+limit, cutRequest(limit))
	}
	if l.whole[rec.Index] = cut == nil; cut == nil {
		l.tally.finish(rec)
		l.sights.look(rec, true)
	}
	l.news <- news{index: rec.Index, at: end, ended: true}
}

// refusedAt takes the instant of the end from an answer other than 200.
func (a *answer) refusedAt(h http.Header) {
	if us, err := strconv.ParseInt(h.Get(lawtime.HeaderEnd), 10, 64); err == nil {
		a.stated, a.rec.End = true, micros(us)
	}
}
