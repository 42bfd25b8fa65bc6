package studyfile

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// objective reads what is wanted, and the bounds on it.
func (r *reader) objective(s *Spec, n *node) {
	p := path{"objective"}
	if n.kind == listNode {
		r.failAt(n.at, p, FieldError{Problem: "not available in this version: several objectives (a Pareto study)", Allowed: "one metric under maximize or minimize"})
		return
	}
	read := func(d tuner.Direction) func(*node, path) {
		return func(n *node, p path) {
			if s.Goal.Direction != "" {
				r.failAt(n.at, p, FieldError{Problem: "not available in this version: several objectives (a Pareto study)", Allowed: "maximize or minimize"})
				return
			}
			s.Goal.Direction = d
			r.goal(s, n, p)
		}
	}
	r.fields(n, p,
		field{name: "maximize", read: read(tuner.Maximize)},
		field{name: "minimize", read: read(tuner.Minimize)},
		field{name: "subject_to", read: func(n *node, p path) {
			r.each(n, p, func(_ int, item *node, p path) { r.bound(s, item, p) })
		}},
	)
	r.rate(s, n)
	if n.kind == mapNode && s.Goal.Direction == "" {
		r.failAt(n.at, p, FieldError{Problem: "maximize or minimize is missing", Allowed: "{maximize: METRIC} or {minimize: METRIC}"})
	}
}

// DefaultRate is where the search for a rate begins when the workload names none, in requests/s.
const DefaultRate = 1.0

// rate checks what a search for the highest rate needs.
func (r *reader) rate(s *Spec, n *node) {
	if s.Goal.Metric != metric.RequestRate {
		return
	}
	p := path{"objective", "maximize"}
	switch {
	case len(s.Traffic) > 1:
		r.failAt(n.at, p, FieldError{Problem: "a rate is searched for on one workload", Allowed: "one workload"})
	case len(s.Goal.SubjectTo) == 0:
		r.failAt(n.at, p, FieldError{Problem: "any rate would do: without a bound on a latency nothing limits it", Allowed: `subject_to: ["p95_ttft <= 2s"]`})
	case len(s.Traffic) == 1 && s.Workload().Own() && s.Workload().Rate == 0, len(s.Traffic) == 1 && s.Workload().Speed > 0:
		r.failAt(n.at, p, FieldError{Problem: "the workload's arrivals have no rate that could be searched for", Allowed: "arrival: constant, poisson or {gamma: SHAPE}, and no speed"})
	case len(s.Traffic) == 1 && s.Workload().Rate == 0:
		s.Traffic[0].Rate = DefaultRate
	}
}

func (r *reader) goal(s *Spec, n *node, p path) {
	if n.kind == listNode {
		r.failAt(n.at, p, FieldError{Problem: "not available in this version: several objectives (a Pareto study)", Allowed: "one metric"})
		return
	}
	text, ok := r.word(n, p, "a metric, such as total_token_throughput")
	if !ok {
		return
	}
	workload, d, ok := r.metric(s, n, p, text, 0)
	if !ok {
		return
	}
	if workload != "" && (len(s.Goal.Targets) > 0 || s.Goal.Guarded(workload)) {
		r.fail(n, p, "the objective is the metric over every target, not on one workload", d.Name+", and role: guard for the workloads that are no target")
		return
	}
	for _, t := range s.Traffic {
		if problem := undefined(s, t, d.Name); problem != "" && t.Role == RoleGuard { // what a guard retains is of the same metric
			r.failAt(n.at, p, FieldError{Problem: problem, Found: text})
			return
		}
	}
	s.Goal.Metric = d.Name
	right := map[string]tuner.Direction{"higher": tuner.Maximize, "lower": tuner.Minimize}[d.Better]
	switch {
	case right == "":
		r.fail(n, p, fmt.Sprintf("%s is no goal by itself (%s)", d.Name, d.Help), "a throughput to maximize, a latency to minimize")
	case right != s.Goal.Direction:
		r.fail(n, p, fmt.Sprintf("%s is better when it is %s", d.Name, d.Better), fmt.Sprintf("%s: %s", right, d.Name))
	}
}

// metric finds the metric that a name, WORKLOAD.METRIC perhaps, stands for. from is where the name begins in the node's text.
func (r *reader) metric(s *Spec, n *node, p path, name string, from int) (workload string, d metric.Definition, ok bool) {
	workload, name, qualified := cutLast(name)
	at := n.placeOf(from)
	if names := s.workloadNames(); qualified && !slices.Contains(names, workload) {
		r.failAt(at, p, FieldError{Problem: "no workload is called so", Found: workload, Allowed: strings.Join(names, ", "), Near: nearest(workload, names)})
		return workload, d, false
	}
	d, ok = metric.Lookup(name)
	switch {
	case d.Name == metric.Retained:
		r.failAt(at, p, FieldError{Problem: "a guard is bounded by its own key", Found: name, Allowed: "max_regression: 10% on the workload"})
		return workload, d, false
	case d.Name == metric.RequestRate && p.String() != "objective.maximize":
		r.failAt(at, p, FieldError{Problem: "it is searched for, so it cannot be bounded", Found: name, Allowed: "maximize: request_rate"})
		return workload, d, false
	}
	if !ok {
		r.failAt(at, p, FieldError{
			Problem: "the bench does not measure this", Found: name, Near: metric.Near(name),
			Allowed: "success_rate, request_, input_token_, output_token_, total_token_throughput, goodput, each also ..._per_gpu; mean_, p50_, p90_, p95_, p99_ of ttft, tpot, itl, latency; and more",
		})
		return workload, d, false
	}
	for _, t := range s.meant(workload) {
		if problem := undefined(s, t, d.Name); problem != "" {
			r.failAt(at, p, FieldError{Problem: problem, Found: name})
			return workload, d, false
		}
	}
	return workload, d, true
}

