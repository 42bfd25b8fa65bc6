package studyfile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"autotune/space"
	"autotune/tuner"
)

// DiffText says in words what a changed spec changes, a line each, in the order of a spec; nothing when both ask for the same.
// Comments, layout and the order of keys change nothing.
func DiffText(old, now *Spec) []string {
	var d differ
	d.word("name", old.Name, now.Name)
	d.list("model", old.Models, now.Models)
	d.word("plan.gpu", old.Plan.GPU, now.Plan.GPU)
	d.word("plan.memory", orNone(old.Plan.MemoryGiB), orNone(now.Plan.MemoryGiB))
	d.word("plan.disk", orNone(old.Plan.DiskGiB), orNone(now.Plan.DiskGiB))
	d.list("plan.models", old.Plan.texts(), now.Plan.texts())
	d.word("gpus", fmt.Sprint(old.GPUs), fmt.Sprint(now.GPUs))
	d.word("objective", string(old.Goal.Direction)+" "+old.Goal.Metric, string(now.Goal.Direction)+" "+now.Goal.Metric)
	d.list("objective.subject_to", bounds(old.Goal), bounds(now.Goal))
	d.word("gate.success_rate", fmt.Sprint(old.Gate), fmt.Sprint(now.Gate))
	d.workloads(old, now)
	d.engines(old, now)
	d.list("require", ruleTexts(old.Require), ruleTexts(now.Require))
	d.list("recipes", recipeTexts(old.Recipes), recipeTexts(now.Recipes))
	d.word("reference", old.Reference, now.Reference)
	d.word("search.sampler", old.Sampler, now.Sampler)
	d.word("search.seed", fmt.Sprint(old.Seed), fmt.Sprint(now.Seed))
	d.list("search.start_from", old.StartFrom, now.StartFrom)
	d.word("search.stoppers", old.Stoppers, now.Stoppers)
	d.word("search.stop", stopText(old.StopGain), stopText(now.StopGain))
	d.word("budget.trials", limit(old.Budget.Trials), limit(now.Budget.Trials))
	d.word("budget.wall_clock", limit(old.Budget.WallClock), limit(now.Budget.WallClock))
	d.word("budget.failures_in_a_row", limit(old.Budget.FailureRow), limit(now.Budget.FailureRow))
	d.word("timeouts.start", old.Timeouts.Start.String(), now.Timeouts.Start.String())
	d.word("timeouts.silence", old.Timeouts.Silence.String(), now.Timeouts.Silence.String())
	d.word("timeouts.stop", old.Timeouts.Stop.String(), now.Timeouts.Stop.String())
	d.word("timeouts.hang", old.Timeouts.Hang.String(), now.Timeouts.Hang.String())
	d.word("records", old.Records, now.Records)
	d.word("bench.tool", old.Bench.Tool, now.Bench.Tool)
	d.word("bench.command", strings.Join(old.Bench.Command, " "), strings.Join(now.Bench.Command, " "))
	d.word("bench.args", strings.Join(old.Bench.Args, " "), strings.Join(now.Bench.Args, " "))
	return d.lines
}

// limit writes a number or a time of which 0 means that there is none.
func limit[T int | time.Duration](v T) string {
	if v == 0 {
		return "no limit"
	}
	return fmt.Sprint(v)
}

// orNone writes a number of which 0 means that it was not told.
func orNone(x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprint(x)
}

// stopText writes the gain that ends a search as in a spec.
func stopText(gain float64) string {
	if gain == 0 {
		return "off"
	}
	return fmt.Sprintf("%.4g%%", 100*gain)
}

func bounds(g tuner.Goal) []string {
	var out []string
	for _, b := range g.SubjectTo {
		out = append(out, b.String())
	}
	return out
}

func ruleTexts(rules []Rule) []string {
	var out []string
	for _, r := range rules {
		out = append(out, r.That.String())
	}
	return out
}

func recipeTexts(recipes []Recipe) []string {
	var out []string
	for _, r := range recipes {
		text := r.Engine
		if r.Checkpoint != "" {
			text += " " + r.Checkpoint
		}
		for _, s := range r.Settings {
			text += fmt.Sprintf(" %s=%s", s.Flag, s.Value)
		}
		out = append(out, text)
	}
	return out
}

// differ collects differences.
type differ struct{ lines []string }

func (d *differ) say(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *differ) word(key, old, now string) {
	switch {
	case old == now:
	case old == "":
		d.say("%s: added %s", key, now)
	case now == "":
		d.say("%s: removed (was %s)", key, old)
	default:
		d.say("%s: was %s, is %s", key, old, now)
	}
}

// list tells what a list gained and lost; when it did neither, that its order changed.
func (d *differ) list(key string, old, now []string) {
	if slices.Equal(old, now) {
		return
	}
	added, removed := without(now, old), without(old, now)
	var parts []string
	if len(added) > 0 {
		parts = append(parts, "added "+strings.Join(added, ", "))
	}
	if len(removed) > 0 {
		parts = append(parts, "removed "+strings.Join(removed, ", "))
	}
	if len(parts) == 0 {
		parts = append(parts, "the order changed: "+strings.Join(now, ", "))
	}
	d.say("%s: %s", key, strings.Join(parts, "; "))
}

