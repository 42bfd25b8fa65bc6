package main

import (
	"fmt"
	"math"
	"strings"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// recalled is what became of an earlier study's trials in this one.
type recalled struct {
	path     string
	of       int // trials there
	recipes  int
	evidence int
	differs  tuner.Differences // of any of them
	least    float64           // weight
	most     float64
}

// add counts a piece of evidence.
func (r *recalled) add(d tuner.Differences) {
	w := d.Weight()
	if r.evidence++; r.evidence == 1 {
		r.least, r.most = w, w
	}
	r.least, r.most = min(r.least, w), max(r.most, w)
	r.differs = tuner.Differences{Model: r.differs.Model || d.Model, Workload: r.differs.Workload || d.Workload, Machine: r.differs.Machine || d.Machine, Clock: r.differs.Clock || d.Clock}
}

// String says it in a line.
func (r recalled) String() string {
	if r.recipes+r.evidence == 0 {
		return fmt.Sprintf("%s: none of its %s has a place in this space", r.path, trials(r.of))
	}
	var parts []string
	if r.recipes > 0 {
		parts = append(parts, fmt.Sprintf("%d of its best are tried after the baselines", r.recipes))
	}
	if r.evidence > 0 {
		s := fmt.Sprintf("%d of its %s are hints of weight %.2g", r.evidence, trials(r.of), r.most)
		if r.least < r.most {
			s = fmt.Sprintf("%d of its %s are hints of weight %.2g to %.2g", r.evidence, trials(r.of), r.least, r.most)
		}
		if d := r.differs.String(); d != "" {
			s += " (" + d + ")"
		}
		parts = append(parts, s)
	}
	return r.path + ": " + strings.Join(parts, "; ")
}

func trials(n int) string {
	if n == 1 {
		return "1 trial"
	}
	return fmt.Sprintf("%d trials", n)
}

// why says where a recipe comes from.
func (e earlier) why(t earlierTrial, g tuner.Goal) string {
	s := fmt.Sprintf("trial %d of %s: %s there", t.Number, e.Path, metric.Format(g.Metric, t.Objective))
	if e.Reference != "" {
		s += fmt.Sprintf(", %s over its baseline of %s", percent(math.Expm1(t.Value)), e.Reference)
	}
	if d := t.Differs.String(); d != "" {
		s += " (" + d + ")"
	}
	return s
}
