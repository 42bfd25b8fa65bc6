package main

import (
	"fmt"
	"maps"
	"slices"

	"autotune/space"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// beyondContext says that requests of a file are longer than what a model, or a baseline, takes: they are refused, and with more of them than the gate lets
// pass no configuration has a measurement. The rules of the space know the lengths that stand in the spec alone.
func (a *assembly) beyondContext(spec workload.Spec, requests []workload.Request) string {
	longer := func(most int) (n, longest int) {
		for _, r := range requests {
			if tokens := r.Input + r.Output; r.Input > 0 && tokens > most {
				n, longest = n+1, max(longest, tokens)
			}
		}
		return n, longest
	}
	say := func(most int, whose string) string {
		n, longest := longer(most)
		if n == 0 {
			return ""
		}
		word := fmt.Sprintf("%d of the %d requests of %s are longer than %d tokens, the %s (the longest has %d): the server will refuse them", n, len(requests), spec.Name, most, whose, longest)
		if float64(len(requests)-n) < a.spec.Gate*float64(len(requests)) {
			word += ", and a trial with fewer successes than " + metric.Format("success_rate", a.spec.Gate) + " has no value"
		}
		return word
	}
	for _, name := range slices.Sorted(maps.Keys(a.planner.models)) {
		if m := a.planner.models[name]; m.Context > 0 {
			if word := say(m.Context, "context that "+name+" was made for"); word != "" {
				return word
			}
		}
	}
	for _, b := range a.problem.Baselines {
		for _, flag := range []string{"max-model-len", "context-length"} {
			if v, there := b.Get(b.Engine() + "." + flag); there && v.Kind() == space.KindInt && v.AsInt() > 0 {
				if word := say(int(v.AsInt()), flag+" of "+b.Engine()+"'s baseline"); word != "" {
					return word
				}
			}
		}
	}
	return ""
}
