package search

import (
	"math/rand/v2"

	"autotune/tuner"
)

// random draws uniformly down the tree of conditions, without replacement. It learns nothing: it is what the others are compared with.
type random struct{}

// Suggest proposes an opening move, else a random point that keeps the rules and was not asked before.
func (random) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	return drawRandom(p, source(ask), h.Taken(), "random")
}

// source makes the random source of one ask, so that the next point is a function of the study file alone.
func source(ask tuner.Ask) *rand.Rand {
	return rand.New(rand.NewPCG(ask.Seed, uint64(ask.Number)))
}

func drawRandom(p tuner.Problem, r *rand.Rand, taken func(key string) bool, why string) (tuner.Proposal, error) {
	point, ok := p.Space.Draw(r, taken)
	if !ok {
		return tuner.Proposal{}, tuner.ErrExhausted
	}
	return tuner.Proposal{Point: point, Why: why}, nil
}
