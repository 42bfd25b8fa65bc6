package main

import (
	"context"
	"fmt"

	"autotune/store"
)

// untilSignal ends the context at the first signal, with the signal as its cause; the second one exits at once.
func (w *world) untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	received, stop := w.signals()
	done := make(chan struct{})
	go func() {
		first := true
		for {
			select {
			case s := <-received:
				if !first {
					w.exit(signalled{s}.code())
				}
				first = false
				cancel(signalled{s})
			case <-done:
				return
			}
		}
	}()
	return store.WithStop(ctx), func() { stop(); close(done); cancel(nil) }
}

// twice tells a person how to stop at once, when the first signal comes.
func (w *world) twice(ctx context.Context) func() {
	stop := context.AfterFunc(ctx, func() {
		fmt.Fprintln(w.err, "autotune: stopping: the server is shut down and the trial is kept for the resume; once more to stop at once")
	})
	return func() { stop() }
}
