package search

import (
	"math/rand/v2"

	"autotune/space"
	"autotune/tuner"
)

// random draws uniformly down the tree of conditions, without replacement. It learns nothing: it is what the others are compared with.
type random struct{}

// Suggest proposes an opening move, else a random point that keeps the rules and was not asked before.
func (random) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	return drawRandom(p, source(ask), unwanted(p, h), "random")
}

// source makes the random source of one ask, so that the next point is a function of the study file alone.
func source(ask tuner.Ask) *rand.Rand {
	return rand.New(rand.NewPCG(ask.Seed, uint64(ask.Number)))
}

// asked refuses the points that were asked before, under whatever spelling.
func asked(h tuner.History) func(space.Point) bool {
	taken := h.Taken()
	return func(p space.Point) bool { return taken(p.Key()) }
}

func drawRandom(p tuner.Problem, r *rand.Rand, refused func(space.Point) bool, why string) (tuner.Proposal, error) {
	point, ok := p.Space.Draw(r, refused)
	if !ok {
		return tuner.Proposal{}, tuner.ErrExhausted
	}
	return tuner.Proposal{Point: point, Why: why}, nil
}
