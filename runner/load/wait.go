package load

import (
	"context"
	"time"
)

// coarse is how far a timer of the runtime may be off: when nothing else is to be done, it wakes up by a clock of whole milliseconds.
const coarse = 2 * time.Millisecond

// waitUntil returns at an instant, within a tenth of a millisecond on an idle machine; false when ctx ended first.
func waitUntil(ctx context.Context, due time.Time) bool {
	if rest := time.Until(due) - coarse; rest > 0 {
		timer := time.NewTimer(rest)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	for rest := time.Until(due); rest > 0; rest = time.Until(due) {
		nap(rest)
	}
	return ctx.Err() == nil
}
