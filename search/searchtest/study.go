package searchtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"autotune/space"
	"autotune/tuner"
)

// NotShort skips a test that takes long and starts no goroutine, so that the race detector would see nothing in it.
func NotShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long, and without goroutines")
	}
}

// Study lets a sampler search a surface for so many trials, or until nothing is left, one at a time and without noise.
func Study(t testing.TB, s tuner.Sampler, surface Surface, seed uint64, trials int) tuner.History {
	t.Helper()
	return Continue(t, s, surface, seed, trials, nil)
}

// Continue goes on with a study until its history has so many trials.
func Continue(t testing.TB, s tuner.Sampler, surface Surface, seed uint64, trials int, h tuner.History) tuner.History {
	t.Helper()
	for n := h.Next(); n < trials; n++ {
		proposal, err := s.Suggest(surface.Problem, h, tuner.Ask{Number: n, Seed: seed})
		if errors.Is(err, tuner.ErrExhausted) {
			return h
		}
		if err != nil {
			t.Fatalf("trial %d of %s: %v", n, surface.Name, err)
		}
		h = append(h, tuner.Trial{Number: n, Point: proposal.Point, Proposal: proposal, Outcome: surface.Truth(proposal.Point)})
	}
	return h
}

// Best is the highest feasible objective of a history (the lowest where small is good); ok is false when there is none.
func Best(g tuner.Goal, h tuner.History) (best float64, ok bool) {
	for _, t := range h {
		if !g.Feasible(t) {
			continue
		}
		if v, _ := g.Value(t.Outcome.Measured); !ok || g.Gain(v, best) > 0 {
			best, ok = v, true
		}
	}
	return best, ok
}

// Optimum is the best of a surface by a look at every point; ranges that are too long to enumerate are an error of the caller's.
func Optimum(surface Surface) (float64, space.Point) {
	best, at := math.NaN(), space.Point{}
	for p := range surface.Problem.Space.Enumerate() {
		if !surface.Problem.Space.Keeps(p) {
			continue
		}
		trial := tuner.Trial{Point: p, Outcome: surface.Truth(p)}
		if !surface.Problem.Goal.Feasible(trial) {
			continue
		}
		if v, _ := surface.Problem.Goal.Value(trial.Outcome.Measured); at.IsZero() || surface.Problem.Goal.Gain(v, best) > 0 {
			best, at = v, p
		}
	}
	return best, at
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
