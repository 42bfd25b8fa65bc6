package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	"autotune/space"
	"autotune/tuner/memory"
)

// census is what the planner makes of the space's points.
type census struct {
	Looked   int                   `json:"looked_at"` // points
	Exact    bool                  `json:"exact"`     // false: the space is larger, and these are some of it by chance
	Excluded int                   `json:"excluded"`  // points that keep every other rule and cannot fit
	Answers  map[memory.Answer]int `json:"answers"`   // of the points that keep every rule
	Rules    map[string]int        `json:"rules"`     // the excluded ones by rule
	Examples map[string]string     `json:"examples"`  // by rule, the flags of one that is excluded, and its sum
}

// memoryCensus looks at every point of the space, or, where there are more than check looks at, at as many as censusSample by chance; the zero census
// where nothing is planned.
func (a *assembly) memoryCensus(exact bool) census {
	c := census{Answers: map[memory.Answer]int{}, Rules: map[string]int{}, Examples: map[string]string{}, Exact: exact}
	if !a.planner.on() {
		return c
	}
	if exact {
		for p := range a.problem.Space.Enumerate() {
			c.add(a, p)
		}
		return c
	}
	r := rand.New(rand.NewPCG(a.spec.Seed, 0))
	for range censusSample {
		c.add(a, a.problem.Space.Random(r))
	}
	return c
}

// censusSample is how many points of a large space are looked at: the share that cannot fit is then known to two points of a hundred.
const censusSample = 2000

// add counts a point.
func (c *census) add(a *assembly, p space.Point) {
	c.Looked++
	rule, broken := a.problem.Space.Broken(p)
	switch {
	case broken && memoryRule(rule.ID):
		c.Rules[rule.ID]++
		if c.Excluded++; c.Examples[rule.ID] == "" {
			c.Examples[rule.ID] = a.flagsOf(p) + ": " + a.planner.because(rule, a.problem.Space, p)
		}
	case !broken:
		c.Answers[a.planner.estimate(a.problem.Space.Resolved(p)).Answer]++
	}
}

// flagsOf is what a point sets, engine first: "sglang tp-size=8 mem-fraction-static=0.7".
func (a *assembly) flagsOf(p space.Point) string {
	words := []string{p.Engine()}
	if v, several := p.Get(space.CheckpointParam); several {
		words = append(words, v.String())
	}
	all, _ := a.settings(p)
	for _, s := range all {
		if !s.Value.IsDefault() {
			words = append(words, s.Flag+"="+s.Value.String())
		}
	}
	return strings.Join(words, " ")
}

// sums are the planner's, of each baseline, after what trials measured.
func (a *assembly) sums() []baselineSum {
	var out []baselineSum
	for _, b := range a.problem.Baselines {
		e := a.planner.estimate(a.problem.Space.Resolved(b))
		s := baselineSum{Engine: b.Engine(), Estimate: e}
		if e.Measured() {
			s.Source = a.planner.source(b.Engine(), a.model(b))
		}
		if room, ok := e.Headroom(); ok {
			s.Headroom = &room
		}
		if a.planner.longest > 0 && e.Tokens.High > 0 {
			ranks := a.planner.ranks(b)
			s.Requests = &memory.Span{Low: e.Tokens.Low * ranks / a.planner.longest, High: e.Tokens.High * ranks / a.planner.longest}
		}
		out = append(out, s)
	}
	return out
}

// baselineSum is a baseline with what the planner makes of it.
type baselineSum struct {
	Engine string `json:"engine"`
	memory.Estimate
	Source   string       `json:"measured_in,omitempty"`  // the first launch whose log corrected the estimate; empty: estimated
	Headroom *float64     `json:"headroom_gib,omitempty"` // at the middle of every interval
	Requests *memory.Span `json:"requests,omitempty"`     // of the longest request of the workloads, at once
}

// ranks is how many KV caches a configuration has.
func (p planner) ranks(q space.Point) int {
	s, unknown := p.engines[q.Engine()].MemorySetup(p.host, q.Get, p.longest)
	if unknown != "" {
		return 1
	}
	return max(1, s.DP)
}

// largest is the largest number that a flag takes in the space, a default counted as what it stands for; ok is false where the flag is not there, or
// some value of it is no number.
func (a *assembly) largest(engine, flag string) (n float64, ok bool) {
	q, there := a.problem.Space.Param(engine + "." + flag)
	if !there {
		v, known := a.engines[engine].ResolvedDefault(flag, a.planner.host)
		return v.AsFloat(), known && v.IsNumber()
	}
	values := slices.Clone(q.Domain.Listed())
	if _, hi, isRange := q.Domain.Bounds(); isRange {
		n, ok = hi, true
	}
	for _, v := range values {
		if v.IsDefault() {
			if v = q.Resolved; !v.IsNumber() {
				if v, _ = a.engines[engine].ResolvedDefault(flag, a.planner.host); !v.IsNumber() {
					return 0, false
				}
			}
		}
		if v.IsNumber() {
			n, ok = max(n, v.AsFloat()), true
		}
	}
	return n, ok
}
