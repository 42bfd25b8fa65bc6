package search

import (
	"math"
	"math/rand/v2"

	"github.com/c-bata/goptuna/cmaes"
	"gonum.org/v1/gonum/mat"

	"autotune/space"
	"autotune/tuner"
)

// goptunaCMAES asks goptuna's CMA-ES (Hansen, The CMA Evolution Strategy: A Tutorial, arXiv 1604.00772, 2016), for spaces in which every flag that varies is a
// number: it knows neither choices nor conditions, so other spaces are refused. It stands beside the others as a peer to compare with.
//
// The evolution is run again from its start for every suggestion, with the outcomes that the history has, up to the first point that was not
// asked: the library's state is nowhere kept.
type goptunaCMAES struct{}

const (
	// cmaesSigma is the first step's standard deviation, a share of each range: the library's own.
	cmaesSigma = 1.0 / 6
	// cmaesPatience is after how many asks in a row that lead to nothing new the evolution starts anew.
	cmaesPatience = 300
	// cmaesRestarts is how often it does, each time with twice the population (Auger and Hansen, A Restart CMA Evolution Strategy With Increasing
	// Population Size, CEC 2005).
	cmaesRestarts = 4
)

// What the library is told in place of an objective, of which it wants little: an objective lies within 750 (see cost).
const (
	costBroken = 1000  // of a point that breaks a bound, and the violation besides, up to as much again
	costFailed = 10000 // of one that does not run or breaks a rule
)

// Suggest proposes an opening move, else the next point of the evolution; where that comes to nothing new, a random one. The error is an
// *UnfitError for a space that it cannot search.
func (s goptunaCMAES) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if err := s.accepts(p); err != nil {
		return tuner.Proposal{}, err
	}
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	e := newEvolution(p, h, ask.Seed)
	for restart := range cmaesRestarts + 1 {
		if point, ok := e.run(restart); ok {
			return tuner.Proposal{Point: point, Why: "goptuna's CMA-ES"}, nil
		}
	}
	return drawRandom(p, source(ask), unwanted(p, h), "random: what goptuna proposes was tried or is not allowed")
}

// evolution runs the library's optimizer over a history.
type evolution struct {
	problem  tuner.Problem
	seed     uint64
	trials   map[string]tuner.Trial // by key
	taken    func(space.Point) bool
	hopeless func(space.Point) bool
	ranges   []scale
	place    map[string]int // of a parameter in ranges
	looked   map[string]bool
}

// scale is a parameter that varies, as the library knows it: a number in [0, 1].
type scale struct {
	*dimension
	numbers []atom // of a list of numbers, in their order
}

func newEvolution(p tuner.Problem, h tuner.History, seed uint64) *evolution {
	e := &evolution{problem: p, seed: seed, trials: map[string]tuner.Trial{}, taken: asked(h), hopeless: outOfMemory(p, h), place: map[string]int{}, looked: map[string]bool{}}
	for _, t := range h.Joined() {
		if _, twice := e.trials[t.Point.Key()]; t.Told() && !twice {
			e.trials[t.Point.Key()] = t
		}
	}
	for _, q := range p.Space.Ordered() {
		if q.Domain.Size() > 1 {
			d := newDimension(q)
			numbers, _ := d.stops()
			e.place[q.Name] = len(e.ranges)
			e.ranges = append(e.ranges, scale{d, numbers})
		}
	}
	return e
}

// value is the nearest one to a place in [0, 1].
func (s scale) value(u float64) space.Value {
	if _, _, _, isRange := s.param.Domain.Range(); isRange {
		return s.nearest(u)
	}
	return s.numbers[nearestPlace(s.numbers, u)].value
}

