package law

import (
	"testing"
	"time"

	"autotune/space"
)

// Turns follow each other, and a cap is one on conversations: by the records that a play gives.
func TestPlayTurns(t *testing.T) {
	cfg, err := Resolve("vllm", "demo/tiny", map[string]space.Value{}, Machine{GPU: "H200", GPUs: 8, MemoryGiB: 140.4})
	if err != nil {
		t.Fatal(err)
	}
	const conversations, turns = 6, 3
	for _, c := range []struct {
		cap   int
		think time.Duration
		limit time.Duration
	}{{0, 0, 0}, {2, 0, 0}, {2, 50 * time.Millisecond, 0}, {1, time.Second, 2500 * time.Millisecond}} {
		sim, failure := New(cfg, Options{})
		if failure != nil {
			t.Fatal(failure.Message)
		}
		p := Plan{Cap: c.cap, Think: c.think, Limit: c.limit}
		for i := range conversations * turns {
			p.Arrivals = append(p.Arrivals, time.Duration(i/turns)*time.Millisecond)
			p.Input, p.Output, p.Turns = append(p.Input, 50), append(p.Output, 20), append(p.Turns, i%turns)
		}
		records, failure := Play(sim, p)
		if failure != nil {
			t.Fatal(failure.Message)
		}
		type span struct{ from, to time.Duration }
		var talks []span
		sent := 0
		for i, r := range records {
			if r.OK() {
				sent++
			}
			switch turn := i % turns; {
			case c.limit > 0 && r.OK() && r.Sent >= c.limit:
				t.Errorf("%+v: request %d is sent at %v, after the limit", c, i, r.Sent)
			case turn == 0 && r.OK():
				talks = append(talks, span{r.Sent, r.End})
			case turn > 0 && r.OK():
				if before := records[i-1]; r.Sent != before.End+c.think || r.Scheduled != r.Sent {
					t.Errorf("%+v: turn %d is sent at %v, the one before ended at %v", c, i, r.Sent, before.End)
				}
				talks[len(talks)-1].to = r.End
			}
		}
		if c.limit == 0 && sent != conversations*turns || c.limit > 0 && (sent == 0 || sent == conversations*turns) {
			t.Errorf("%+v: %d requests were served", c, sent)
		}
		for _, a := range talks {
			open := 0
			for _, b := range talks {
				if b.from <= a.from && a.from < b.to {
					open++
				}
			}
			if c.cap > 0 && open > c.cap {
				t.Errorf("%+v: %d conversations at once", c, open)
			}
		}
	}
}
