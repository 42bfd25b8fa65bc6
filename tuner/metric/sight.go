package metric

import "time"

// State is how far a request has come.
type State uint8

// The states of a request, in the order in which it goes through them. The zero State is that of one that has not been sent.
const (
	Unsent    State = iota
	Waiting         // sent, and no token has come
	Answering       // its first token has come
	Succeeded
	Failed
)

// Ended tells whether nothing more will come.
func (s State) Ended() bool { return s == Succeeded || s == Failed }

// Sight is a request as it stands at an instant of a running measurement: what can be seen of it before there is a Record. Instants are
// counted from the start of the measurement; what has not come by that instant is 0.
type Sight struct {
	State     State
	Scheduled time.Duration // when the workload wants it sent
	Sent      time.Duration
	First     time.Duration // its first token; 0 when none has come
	Last      time.Duration // a success's last token, a failure's end
	Burst     int           // tokens that came with the first one
	AskedIn   int           // tokens asked for; 0 when unknown (text prompts)
	AskedOut  int
	Input     int // by usage, of a success
	Output    int
}

// Sight is what could be seen of a record's request at an instant.
func (r Record) Sight(at time.Duration) Sight {
	s := Sight{Scheduled: r.Scheduled, AskedIn: r.AskedIn, AskedOut: r.AskedOut}
	if !r.wasSent() {
		return s
	}
	s.State, s.Sent = Waiting, r.Sent
	if len(r.Tokens) > 0 {
		s.State, s.First, s.Burst = Answering, r.Tokens[0].At, r.Tokens[0].Tokens
	}
	switch {
	case !r.OK():
		s.State, s.Last = Failed, r.End
	case len(r.Tokens) > 0:
		s.State, s.Last, s.Input, s.Output = Succeeded, r.Tokens[len(r.Tokens)-1].At, r.Input, r.Output
	}
	return s.Before(at)
}

// Before is the sight as it was at an earlier instant: what came after that is forgotten.
func (s Sight) Before(at time.Duration) Sight {
	if s.State.Ended() && s.Last > at {
		s.State, s.Last, s.Input, s.Output = Waiting, 0, 0, 0
		if s.First > 0 {
			s.State = Answering
		}
	}
	if s.First > at {
		s.First, s.Burst = 0, 0
		if s.State == Answering {
			s.State = Waiting
		}
	}
	if s.Sent > at {
		return Sight{Scheduled: s.Scheduled, AskedIn: s.AskedIn, AskedOut: s.AskedOut}
	}
	return s
}
