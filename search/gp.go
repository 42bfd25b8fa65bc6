package search

import (
	"fmt"

	"autotune/tuner"
)

// gp is the default sampler: Gaussian-process models of the objective, of every bound, and of whether a point runs at all; the point with the
// highest expected improvement that is likely to run is asked next.
//
// Order of trials: baselines and recipes; screens, which spread over the space; then the model, and at every so manieth trial a look at what it
// does not know.
type gp struct {
	gpSettings
}

// gpSettings are the sampler's constants. Each was chosen on development seeds of the search benchmark.
type gpSettings struct {
	screens int // trials spread over the space before the model is asked
	explore int // every so manieth trial looks where little is known
}

func newGP() gp { return gp{gpSettings{screens: 8, explore: 4}} }

// Suggest proposes an opening move, then screens, then what the model thinks best or wants to know.
func (s gp) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	r := source(ask)
	b, err := s.believe(p, h)
	if err != nil {
		return drawRandom(p, r, unwanted(p, h), "random: the model cannot be fitted")
	}
	b.classify()
	if n := searched(p, h); n < s.screens {
		if c, ok := b.screen(n, r); ok {
			return b.proposal(c, tuner.KindScreen, fmt.Sprintf("screen %d of %d: far from what was tried", n+1, s.screens)), nil
		}
	}
	if b.objective == nil {
		if c, ok := b.likeliest(r); ok {
			return b.proposal(c, tuner.KindRandom, "likeliest to run"), nil
		}
		return drawRandom(p, r, unwanted(p, h), "random: nothing has run yet")
	}
	if s.explore > 0 && ask.Number%s.explore == s.explore-1 {
		if c, kind, why, ok := b.explore(ask.Number/s.explore, r); ok {
			return b.proposal(c, kind, why), nil
		}
	}
	if c, ok := b.best(r); ok {
		proposal := b.proposal(c, tuner.KindGain, b.whyBest(c))
		proposal.Gain = b.gain(c)
		return proposal, nil
	}
	return drawRandom(p, r, unwanted(p, h), "random: what the model proposes was tried or is not allowed")
}
