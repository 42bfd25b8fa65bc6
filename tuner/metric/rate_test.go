package metric

import (
	"math"
	"testing"
	"time"
)

// queue is a server that takes one request at a time, sent to at a rate: what came of so many of them.
func queue(rate, each float64, n int) []Record {
	records := make([]Record, n)
	free := 0.0
	for i := range records {
		due := float64(i) / rate
		free = math.Max(free, due) + each
		at := time.Duration(free * float64(time.Second))
		sent := time.Duration(due * float64(time.Second))
		records[i] = Record{Index: i, Scheduled: sent, Sent: sent, End: at, Input: 1, Output: 1, Tokens: []Event{{At: at, Tokens: 1}}}
	}
	return records
}

// TestSustained: a rate that the server serves is sustained, and one above it is not, however few the requests.
func TestSustained(t *testing.T) {
	for _, c := range []struct {
		rate float64
		n    int
		want bool
	}{{0.5, 100, true}, {1, 100, true}, {1.05, 100, true}, {1.2, 100, false}, {3, 100, false}, {1e6, 100, false}, {1, 1, true}, {1e6, 1, false}, {1.2, 10, false}} {
		m := Compute(queue(c.rate, 1, c.n), 1)
		m[RequestRate] = c.rate
		if Sustained(m) != c.want {
			t.Errorf("%d requests at %v/s of a server of 1/s: sustained %v, growth %v, %v served", c.n, c.rate, !c.want, m["ttft_growth"], m["request_throughput"])
		}
	}
	if m := Compute(queue(1.5, 1, 100), 1); math.Abs(m["ttft_growth"]-0.5) > 1e-9 {
		t.Errorf("at 1.5 requests/s of a server of 1/s the wait grows by %v s a second", m["ttft_growth"])
	}
	if growth, ok := ttftGrowth(nil); ok || growth != 0 {
		t.Errorf("of nothing: %v, %v", growth, ok)
	}
}
