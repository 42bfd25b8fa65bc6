package tuner

import (
	"fmt"
	"math"
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
	Workload string  `json:"workload,omitempty"` // empty: on every target workload
	Metric   string  `json:"metric"`
	Op       string  `json:"op"` // <= or >=
	Limit    float64 `json:"limit"`
}

// String writes the bound as in a spec.
func (b Bound) String() string {
	name := b.Metric
	if b.Workload != "" {
		name = b.Workload + "." + name
	}
	return fmt.Sprintf("%s %s %s", name, b.Op, metric.Format(b.Metric, b.Limit))
}

// Violation is log(value/limit), signed so that 0 and below is kept; +Inf when the metric was not measured or a positive value is wanted and 0 came.
func (b Bound) Violation(m Measurement) float64 {
	v, ok := m.Metrics[b.Metric]
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

// Goal is what makes one measurement better than another.
type Goal struct {
	Metric    string    `json:"metric"`
	Direction Direction `json:"direction"`
	SubjectTo []Bound   `json:"subject_to,omitempty"`
}

// Value is the objective; ok is false when it was not measured.
func (g Goal) Value(m *Measurement) (v float64, ok bool) {
	if m == nil {
		return 0, false
	}
	v, ok = m.Metrics[g.Metric]
	return v, ok && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Violations gives each bound's violation, in order.
func (g Goal) Violations(m *Measurement) []float64 {
	out := make([]float64, len(g.SubjectTo))
	for i, b := range g.SubjectTo {
		out[i] = b.Violation(*m)
	}
	return out
}

// TotalViolation is the sum of the broken bounds; 0 when all are kept.
func (g Goal) TotalViolation(m *Measurement) float64 {
	sum := 0.0
	for _, v := range g.Violations(m) {
		sum += max(0, v)
	}
	return sum
}

// Feasible tells whether a trial was measured and keeps every bound.
func (g Goal) Feasible(t Trial) bool {
	_, ok := g.Value(t.Outcome.Measured)
	return ok && t.Outcome.Kind == Measured && g.TotalViolation(t.Outcome.Measured) <= 0
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
	for i, b := range g.SubjectTo {
		s += map[bool]string{true: " subject to ", false: " and "}[i == 0] + b.String()
	}
	return strings.TrimSpace(s)
}
