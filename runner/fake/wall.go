package fake

import (
	"context"
	"sync"
	"time"

	"autotune/tuner/law"
)

// wallClock maps the simulation's instants to the time since it was made: a step's tokens come when its instant has come.
type wallClock struct {
	mu     sync.Mutex
	sim    *law.Simulation
	start  time.Time
	calls  map[int]*call
	lastID int
	watch  *watch
	frozen bool
	wake   chan struct{} // holds one: a request came
	hooks  hooks
}

// hooks is what a clock tells the server.
type hooks struct {
	tokens func(prompt, n int)  // prompt tokens were read, tokens generated
	strike func(fault string)   // a fault of the whole server struck
	crash  func(f *law.Failure) // the simulated server crashed
}

func newWallClock(sim *law.Simulation, start time.Time, w *watch, h hooks) *wallClock {
	return &wallClock{sim: sim, start: start, calls: map[int]*call{}, watch: w, wake: make(chan struct{}, 1), hooks: h}
}

// now is the time since the start in whole microseconds, as the simulation counts.
func (w *wallClock) now() time.Duration { return time.Since(w.start).Truncate(time.Microsecond) }

// admit hands a request to the simulation at this instant.
func (w *wallClock) admit(c *call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	w.catchUp(now)
	if w.frozen {
		return
	}
	w.lastID++
	w.calls[w.lastID] = c
	w.sim.Submit(law.Request{ID: w.lastID, At: now, Input: c.input, Output: c.output})
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// catchUp runs every step whose end has come.
func (w *wallClock) catchUp(now time.Duration) {
	for !w.frozen {
		if fault := w.watch.due(); fault != "" {
			w.frozen = true
			w.hooks.strike(fault)
			return
		}
		if next, ok := w.sim.Next(); !ok || next > now {
			return
		}
		w.watch.finished += len(deliver(w.sim.Step(), w.calls, w.hooks.tokens))
		if f := w.sim.Crashed(); f != nil {
			w.frozen = true
			w.hooks.crash(f)
		}
	}
}

// run steps the simulation until ctx ends. It sleeps on a timer between steps.
func (w *wallClock) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		w.mu.Lock()
		w.catchUp(w.now())
		next, busy := w.sim.Next()
		busy = busy && !w.frozen
		wait := time.Hour
		if busy {
			wait = next - time.Since(w.start)
		}
		w.mu.Unlock()
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-timer.C:
		}
	}
}

// abort ends every running request with a failure.
func (w *wallClock) abort(failure string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frozen = true
	for id, c := range w.calls {
		delete(w.calls, id)
		c.stream.finish(micros(w.now()), failure)
	}
}

func (w *wallClock) counters() law.Counters {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sim.Counters()
}
