package store

import (
	"context"
	"sync"
	"time"
)

// stopPatience bounds how long writes wait for a lock or for space once a person has asked to stop: all of them together.
const stopPatience = 3 * time.Second

// stop is the wish to stop, as writes that must not be cancelled see it.
type stop struct {
	asked    <-chan struct{}
	patience time.Duration

	mu    sync.Mutex
	since time.Time // when a write was first held up after the stop was asked
}

type stopKey struct{}

// WithStop marks ctx as one whose end is a person's wish to stop. A write under context.WithoutCancel(ctx) is carried out all the same, but from
// then on it waits for another program's lock or for space on a full disk a few seconds at most.
func WithStop(ctx context.Context) context.Context { return withStop(ctx, stopPatience) }

func withStop(ctx context.Context, patience time.Duration) context.Context {
	return context.WithValue(ctx, stopKey{}, &stop{asked: ctx.Done(), patience: patience})
}

// stopOf is the mark of ctx; nil when it has none.
func stopOf(ctx context.Context) *stop {
	s, _ := ctx.Value(stopKey{}).(*stop)
	return s
}

// over tells a write that is held up at this moment whether it has to give up.
func (s *stop) over(now time.Time) bool {
	if s == nil {
		return false
	}
	select {
	case <-s.asked:
	default:
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since = now
	}
	return now.Sub(s.since) >= s.patience
}
