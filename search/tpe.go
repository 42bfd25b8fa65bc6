package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
	"autotune/tuner"
)

// tpe is the tree-structured Parzen estimator: it estimates where the good trials lie and where the rest does, and
// proposes what is likelier among the good. Trials that did not run are among the rest, so failures are learned from.
// Bergstra et al., Algorithms for Hyper-Parameter Optimization, NIPS 2011, with categories smoothed, the parameters that every trial
// of an engine has taken jointly, and better trials weighing more. Candidates come from the good side, and from changing
// the best trials in one to three parameters: with a dozen flags and sixty trials most of what is gained is gained near the best.
type tpe struct {
	startup int     // trials spread over the space before the model is asked
	spread  int     // random points of which the farthest from all trials is taken
	draws   int     // candidates from the good side
	parents int     // best trials that candidates are made from by changing them
	jumps   int     // changes of two or three parameters of each, beside all changes of one
	share   float64 // of an engine's trials that are good
	most    int     // good trials at most
	least   float64 // weight of the worst good trial, where the best has 1
	explore int     // every so manieth trial looks where little is known
	shy     int     // a structural value with fewer trials that ran is little known
}

// newTPE has Optuna's defaults for the starts and for the good trials (a tenth, at most 25; Bergstra et al. take 15 %), and twice its 24 draws. A least of 1
// weighs good trials alike, as both do. Exploration is gp's: every fourth trial, of structures that ran fewer than six times.
func newTPE() tpe {
	return tpe{startup: 10, spread: 64, draws: 48, parents: 3, jumps: 40, share: 0.1, most: 25, least: 1, explore: 4, shy: 6}
}

// Suggest proposes an opening move, then startup points far apart, then what the model of one engine thinks best.
func (s tpe) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	r, refused := source(ask), unwanted(p, h)
	if n := searched(p, h); n < s.startup {
		if point, ok := s.far(p, h, r, refused); ok {
			return tuner.Proposal{Point: point, Why: fmt.Sprintf("start %d of %d: far from what was tried", n+1, s.startup)}, nil
		}
		return drawRandom(p, r, refused, "random start")
	}
	exploring := ask.Number%s.explore == s.explore-1
	m := s.model(p, h, s.engine(p, h, r, exploring))
	if exploring {
		if point, what, ok := m.structure(h, r, refused); ok {
			return tuner.Proposal{Point: point, Why: "little is known of " + what}, nil
		}
	}
	if point, ok := m.best(m.candidates(r), refused); ok {
		return tuner.Proposal{Point: point, Why: m.why()}, nil
	}
	return drawRandom(p, r, refused, "random: what the model proposes was tried or is not allowed")
}

// searched counts the trials that were not opening moves.
func searched(p tuner.Problem, h tuner.History) int {
	opening, n := openingKeys(p), 0
	for _, t := range h {
		if t.Told() && !opening[t.Point.Key()] {
			n++
		}
	}
	return n
}

// engines lists the root choices; a space without one has one engine without a name.
func engines(s *space.Space) []space.Value {
	e, ok := s.Param(space.EngineParam)
	if !ok {
		return []space.Value{space.String("")}
	}
	return e.Domain.Listed()
}

// engine draws the engine of the next trial, by how much likelier it is among the good than among the rest, or, exploring, each alike. A
// draw, and no maximum: an engine that was tuned for a while leads others that were not, and would keep them so.
func (s tpe) engine(p tuner.Problem, h tuner.History, r *rand.Rand, exploring bool) space.Value {
	all := engines(p.Space)
	good, rest := s.split(p.Goal, h)
	weights := make([]float64, len(all))
	sum := 0.0
	for i, e := range all {
		weights[i] = 1
		if !exploring {
			weights[i] = (count(good, e) + 0.5) / (count(rest, e) + 0.5)
		}
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return all[pick(weights, r)]
}

func count(observed []observation, engine space.Value) float64 {
	n := 0.0
	for _, o := range observed {
		if o.point.Engine() == engine.String() {
			n++
		}
	}
	return n
}

// observation is a finished trial's point and its weight in an estimate.
type observation struct {
	point  space.Point
	weight float64
}

// split parts the finished trials: the best share of them by (violation, value), the better the heavier, and the rest, those that did not run
// included. Both begin with the best.
func (s tpe) split(g tuner.Goal, h tuner.History) (good, rest []observation) {
	var measured []tuner.Trial
	var failed []observation
	for _, t := range h.Joined() {
		if !t.Told() || t.Twin {
			continue
		}
		switch t.Outcome.Kind {
		case tuner.Measured:
			if _, ok := g.Value(t.Outcome.Measured); ok {
				measured = append(measured, t)
			}
		case tuner.Infeasible, tuner.Stopped:
			failed = append(failed, observation{t.Point, 1})
		case tuner.Running, tuner.Interrupted, tuner.Invalid:
			// Nothing is known of them.
		}
	}
	slices.SortStableFunc(measured, func(a, b tuner.Trial) int {
		switch {
		case g.Better(a.Outcome.Measured, b.Outcome.Measured):
			return -1
		case g.Better(b.Outcome.Measured, a.Outcome.Measured):
			return 1
		default:
			return cmp.Compare(a.Point.Key(), b.Point.Key())
		}
	})
	n := len(measured) + len(failed)
	k := min(len(measured), s.most, int(math.Ceil(s.share*float64(n))))
	for i, t := range measured {
		if i < k {
			good = append(good, observation{t.Point, s.weight(g, measured, i, k)})
		} else {
			rest = append(rest, observation{t.Point, 1})
		}
	}
	return good, append(rest, failed...)
}

// weight places a good trial between the best of the rest (least) and the best of all (1), by the logarithm of the value.
func (s tpe) weight(g tuner.Goal, measured []tuner.Trial, i, k int) float64 {
	at := func(i int) float64 {
		v, _ := g.Value(measured[i].Outcome.Measured)
		v = math.Log(math.Max(math.Abs(v), math.SmallestNonzeroFloat64))
		if g.Direction == tuner.Minimize {
			return -v
		}
		return v
	}
	bottom, top := at(min(k, len(measured)-1)), at(0)
	if !(bottom < top) { // all equal, or the best by a smaller violation
		return 1
	}
	return s.least + (1-s.least)*math.Min(1, math.Max(0, (at(i)-bottom)/(top-bottom)))
}
