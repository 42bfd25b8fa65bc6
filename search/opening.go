package search

import (
	"fmt"

	"autotune/tuner"
)

// OpeningMoves proposes what every sampler begins with: each engine's baseline, then the spec's recipes, in their order.
// A move that was asked before, or that breaks a rule, is passed over, and so is a recipe that asks for no less memory than a trial which ran out of it, and
// is otherwise the same; ok is false when none is left.
func OpeningMoves(p tuner.Problem, h tuner.History) (proposal tuner.Proposal, ok bool) {
	taken := h.Taken()
	for _, b := range p.Baselines {
		if !taken(b.Key()) && p.Space.Keeps(b) {
			return tuner.Proposal{Point: b, Why: "baseline of " + b.Engine()}, true
		}
	}
	hopeless := outOfMemory(p, h)
	for i, r := range p.Recipes {
		if !taken(r.Key()) && p.Space.Keeps(r) && !hopeless(r) {
			return tuner.Proposal{Point: r, Why: fmt.Sprintf("recipe %d of the spec", i+1)}, true
		}
	}
	return tuner.Proposal{}, false
}

// openingKeys are the keys of all opening moves.
func openingKeys(p tuner.Problem) map[string]bool {
	keys := make(map[string]bool, len(p.Baselines)+len(p.Recipes))
	for _, b := range p.Baselines {
		keys[b.Key()] = true
	}
	for _, r := range p.Recipes {
		keys[r.Key()] = true
	}
	return keys
}
