package load

import (
	"context"
	"net/http"
	"time"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// Target is the server under load.
type Target struct {
	URL     string // http://host:port, without /v1
	Model   string // the served name
	Headers http.Header
	APIKey  string   // sent as a bearer token
	Secrets []string // further texts that no record may hold, should the server repeat them
}

// Options say what to send and when to give up.
type Options struct {
	Spec      workload.Spec
	Rows      []workload.Row     // of the dataset's file
	Requests  []workload.Request // sent instead of Spec.Expand(Rows), when not nil; by index, arrivals ascending
	FileHash  string             // the dataset file's content, for the identity
	StudySeed uint64
	Trial     int
	Repeat    int
	// Marked says that the server may know prompts that the dataset brings from an earlier run: then those of the first repeat are marked too. Else they are
	// sent as the dataset has them.
	Marked  bool
	Vocab   int  // token ids are below it; 0: DefaultVocab
	LawTime bool // the server keeps law time, see DetectLawTime
	// Observe is called once a second of the measurement's clock, from one goroutine; a text that is not empty ends the run. In law time it
	// is called later, once all that happened up to that second is known, and an end is as of that second.
	Observe func(Progress) (stop string)
	// FailFast ends the run when the workload's first so many requests all failed, and none succeeded before; 0: never.
	FailFast int
	// Silence ends the run when requests are in flight and for so long, on the wall clock, neither a token came nor a request ended: a
	// server that hangs may still accept requests and send comments. 0: never (law time: a minute).
	Silence time.Duration
}

// Ending says why a run ended.
type Ending string

// The endings.
const (
	Complete    Ending = "complete"    // every request ended by itself
	Stopped     Ending = "stopped"     // Observe said so
	WallLimit   Ending = "limit"       // the workload's wall limit came
	Hang        Ending = "hang"        // nothing came for Options.Silence
	AllFailed   Ending = "all_failed"  // the first Options.FailFast requests failed
	Interrupted Ending = "interrupted" // the context ended
)

// Result is what a run gave.
type Result struct {
	Records  []metric.Record // one for each request of the workload, by index
	Clock    metric.Clock
	Identity string // what was asked
	Sent     string // hash of what was sent
	Ending   Ending
	Stopped  string        // what Observe answered
	Share    float64       // of the requests, those that ended by themselves
	Elapsed  time.Duration // on the measurement's clock
	Dropped  int           // requests that this machine could not send: no file, port or memory was left for another connection
	CPU      float64       // CPU seconds of this process a second of wall time, while it ran
	Files    uint64        // files and connections that this process might have open at once; 0: not known
	Notes    []string      // sentences that a reader of the figures should know
}

// Confess adds to a run's metrics what the load generator says of itself beside its lag. In law time it says nothing: there it has no part in what is measured,
// and figures are the same on every machine.
func (r Result) Confess(metrics map[string]float64) {
	if r.Clock != metric.Wall || len(r.Records) == 0 {
		return
	}
	metrics[metric.ClientCPU], metrics[metric.ClientDropped] = r.CPU, float64(r.Dropped)
	if r.Files > 0 {
		metrics[metric.ClientFiles] = float64(r.Files)
	}
}

// Progress is how a run stands at an instant of the measurement's clock.
type Progress struct {
	Elapsed        time.Duration
	Total          int // requests of the workload
	Sent           int
	Done           int // ended, failures included
	Failed         int
	InputTokens    int // of successful requests that ended
	OutputTokens   int
	StreamedTokens int // events' tokens so far, of all requests
	Share          float64
	Requests       []metric.Sight // by index
}

// Run sends the workload and records every request. When ctx ends, it returns what it has with ctx's error. Any other error says that
// the workload cannot be sent at all; a server that fails is a Result.
func Run(ctx context.Context, t Target, o Options) (Result, error) {
	r, err := newRun(t, o)
	if err != nil {
		return Result{}, err
	}
	return r.do(ctx)
}
