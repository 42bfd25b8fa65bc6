package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"autotune/tuner/workload"
)

// ahead is how many requests are written before they are due: writing a long prompt takes a good part of a millisecond.
const ahead = 64

// wall is a run on this machine's clock.
type wall struct {
	*run
	firsts []workload.Request // those that follow none
	start  time.Time
	ctx    context.Context
	end    context.CancelCauseFunc
	free   chan time.Duration // one for each slot: when it became free; nil without a cap
	tally  wallTally
	heard  atomic.Int64 // when a token came, a request ended, or the first was sent after a pause
	wg     sync.WaitGroup
}

// wallTally counts, as Progress does; good are requests that succeeded, first those of the first ones that failed.
type wallTally struct {
	first, sent, done, good, failed, input, output, streamed atomic.Int64
}

// wallTime sends every request at its instant and waits for the answers. It says what cut the run short, if anything did.
func (r *run) wallTime(parent context.Context) (*cutOff, time.Duration) {
	ctx, end := context.WithCancelCause(parent)
	w := &wall{run: r, ctx: ctx, end: end}
	defer end(nil)
	w.firsts = firsts(r.requests)
	if n := min(r.Spec.MaxConcurrency, len(w.firsts)); n > 0 {
		w.free = make(chan time.Duration, n)
		for range n {
			w.free <- 0
		}
	}
	messages := w.write()
	w.start = time.Now()
	if limit := r.Spec.WallLimit; limit > 0 {
		defer time.AfterFunc(limit, func() { end(cutWall(limit)) }).Stop()
	}
	watched := make(chan struct{})
	go func() { defer close(watched); w.watch() }()
	w.pace(messages)
	w.wg.Wait()
	elapsed := w.now()
	cut := cutBy(ctx)
	end(nil)
	<-watched
	for range messages { // what was written and not sent
	}
	return cut, elapsed
}

func (w *wall) now() time.Duration { return time.Since(w.start) }

// write writes the requests that follow none in order, and returns when the first ones are there.
func (w *wall) write() <-chan message {
	messages := make(chan message, ahead)
	ready := make(chan struct{})
	go func() {
		defer close(messages)
		for i, q := range w.firsts {
			if i == min(ahead, len(w.firsts)-1) {
				close(ready)
			}
			select {
			case messages <- w.message(q):
			case <-w.ctx.Done():
				if i < min(ahead, len(w.firsts)-1) {
					close(ready)
				}
				return
			}
		}
	}()
	<-ready
	return messages
}

// pace sends each request when it is due and a slot is free, in order, until the run ends.
func (w *wall) pace(messages <-chan message) {
	for _, q := range w.firsts {
		free := time.Duration(0)
		if w.free != nil {
			select {
			case free = <-w.free:
			case <-w.ctx.Done():
				return
			}
		}
		m, ok := <-messages
		if !ok || !waitUntil(w.ctx, w.start.Add(q.Arrival)) {
			return
		}
		w.count()
		w.wg.Add(1)
		go w.converse(q, m, free)
	}
}

// count notes that a request is about to be sent.
func (w *wall) count() {
	if w.tally.sent.Load() == w.tally.done.Load() {
		w.heard.Store(int64(w.now()))
	}
	w.tally.sent.Add(1)
}

// send carries out one request. free is when its slot became free.
func (w *wall) send(q workload.Request, m message, free time.Duration) {
	ctx := w.ctx
	if limit := w.Spec.RequestLimit; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, cutRequest(limit))
		defer cancel()
	}
	sent := w.now()
	x := &exchange{path: m.path, body: m.body}
	x.rec = w.begin(q.Index, m, sent, sent-max(q.Arrival, free))
	x.now = w.now
	x.heard = func(tokens int, at time.Duration) {
		w.tally.streamed.Add(int64(tokens))
		w.heard.Store(int64(at))
		if len(x.rec.Tokens) == 1 {
			w.sights.look(x.rec, false)
		}
	}
	x.ended = func(cut *cutOff) { w.ended(x, cut) }
	w.client.talk(ctx, x)
}

// ended counts a request that has come to its end, and frees its slot.
func (w *wall) ended(x *exchange, cut *cutOff) {
	rec := x.rec
	w.heard.Store(int64(rec.End))
	w.whole[rec.Index] = cut == nil || cut.ending == ""
	w.sights.look(rec, true)
	w.spread[rec.Index] = x.answer.spread
	if rec.OK() {
		w.tally.good.Add(1)
		w.tally.input.Add(int64(rec.Input))
		w.tally.output.Add(int64(rec.Output))
	} else {
		w.tally.failed.Add(1)
	}
	w.tally.done.Add(1)
	if !rec.OK() && rec.Index < w.FailFast && w.tally.first.Add(1) == int64(w.FailFast) && w.tally.good.Load() == 0 {
		w.end(cutFailed(w.FailFast))
	}
	if _, more := w.turnAfter(rec.Index); w.free != nil && !more {
		w.free <- rec.End // never blocks: there is room for every slot
	}
}

// watch tells the observer how the run stands, and ends it when the observer says so or nothing comes any more.
func (w *wall) watch() {
	second := time.NewTicker(w.second)
	defer second.Stop()
	var look <-chan time.Time
	if w.Silence > 0 {
		t := time.NewTicker(min(max(w.Silence/8, time.Millisecond), time.Second))
		defer t.Stop()
		look = t.C
	}
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-second.C:
			if w.Observe == nil {
				continue
			}
			if word := w.Observe(w.progress()); word != "" {
				w.end(cutStop(word))
			}
		case <-look:
			waiting := w.tally.sent.Load() > w.tally.done.Load()
			if waiting && w.now()-time.Duration(w.heard.Load()) >= w.Silence {
				w.end(cutHang(w.Silence))
			}
		}
	}
}

func (w *wall) progress() Progress {
	t, total := &w.tally, len(w.requests)
	p := Progress{Total: total, Failed: int(t.failed.Load()), InputTokens: int(t.input.Load()),
		OutputTokens: int(t.output.Load()), StreamedTokens: int(t.streamed.Load())}
	p.Done, p.Sent = int(t.done.Load()), int(t.sent.Load())
	p.Share = float64(p.Done) / float64(total)
	p.Elapsed = w.now()
	p.Requests = w.sights.at(p.Elapsed) // last: whoever is counted as done is seen as done
	return p
}