// without lists what is in a and not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

func (d *differ) workloads(old, now *Spec) {
	d.list("workloads", old.workloadNames(), now.workloadNames())
	for _, a := range old.Traffic {
		for _, b := range now.Traffic {
			if a.Name == b.Name {
				d.workload(a, b)
			}
		}
	}
}

func (d *differ) workload(a, b Traffic) {
	key := "workloads." + b.Name + "."
	field := func(name string, x, y any) { d.word(key+name, fmt.Sprint(x), fmt.Sprint(y)) }
	field("dataset", a.Dataset, b.Dataset)
	d.word(key+"path", a.Path, b.Path)
	field("input_tokens", a.InputTokens, b.InputTokens)
	field("output_tokens", a.OutputTokens, b.OutputTokens)
	field("requests", a.Requests, b.Requests)
	field("rate", a.Rate, b.Rate)
	for _, f := range newerKeys(a.Spec, b.Spec) {
		d.word(key+f.name, f.was, f.is)
	}
	field("max_concurrency", limit(a.MaxConcurrency), limit(b.MaxConcurrency))
	field("seed", a.Seed, b.Seed)
	field("warmup", a.Warmup, b.Warmup)
	field("endpoint", a.Endpoint, b.Endpoint)
	field("request_limit", limit(a.RequestLimit), limit(b.RequestLimit))
	field("role", a.text(), b.text())
	field("wall_limit", limit(a.WallLimit), limit(b.WallLimit))
	d.word(key+"goodput", a.Goodput.String(), b.Goodput.String())
}

func (d *differ) engines(old, now *Spec) {
	names := func(s *Spec) (out []string) {
		for _, e := range s.Engines {
			out = append(out, e.Name)
		}
		return out
	}
	d.list("engines", names(old), names(now))
	for _, a := range old.Engines {
		for _, b := range now.Engines {
			if a.Name == b.Name {
				d.engine(a, b)
			}
		}
	}
}

func (d *differ) engine(a, b Engine) {
	key := "engines." + b.Name
	d.word(key+".command", strings.Join(a.Command, " "), strings.Join(b.Command, " "))
	d.word(key+".version", a.Version, b.Version)
	d.named(key+".env", envMap(a.Env), envMap(b.Env))
	d.named(key+".fixed", settingMap(a.Fixed), settingMap(b.Fixed))
	d.named(key+".baseline", settingMap(a.Baseline), settingMap(b.Baseline))
	for _, p := range a.searched() {
		if _, still := b.param(p.Flag); !still {
			d.say("%s.space.%s: removed (was %s)", key, p.Flag, describe(p))
		}
	}
	for _, q := range b.searched() {
		p, before := a.param(q.Flag)
		if !before {
			d.say("%s.space.%s: added, %s", key, q.Flag, describe(q))
			continue
		}
		d.domain(fmt.Sprintf("%s.space.%s", key, q.Flag), p, q)
	}
	d.list(key+".require", ruleTexts(a.Require), ruleTexts(b.Require))
}

// domain tells by value what a parameter gained and lost; positions in a list mean nothing.
func (d *differ) domain(key string, p, q space.Param) {
	if p.When == nil || q.When == nil || p.When.Canonical() != q.When.Canonical() {
		d.word(key+".when", p.When.String(), q.When.String())
	}
	a, b := words(p.Domain), words(q.Domain)
	if added, removed := without(b, a), without(a, b); len(added)+len(removed) > 0 {
		d.list(key, a, b)
	}
}

// named compares settings by their names.
func (d *differ) named(key string, old, now map[string]string) {
	var names []string
	for name := range old {
		names = append(names, name)
	}
	for name := range now {
		if _, both := old[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, before := old[name]
		b, after := now[name]
		switch {
		case !before:
			d.say("%s.%s: added %s", key, name, b)
		case !after:
			d.say("%s.%s: removed (was %s)", key, name, a)
		default:
			d.word(key+"."+name, a, b)
		}
	}
}

func envMap(env []EnvVar) map[string]string {
	m := map[string]string{}
	for _, v := range env {
		m[v.Name] = quoteEmpty(v.Value)
	}
	return m
}

func settingMap(settings []Setting) map[string]string {
	m := map[string]string{}
	for _, s := range settings {
		m[s.Flag] = quoteEmpty(s.Value.String())
	}
	return m
}

func quoteEmpty(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

// searched are the parameters that stand under space.
func (e Engine) searched() []space.Param {
	return slices.DeleteFunc(slices.Clone(e.Params), func(p space.Param) bool {
		_, ok := e.param(p.Flag)
		return !ok
	})
}

// param finds a parameter that stands under space: not a fixed one, nor one that only the baseline sets.
func (e Engine) param(flag string) (space.Param, bool) {
	for _, p := range e.Params {
		onlyBaseline := p.Domain.Size() == 1 && p.Domain.Contains(space.Default()) && len(p.Domain.Extra()) > 0
		if p.Flag == flag && !p.Fixed && !onlyBaseline {
			return p, true
		}
	}
	return space.Param{}, false
}

func describe(p space.Param) string {
	text := describeDomain(p.Domain)
	if p.When != nil {
		text += " when " + p.When.String()
	}
	return text
}
