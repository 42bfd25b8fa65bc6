package load

import (
	"slices"
	"sync"
	"time"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// sights are the requests as an observer may see them while they are under way. Records themselves belong to whoever follows the answers
// until these have ended.
type sights struct {
	mu    sync.Mutex
	all   []metric.Sight
	later []bool // turns that wait for the one before
}

func newSights(requests []workload.Request) *sights {
	s := &sights{all: make([]metric.Sight, len(requests)), later: make([]bool, len(requests))}
	for i, q := range requests {
		s.later[i] = q.Turn > 0
		s.all[i] = metric.Sight{Scheduled: q.Arrival, AskedIn: q.Input, AskedOut: q.Output}
	}
	return s
}

// look takes over how a record stands; its follower calls it: when it is sent, at its first token, at its end.
func (s *sights) look(r *metric.Record, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &s.all[r.Index]
	v.State, v.Sent, v.Scheduled = metric.Waiting, r.Sent, r.Scheduled
	if len(r.Tokens) > 0 {
		v.State, v.First, v.Burst = metric.Answering, r.Tokens[0].At, max(1, r.Tokens[0].Tokens)
	}
	if ended {
		*v = r.Sight(max(r.End, v.First))
	}
}

// at are the requests as they stood at an instant. In law time more may be known already.
func (s *sights) at(at time.Duration) []metric.Sight {
	s.mu.Lock()
	out := slices.Clone(s.all)
	s.mu.Unlock()
	for i, v := range out {
		if out[i] = v.Before(at); s.later[i] && out[i].State == metric.Unsent {
			out[i].Scheduled = max(out[i].Scheduled, at) // it is wanted once the turn before has ended
		}
	}
	return out
}