// undefined says why a metric has no value in a study; empty when it has one.
func undefined(s *Spec, t Traffic, name string) string {
	if t.OutputTokens == 1 && (strings.HasSuffix(name, "_tpot") || strings.HasSuffix(name, "_itl")) {
		return fmt.Sprintf("undefined: workload %s asks for 1 output token, and no time passes between tokens", t.Name)
	}
	if t.Goodput.None() && (strings.HasPrefix(name, "goodput") || name == "slo_attainment") {
		return fmt.Sprintf("undefined: workload %s says no SLOs that a request must keep; give it goodput: {ttft: 2s, tpot: 50ms}", t.Name)
	}
	if s.GPUs == 0 && strings.HasSuffix(name, "_per_gpu") {
		return "undefined: the study has no GPUs (gpus: 0)"
	}
	return ""
}

func cutLast(name string) (before, after string, found bool) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:], true
	}
	return "", name, false
}

// placeOf returns the place of a byte of a scalar's text; the scalar's own where the text was escaped or folded.
func (n *node) placeOf(offset int) place {
	at := n.at
	if !n.exact {
		return at
	}
	if n.quoted {
		at.column++
	}
	at.column += utf8.RuneCountInString(n.text[:min(offset, len(n.text))])
	return at
}

const boundShape = `METRIC <= LIMIT or METRIC >= LIMIT, such as "p95_ttft <= 5s"`

var boundText = regexp.MustCompile(`^\s*([^\s<>=!]+)\s*([<>=!]+)\s*(\S(?:.*\S)?)\s*$`)

// bound reads one SLO.
func (r *reader) bound(s *Spec, n *node, p path) {
	text, ok := r.word(n, p, boundShape)
	if !ok {
		return
	}
	m := boundText.FindStringSubmatchIndex(text)
	if m == nil {
		r.fail(n, p, "not a bound", boundShape)
		return
	}
	b := tuner.Bound{Op: text[m[4]:m[5]]}
	workload, d, ok := r.metric(s, n, p, text[m[2]:m[3]], m[2])
	if !ok {
		return
	}
	b.Workload, b.Metric = workload, d.Name
	op := FieldError{Found: b.Op, Allowed: "<= or >="}
	switch right := map[string]string{"higher": ">=", "lower": "<="}[d.Better]; {
	case b.Op != "<=" && b.Op != ">=":
		op.Problem, op.Near = "unknown comparison", right
	case right != "" && b.Op != right:
		op.Problem, op.Allowed = fmt.Sprintf("%s is better when it is %s", d.Name, d.Better), right
	}
	if op.Problem != "" {
		r.failAt(n.placeOf(m[4]), p, op)
		return
	}
	limit, allowed, ok := parseLimit(text[m[6]:m[7]], d.Unit)
	if !ok {
		r.failAt(n.placeOf(m[6]), p, FieldError{Problem: "not a limit on " + d.Name, Found: text[m[6]:m[7]], Allowed: allowed})
		return
	}
	b.Limit = limit
	for _, b := range s.each(b) {
		if slices.ContainsFunc(s.Goal.SubjectTo, func(o tuner.Bound) bool {
			return o.Metric == b.Metric && o.Op == b.Op && o.Workload == b.Workload
		}) {
			r.fail(n, p, fmt.Sprintf("%s %s is bounded twice", b.Name(), b.Op), "")
			return
		}
		s.Goal.SubjectTo = append(s.Goal.SubjectTo, b)
	}
}

// each gives a bound that names no workload to every one of several targets.
func (s *Spec) each(b tuner.Bound) []tuner.Bound {
	if b.Workload != "" || len(s.Goal.Targets) == 0 {
		return []tuner.Bound{b}
	}
	var out []tuner.Bound
	for _, t := range s.Goal.Targets {
		b.Workload = t.Workload
		out = append(out, b)
	}
	return out
}

// parseLimit reads a limit in a metric's base unit: a plain number, or one with a unit.
func parseLimit(text, unit string) (limit float64, allowed string, ok bool) {
	switch unit {
	case "s":
		allowed = "a time above 0 such as 5s or 200ms, or a number of seconds"
		if d, isTime := parseDuration(text); isTime {
			return d.Seconds(), allowed, d > 0
		}
	case "ratio":
		allowed = "a share above 0, at most 1, such as 0.99 or 99%"
		if percent, isPercent := strings.CutSuffix(text, "%"); isPercent {
			f, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
			return f / 100, allowed, err == nil && f > 0 && f <= 100
		}
	default:
		allowed = fmt.Sprintf("a number above 0, in %s", unit)
		text = strings.TrimSpace(strings.TrimSuffix(text, unit))
	}
	if !floatText.MatchString(text) {
		return 0, allowed, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, allowed, err == nil && f > 0 && !math.IsInf(f, 0) && (unit != "ratio" || f <= 1)
}
