package memory

import "math"

// weightsTerm is the weights on a GPU: as the logs of launches in that layout had them, else as estimated, its ends where other layouts' logs moved them.
func (c *Calibration) weightsTerm(s Setup) Term {
	estimate := WeightsPerGPU(c.model, s)
	by, moved := c.stretch[s.Engine]
	if moved {
		estimate = Range{estimate.Low * by.Low, estimate.High * by.High}
	}
	r, ok := c.weights[s.weightsLayout()]
	if !ok {
		return Term{"weights", estimate, moved && by != Range{1, 1}}
	}
	r = around(r)
	if s.PP > 1 { // it was that of one stage, and another one may hold more
		r.High = math.Max(r.High, estimate.High)
	}
	return Term{"weights", r, true}
}

// graphsTerm is what SGLang's graphs and buffers take.
func (c *Calibration) graphsTerm(s Setup) Term {
	t := Term{Name: "graphs and buffers", GiB: graphs(s)}
	if r, ok := c.graphs[s.graphsLayout()]; ok {
		t.GiB, t.Measured = around(r), true
		if s.Away { // buffers come after the graphs
			t.GiB.High += 2
		}
	}
	return t
}

// How far the rest of a pool is taken to vary with flags that the planner does not see.
const (
	restSlack = 0.1
	restGiB   = 0.1
)

// stepTerms are what vLLM's share holds beside weights and cache: the estimates of its parts, or their sum where launches have shown it. A step of more
// tokens, sequences or graphs takes no less than one of fewer.
func (c *Calibration) stepTerms(s Setup) []Term {
	act, own, graph := activations(c.model, s), runtime(s), graphs(s)
	if r, ok := c.graphs[s.graphsLayout()]; ok {
		graph.High = around(r).High // some releases capture them outside of the share: inside none is needed
	}
	sum := act.plus(own).plus(graph)
	low, high := sum.Low, sum.High
	for _, x := range c.steps[s.stepLayout()] {
		if x.setup.takesNoMore(s) {
			low = math.Max(low, x.gib*(1-restSlack)-restGiB)
		}
	}
	for _, x := range c.steps[s.stepLayout()] {
		if s.takesNoMore(x.setup) {
			high = math.Min(high, x.gib*(1+restSlack)+restGiB)
			low = math.Min(low, x.gib) // it was seen with so little
		}
	}
	if low == sum.Low && high == sum.High {
		return []Term{{Name: "activations", GiB: act}, {Name: "runtime", GiB: own}, {"graphs", graph, graph != graphs(s)}}
	}
	return []Term{{"activations, runtime and graphs", Range{low, math.Max(low, high)}, true}}
}

// runtimeOf is what SGLang finds taken before it loads.
func (c *Calibration) runtimeOf(s Setup) Range {
	r := runtime(s)
	if seen, ok := c.runtime[s.group()]; ok {
		r.Low, r.High = math.Min(r.Low, seen.Low), math.Max(math.Min(r.High, seen.High+restGiB), seen.Low)
	}
	return r
}

// tokenFactor is what a token takes of the cache over its estimate.
func (c *Calibration) tokenFactor(s Setup) Range {
	r, ok := c.token[s.cacheLayout()]
	each := 0.0
	if ok {
		each = TokenBytes(c.model, s)
	}
	if each <= 0 {
		return Range{1, 1}
	}
	r = around(r)
	return Range{r.Low / each, r.High / each}
}

func around(r Range) Range { return Range{r.Low * (1 - slack), r.High * (1 + slack)} }
