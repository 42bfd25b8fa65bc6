package search

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/c-bata/goptuna"
	goptunatpe "github.com/c-bata/goptuna/tpe"

	"autotune/space"
	"autotune/tuner"
)

// goptunaTPE asks goptuna's TPE sampler, as a Go user would: parameter by parameter, failures told to it as bad values,
// since it knows no others. It stands beside tpe as a peer to compare with.
type goptunaTPE struct{}

// goptunaTries is how often a point that is taken or breaks a rule is asked for anew before a random one is drawn: the
// library proposes the same categories again and again, and would never return.
const goptunaTries = 60

// goptunaStartup is how many values of a parameter the library wants to see before it models it.
const goptunaStartup = 10

// Suggest proposes an opening move, else what the library makes of the history.
func (goptunaTPE) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	s, err := newGoptunaStudy(p, h, source(ask))
	if err != nil {
		return tuner.Proposal{}, err
	}
	refused := unwanted(p, h)
	for range goptunaTries {
		point, err := s.suggest()
		switch {
		case err != nil:
			return tuner.Proposal{}, err
		case refused(point):
			continue
		case p.Space.Keeps(point):
			return tuner.Proposal{Point: point, Why: "goptuna's TPE"}, nil
		}
		if err := s.tell(point, s.bad); err != nil {
			return tuner.Proposal{}, err
		}
	}
	return drawRandom(p, s.random, refused, "random: what goptuna proposes was tried or is not allowed")
}

// goptunaStudy is a study in the library's memory, made anew from the history for every ask.
type goptunaStudy struct {
	space  *space.Space
	study  *goptuna.Study
	random *rand.Rand
	told   map[string]int // observations by the library's parameter
	bad    float64        // the value of what did not run
}

