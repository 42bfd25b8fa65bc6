package fake

import "sync"

// piece is tokens that the simulation gave at one instant.
type piece struct {
	at     int64 // microseconds
	tokens int
}

// stream carries the tokens of one request from the simulation to the handler that writes them. The simulation never waits for the handler.
type stream struct {
	mu      sync.Mutex
	pieces  []piece
	pending int // tokens in pieces
	batch   int // tokens worth waking the handler for
	ended   bool
	end     int64
	failure string
	more    chan struct{} // holds one: there is something to take
}

func newStream(batch int) *stream { return &stream{batch: batch, more: make(chan struct{}, 1)} }

func (s *stream) push(at int64, tokens int) {
	s.mu.Lock()
	s.pieces = append(s.pieces, piece{at, tokens})
	s.pending += tokens
	wake := s.pending >= s.batch
	s.mu.Unlock()
	if wake {
		s.wake()
	}
}

// finish ends the stream; failure is empty when the simulation served all of it. Only the first call counts.
func (s *stream) finish(at int64, failure string) {
	s.mu.Lock()
	if !s.ended {
		s.ended, s.end, s.failure = true, at, failure
	}
	s.mu.Unlock()
	s.wake()
}

func (s *stream) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// take waits for tokens or the end and appends what came to into; gone ends the wait.
func (s *stream) take(gone <-chan struct{}, into []piece) (pieces []piece, ended, ok bool) {
	select {
	case <-s.more:
	case <-gone:
		return into, false, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	into = append(into, s.pieces...)
	s.pieces, s.pending = s.pieces[:0], 0
	return into, s.ended, true
}

// outcome is how the stream ended; it is valid after take said so.
func (s *stream) outcome() (end int64, failure string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end, s.failure
}
