package report

import (
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
	"fmt"
	"regexp"
)

// Model is how a study stands: pure data, the same for every format. Its JSON keys are documented and stay.
type Model struct {
	Name  string `json:"name"`
	Goal  string `json:"goal"`
	State string `json:"state"` // running, interrupted, ended, new
	// End says which rule ended the study; empty while it has not ended.
	End tuner.End `json:"end,omitempty"`
	// EndReason says more of the end, for people, where the rule alone does not explain it.
	EndReason string `json:"end_reason,omitempty"`
	// Trials are counts by outcome.
	Trials tuner.Counts `json:"trials"`
	// Budget is how many trials the study may have; 0 is no limit.
	Budget int `json:"budget_trials"`
	// Baseline is the reference that gains are counted from; null when no baseline is feasible.
	Baseline *Entry `json:"baseline"`
	// Best leads among the measured trials that keep every bound; null when there is none.
	Best *Entry `json:"best"`
	// Gain is the best over the baseline: 0.25 is a quarter better; null when one of them is missing.
	Gain *float64 `json:"gain"`
	// Failures counts infeasible trials by reason.
	Failures map[tuner.Reason]int `json:"failures"`
	// FailureKinds tells the failures apart further.
	FailureKinds []tuner.Failure `json:"failure_kinds"`
	// Nearest is, when nothing is feasible, the measured trial that misses the bounds by the least.
	Nearest *Entry   `json:"nearest,omitempty"`
	Misses  []string `json:"misses,omitempty"`
	// Predictions says how well the model's predictions held; null when none was made.
	Predictions *Predictions `json:"predictions"`
	// Clock says which clock gave the figures: wall, or law (a rehearsal).
	Clock        metric.Clock `json:"clock,omitempty"`
	SpentSeconds float64      `json:"spent_seconds"` // running, over all sittings
	// Pace says how long trials take; null while none has ended.
	Pace *Pace `json:"pace"`
	// Saved is what cutting trials short has saved.
	Saved tuner.Savings `json:"saved"`
	// WouldSave is what it would have saved, had the study's stoppers not been asked to report only; null when they would have cut none.
	WouldSave *tuner.Savings `json:"would_save,omitempty"`
	// Memory holds the memory planner against what logs said; null where nothing is planned, or no log has said anything.
	Memory   *Memory  `json:"memory,omitempty"`
	Warnings []string `json:"warnings,omitempty"`

	awaited bool // a baseline has had no trial that ended
}

// Entry is one trial with its value.
type Entry struct {
	Trial int `json:"trial"`
	// Joins are the trials that turned out to be this configuration, where there are several: the value is the mean of theirs.
	Joins   []int                  `json:"joins,omitempty"`
	Value   float64                `json:"value"`
	Metric  string                 `json:"metric"`
	Unit    string                 `json:"unit"`
	Engine  string                 `json:"engine"`
	Flags   map[string]space.Value `json:"flags"`   // by the engine's own names; what is left at its default is not listed
	Command string                 `json:"command"` // to paste into a shell
	// Workloads are the values on each workload, when the study has several.
	Workloads []WorkloadEntry `json:"workloads,omitempty"`
	// Unjudged says of which guards nothing tells what the trial loses there against a baseline: see tuner.Unjudged.
	Unjudged []string `json:"unjudged,omitempty"`
}

// WorkloadEntry is the objective's metric on one of several workloads.
type WorkloadEntry struct {
	Name  string  `json:"name"`
	Guard bool    `json:"guard,omitempty"`
	Value float64 `json:"value"`
	// Retained is the share of the reference's value that a guard keeps.
	Retained *float64 `json:"retained,omitempty"`
}

// Facts is what a model needs beside the problem and the history.
type Facts struct {
	Study   tuner.Study
	State   string
	End     tuner.End
	Reason  string // of the end
	Command func(tuner.Trial) string
	Memory  *Memory
}

// New makes the model of a study. rank is the study's ranking, best first.
func New(p tuner.Problem, h tuner.History, rank []tuner.Ranked, f Facts) Model {
	m := Model{Name: f.Study.Name, Goal: p.Goal.String(), State: f.State, End: f.End, EndReason: f.Reason, Trials: h.Count(), Budget: f.Study.Budget.Trials,
		Failures: map[tuner.Reason]int{}, FailureKinds: h.Failures(), SpentSeconds: f.Study.Spent.Seconds(), Predictions: predictions(p, h), Pace: pace(h, f), Memory: f.Memory}
	for _, k := range m.FailureKinds {
		m.Failures[k.Reason] += k.Count
	}
	ref, hasReference := tuner.Reference(p, h)
	if hasReference {
		m.Baseline = entry(p, h, ref, f)
	}
	if len(rank) > 0 {
		m.Best = entry(p, h, rank[0], f)
		m.Clock = rank[0].Trial.Outcome.Measured.Clock
	} else {
		m.nearest(p, h, f)
	}
	if hasReference && m.Best != nil {
		if gain, ok := p.Goal.GainOver(m.Best.Value, ref.Value); ok {
			m.Gain = &gain
		}
	}
	m.awaited = awaited(p, h)
	m.saved(p, h)
	m.Warnings = warnings(h)
	if warning, _ := tuner.LittleRoom(h); warning != "" {
		m.Warnings = append(m.Warnings, warning)
	}
	return m
}

