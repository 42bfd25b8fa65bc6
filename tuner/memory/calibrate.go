package memory

import (
	"fmt"
	"math"
	"slices"
)

// slack is how far a size that was measured once is taken to vary in another launch of the same layout.
const slack = 0.01

// leastCache is the GiB from which on a cache is printed with digits enough to tell what a token takes.
const leastCache = 1

// Calibration is a model with what the logs of launches said of it. Measured sizes take the place of estimates in the layouts that they were measured
// in; one that lies outside of its estimate moves that end of the estimate for every layout of the engine. A pure function of the model and the
// launches, in whatever order they came. The Calibration of no launches plans as Plan does.
type Calibration struct {
	model   Model
	weights map[Setup]Range  // GiB, by layout of the weights
	stretch map[string]Range // factors of the estimate's ends, by engine
	graphs  map[Setup]Range  // GiB, by layout and size of graphs
	token   map[Setup]Range  // bytes, by layout of the cache
	steps   map[Setup][]step // by layout of the weights
	runtime map[Setup]Range  // GiB that SGLang found taken before it loaded, by layout of the GPUs
	tokens  map[Setup]Span   // that the cache of that very configuration held
	ran     map[Setup][]Setup
	doubts  [][]string // by launch
}

// step is what a launch of vLLM took beside weights and cache.
type step struct {
	setup Setup
	gib   float64
}

// Calibrate learns from launches. Facts that cannot be are left out: see Doubts.
func Calibrate(m Model, launches []Launch) *Calibration {
	c := &Calibration{model: m, weights: map[Setup]Range{}, stretch: map[string]Range{}, graphs: map[Setup]Range{}, token: map[Setup]Range{}, steps: map[Setup][]step{},
		runtime: map[Setup]Range{}, tokens: map[Setup]Span{}, ran: map[Setup][]Setup{}, doubts: make([][]string, len(launches))}
	if !m.Known() {
		return c
	}
	for i, l := range launches {
		if l.Setup = l.Setup.complete(); l.Setup.GiB > 0 {
			c.doubts[i] = c.learn(l)
		}
	}
	return c
}

// Doubts are the facts of a launch, by its place in the list, that were not believed, in words for people.
func (c *Calibration) Doubts(i int) []string { return c.doubts[i] }

func (c *Calibration) learn(l Launch) (doubts []string) {
	f, doubts := l.believed(c.model)
	if l.Ran && len(doubts) == 0 && f != (Facts{}) { // what a launch says of itself must leave it possible
		own := Calibrate(c.model, []Launch{{Setup: l.Setup, Facts: f}})
		if e := own.Plan(l.Setup); e.Answer == Cannot && Plan(c.model, l.Setup).Answer != Cannot {
			f, doubts = Facts{}, []string{"sizes with which it could not have run: " + e.Reason}
		}
	}
	s := l.Setup
	if l.Ran {
		c.ran[s.place()] = append(c.ran[s.place()], s)
	}
	if f.WeightsGiB > 0 {
		join(c.weights, s.weightsLayout(), f.WeightsGiB)
		by, ok := c.stretch[s.Engine]
		if !ok {
			by = Range{1, 1}
		}
		estimate := WeightsPerGPU(c.model, s)
		c.stretch[s.Engine] = Range{math.Min(by.Low, f.WeightsGiB/estimate.Low), math.Max(by.High, f.WeightsGiB/estimate.High)}
	}
	if f.GraphsGiB > 0 {
		join(c.graphs, s.graphsLayout(), f.GraphsGiB)
	}
	if f.CacheGiB >= leastCache && f.held() > 0 && even(c.model) {
		join(c.token, s.cacheLayout(), f.CacheGiB*GiB/float64(f.held()))
	}
	if n := f.held(); n > 0 {
		known, ok := c.tokens[s]
		if !ok {
			known = Span{n, n}
		}
		c.tokens[s] = Span{min(known.Low, n), max(known.High, n)}
	}
	c.learnRest(s, f)
	return doubts
}

// learnRest keeps what a pool held beside weights and cache.
func (c *Calibration) learnRest(s Setup, f Facts) {
	x, ok := c.rest(s, f)
	switch {
	case !ok:
	case s.Engine == "vllm":
		c.steps[s.stepLayout()] = append(c.steps[s.stepLayout()], step{s, x})
	default:
		join(c.runtime, s.group(), x)
	}
}

// rest works out what there was beside weights and cache: of vLLM's share the step, of SGLang's GPU what was taken before it loaded. ok is false where
// the log does not tell, or what follows from it cannot be.
func (c *Calibration) rest(s Setup, f Facts) (gib float64, ok bool) {
	cache := f.CacheGiB
	if cache == 0 && s.Engine != "vllm" && even(c.model) && c.model.KnownCache {
		cache = float64(f.held()) * TokenBytes(c.model, s) / GiB
	}
	if f.WeightsGiB <= 0 || cache <= 0 || s.Share <= 0 || s.CacheBytes > 0 {
		return 0, false
	}
	x, most := s.GiB-(f.WeightsGiB+cache)/s.Share, runtime(s).High
	if s.Engine == "vllm" {
		x, most = s.Share*s.GiB-f.WeightsGiB-cache, activations(c.model, s).plus(runtime(s)).plus(graphs(s)).High
	}
	return math.Max(0, x), within(x, -1, 1.5*most+1)
}

// join widens what was measured in a layout.
func join(sizes map[Setup]Range, at Setup, x float64) {
	r, ok := sizes[at]
	if !ok {
		r = Range{x, x}
	}
	sizes[at] = Range{math.Min(r.Low, x), math.Max(r.High, x)}
}

// Plan says whether a configuration fits, after what was measured. What needs no more than one that ran is never said to be impossible.
func (c *Calibration) Plan(s Setup) Estimate {
	s = s.complete()
	e := c.plan(s)
	if n, ok := c.tokens[s]; ok && len(e.Sums) > 0 {
		e.Tokens = n
	}
	if e.Answer == Cannot && slices.ContainsFunc(c.ran[s.place()], func(ran Setup) bool { return s.asksNoMore(ran) }) {
		e.Answer, e.Reason = Uncertain, fmt.Sprintf("a launch that asked for no less ran, whatever the sum says: %s", e.Reason)
	}
	return e
}
