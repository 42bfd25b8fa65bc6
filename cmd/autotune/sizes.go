package main

import (
	"fmt"
	"slices"
	"strings"

	"autotune/tuner"
	"autotune/tuner/memory"
	"autotune/tuner/report"
)

// sizesView is the memory planner beside a trial's log, for scripts. Its JSON keys are documented and stay.
type sizesView struct {
	Answer   memory.Answer       `json:"answer"`           // of the planner, by the logs before this trial's
	Reason   string              `json:"reason,omitempty"` // of the answer
	Sizes    []memory.Comparison `json:"sizes,omitempty"`
	Doubts   []string            `json:"doubts,omitempty"` // what of the log is not believed
	Launches int                 `json:"launches"`         // whose logs the planner knew
}

// sizes are what the planner said of a trial before it ran, and what its log says; nil where nothing is planned, or the point is not of this space.
func (o *opened) sizes(t tuner.Trial) *sizesView {
	if !o.planner.on() || t.Point.IsZero() || t.Outside {
		return nil
	}
	earlier := slices.DeleteFunc(slices.Clone(o.history), func(x tuner.Trial) bool { return x.Number >= t.Number })
	known := o.launches(earlier)
	before := o.planner.after(known)
	e := before.estimate(o.problem.Space.Resolved(t.Point))
	v := &sizesView{Answer: e.Answer, Reason: e.Reason, Launches: told(known)}
	for _, l := range o.launches(tuner.History{t}) {
		if l.source == trialSource(t.Number) {
			v.Sizes, v.Doubts = before.compare(l)
		}
	}
	return v
}

// told counts the launches whose logs told sizes.
func told(all []launch) int {
	n := 0
	for _, l := range all {
		if l.Facts != (memory.Facts{}) {
			n++
		}
	}
	return n
}

// compare holds a launch's log against the planner, and says what of it cannot be.
func (p planner) compare(l launch) (sizes []memory.Comparison, doubts []string) {
	m, known := p.models[l.checkpoint]
	if !known {
		return nil, nil
	}
	c := p.sizes[l.checkpoint]
	if c == nil {
		c = memory.Calibrate(m, nil)
	}
	return c.Compare(l.Launch), memory.Calibrate(m, []memory.Launch{l.Launch}).Doubts(0)
}

// String says it line by line.
func (v sizesView) String() string {
	lines := []string{fmt.Sprintf("planned: %s, by the logs of %s", v.Answer, trials(v.Launches))}
	if v.Launches == 0 {
		lines[0] = fmt.Sprintf("planned: %s, before any log", v.Answer)
	}
	for _, s := range v.Sizes {
		line := fmt.Sprintf("%s: planned %s, measured %s %s", s.What, report.SpanText(s.Unit, s.Planned), report.SizeText(s.Unit, s.Measured), s.Unit)
		if !s.Inside() {
			line += ", outside of the plan"
		}
		lines = append(lines, line)
	}
	for _, d := range v.Doubts {
		lines = append(lines, "not believed: "+d)
	}
	return strings.Join(lines, "\n")
}

// memoryReport holds the planner against the study's logs; nil where nothing is planned, or no log has said anything.
func (o *opened) memoryReport() *report.Memory {
	if !o.planner.on() {
		return nil
	}
	all := o.launches(o.history)
	m := report.Memory{Launches: told(all)}
	if m.Launches == 0 {
		return nil
	}
	before, after := o.planner.after(nil), o.planner.after(all)
	latest := map[string]launch{}
	for _, l := range all {
		if l.Facts == (memory.Facts{}) || l.source != trialSource(l.trial) {
			continue
		}
		latest[l.Setup.Engine] = l
		if _, doubts := after.compare(l); len(doubts) > 0 {
			m.Doubts = append(m.Doubts, fmt.Sprintf("trial %d: %s", l.trial, strings.Join(doubts, "; ")))
		}
	}
	for _, e := range o.spec.Engines {
		l, ok := latest[e.Name]
		if !ok {
			continue
		}
		planned, _ := before.compare(l)
		now, _ := after.compare(l)
		for i, s := range planned {
			m.Sizes = append(m.Sizes, report.MemorySize{Engine: e.Name, Trial: l.trial, Comparison: s, Now: now[i].Planned})
		}
	}
	return &m
}
