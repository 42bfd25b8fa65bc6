//go:build bench

package main

import (
	"fmt"
	"testing"
	"time"
)

// TestClimb: what becomes of rates at which a generator is late, the lowest included.
func TestClimb(t *testing.T) {
	const ok, late = time.Millisecond, 11 * time.Millisecond
	for _, c := range []struct {
		name string
		lags []time.Duration // one run after another
		want string          // the rates run, and the limit
	}{
		{"the third is not sustained", []time.Duration{ok, ok, late}, "[2 5 10] 5"},
		{"all are sustained", []time.Duration{ok, ok, ok, ok}, "[2 5 10 20] 20"},
		{"one late request at the lowest", []time.Duration{late, ok, ok, late}, "[2 2 5 10] 5"},
		{"the lowest late twice, the next too", []time.Duration{late, late, late}, "[2 2 5] fewer than 2"},
		{"the lowest late twice, the next not", []time.Duration{late, late, ok, late}, "[2 2 5 10] 5"},
	} {
		n := 0
		levels := climb([]float64{2, 5, 10, 20}, func(rate float64) level {
			n++
			return level{Rate: rate, Requests: int(12 * rate), Outcome: outcome{Good: int(12 * rate), Lag: c.lags[n-1], spent: spent{CPU: time.Duration(20+rate) * time.Second}}}
		})
		var rates []float64
		for _, l := range levels {
			rates = append(rates, l.Rate)
		}
		if got := fmt.Sprint(rates, " ", reached(levels)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if cost := perThousand(levels); cost < 83 || cost > 84 { // a second of CPU a request/s, so for 12 requests
			t.Errorf("%s: %g CPU s for 1000 requests", c.name, cost)
		}
	}
}
