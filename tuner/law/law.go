package law

import (
	"time"
)

// Machine is the host that a server runs on.
type Machine struct {
	GPU       string  // marketing name, for example H200
	GPUs      int     // 1 to 8
	MemoryGiB float64 // of one GPU; an H200 has 143771 MiB, 140.4 GiB
}

// Options are what may differ between two runs of one configuration.
type Options struct {
	Noise   float64  // standard deviation of the log of the run's speed; 0: none
	Seed    uint64   // of the noise
	Perturb *Perturb // changed coefficients; nil: the fitted ones
}

// Failure is how the real engine would end.
type Failure struct {
	Phase     string        // word of the failure vocabulary: flags, init, load, profile, capture, serve
	Signature string        // id of the failure signature that its lines show
	Message   string        // one sentence
	Lines     []string      // what the real engine would log, in order
	Exit      int           // exit status of the process; negative: the signal
	At        time.Duration // law time since the start of the process (at start), or since the start of the simulation (in serving)
}

// Stage is one step of a start.
type Stage struct {
	Phase string        // word of the failure vocabulary
	Line  string        // the log line that the real engine prints at the end of the stage
	Took  time.Duration // law time of the stage
}

// Request is what a client asks of the simulated server.
type Request struct {
	ID     int
	At     time.Duration // instant at which it arrives; whole microseconds
	Input  int           // prompt tokens
	Output int           // tokens to generate
}

// Event is a token, or the end, of one request.
type Event struct {
	ID     int
	At     time.Duration
	Tokens int    // tokens that came at this instant
	Done   bool   // the last event of the request
	Err    string // with Done: the request failed
}

// Counters are what the engine's metrics endpoint shows.
type Counters struct {
	Running, Waiting int
	KVUse            float64 // share of the KV cache in use, 0 to 1
	Preemptions      int
	PromptTokens     int64
	GenerationTokens int64
	Finished         int
	Failed           int
}
