package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"autotune/space"
	"autotune/tuner/memory"
	"autotune/tuner/studyfile"
	"autotune/tuner/workload"
)

// nightWarnings are what is likely to spoil a night.
func (a *assembly) nightWarnings(n night) []string {
	var said []string
	for _, t := range a.spec.Traffic {
		said = append(said, a.capWarnings(t.Spec)...)
		said = append(said, a.kneeWarnings(t.Spec)...)
	}
	said = append(said, a.contextWarnings(n)...)
	said = append(said, a.guardWarnings()...)
	for _, s := range n.Sums {
		if s.Answer == memory.Unknown && a.planner.on() {
			said = append(said, fmt.Sprintf("of the baseline of %s the planner knows nothing: %s", s.Engine, s.Reason))
		}
		if r := s.Requests; r != nil && a.concurrency() > 0 && r.High < a.concurrency() {
			said = append(said, fmt.Sprintf("the baseline of %s holds %s of %d tokens in its KV cache, the client sends up to %d: the rest waits in the queue", s.Engine, spanText(*r, "request"), a.planner.longest, a.concurrency()))
		}
	}
	if !a.planner.on() {
		said = append(said, "nothing is known of memory, so nothing is excluded by it: "+a.missing())
	}
	if n.Ends == "wall_clock" && a.spec.Budget.Trials > n.Buys {
		said = append(said, fmt.Sprintf("the wall clock ends the study after about %d of its %d trials", n.Buys, a.spec.Budget.Trials))
	}
	if n.Buys <= len(a.spec.Engines) && n.Points > n.Buys {
		said = append(said, "the budget buys hardly more than the baselines")
	}
	return said
}

// missing says what the planner would have to be told.
func (a *assembly) missing() string {
	var parts []string
	if a.planner.host.GPUs == 0 {
		return "the machine has no GPU"
	}
	if a.planner.host.MemoryGiB == 0 {
		parts = append(parts, "the GPUs (plan: {gpu: H200})")
	}
	if len(a.planner.models) == 0 {
		parts = append(parts, "the checkpoint's geometry (a folder that holds it, or numbers, under plan: models:)")
	}
	return "the spec does not tell " + strings.Join(parts, ", nor ")
}

// concurrency is the most requests that a client has in flight.
func (a *assembly) concurrency() int {
	most := 0
	for _, t := range a.spec.Traffic {
		most = max(most, inFlight(t.Spec))
	}
	return most
}

// inFlight is how many requests of a workload there are at once, at most; 0: only its file can tell.
func inFlight(w workload.Spec) int {
	switch requests := w.Requests / max(1, w.Turns); { // of a conversation one at a time
	case w.MaxConcurrency == 0:
		return requests
	case requests == 0:
		return w.MaxConcurrency
	default:
		return min(w.MaxConcurrency, requests)
	}
}

// capFlags are how many requests a server runs at once, by engine.
var capFlags = map[string]string{"vllm": "max-num-seqs", "sglang": "max-running-requests"}

// capWarnings: a client that sends more at a time than any configuration serves.
func (a *assembly) capWarnings(w workload.Spec) []string {
	var said []string
	asked := inFlight(w)
	for _, name := range slices.Sorted(maps.Keys(a.engines)) {
		flag := capFlags[name]
		if most, ok := a.largest(name, flag); ok && float64(asked) > most {
			said = append(said, fmt.Sprintf("%s: the client sends up to %d requests at a time, and no %s configuration runs more than %.0f (%s): the rest only waits", w.Name, asked, name, most, flag))
		}
	}
	return said
}

// kneeWarnings: a load under which every configuration measures the same, or too short a run.
func (a *assembly) kneeWarnings(w workload.Spec) []string {
	var said []string
	if w.Rate > 0 && strings.Contains(a.spec.Goal.Metric, "throughput") {
		if arrivals := float64(w.Requests) / w.Rate; arrivals > 60 {
			said = append(said, fmt.Sprintf("%s: %d requests at %.4g/s take %s to arrive: every server that keeps up serves exactly that rate, and their throughput compares nothing", w.Name, w.Requests, w.Rate, secondsText(arrivals)))
		}
	}
	if c := w.MaxConcurrency; c > 0 && w.Requests > 0 && w.Requests < 4*c {
		said = append(said, fmt.Sprintf("%s: %d requests are %.1f waves of %d: filling and draining weigh much; 4 waves are %d requests", w.Name, w.Requests, float64(w.Requests)/float64(c), c, 4*c))
	}
	return said
}

