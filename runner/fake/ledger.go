package fake

import "time"

// Ledger is what a server wrote about itself and about every request that it answered.
type Ledger struct {
	Server  Server
	Entries []Entry
}

// Server is the first line of a ledger.
type Server struct {
	Engine string `json:"engine"`
	Model  string `json:"model"` // the served name
	Clock  string `json:"clock"` // wall or law
	Seed   uint64 `json:"seed"`
	PID    int    `json:"pid"`
}

// Entry is one request as the server truly served it. Instants are counted from the start of the server (wall) or of the plan (law).
type Entry struct {
	Plan     string // id of the plan; empty for a request outside of any
	Index    int    // place in the plan, or the order of arrival
	Received time.Duration
	Stamps   []time.Duration // when each token was sent
	End      time.Duration
	Input    int
	Output   int    // tokens sent
	Status   int    // HTTP status
	Finish   string // finish reason; empty when none was sent
	Fault    string // name of the fault that befell it
	Events   int    // server-sent events that carried tokens
}

// ReadLedger reads the ledger file of a server, which may still be running.
func ReadLedger(path string) (Ledger, error) { return Ledger{}, nil }
