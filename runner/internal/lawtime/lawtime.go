// Package lawtime is the wire format by which the load generator and the fake engine share a simulated clock.
//
// A measurement in law time goes so. The client asks GET Path: a server that keeps law time answers 200 with Hello.
// It announces its Plan by POST Path: every arrival, the cap, the limit. The server's simulation starts at 0.
// The client then sends requests in the plan's order: request i at max(arrival i, the instant at which a slot became free),
// stating plan, index and instant in headers. The server knows the same rule, so it knows which instant it may not run past until
// request i has come: min over what is still to come. So its simulation depends on the plan alone, never on the speed of a machine.
//
// The rule in full. There are as many slots as the cap says (as many as requests, when it is 0), each free from instant 0.
// Request i takes the slot that has been free longest; its instant is the later of arrival i and the instant that slot became free.
// A slot becomes free again at the end of its request, however it ended. Nothing is sent at the limit or later: the first request
// whose instant would be there, and all after it, never come, and the server runs on to the end of what it has.
// In a plan with turns it is conversations that take slots: the first turn as above, and a slot becomes free at the end of the last turn. A later turn
// is sent when the turn before, which has the index before its own, has ended and the think time has passed; were that at the limit or later, its
// conversation is over with the turn before.
// A request may come, on this machine's clock, at any time before the simulation reaches its instant; what is in the header counts.
//
// Each event of a stream carries the stamps of its tokens (StampsField), and the last one the instant of the end (EndField);
// a refused request carries its end in HeaderEnd. An answer that says no end, broken or cut off on purpose, ends at its last stamp, or at the
// instant it was sent if it has none: both sides reckon so. All instants are whole microseconds.
//
// The server writes out all that happened up to the instant at which it waits, so the client never knows of one end while an earlier
// one is still on its way, unless the next request is due later than both: then the order does not matter.
// Requests without HeaderPlan (readiness, warm-up) belong to no plan and are answered at once.
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
	Arrivals []int64 `json:"arrivals_us"`        // by index, ascending
	Cap      int     `json:"cap"`                // most requests in flight; 0: no cap
	Limit    int64   `json:"limit_us"`           // nothing is sent from this instant on; 0: none
	Turns    []int   `json:"turns,omitempty"`    // of its conversation that each request is, from 0; none: each request stands alone
	Think    int64   `json:"think_us,omitempty"` // from a turn's end to the next turn
}
