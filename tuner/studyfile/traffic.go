package studyfile

import (
	"regexp"
	"strings"

	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

var workloadName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,62}$`)

// workloads reads the workloads of a study.
func (r *reader) workloads(s *Spec, n *node) {
	p := path{"workloads"}
	const allowed = "a workload by its name: balanced: {dataset: random, ...}"
	switch {
	case n.kind != mapNode:
		r.fail(n, p, "wrong type", allowed)
		return
	case len(n.entries) == 0:
		r.fail(n, p, "no workload is given", allowed)
		return
	}
	for _, e := range n.entries {
		child := p.child(e.key)
		if !workloadName.MatchString(e.key) {
			r.failAt(e.at, child, FieldError{Problem: "not a workload's name", Allowed: "a letter, then letters, digits, dashes and underscores"})
		}
		r.places[child.id()] = e.at
		t := Traffic{Role: RoleTarget, Weight: 1}
		t.Spec = r.workload(e.key, e.value, child, r.role(&t)...)
		s.Traffic = append(s.Traffic, t)
	}
	r.roles(s, n)
}

// Bounds of a workload's numbers, far above what anybody sends.
const (
	mostTokens   = 16 << 20
	mostRequests = 10_000_000
	mostRate     = 1e6
)

// workload reads one workload and completes it; further keys are read too.
func (r *reader) workload(name string, n *node, p path, further ...field) workload.Spec {
	w := workload.Spec{Name: name, Seed: DefaultSeed, Warmup: -1, Endpoint: workload.Completions, WallLimit: DefaultWallLimit}
	var conversations int
	var arrival *node
	before := len(r.errs)
	r.fields(n, p, append([]field{
		{name: "dataset", read: r.oneOf(&w.Dataset, workload.Datasets()...), need: "one of " + strings.Join(workload.Datasets(), ", ")},
		{name: "path", read: func(n *node, p path) { w.Path, _ = r.word(n, p, "the path of a file") }},
		{name: "input_tokens", read: r.lengths(&w.InputTokens, &w.InputLengths)},
		{name: "output_tokens", read: r.lengths(&w.OutputTokens, &w.OutputLengths)},
		{name: "prefixes", read: r.integer(&w.Prefixes, 1, mostRequests)},
		{name: "prefix_tokens", read: r.integer(&w.PrefixTokens, 1, mostTokens)},
		{name: "conversations", read: r.integer(&conversations, 1, mostRequests)},
		{name: "turns", read: r.integer(&w.Turns, 1, 10_000)},
		{name: "think_time", read: r.wait(&w.ThinkTime)},
		{name: "requests", read: r.integer(&w.Requests, 1, mostRequests)},
		{name: "rate", read: r.number(&w.Rate, 0, mostRate, false, "requests a second, at most 1000000; 0, or no rate: all at once")},
		{name: "arrival", read: keep(&arrival)},
		{name: "speed", read: r.number(&w.Speed, 0, mostRate, true, "by which the file's arrivals are quickened, above 0: 2 is twice as fast")},
		{name: "from", read: r.wait(&w.From)},
		{name: "to", read: r.wait(&w.To)},
		{name: "max_concurrency", read: r.integer(&w.MaxConcurrency, 0, 1_000_000)},
		{name: "seed", read: r.seed(&w.Seed)},
		{name: "warmup", read: r.integer(&w.Warmup, 0, mostRequests)},
		{name: "endpoint", read: r.oneOf(&w.Endpoint, workload.Completions, workload.Chat)},
		{name: "extra_body", read: r.extraBody(&w.ExtraBody)},
		{name: "headers", read: r.headers(&w.Headers)},
		{name: "api_key_env", read: r.keyVariable(&w.APIKeyEnv)},
		{name: "request_limit", read: r.duration(&w.RequestLimit, true)},
		{name: "wall_limit", read: r.duration(&w.WallLimit, true)},
		{name: "goodput", read: r.slos(&w.Goodput)},
	}, further...)...)
	r.dataset(w, n, p)
	if w.OutputTokens == 1 && w.Goodput.TPOT > 0 {
		at := p.child("goodput").child("tpot")
		r.failAt(r.places[at.id()], at, FieldError{Problem: "undefined: the workload asks for 1 output token, and no time passes between tokens"})
	}
	if arrival != nil {
		r.arrival(&w, arrival, p)
	}
	if w.Dataset == workload.Conversation {
		w.Requests = conversations * w.Turns
	}
	if w.Warmup < 0 {
		w.Warmup = DefaultWarmup
		if w.Requests > 0 {
			w.Warmup = min(w.Warmup, w.Requests)
		}
		if w.MaxConcurrency > 0 {
			w.Warmup = min(w.Warmup, w.MaxConcurrency)
		}
	}
	if len(r.errs) == before {
		if err := w.Validate(); err != nil { // what no key alone gets wrong
			r.failAt(n.at, p, FieldError{Problem: err.Error()})
		}
	}
	return w
}

// slos reads the limits that a request must keep to count for goodput, under the names of the metrics; e2el is other tools' name of latency.
func (r *reader) slos(to *metric.SLOs) func(*node, path) {
	return func(n *node, p path) {
		r.fields(n, p,
			field{name: "ttft", read: r.duration(&to.TTFT, false)},
			field{name: "ttft_sent", read: r.duration(&to.TTFTSent, false)},
			field{name: "tpot", read: r.duration(&to.TPOT, false)},
			field{name: "latency", read: r.duration(&to.Latency, false)},
			field{name: "latency_sent", read: r.duration(&to.LatencySent, false)},
			field{name: "e2el", read: r.duration(&to.Latency, false), formerly: true},
		)
		if n.kind == mapNode && n.has("latency") && n.has("e2el") {
			r.failAt(n.at, p, FieldError{Problem: "latency and e2el are one limit", Allowed: "one of them"})
		}
		if n.kind == mapNode && len(n.entries) == 0 {
			r.failAt(n.at, p, FieldError{Problem: "no limit is given", Allowed: "{ttft: 2s, tpot: 50ms}"})
		}
	}
}

func (n *node) has(key string) bool {
	for _, e := range n.entries {
		if e.key == key {
			return true
		}
	}
	return false
}
