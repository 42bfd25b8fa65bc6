package metric

import (
	"strings"
	"time"
)

// SLOs are the limits that a request must keep, each of them, to count for goodput; 0 is no limit. A limit is on the metric of its name, so
// that ttft and latency hold the wait in the client's queue, and the two that end in sent do not.
type SLOs struct {
	TTFT        time.Duration `json:"ttft,omitempty"`
	TTFTSent    time.Duration `json:"ttft_sent,omitempty"`
	TPOT        time.Duration `json:"tpot,omitempty"`
	Latency     time.Duration `json:"latency,omitempty"`
	LatencySent time.Duration `json:"latency_sent,omitempty"`
}

// None tells that no limit is set, so that there is no goodput.
func (s SLOs) None() bool { return s == SLOs{} }

// String writes the limits as in "ttft <= 2s, tpot <= 50ms"; empty when there are none.
func (s SLOs) String() string {
	var parts []string
	for _, l := range []struct {
		name  string
		limit time.Duration
	}{{"ttft", s.TTFT}, {"ttft_sent", s.TTFTSent}, {"tpot", s.TPOT}, {"latency", s.Latency}, {"latency_sent", s.LatencySent}} {
		if l.limit > 0 {
			parts = append(parts, l.name+" <= "+l.limit.String())
		}
	}
	return strings.Join(parts, ", ")
}

// Kept tells whether a request succeeded and kept every limit. One without a tpot (a single token, or all of them in one event) keeps a
// limit on it: no time passed between its tokens.
func (s SLOs) Kept(r Record) bool {
	t, ok := r.timing()
	within := func(d, limit time.Duration) bool { return limit <= 0 || d <= limit }
	return ok && within(t.ttft, s.TTFT) && within(t.ttftSent, s.TTFTSent) && within(t.latency, s.Latency) && within(t.latencySent, s.LatencySent) &&
		(s.TPOT <= 0 || t.rest == 0 || t.tpot() <= s.TPOT.Seconds())
}

// timing is what the instants of a successful request come to.
type timing struct {
	ttft, ttftSent, latency, latencySent time.Duration
	decode                               time.Duration // from the first event with tokens to the last one
	rest                                 int           // tokens that came in that time; 0: there is no tpot
}

// timing is none of a request that failed or brought no token.
func (r Record) timing() (t timing, ok bool) {
	if !r.OK() || len(r.Tokens) == 0 {
		return t, false
	}
	first, last := r.Tokens[0], r.Tokens[len(r.Tokens)-1]
	t = timing{ttft: first.At - r.Scheduled, ttftSent: first.At - r.Sent, latency: last.At - r.Scheduled, latencySent: last.At - r.Sent, decode: last.At - first.At}
	if len(r.Tokens) > 1 {
		t.rest = max(0, r.Output-first.Tokens)
	}
	return t, true
}

// tpot is in seconds; rest is above 0.
func (t timing) tpot() float64 { return t.decode.Seconds() / float64(t.rest) }