// contextWarnings: requests that are longer than the context, and a context that is left to the model.
func (a *assembly) contextWarnings(n night) []string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(a.planner.models)) {
		if m := a.planner.models[name]; m.Context > 0 && a.planner.longest > m.Context {
			said = append(said, fmt.Sprintf("prompt and answer are %d tokens together, above the %d that %s was made for", a.planner.longest, m.Context, name))
		}
	}
	for _, b := range a.problem.Baselines {
		for _, flag := range []string{"max-model-len", "context-length"} {
			v, there := b.Get(b.Engine() + "." + flag)
			if there && v.Kind() == space.KindInt && v.AsInt() > 0 && int64(a.planner.longest) > v.AsInt() {
				said = append(said, fmt.Sprintf("prompt and answer are %d tokens together, above the %s of %s, %s", a.planner.longest, flag, b.Engine(), v))
			}
		}
	}
	for _, s := range n.Sums {
		m := a.planner.models[a.planner.first]
		if s.Engine == "vllm" && len(s.Sums) > 0 && !a.hasContext("vllm") && s.Answer == memory.Uncertain && m.Context > a.planner.longest {
			said = append(said, fmt.Sprintf("vLLM promises the model's whole context, %d tokens, %.1f GiB of KV cache, and may refuse to start without room for it: max-model-len says less", m.Context, s.TokenBytes*float64(m.Context)/memory.GiB))
		}
	}
	return said
}

// hasContext tells whether the spec says anything of vLLM's context.
func (a *assembly) hasContext(engine string) bool {
	_, there := a.problem.Space.Param(engine + ".max-model-len")
	return there
}

// guardWarnings: guards that cost as much as what they guard.
func (a *assembly) guardWarnings() []string {
	tokens := map[string]int{}
	var guards []string
	for _, t := range a.spec.Traffic {
		tokens[t.Role] += int(float64(t.Requests) * t.MeanTokens())
		if t.Role == studyfile.RoleGuard {
			guards = append(guards, t.Name)
		}
	}
	if len(guards) == 0 || tokens[studyfile.RoleTarget] == 0 || tokens[studyfile.RoleGuard] < tokens[studyfile.RoleTarget]/2 {
		return nil
	}
	return []string{fmt.Sprintf("the guards (%s) send %.1f times the tokens of the targets: a trial that could win takes about %.1f times as long", strings.Join(guards, ", "),
		float64(tokens[studyfile.RoleGuard])/float64(tokens[studyfile.RoleTarget]), 1+float64(tokens[studyfile.RoleGuard])/float64(tokens[studyfile.RoleTarget]))}
}

// notTried says what the night leaves out.
func (a *assembly) notTried(n night) []string {
	out := []string{}
	for _, e := range n.Excluded {
		if memoryRule(e.Rule) {
			out = append(out, fmt.Sprintf("%d of %d points%s, which cannot fit, e.g. %s", e.Points, e.Of, map[bool]string{true: " by chance"}[e.Sample], e.Example))
		} else {
			out = append(out, fmt.Sprintf("%d points that an engine or the spec refuses: %s", e.Points, e.Reason))
		}
	}
	if left := n.Points - n.Buys; left > 0 {
		more := map[bool]string{false: "more than "}[n.Exact]
		out = append(out, fmt.Sprintf("%s%d configurations beyond the budget: the sampler chooses which", more, left))
	}
	if a.inputs.Host.GPUs > 0 {
		for _, b := range a.problem.Baselines {
			if _, broken := a.problem.Space.Broken(b); broken {
				out = append(out, "the baseline of "+b.Engine())
			}
		}
	}
	return out
}
