package search

import (
	"autotune/space"
	"autotune/tuner"
)

// outOfMemory tells which points are bound to run out of memory: one that asks for at least as much in every
// memory-hungry parameter as a trial that ran out of it, and is otherwise equal. Only lack of memory is monotone.
func outOfMemory(p tuner.Problem, h tuner.History) func(space.Point) bool {
	var ran []space.Point
	for _, t := range h {
		if t.Told() && t.Outcome.Kind == tuner.Infeasible && t.Outcome.Reason == tuner.ReasonMemory {
			ran = append(ran, t.Point)
		}
	}
	return func(q space.Point) bool {
		for _, failed := range ran {
			if asksForMore(p, q, failed) {
				return true
			}
		}
		return false
	}
}

// asksForMore tells whether q asks for at least as much memory as failed, and differs from it in nothing else.
func asksForMore(p tuner.Problem, q, failed space.Point) bool {
	for _, param := range p.Space.Params() {
		a, hasA := q.Get(param.Name)
		b, hasB := failed.Get(param.Name)
		if a == b && hasA == hasB {
			continue
		}
		weight := p.Hungry[param.Name]
		if !hasA || !hasB || weight == 0 {
			return false
		}
		x, okA := number(param, a)
		y, okB := number(param, b)
		if !okA || !okB || (weight > 0 && x < y) || (weight < 0 && x > y) {
			return false
		}
	}
	return true
}

// number is the size of a setting: its number, or the one that default stands for.
func number(p space.Param, v space.Value) (float64, bool) {
	if v.IsDefault() {
		v = p.Resolved
	}
	return v.AsFloat(), v.IsNumber()
}
