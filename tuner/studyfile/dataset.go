package studyfile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"autotune/tuner/workload"
)

// keyRule says of a key of a workload which datasets want it, and which take it.
type keyRule struct {
	key   string
	wants []string // datasets that cannot do without it
	takes []string // further ones that it may be given to
	what  string   // it is
	not   string   // why the others have no place for it
}

var (
	made   = []string{workload.Random, workload.Prefix, workload.Conversation}
	files  = []string{workload.ShareGPT, workload.JSONL, workload.Mooncake, workload.Azure}
	timed  = []string{workload.JSONL, workload.Mooncake, workload.Azure}
	traces = []string{workload.Mooncake, workload.Azure}
)

var keyRules = []keyRule{
	{"requests", []string{workload.Random, workload.Prefix, workload.ShareGPT}, timed, "how many requests a measurement has", "conversations times turns are sent"},
	{"path", files, nil, "the dataset's file", "its prompts are made, they come from no file"},
	{"input_tokens", made, nil, "tokens of each prompt", "a file's prompts are as long as they are"},
	{"output_tokens", made, files, "tokens of each answer", ""},
	{"prefixes", []string{workload.Prefix}, nil, "how many system prompts the requests share", "only dataset: prefix shares them"},
	{"prefix_tokens", []string{workload.Prefix}, []string{workload.Conversation}, "tokens of a shared system prompt", "only dataset: prefix and conversation have one"},
	{"conversations", []string{workload.Conversation}, nil, "how many conversations a measurement has", "only dataset: conversation has them"},
	{"turns", []string{workload.Conversation}, nil, "turns of each conversation", "only dataset: conversation has them"},
	{"think_time", nil, []string{workload.Conversation}, "", "only dataset: conversation has turns to wait between"},
	{"speed", nil, timed, "", "only a file with arrivals has a pace"},
	{"from", nil, timed, "", "only a file with arrivals has a window"},
	{"to", nil, timed, "", "only a file with arrivals has a window"},
}

// dataset checks the keys that go with a dataset.
func (r *reader) dataset(w workload.Spec, n *node, p path) {
	if n.kind != mapNode || w.Dataset == "" {
		return
	}
	for _, rule := range keyRules {
		at, given := r.places[p.child(rule.key).id()]
		wanted, taken := slices.Contains(rule.wants, w.Dataset), slices.Contains(rule.takes, w.Dataset)
		switch {
		case wanted && !given && !n.has(rule.key):
			r.failAt(n.at, p.child(rule.key), FieldError{Problem: "is missing", Allowed: rule.what})
		case !wanted && !taken && given:
			r.failAt(at, p.child(rule.key), FieldError{Problem: "has no meaning here: " + rule.not})
		}
	}
	clash := func(key string, when bool, problem, allowed string) {
		if at, given := r.places[p.child(key).id()]; given && when {
			r.failAt(at, p.child(key), FieldError{Problem: problem, Allowed: allowed})
		}
	}
	clash("endpoint", w.Endpoint == workload.Chat && (slices.Contains(made, w.Dataset) || slices.Contains(traces, w.Dataset)),
		fmt.Sprintf("clashes with dataset: %s, whose prompts are token ids", w.Dataset), "completions")
	clash("output_tokens", w.OutputLengths.Kind != "" && slices.Contains(files, w.Dataset), "a distribution does not go with a file", "a number for every answer; left out: each row's own length")
	clash("to", w.To > 0 && w.To <= w.From, "ends the window before it begins", "a time after from")
	clash("speed", w.Rate > 0, "clashes with rate, which replaces the file's arrivals", "one of the two")
}