// run lets the population evolve until it asks for a point that was not asked yet; false when it converges, or comes to nothing new.
func (e *evolution) run(restart int) (p space.Point, ok bool) {
	optimizer, err := e.optimizer(restart)
	if err != nil {
		return p, false
	}
	var generation []*cmaes.Solution
	for idle := 0; idle < cmaesPatience; idle++ {
		x, err := optimizer.Ask()
		if err != nil {
			return p, false
		}
		p = e.point(x)
		if !e.looked[p.Key()] {
			e.looked[p.Key()], idle = true, 0
		}
		cost, known := e.cost(p)
		if !known && !e.taken(p) {
			return p, true
		}
		if !known {
			continue // still running, say: the generation goes on without it
		}
		generation = append(generation, &cmaes.Solution{Params: x, Value: cost})
		if len(generation) == optimizer.PopulationSize() {
			if err := optimizer.Tell(generation); err != nil || optimizer.ShouldStop() {
				return p, false
			}
			generation = nil
		}
	}
	return p, false
}

// optimizer begins at the best opening move, and after a restart anywhere.
func (e *evolution) optimizer(restart int) (*cmaes.Optimizer, error) {
	n := len(e.ranges)
	bounds := mat.NewDense(n, 2, nil)
	r := rand.New(rand.NewPCG(e.seed, uint64(restart)))
	mean := make([]float64, n)
	for i := range mean {
		bounds.Set(i, 1, 1)
		if mean[i] = 0.5; restart > 0 {
			mean[i] = r.Float64()
		}
	}
	if restart == 0 {
		e.setToBest(mean)
	}
	population := 4 + int(3*math.Log(float64(n))) // the library's, and the tutorial's
	return cmaes.NewOptimizer(mean, cmaesSigma, cmaes.OptimizerOptionBounds(bounds), cmaes.OptimizerOptionSeed(r.Int64()),
		cmaes.OptimizerOptionPopulationSize(population<<restart))
}

// setToBest moves the mean to the best opening move that was measured. What has no place, a default of unknown value, stays in the middle.
func (e *evolution) setToBest(mean []float64) {
	var best *tuner.Measurement
	var at space.Point
	for _, p := range append(e.problem.Baselines[:len(e.problem.Baselines):len(e.problem.Baselines)], e.problem.Recipes...) {
		t, ok := e.trials[p.Key()]
		if !ok || t.Outcome.Kind != tuner.Measured {
			continue
		}
		if _, ok := e.problem.Goal.Value(t.Outcome.Measured); ok && (best == nil || e.problem.Goal.Better(t.Outcome.Measured, best)) {
			best, at = t.Outcome.Measured, p
		}
	}
	for i, s := range e.ranges {
		v, _ := at.Get(s.param.Name)
		if u, ok := s.placeOf(v); ok {
			mean[i] = u
		}
	}
}

func (e *evolution) point(x []float64) space.Point {
	return e.problem.Space.Build(func(p space.Param, _ space.Lookup) space.Value {
		if i, varies := e.place[p.Name]; varies {
			return e.ranges[i].value(x[i])
		}
		return p.Domain.At(0)
	})
}

// cost is what the library is told of a point; known is false for one of which nothing is known.
func (e *evolution) cost(p space.Point) (cost float64, known bool) {
	goal := e.problem.Goal
	t, asked := e.trials[p.Key()]
	if !asked {
		return costFailed, !e.problem.Space.Keeps(p) || !e.taken(p) && e.hopeless(p)
	}
	switch t.Outcome.Kind {
	case tuner.Infeasible, tuner.Stopped:
		return costFailed, true
	case tuner.Measured:
	case tuner.Running, tuner.Interrupted, tuner.Invalid:
		return 0, false
	}
	v, ok := goal.Value(t.Outcome.Measured)
	if !ok {
		return costFailed, true
	}
	if broken := goal.TotalViolation(t.Outcome.Measured); broken > 0 {
		return costBroken + math.Min(broken, costBroken), true
	}
	// A sign, a logarithm of what is large, and the order of all: only that counts for the strategy.
	if cost = math.Asinh(v); goal.Direction == tuner.Maximize {
		cost = -cost
	}
	return cost, true
}
