package tuner

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"autotune/tuner/metric"
)

// Direction says which way an objective goes.
type Direction string

// The directions.
const (
	Maximize Direction = "maximize"
	Minimize Direction = "minimize"
)

// Bound is a limit on a metric, an SLO: p95_ttft <= 5s.
type Bound struct {
	Workload string  `json:"workload,omitempty"` // empty: the study's only target
	Metric   string  `json:"metric"`
	Op       string  `json:"op"` // <= or >=
	Limit    float64 `json:"limit"`
}

// Name is the bound's metric as a spec names it: METRIC or WORKLOAD.METRIC.
func (b Bound) Name() string {
	if b.Workload == "" {
		return b.Metric
	}
	return b.Workload + "." + b.Metric
}

// String writes the bound as in a spec.
func (b Bound) String() string {
	return fmt.Sprintf("%s %s %s", b.Name(), b.Op, metric.Format(b.Metric, b.Limit))
}

// Violation is log(value/limit), signed so that 0 and below is kept; +Inf when the metric was not measured or a positive value is wanted and 0 came.
// Of a workload that was not measured at all nothing is known: NaN.
func (b Bound) Violation(m *Measurement) float64 {
	of := m.Of(b.Workload)
	if of == nil {
		return math.NaN()
	}
	v, ok := of.Metrics[b.Metric]
	if !ok || math.IsNaN(v) {
		return math.Inf(1)
	}
	if b.Limit <= 0 || v <= 0 {
		d := v - b.Limit
		if b.Op == ">=" {
			d = -d
		}
		return d
	}
	d := math.Log(v / b.Limit)
	if b.Op == ">=" {
		d = -d
	}
	return d
}

// Target is a workload that the objective is about, and its weight there.
type Target struct {
	Workload string  `json:"workload"`
	Weight   float64 `json:"weight"` // above 0; only the ratios of weights matter
}

// Goal is what makes one measurement better than another.
type Goal struct {
	Metric    string    `json:"metric"`
	Direction Direction `json:"direction"`
	SubjectTo []Bound   `json:"subject_to,omitempty"`
	// Targets are the workloads of the objective when there are several; none: the measurement's own.
	Targets []Target `json:"targets,omitempty"`
	// Guards are the workloads that may lose no more than a bound on metric.Retained allows. Only what could win is measured on them.
	Guards []string `json:"guards,omitempty"`
}

// Value is the objective; ok is false when it was not measured. Of several targets it is the weighted geometric mean of their values: in the same order,
// and with the same gains over a reference, as the mean of the values' ratios to that reference.
func (g Goal) Value(m *Measurement) (v float64, ok bool) {
	if m == nil {
		return 0, false
	}
	if len(g.Targets) == 0 {
		return g.valueOf(m)
	}
	sum, weights := 0.0, 0.0
	for _, t := range g.Targets {
		v, ok := g.valueOf(m.Of(t.Workload))
		if !ok || v <= 0 {
			return 0, false
		}
		sum, weights = sum+t.Weight*math.Log(v), weights+t.Weight
	}
	return math.Exp(sum / weights), true
}

// ValueOn is the objective's metric on one workload.
func (g Goal) ValueOn(m *Measurement, workload string) (v float64, ok bool) {
	return g.valueOf(m.Of(workload))
}

func (g Goal) valueOf(m *Measurement) (v float64, ok bool) {
	if m == nil {
		return 0, false
	}
	v, ok = m.Metrics[g.Metric]
	return v, ok && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Metered is what was measured under a name as predictions have it: the objective's metric stands for the objective, WORKLOAD.METRIC for that
// workload's, and any other name for the first workload's.
func (g Goal) Metered(m *Measurement, name string) (v float64, ok bool) {
	if m == nil {
		return 0, false
	}
	if name == g.Metric {
		return g.Value(m)
	}
	if w, metric, qualified := strings.Cut(name, "."); qualified {
		if m = m.Of(w); m == nil {
			return 0, false
		}
		name = metric
	}
	v, ok = m.Metrics[name]
	return v, ok
}

// Guarded tells whether a workload is a guard.
func (g Goal) Guarded(workload string) bool { return slices.Contains(g.Guards, workload) }

// Share is how much of the objective's workloads was seen, 0 to 1: 1 is all of them.
func (g Goal) Share(m *Measurement) float64 {
	if len(g.Targets) == 0 {
		return m.Share
	}
	share := 1.0
	for _, t := range g.Targets {
		if of := m.Of(t.Workload); of != nil {
			share = min(share, of.Share)
		}
	}
	return share
}

// Violations gives each bound's violation, in order; NaN for one on a workload that was not measured.
func (g Goal) Violations(m *Measurement) []float64 {
	out := make([]float64, len(g.SubjectTo))
	for i, b := range g.SubjectTo {
		out[i] = b.Violation(m)
	}
	return out
}

// TotalViolation is the sum of the broken bounds; 0 when all that are known are kept.
func (g Goal) TotalViolation(m *Measurement) float64 {
	sum := 0.0
	for _, v := range g.Violations(m) {
		if v > 0 {
			sum += v
		}
	}
	return sum
}

// Feasible tells whether a trial was measured, on every workload, and keeps every bound.
func (g Goal) Feasible(t Trial) bool {
	_, ok := g.Value(t.Outcome.Measured)
	return ok && t.Outcome.Kind == Measured && g.Complete(t.Outcome.Measured) && g.TotalViolation(t.Outcome.Measured) <= 0
}

// Complete tells whether every guard was measured.
func (g Goal) Complete(m *Measurement) bool { return len(g.Missing(m)) == 0 }

// Missing lists the guards that were not measured.
func (g Goal) Missing(m *Measurement) (names []string) {
	for _, name := range g.Guards {
		if m.Of(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// Better tells whether a is better than b; both measured. Kept bounds come first, then the smaller violation, then the value.
func (g Goal) Better(a, b *Measurement) bool {
	va, vb := g.TotalViolation(a), g.TotalViolation(b)
	if va != vb {
		return va < vb
	}
	x, _ := g.Value(a)
	y, _ := g.Value(b)
	if g.Direction == Minimize {
		return x < y
	}
	return x > y
}

// GainOver is Gain; ok is false where no gain can be told: over a reference of 0, as a goodput can be.
func (g Goal) GainOver(value, reference float64) (gain float64, ok bool) {
	gain = g.Gain(value, reference)
	return gain, !math.IsNaN(gain) && !math.IsInf(gain, 0)
}

// Gain is the relative improvement of value over reference: 0.25 is a quarter better, whichever way the objective goes.
func (g Goal) Gain(value, reference float64) float64 {
	if g.Direction == Minimize {
		return reference/value - 1
	}
	return value/reference - 1
}

// String says the goal in words.
func (g Goal) String() string {
	s := fmt.Sprintf("%s %s", g.Direction, g.Metric)
	for i, t := range g.Targets {
		s += map[bool]string{true: " over ", false: ", "}[i == 0] + t.Workload
		if t.Weight != 1 {
			s += fmt.Sprintf(" (weight %g)", t.Weight)
		}
	}
	for i, b := range g.SubjectTo {
		s += map[bool]string{true: " subject to ", false: " and "}[i == 0] + b.String()
	}
	return strings.TrimSpace(s)
}