// lengths reads a number of tokens, or a distribution of numbers.
func (r *reader) lengths(all *int, by *workload.Lengths) func(*node, path) {
	const allowed = "an integer from 1 to 16777216, or one of {uniform: [LOW, HIGH]}, {normal: {mean: M, sd: S}}, {lognormal: {mean: M, sd: S}}"
	return func(n *node, p path) {
		switch {
		case n.kind == scalarNode:
			r.integer(all, 1, mostTokens)(n, p)
			return
		case n.kind == listNode || len(n.entries) != 1:
			r.fail(n, p, "wrong type", allowed)
			return
		}
		before := len(r.errs)
		got := workload.Lengths{Kind: n.entries[0].key, Min: 1}
		r.fields(n, p,
			field{name: workload.Uniform, read: r.interval(&got)},
			field{name: workload.Normal, read: r.bell(&got)},
			field{name: workload.LogNormal, read: r.bell(&got)},
		)
		if len(r.errs) > before {
			return
		}
		if err := got.Validate(); err != nil {
			r.failAt(n.at, p, FieldError{Problem: err.Error()})
			return
		}
		*by = got
	}
}

func (r *reader) interval(l *workload.Lengths) func(*node, path) {
	const allowed = "[LOW, HIGH], both included, such as [512, 1024]"
	return func(n *node, p path) {
		if n.kind != listNode || len(n.items) != 2 {
			r.fail(n, p, "wrong type", allowed)
			return
		}
		r.integer(&l.Min, 1, mostTokens)(n.items[0], p)
		r.integer(&l.Max, 1, mostTokens)(n.items[1], p)
	}
}

func (r *reader) bell(l *workload.Lengths) func(*node, path) {
	return func(n *node, p path) {
		r.fields(n, p,
			field{name: "mean", read: r.number(&l.Mean, 1, mostTokens, false, "the mean in tokens, 1 or more"), need: "the mean in tokens"},
			field{name: "sd", read: r.number(&l.SD, 0, mostTokens, false, "the standard deviation in tokens, 0 or more"), need: "the standard deviation in tokens"},
			field{name: "min", read: r.integer(&l.Min, 1, mostTokens)},
			field{name: "max", read: r.integer(&l.Max, 1, mostTokens)},
		)
	}
}

// wait reads a time that may be 0.
func (r *reader) wait(to *time.Duration) func(*node, path) {
	const allowed = "a time such as 10m, 1h30m, 45s or 200ms, or 0s"
	return func(n *node, p path) {
		if !r.plain(n, p, allowed) {
			return
		}
		d, ok := parseDuration(n.text)
		if !ok {
			r.fail(n, p, "not a time", allowed)
			return
		}
		*to = d
	}
}

// newerKey is a key of a workload that may be left out, as it was and as it is.
type newerKey struct{ name, was, is string }

// newerKeys are the optional keys of a workload, for the differences of two specs.
func newerKeys(a, b workload.Spec) []newerKey {
	text := func(v any) string {
		s := fmt.Sprint(v)
		if s == "0" || s == "0s" || s == "false" {
			return ""
		}
		return s
	}
	headers := func(list []workload.Header) string {
		var all []string
		for _, h := range list {
			all = append(all, h.Name+": "+h.Value)
		}
		return strings.Join(all, ", ")
	}
	lengths := func(l workload.Lengths) string {
		if l.Kind == "" {
			return ""
		}
		return l.String()
	}
	return []newerKey{
		{"arrival", arrivalText(a), arrivalText(b)},
		{"input_tokens", lengths(a.InputLengths), lengths(b.InputLengths)},
		{"output_tokens", lengths(a.OutputLengths), lengths(b.OutputLengths)},
		{"prefixes", text(a.Prefixes), text(b.Prefixes)},
		{"prefix_tokens", text(a.PrefixTokens), text(b.PrefixTokens)},
		{"turns", text(a.Turns), text(b.Turns)},
		{"think_time", text(a.ThinkTime), text(b.ThinkTime)},
		{"speed", text(a.Speed), text(b.Speed)},
		{"from", text(a.From), text(b.From)},
		{"to", text(a.To), text(b.To)},
		{"extra_body", a.ExtraBody, b.ExtraBody},
		{"headers", headers(a.Headers), headers(b.Headers)},
		{"api_key_env", a.APIKeyEnv, b.APIKeyEnv},
	}
}
