package main

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"

	"autotune/runner/engine"
	"autotune/space"
)

// countRules says of each rule how much of the space it bites: what it removes, what the engine makes something else of, what is worth a word. Of a
// space that is too large to be counted it is a sample by chance. removed is the census of a small one.
func (a *assembly) countRules(r *checkReport, removed map[string]int) {
	sp := a.problem.Space
	resolved, noted, looked := map[string]int{}, map[string]int{}, 0
	if !r.Exact {
		removed = map[string]int{}
	}
	for p := range looking(sp, r.Exact) {
		looked++
		if c, broken := sp.Broken(p); broken {
			if !r.Exact {
				removed[c.ID]++
			}
			continue
		}
		for _, id := range sp.Resolutions(p) {
			resolved[id]++
		}
		for _, w := range a.engines[p.Engine()].Warned(a.inputs.Host, p.Get) {
			noted[w.ID]++
		}
	}
	reasons := map[string]string{}
	for _, c := range sp.Constraints() {
		reasons[c.ID] = c.Reason
	}
	r.Excluded = append(r.Excluded, listRules(removed, reasons, looked, !r.Exact)...)
	for _, d := range a.engines {
		for _, rule := range d.RuleBook() {
			if rule.Kind != engine.RuleForbids {
				reasons[rule.Kind+rule.ID] = rule.Reason
			}
		}
	}
	r.Resolved = listRules(resolved, prefixed(reasons, engine.RuleResolves), looked, !r.Exact)
	r.Noted = listRules(noted, prefixed(reasons, engine.RuleWarns), looked, !r.Exact)
}

// prefixed are the reasons of one kind of rule, by id.
func prefixed(reasons map[string]string, kind string) map[string]string {
	out := map[string]string{}
	for key, reason := range reasons {
		if len(key) > len(kind) && key[:len(kind)] == kind {
			out[key[len(kind):]] = reason
		}
	}
	return out
}

func listRules(points map[string]int, reasons map[string]string, looked int, sample bool) []excluded {
	var out []excluded
	for _, id := range slices.Sorted(maps.Keys(points)) {
		out = append(out, excluded{Rule: id, Reason: reasons[id], Points: points[id], Of: looked, Sample: sample})
	}
	return out
}

// looking gives every point of a small space, else as many as censusSample by chance, always the same ones.
func looking(sp *space.Space, all bool) iter.Seq[space.Point] {
	if all {
		return sp.Enumerate()
	}
	return func(yield func(space.Point) bool) {
		r := rand.New(rand.NewPCG(1, 2))
		for range censusSample {
			if !yield(sp.Random(r)) {
				return
			}
		}
	}
}

// share says how many points a rule bites.
func (e excluded) share() string {
	if !e.Sample {
		return fmt.Sprintf("%d points", e.Points)
	}
	return fmt.Sprintf("%.3g %% of the space (%d of %d points by chance)", 100*float64(e.Points)/float64(max(1, e.Of)), e.Points, e.Of)
}
