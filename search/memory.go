package search

import (
	"autotune/space"
	"autotune/tuner"
)

// unwanted refuses the points that were asked before, under whatever spelling, and those that are bound to run out of memory.
func unwanted(p tuner.Problem, h tuner.History) func(space.Point) bool {
	taken, hopeless := asked(h), outOfMemory(p, h)
	return func(q space.Point) bool { return taken(q) || hopeless(q) }
}

// outOfMemory tells which points are bound to run out of memory: one that asks for at least as much in every
// memory-hungry parameter as a trial that ran out of it, and is otherwise equal. Only lack of memory is monotone.
func outOfMemory(p tuner.Problem, h tuner.History) func(space.Point) bool {
	first := firstOutOfMemory(p, h)
	return func(q space.Point) bool { return first(q) >= 0 }
}

// OutOfMemory is the number of a trial that ran out of memory and says that a point will, too; hopeless is false where none does.
func OutOfMemory(p tuner.Problem, h tuner.History, q space.Point) (number int, hopeless bool) {
	n := firstOutOfMemory(p, h)(q)
	return n, n >= 0
}

// firstOutOfMemory finds the first trial that says so of a point, by its number; -1 where none does.
func firstOutOfMemory(p tuner.Problem, h tuner.History) func(space.Point) int {
	params := p.Space.Params()
	var ran []tuner.Trial
	for _, t := range h {
		if t.Told() && t.Outcome.Kind == tuner.Infeasible && t.Outcome.Reason == tuner.ReasonMemory {
			ran = append(ran, t)
		}
	}
	return func(q space.Point) int {
		for _, failed := range ran {
			if q.Engine() == failed.Point.Engine() && asksForMore(params, p.Hungry, q, failed) {
				return failed.Number
			}
		}
		return -1
	}
}

// asksForMore tells whether q asks for at least as much memory as a trial that had too little, and differs from it in nothing else.
func asksForMore(params []space.Param, hungry map[string]float64, q space.Point, failed tuner.Trial) bool {
	small := poolTooSmall(failed.Outcome)
	for _, param := range params {
		a, hasA := q.Get(param.Name)
		b, hasB := failed.Point.Get(param.Name)
		if a == b && hasA == hasB {
			continue
		}
		x, okA := number(param, a)
		y, okB := number(param, b)
		if !hasA || !hasB || hungry[param.Name] == 0 || !okA || !okB {
			return false
		}
		if small && isShare(param) {
			x, y = y, x
		}
		if x < y {
			return false
		}
	}
	return true
}

// poolTooSmall tells whether what ran out is the pool that the engine had set aside for weights and cache, so that a larger share of the GPU
// helps: while it loads the weights and sizes the cache, and when SGLang's pool runs out in serving. Later it is the rest that runs out,
// and a smaller share helps.
func poolTooSmall(o tuner.Outcome) bool {
	return o.Phase == tuner.PhaseLoad || o.Phase == tuner.PhaseProfile || o.Signature == "sgl_prefill_kv_oom"
}

// isShare tells whether a parameter is a share of the GPU's memory: its numbers lie in (0, 1].
func isShare(p space.Param) bool {
	lo, hi, ok := p.Domain.Bounds()
	return ok && lo > 0 && hi <= 1
}

// number is the size of a setting: its number, or the one that default stands for.
func number(p space.Param, v space.Value) (float64, bool) {
	if v.IsDefault() {
		v = p.Resolved
	}
	return v.AsFloat(), v.IsNumber()
}
