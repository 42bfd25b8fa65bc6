package search

import (
	"fmt"
	"math"
	"strings"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// Two measurements of one configuration differ by more than stopSure standard deviations of their difference, to one side, in 1 % of cases.
const stopSure = 2.326

// leastMargin is kept however small the noise: the bound itself, on the law, was never off by as much (in logarithms).
const leastMargin = 0.10

// Until configurations have been measured more than once, the logarithm of a measurement is taken to have the standard deviation noiseAssumed;
// that counts as much as noiseWeight repeats.
const (
	noiseAssumed = 0.05
	noiseWeight  = 6
)

// noise is the standard deviation of the logarithm of a measurement: the assumed one, and what repeats of one configuration show, pooled as
// variances weighted by degrees of freedom.
func noise(p tuner.Problem, h tuner.History) float64 {
	type group struct{ n, mean float64 }
	groups := map[string]group{}
	squares, freedom := 0.0, 0.0
	for _, t := range h {
		v, ok := p.Goal.Value(t.Outcome.Measured)
		if !ok || v <= 0 || t.Outcome.Kind != tuner.Measured || !t.Told() {
			continue
		}
		g := groups[t.Point.Key()]
		d := math.Log(v) - g.mean
		g.n++
		if g.n > 1 { // Welford's recurrence
			squares += d * d * (g.n - 1) / g.n
			freedom++
		}
		g.mean += d / g.n
		groups[t.Point.Key()] = g
	}
	return math.Sqrt((noiseWeight*noiseAssumed*noiseAssumed + squares) / (noiseWeight + freedom))
}

// hopeless says why a trial cannot become the best any more; empty while it can, or while that is not known. Of a metric that cannot be
// bounded nothing is ever known.
func (s stopper) hopeless(p tuner.Problem, h tuner.History, now tuner.Partial) string {
	if !isSearched(now.Trial) || !due(now) || p.Goal.Guarded(now.Workload) {
		return ""
	}
	ranked := Best{}.Rank(p, h)
	if len(ranked) == 0 || !(ranked[0].Value > 0) {
		return ""
	}
	margin := math.Max(leastMargin, stopSure*math.Sqrt2*noise(p, h))
	best := ranked[0].Trial.Outcome.Measured
	r := records{goal: p.Goal, history: h, allowance: margin}
	need, weight, hoped, ok := r.level(best, now)
	if !ok {
		return ""
	}
	like := best
	if len(p.Goal.Targets) > 0 {
		like = best.Of(now.Workload)
	}
	bound, whole, ok := s.reach(p.Goal, like, now)
	if !ok && now.Measured != nil { // too early to tell, and the targets before it may have decided all the same
		hoped = append(hoped, now.Workload)
		bound, ok = r.hope(now.Workload)
	}
	if !ok || !(bound > 0) {
		return ""
	}
	ahead, word := weight*math.Log(need/bound), "at most"
	if p.Goal.Direction == tuner.Minimize {
		ahead, word = -ahead, "at least"
	}
	if ahead <= margin {
		return ""
	}
	of := ""
	if whole > 0 {
		of = " of about " + seconds(time.Duration(whole*float64(time.Second)))
	}
	name := "the best is"
	switch {
	case len(hoped) > 0:
		word = fmt.Sprintf("were it %.0f %% ahead of every trial so far on %s, it would come to %s", 100*math.Expm1(margin), strings.Join(hoped, ", "), word)
		bound, need = ranked[0].Value*math.Pow(bound/need, weight), ranked[0].Value
	case len(p.Goal.Targets) > 0:
		name = fmt.Sprintf("on %s, where it takes", now.Workload)
	}
	return fmt.Sprintf("after %s%s: %s %s, %s %s", seconds(now.Elapsed), of, word,
		metric.Format(p.Goal.Metric, threeDigits(bound)), name, metric.Format(p.Goal.Metric, need))
}

// lookEvery is how often a trial's prospects are worked out: they do not change faster.
const lookEvery = 5 * time.Second

// due tells whether lookEvery has passed once more with the last report.
func due(now tuner.Partial) bool {
	before := time.Duration(0)
	if n := len(now.Pace); n > 1 {
		before = now.Pace[n-2].At
	}
	return before/lookEvery != now.Elapsed/lookEvery
}

// reach is the best value that a trial can still come to, and how long the whole run will take as far as that is known, in seconds. like is the best
// measurement so far: it knows the lengths of prompts and how many GPUs are counted with.
func (s stopper) reach(g tuner.Goal, like *tuner.Measurement, now tuner.Partial) (bound, whole float64, ok bool) {
	var o outlook
	settled := false
	if c, known := newPace(now); known {
		o, settled = c.outlook()
	}
	if g.Direction == tuner.Minimize {
		if g.Metric == "duration" {
			return o.least - firstSent(now.Requests).Seconds(), o.likely, settled
		}
		bound, ok = newCertain(now, s.gate).least(g.Metric)
		return bound, o.likely, ok
	}
	prompt := 0.0
	if n := like.Metrics["successful_requests"]; n > 0 {
		prompt = like.Metrics["input_tokens"] / n
	}
	tokens, counted := tokensFor(g.Metric, now.Requests, prompt, float64(now.GPUs))
	return tokens / (o.least - firstSent(now.Requests).Seconds()), o.likely, settled && counted
}

// threeDigits rounds for people: a bound is no measurement.
func threeDigits(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return math.Round(v/unit) * unit
}
