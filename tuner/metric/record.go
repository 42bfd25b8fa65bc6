package metric

import "time"

// Clock says which clock gave the times of a measurement. Figures of different clocks are never compared.
type Clock string

// The clocks.
const (
	Wall Clock = "wall" // this machine's monotonic clock
	Law  Clock = "law"  // the simulated time of the fake engine, the same on every machine
)

// Record is what is known of one request. Instants are counted from the start of the measurement.
type Record struct {
	Index     int           // its place in the workload's order, from 0
	Scheduled time.Duration // when the workload wanted it sent
	Sent      time.Duration // when it was sent: later by the client's queue (a cap on concurrency) and by the client's lag
	Lag       time.Duration // the client's own delay: Sent minus the later of Scheduled and the instant a slot became free
	FirstByte time.Duration // first byte of the answer's body; 0 when none came
	End       time.Duration // the answer's last byte, or the failure
	Status    int           // HTTP status; 0 when none came
	Error     string        // error class, see the constants; empty for a success
	Detail    string        // the first line of the failure's text, shortened
	AskedIn   int           // tokens asked for; 0 when unknown (text prompts)
	AskedOut  int
	Input     int     // prompt tokens by usage
	Output    int     // completion tokens by usage
	Tokens    []Event // events that carried tokens, in order
}

// Event is one server-sent event that carried tokens.
type Event struct {
	At     time.Duration
	Tokens int
}

// OK tells whether the request succeeded.
func (r Record) OK() bool { return r.Error == "" }

// Error classes of a request.
const (
	ErrRefused   = "refused"     // HTTP status other than 200
	ErrConnect   = "connect"     // no connection, or it broke before an answer
	ErrStream    = "stream"      // an error inside a 200 event stream, or one that cannot be read
	ErrTruncated = "truncated"   // the stream ended without a finish reason and without [DONE]
	ErrAborted   = "aborted"     // a finish reason that is no success
	ErrLength    = "length"      // another number of tokens than was forced
	ErrEmpty     = "empty"       // no token at all
	ErrTimeout   = "timeout"     // the request's own limit
	ErrUnsent    = "unsent"      // never sent: the wall limit came first, or the run was cut short
	ErrNoUsage   = "no_usage"    // the server did not report usage, so nothing can be counted
	ErrCancelled = "interrupted" // autotune was asked to stop
)
