package law

import (
	"time"

	"autotune/tuner/metric"
)

// Plan is a workload as a client sends it.
type Plan struct {
	Arrivals []time.Duration // by index, ascending
	Input    []int           // prompt tokens
	Output   []int           // tokens to generate
	Cap      int             // most requests in flight; 0: no cap
	Limit    time.Duration   // nothing is sent from this instant on; 0: none
}

// Play drives a simulation by a plan: request i is sent at max(arrival i, the instant at which a slot became free), in order.
// A Failure says that the server crashed under the load; the records tell what was served until then.
func Play(s *Simulation, p Plan) ([]metric.Record, *Failure) { return nil, nil }