func entry(p tuner.Problem, h tuner.History, r tuner.Ranked, f Facts) *Entry {
	e := &Entry{Trial: r.Trial.Number, Joins: r.Trial.Joins, Value: r.Value, Metric: p.Goal.Metric, Unit: metric.Unit(p.Goal.Metric),
		Engine: r.Trial.Point.Engine(), Flags: map[string]space.Value{}}
	for name, v := range r.Trial.Point.All() {
		if q, ok := p.Space.Param(name); ok && q.Flag != "" && !v.IsDefault() {
			e.Flags[q.Flag] = v
		}
	}
	if f.Command != nil {
		e.Command = f.Command(r.Trial)
	}
	if m := r.Trial.Outcome.Measured; len(p.Goal.Targets)+len(p.Goal.Guards) > 0 {
		for _, m := range m.All() {
			w := WorkloadEntry{Name: m.Workload, Guard: p.Goal.Guarded(m.Workload), Value: m.Metrics[p.Goal.Metric]}
			if v, ok := m.Metrics[metric.Retained]; ok {
				w.Retained = &v
			}
			e.Workloads = append(e.Workloads, w)
		}
		e.Unjudged = tuner.Unjudged(p, h, r.Trial)
	}
	return e
}

// awaited tells whether an engine's baseline has not come to an end yet.
func awaited(p tuner.Problem, h tuner.History) bool {
	ended := 0
	for _, t := range h {
		if t.Origin == tuner.OriginBaseline && t.Told() && t.Outcome.Kind != tuner.Running && t.Outcome.Kind != tuner.Interrupted {
			ended++
		}
	}
	return ended < len(p.Baselines)
}

// saved says what cutting trials short has saved, or would have.
func (m *Model) saved(p tuner.Problem, h tuner.History) {
	saved, reported := tuner.Saved(p.Goal, h)
	m.Saved = saved
	if reported.Trials > 0 {
		m.WouldSave = &reported
	}
}

// nearest finds the measured trial that breaks the bounds by the least; among those that were cut short for breaking one while none was
// measured whole.
func (m *Model) nearest(p tuner.Problem, h tuner.History, f Facts) {
	best := nearest(p.Goal, h, tuner.Measured)
	if best == nil {
		best = nearest(p.Goal, h, tuner.Stopped)
	}
	if best == nil {
		return
	}
	v, _ := p.Goal.Value(best.Outcome.Measured)
	m.Nearest = entry(p, h, tuner.Ranked{Trial: *best, Value: v}, f)
	m.Misses = Misses(p.Goal, best.Outcome.Measured)
}

func nearest(g tuner.Goal, h tuner.History, kind tuner.Kind) *tuner.Trial {
	var best *tuner.Trial
	for i, t := range h {
		if _, ok := g.Value(t.Outcome.Measured); !ok || !t.Told() || t.Outcome.Kind != kind {
			continue
		}
		if best == nil || g.Better(t.Outcome.Measured, best.Outcome.Measured) {
			best = &h[i]
		}
	}
	return best
}

// Misses lists the bounds that a measurement breaks, with what it has and by how much.
func Misses(g tuner.Goal, meas *tuner.Measurement) []string {
	var out []string
	for _, b := range g.SubjectTo {
		of := meas.Of(b.Workload)
		if of == nil || b.Violation(meas) <= 0 {
			continue
		}
		v, ok := of.Metrics[b.Metric]
		switch {
		case !ok:
			out = append(out, b.String()+" (not measured)")
		case b.Limit > 0:
			out = append(out, b.String()+" ("+metric.Format(b.Metric, v)+", "+times(v, b)+")")
		default:
			out = append(out, b.String()+" ("+metric.Format(b.Metric, v)+")")
		}
	}
	return out
}

// warnings are the distinct warnings of all trials, in order: one that differs from an earlier one in its figures alone only adds to its count.
func warnings(h tuner.History) []string {
	var out []string
	first, count := map[string]int{}, map[string]int{}
	for _, t := range h {
		for _, w := range t.Outcome.Warnings {
			key := figures.ReplaceAllString(w, "#")
			at, seen := first[key]
			switch {
			case t.Foreign:
			case !seen:
				first[key], out = len(out), append(out, w)
			case out[at] != w:
				count[key]++
			}
		}
	}
	for key, n := range count {
		out[first[key]] += fmt.Sprintf(" (so, with other figures, %d more)", n)
	}
	return out
}

// figures are the numbers in a text.
var figures = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?`)
