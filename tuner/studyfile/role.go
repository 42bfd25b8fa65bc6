package studyfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// Roles of a workload.
const (
	RoleTarget = "target" // the objective is about it
	RoleGuard  = "guard"  // what wins on the targets may lose only so much here
)

// Traffic is a workload of a study, and what it is there for.
type Traffic struct {
	workload.Spec
	Role string
	// Weight of a target among several; above 0.
	Weight float64
	// MaxRegression is the share of the reference's value that a winner may lose on a guard; 0 to less than 1.
	MaxRegression float64
}

// role reads the keys that say what a workload is for.
func (r *reader) role(t *Traffic) []field {
	return []field{
		{name: "role", read: r.oneOf(&t.Role, RoleTarget, RoleGuard)},
		{name: "weight", read: r.number(&t.Weight, 0, 1e6, true, "a number above 0")},
		{name: "max_regression", read: r.regression(&t.MaxRegression)},
	}
}

func (r *reader) regression(to *float64) func(*node, path) {
	const allowed = "a share of the reference's value from 0 to below 1, such as 10% or 0.1"
	return func(n *node, p path) {
		text, ok := r.word(n, p, allowed)
		if !ok {
			return
		}
		percent, isPercent := strings.CutSuffix(text, "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if isPercent {
			v /= 100
		}
		if err != nil || !(v >= 0 && v < 1) {
			r.fail(n, p, "not a share", allowed)
			return
		}
		*to = v
	}
}

// roles checks what each workload is for against the others, and puts them in the order in which a trial measures them: the targets, then the guards, the
// cheapest first, so that what decides early costs least.
func (r *reader) roles(s *Spec, n *node) {
	targets := 0
	for _, t := range s.Traffic {
		if t.Role == RoleTarget {
			targets++
		}
		p := path{"workloads", t.Name}
		_, bounded := r.places[p.child("max_regression").id()]
		weight, weighed := r.places[p.child("weight").id()]
		switch {
		case t.Role == RoleGuard && !bounded:
			r.failAt(r.places[p.id()], p.child("max_regression"), FieldError{Problem: "is missing", Allowed: "what a winner may lose on this guard, such as 10%"})
		case t.Role == RoleTarget && bounded:
			r.failAt(r.places[p.child("max_regression").id()], p.child("max_regression"), FieldError{Problem: "has no meaning here: only a guard has it", Allowed: "role: guard"})
		}
		if t.Role == RoleGuard && weighed {
			r.failAt(weight, p.child("weight"), FieldError{Problem: "has no meaning here: the objective is about targets alone"})
		}
	}
	if targets == 0 {
		r.failAt(n.at, path{"workloads"}, FieldError{Problem: "every workload is a guard: nothing is left to tune for", Allowed: "one with role: target"})
	}
	slices.SortStableFunc(s.Traffic, func(a, b Traffic) int {
		return cmp.Or(cmp.Compare(b.Role, a.Role), cmp.Compare(a.tokens(), b.tokens()))
	})
	for _, t := range s.Traffic {
		switch {
		case t.Role == RoleGuard:
			s.Goal.Guards = append(s.Goal.Guards, t.Name)
		case targets > 1:
			s.Goal.Targets = append(s.Goal.Targets, tuner.Target{Workload: t.Name, Weight: t.Weight})
		}
	}
}

// MeanTokens is about how many tokens a request has, prompt and answer; texts are taken to be as long as conversations are.
func (t Traffic) MeanTokens() float64 {
	in, out := t.Means()
	return in + out
}

// tokens is about how many a workload asks for.
func (t Traffic) tokens() float64 { return float64(t.Requests) * t.MeanTokens() }

// guard turns what guards may lose into bounds.
func (s *Spec) guard() {
	for _, t := range s.Traffic {
		if t.Role == RoleGuard {
			s.Goal.SubjectTo = append(s.Goal.SubjectTo, tuner.Bound{Workload: t.Name, Metric: metric.Retained, Op: ">=", Limit: 1 - t.MaxRegression})
		}
	}
}

// names are the workloads' names.
func (s *Spec) workloadNames() []string {
	var names []string
	for _, t := range s.Traffic {
		names = append(names, t.Name)
	}
	return names
}

// meant are the workloads that a metric named without a workload is about.
func (s *Spec) meant(workload string) []Traffic {
	return slices.DeleteFunc(slices.Clone(s.Traffic), func(t Traffic) bool {
		return workload == "" && t.Role == RoleGuard || workload != "" && t.Name != workload
	})
}

// text says what a workload is for, for differences.
func (t Traffic) text() string {
	switch {
	case t.Role == RoleGuard:
		return fmt.Sprintf("guard, at most %.4g%% lost", 100*t.MaxRegression)
	case t.Weight != 1:
		return fmt.Sprintf("target, weight %g", t.Weight)
	default:
		return RoleTarget
	}
}
