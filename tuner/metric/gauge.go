package metric

import (
	"slices"
	"time"
)

// Gauges are what a server said of itself during a measurement, about once a second; lists of one length. What an engine does not tell stays 0.
type Gauges struct {
	At      []float64 `json:"at"`      // seconds from the start of the measurement
	Running []float64 `json:"running"` // requests
	Waiting []float64 `json:"waiting"` // requests in the server's queue
	KVUse   []float64 `json:"kv_use"`  // share of the KV cache in use, the mean over the engine's ranks
	// PrefixHits are prompt tokens that the prefix cache knew, and Preempted requests that were put back for want of cache: so far in this measurement.
	PrefixHits []float64 `json:"prefix_hits"`
	Preempted  []float64 `json:"preempted"`
}

// Gauge is one look at a server.
type Gauge struct {
	At                                             time.Duration
	Running, Waiting, KVUse, PrefixHits, Preempted float64
}

// gaugesMost bounds how many looks are kept; then every second one is dropped.
const gaugesMost = 1200

// Add appends a look, in order of time. A long measurement keeps fewer of them, evenly spread.
func (g *Gauges) Add(l Gauge) {
	for _, c := range g.columns(l) {
		*c.to = append(*c.to, c.value)
	}
	if len(g.At) <= gaugesMost {
		return
	}
	for _, c := range g.columns(Gauge{}) {
		kept := (*c.to)[:0]
		for i, v := range *c.to {
			if i%2 == 0 {
				kept = append(kept, v)
			}
		}
		*c.to = kept
	}
}

type gaugeColumn struct {
	to    *[]float64
	value float64
}

func (g *Gauges) columns(l Gauge) []gaugeColumn {
	return []gaugeColumn{{&g.At, l.At.Seconds()}, {&g.Running, l.Running}, {&g.Waiting, l.Waiting}, {&g.KVUse, l.KVUse}, {&g.PrefixHits, l.PrefixHits}, {&g.Preempted, l.Preempted}}
}

// Mean is the mean of a column; 0 of none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// Most is the largest of a column; 0 of none.
func Most(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Max(values)
}
