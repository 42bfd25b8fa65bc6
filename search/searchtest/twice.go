package searchtest

import (
	"testing"

	"autotune/tuner"
)

// askedTwice has the loop ask a measured trial's configuration again, as it does for the guards that it was not measured on: the sampler goes on with other points.
func askedTwice(t *testing.T, s tuner.Sampler, surface Surface) {
	h := Study(t, s, surface, 6, 10)
	for _, first := range h {
		if _, ok := surface.Problem.Goal.Value(first.Outcome.Measured); ok && first.Outcome.Kind == tuner.Measured {
			again := first
			again.Number, again.Origin, again.Proposal = h.Next(), tuner.OriginSearch, tuner.Proposal{Point: first.Point, Kind: tuner.KindGuard, Why: "for its guards"}
			h = append(h, again)
			break
		}
	}
	if len(h) != 11 {
		t.Skip("no trial was measured")
	}
	h = Continue(t, s, surface, 6, 20, h)
	distinct(t, surface, append(h[:10:10], h[11:]...), 19)
}
