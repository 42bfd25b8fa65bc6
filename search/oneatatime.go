package search

import (
	"fmt"
	"math/rand/v2"

	"autotune/space"
	"autotune/tuner"
)

// oneAtATime is what people do by hand, done patiently: from the best opening move it changes one flag after another in a seeded order and keeps
// what improves; after three passes over all flags without an improvement it starts again from three random changes of the best.
//
// It remembers nothing. Every suggestion walks the whole way again from the first trial, with the outcomes that the history has, up to the first
// point that was not asked yet. A running trial counts as tried and as no improvement.
type oneAtATime struct{}

const (
	// idlePasses is after how many passes without an improvement the walk starts elsewhere. Each of them moves ordered flags by half the
	// step of the one before, so that the second and the third are no repetition of the first.
	idlePasses = 3
	// strideShare is the part of its grid by which an ordered flag moves at first.
	strideShare = 0.25
	// restartChanges is how many flags a restart changes.
	restartChanges = 3
	// restartTries is how many restarts in a row may lead to what was tried before the walk gives up: a small space is then nearly used up.
	restartTries = 200
)

// Suggest proposes an opening move, else the next point of the walk; when that has nothing left, a random one.
func (oneAtATime) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	w := newWalk(p, h, ask.Seed)
	if w.run(); w.found {
		return w.next, nil
	}
	return drawRandom(p, source(ask), w.refused, "random: nothing near the best is left to change")
}

// stand is a point of the walk and what came of it.
type stand struct {
	point    space.Point
	measured *tuner.Measurement // nil: it did not run, or is still running
	number   int                // of the trial; -1 for a start that was not measured
}

// walk is the way from the opening moves to the first point that was not asked.
type walk struct {
	problem tuner.Problem
	trials  map[string]tuner.Trial // by key
	refused func(space.Point) bool
	random  *rand.Rand // of the whole study: the same draws on every walk
	dims    []*dimension
	visited map[string]bool // on this walk: what comes up again is passed over
	current stand           // from which flags are changed
	best    stand
	next    tuner.Proposal
	found   bool
}

func newWalk(p tuner.Problem, h tuner.History, seed uint64) *walk {
	w := &walk{problem: p, trials: map[string]tuner.Trial{}, refused: unwanted(p, h), random: rand.New(rand.NewPCG(seed, 0)), visited: map[string]bool{}}
	for _, t := range h.Joined() {
		if _, twice := w.trials[t.Point.Key()]; t.Told() && !twice {
			w.trials[t.Point.Key()] = t
		}
	}
	for _, q := range p.Space.Ordered() {
		if q.Domain.Size() > 1 {
			w.dims = append(w.dims, newDimension(q))
		}
	}
	return w
}

// run walks until a point comes up that was not asked, or nothing is left.
func (w *walk) run() {
	for going := w.begin(); going && !w.found; going = !w.found && w.restart() {
		for idle := 0; idle < idlePasses && !w.found; idle++ {
			if w.pass(idle) {
				idle = -1
			}
		}
	}
}

// begin stands on the best opening move, or on the first where none ran, or, where the spec has none, on a random point. An opening move may have values
// that are not proposed: then the start is the point of the space next to it.
func (w *walk) begin() bool {
	for _, point := range append(w.problem.Baselines[:len(w.problem.Baselines):len(w.problem.Baselines)], w.problem.Recipes...) {
		w.visited[point.Key()] = true
		if s := w.standAt(point); w.best.point.IsZero() || w.better(s, w.best) {
			w.best = s
		}
	}
	if w.best.point.IsZero() {
		return w.beginAnywhere()
	}
	w.current = w.best
	inside := w.change(w.best.point, "", space.Value{})
	if inside.Key() == w.best.point.Key() {
		return true
	}
	s, _ := w.visit(inside, tuner.KindSweep, fmt.Sprintf("next to the best baseline (%s), with values that may be proposed", name(w.best)))
	w.stand(stand{point: inside, measured: s.measured, number: s.number})
	return true
}

// beginAnywhere stands on the first random point that runs.
func (w *walk) beginAnywhere() bool {
	for range restartTries {
		p, ok := w.problem.Space.Draw(w.random, func(q space.Point) bool { return w.visited[q.Key()] })
		if !ok {
			return false
		}
		s, ok := w.visit(p, tuner.KindRandom, "a random start: the spec has no baseline")
		if ok && s.measured != nil {
			w.stand(s)
			return true
		}
		if w.found {
			return true
		}
	}
	return false
}

// standAt looks up what came of a point.
func (w *walk) standAt(p space.Point) stand {
	t, asked := w.trials[p.Key()]
	if !asked {
		return stand{point: p, number: -1}
	}
	s := stand{point: p, number: t.Number}
	if _, ok := w.problem.Goal.Value(t.Outcome.Measured); ok && t.Outcome.Kind == tuner.Measured {
		s.measured = t.Outcome.Measured
	}
	return s
}

func (w *walk) better(a, b stand) bool {
	return a.measured != nil && (b.measured == nil || w.problem.Goal.Better(a.measured, b.measured))
}

// stand goes on from a point, and remembers it if none was better.
func (w *walk) stand(s stand) {
	w.current = s
	if w.better(s, w.best) {
		w.best = s
	}
}

// visit looks at a point once: ok is false for one that came up before, that breaks a rule or is bound to fail, and for one that was not
// asked yet, with which the walk ends.
func (w *walk) visit(p space.Point, kind tuner.ProposalKind, why string) (s stand, ok bool) {
	if w.visited[p.Key()] {
		return s, false
	}
	w.visited[p.Key()] = true
	if s = w.standAt(p); s.number >= 0 {
		return s, true
	}
	if !w.refused(p) && w.problem.Space.Keeps(p) {
		w.next, w.found = tuner.Proposal{Point: p, Kind: kind, Why: why}, true
	}
	return s, false
}

// restart stands on three random changes of the best that run; false when nothing new is left there.
func (w *walk) restart() bool {
	for tries := 0; tries < restartTries; tries++ {
		p := w.best.point
		for range restartChanges {
			p = w.randomChange(p)
		}
		s, ok := w.visit(p, tuner.KindRandom, fmt.Sprintf("a new start: %d random changes of %s", restartChanges, name(w.best)))
		switch {
		case w.found:
			return true
		case ok && s.measured != nil:
			w.stand(s)
			return true
		case ok:
			tries = -1
		}
	}
	return false
}

func name(s stand) string {
	if s.number < 0 {
		return "the start"
	}
	return fmt.Sprintf("trial %d", s.number)
}
