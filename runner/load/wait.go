package load

import (
	"context"
	"time"
)

// coarse is how far a timer of the runtime may be off: when nothing else is to be done, it wakes up by a clock of whole milliseconds.
const coarse = 2 * time.Millisecond

// alarm wakes one goroutine at instants. There are two ways to be woken, and it takes the earlier one: a timer of the runtime, which is late
// by a millisecond while the process idles, but is looked at before each goroutine while it is busy; and a sleep in the kernel, which is
// exact while the process idles, but must queue behind every goroutine that is ready, a whole batch of streams, while it is busy.
type alarm struct {
	naps chan time.Time // instants that are near
	rung chan struct{}
}

func newAlarm() *alarm {
	a := &alarm{naps: make(chan time.Time, 1), rung: make(chan struct{}, 1)}
	go func() {
		for due := range a.naps {
			for rest := time.Until(due); rest > 0; rest = time.Until(due) {
				nap(rest)
			}
			select {
			case a.rung <- struct{}{}:
			default:
			}
		}
	}()
	return a
}

func (a *alarm) close() { close(a.naps) }

// wait returns at an instant, within a tenth of a millisecond on an idle machine; false when ctx ended first.
func (a *alarm) wait(ctx context.Context, due time.Time) bool {
	if !sleep(ctx, time.Until(due)-coarse, nil) {
		return false
	}
	for rest := time.Until(due); rest > 0; rest = time.Until(due) {
		select {
		case a.naps <- due:
		default: // it still naps for an instant that the timer was first at
		}
		if !sleep(ctx, rest, a.rung) {
			return false
		}
	}
	return ctx.Err() == nil
}

// sleep waits for a while or for a ring; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration, rung <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-rung:
	case <-ctx.Done():
		return false
	}
	return true
}