func newGoptunaStudy(p tuner.Problem, h tuner.History, r *rand.Rand) (*goptunaStudy, error) {
	direction := goptuna.StudyDirectionMaximize
	if p.Goal.Direction == tuner.Minimize {
		direction = goptuna.StudyDirectionMinimize
	}
	study, err := goptuna.CreateStudy("", goptuna.StudyOptionDirection(direction), goptuna.StudyOptionLogger(nil))
	if err != nil {
		return nil, err
	}
	s := &goptunaStudy{space: p.Space, study: study, random: r, told: map[string]int{}, bad: badValue(p.Goal, h)}
	for _, t := range h.Joined() {
		if !t.Told() || t.Twin {
			continue
		}
		value, known := s.bad, t.Outcome.Kind == tuner.Infeasible || t.Outcome.Kind == tuner.Stopped
		if t.Outcome.Kind == tuner.Measured {
			known = true
			if p.Goal.Feasible(t) {
				value, _ = p.Goal.Value(t.Outcome.Measured)
			}
		}
		if known {
			if err := s.tell(t.Point, value); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// badValue is half the worst value that was measured, or twice when small is good; a broken bound is bad too.
func badValue(g tuner.Goal, h tuner.History) float64 {
	worst, any := 0.0, false
	for _, t := range h {
		if v, ok := g.Value(t.Outcome.Measured); ok && t.Told() && (!any || (g.Direction == tuner.Minimize) == (v > worst)) {
			worst, any = v, true
		}
	}
	if g.Direction == tuner.Minimize {
		return worst + math.Abs(worst)
	}
	return worst - math.Abs(worst)/2
}

// goptunaParam is a parameter as the library knows it. It has no domain with both words and numbers, so such a one
// becomes two: a choice among the words and "a number", and the number. Numbers are told by their place in the grid,
// which keeps those at the ends of int64 exact; only a log range of integers is told as a float, since there is no log int.
type goptunaParam struct {
	words []space.Value
	grid  space.Domain
	first int64 // of the grid, the index of the first number
	cells int64 // numbers
	log   bool
}

func newGoptunaParam(d space.Domain) goptunaParam {
	q := goptunaParam{words: d.Listed(), grid: d, first: int64(len(d.Listed()))}
	if d.IsFloatGrid() {
		words := 0 // they stand before the grid
		for words < len(q.words) && q.words[words].Kind() != space.KindFloat {
			words++
		}
		q.words, q.first = q.words[:words], int64(words)
	}
	q.cells = d.Size() - q.first
	lo, hi, _, isRange := d.Range()
	q.log = isRange && d.Log() && math.Log(float64(lo)) < math.Log(float64(hi))
	return q
}

// category is the number of the choice that stands for a value, and the index of the number; the latter is -1 for a word.
func (q goptunaParam) encode(v space.Value) (category int, number float64) {
	i := q.grid.Index(v)
	if i < 0 { // only a baseline may have it
		return -1, -1
	}
	if i < q.first {
		return int(i), -1
	}
	if q.log {
		return len(q.words), v.AsFloat()
	}
	return len(q.words), float64(i - q.first)
}

func (q goptunaParam) decode(category int, number float64) space.Value {
	if category < len(q.words) {
		return q.words[category]
	}
	lo, _, _, _ := q.grid.Range()
	if q.log {
		number -= float64(lo)
	}
	k := q.cells - 1
	if number < float64(k) {
		k = int64(math.Max(0, math.Round(number)))
	}
	return q.grid.At(q.first + k)
}

// tell gives the library one more finished trial.
func (s *goptunaStudy) tell(point space.Point, value float64) error {
	internal := map[string]float64{}
	for name, v := range point.All() {
		p, _ := s.space.Param(name)
		category, number := newGoptunaParam(p.Domain).encode(v)
		if category >= 0 {
			internal[name] = float64(category)
			s.told[name]++
		}
		if number >= 0 {
			internal[name+numberOf] = number
			s.told[name+numberOf]++
		}
	}
	_, err := s.study.Storage.CloneTrial(s.study.ID, goptuna.FrozenTrial{State: goptuna.TrialStateComplete, Value: value, InternalParams: internal})
	return err
}

// numberOf is what the name of a number adds to the name of its choice.
const numberOf = " (number)"

// suggest asks the library for one point, parameter by parameter down the tree of conditions.
func (s *goptunaStudy) suggest() (space.Point, error) {
	var problem error
	point := s.space.Build(func(p space.Param, _ space.Lookup) space.Value {
		v, err := s.value(p)
		if err != nil && problem == nil {
			problem = err
		}
		return v
	})
	return point, problem
}

func (s *goptunaStudy) value(p space.Param) (space.Value, error) {
	if s.told[p.Name] < goptunaStartup || p.Domain.Size() == 1 {
		// Its own random sampler never returns the top of an integer range, and ignores the seed for categories.
		return p.Domain.Sample(s.random), nil
	}
	q := newGoptunaParam(p.Domain)
	category := len(q.words)
	if category > 0 {
		choices := category
		if q.cells > 0 {
			choices++
		}
		c, err := s.category(p.Name, choices)
		if err != nil || c < category {
			return q.decode(c, 0), err
		}
	}
	number, err := s.number(p.Name+numberOf, q)
	return q.decode(category, number), err
}

// category asks for a choice. With more candidates than choices the library compares them all instead of drawing
// some from the process's global source, so that the answer depends on the history alone.
func (s *goptunaStudy) category(name string, choices int) (int, error) {
	if choices == 1 {
		return 0, nil
	}
	d := goptuna.CategoricalDistribution{Choices: make([]string, choices)}
	for i := range d.Choices {
		d.Choices[i] = strconv.Itoa(i)
	}
	x, err := s.sample(name, d, goptunatpe.SamplerOptionNumberOfEICandidates(choices+1))
	return int(x), err
}

// number asks for a number. The library draws the kernel to sample from with the process's global source; the kernel is
// drawn here instead, from the trial's own source, and is the only one whose weight is not 0. All have equal weights in
// the library too (its weights differ from 25 good trials on, and there are never more).
func (s *goptunaStudy) number(name string, q goptunaParam) (float64, error) {
	told := s.told[name]
	if q.cells == 1 || told < goptunaStartup {
		return s.randomNumber(q), nil
	}
	good := goptunatpe.DefaultGamma(told)
	kernel := s.random.IntN(good + 1)
	weights := func(n int) []float64 {
		if n != good { // of the bad trials, of which there are always more
			return goptunatpe.DefaultWeights(n)
		}
		w := make([]float64, n)
		if kernel < n {
			w[kernel] = 1
		}
		return w
	}
	options := []goptunatpe.SamplerOption{goptunatpe.SamplerOptionWeights(weights), goptunatpe.SamplerOptionPriorWeight(0)}
	if kernel == good {
		options[1] = goptunatpe.SamplerOptionPriorWeight(1)
	}
	lo, hi, _, _ := q.grid.Range()
	if q.log {
		return s.sample(name, goptuna.LogUniformDistribution{Low: float64(lo), High: float64(hi) + 1}, options...)
	}
	return s.sample(name, goptuna.IntUniformDistribution{Low: 0, High: int(q.cells - 1)}, options...)
}

func (s *goptunaStudy) randomNumber(q goptunaParam) float64 {
	lo, hi, _, _ := q.grid.Range()
	if q.log {
		return float64(lo) * math.Exp(s.random.Float64()*math.Log(float64(hi)/float64(lo)))
	}
	return float64(s.random.Int64N(q.cells))
}

func (s *goptunaStudy) sample(name string, distribution any, options ...goptunatpe.SamplerOption) (float64, error) {
	options = append(options, goptunatpe.SamplerOptionSeed(s.random.Int64()))
	return goptunatpe.NewSampler(options...).Sample(s.study, goptuna.FrozenTrial{}, name, distribution)
}
