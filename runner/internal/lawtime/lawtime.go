// Package lawtime is the wire format by which the load generator and the fake engine share a simulated clock.
//
// A measurement in law time goes so. The client asks GET Path: a server that keeps law time answers 200 with Hello.
// It announces its Plan by POST Path: every arrival, the cap, the limit. The server's simulation starts at 0.
// The client then sends requests in the plan's order: request i at max(arrival i, the instant at which a slot became free),
// stating plan, index and instant in headers. The server knows the same rule, so it knows which instant it may not run past until
// request i has come: min over what is still to come. So its simulation depends on the plan alone, never on the speed of a machine.
// Each event of a stream carries the stamps of its tokens (StampsField), and the last one the instant of the end (EndField);
// a refused request carries its end in HeaderEnd. All instants are whole microseconds.
package lawtime

// Path answers GET (Hello), POST (Plan), DELETE (forget the plan).
const Path = "/law/plan"

// Headers of a request that belongs to a plan, and of a refusal.
const (
	HeaderPlan  = "X-Law-Plan"
	HeaderIndex = "X-Law-Index"
	HeaderSent  = "X-Law-Sent" // microseconds
	HeaderEnd   = "X-Law-End"  // microseconds; on an answer other than 200
)

// Fields of a chunk's JSON object, beside the OpenAI fields.
const (
	StampsField = "law_us"     // [first, +delta, +delta, ...]: one stamp a token, microseconds
	EndField    = "law_end_us" // microseconds; on the last chunk
)

// Hello says that a server keeps law time.
type Hello struct {
	Clock string `json:"clock"` // "law"
}

// Plan is what a client is going to send.
type Plan struct {
	ID       string  `json:"id"`
	Arrivals []int64 `json:"arrivals_us"` // by index, ascending
	Cap      int     `json:"cap"`         // most requests in flight; 0: no cap
	Limit    int64   `json:"limit_us"`    // nothing is sent from this instant on; 0: none
}
