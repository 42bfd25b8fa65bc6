package main

import (
	"autotune/space"
	"autotune/tuner"
)

// spoken is a trial that ran, with what its engine reported of the flags that it left to it.
type spoken struct {
	asked    space.Lookup
	reported map[string]space.Value // by parameter
}

// respelled is the rule that a point is none of the trials that ran with a default spelled out as the engine has reported it: that would be the same
// configuration once more. A default that no engine has told of equals nothing.
func (a *assembly) respelled(p tuner.Problem, h tuner.History) space.Constraint {
	var all []spoken
	for _, t := range h {
		d := a.engines[t.Point.Engine()]
		if d == nil || !t.Told() || !t.Ran() || len(t.Outcome.Run.Resolved) == 0 {
			continue
		}
		s := spoken{p.Space.Resolved(t.Point), map[string]space.Value{}}
		effective := d.Effective(t.Outcome.Run.Resolved)
		for _, q := range p.Space.Params() {
			if q.Engine != d.Name || q.Fixed || q.Flag == "" {
				continue
			}
			asked, _ := s.asked(q.Name)
			if v, told := effective[q.Flag]; told && q.Domain.Contains(v) && (asked.IsDefault() || asked == space.String("auto")) && v != asked {
				s.reported[q.Name] = v
			}
		}
		if len(s.reported) > 0 {
			all = append(all, s)
		}
	}
	params := p.Space.Params()
	return space.Constraint{ID: "respelled", Reason: "is a configuration that has run, with a default spelled out as its engine reported it", Holds: func(look space.Lookup) bool {
		for _, s := range all {
			if s.spelledOut(params, look) {
				return false
			}
		}
		return true
	}}
}

// spelledOut tells whether an assignment is the trial's point with at least one default spelled out.
func (s spoken) spelledOut(params []space.Param, look space.Lookup) bool {
	out := false
	for _, q := range params {
		now, has := look(q.Name)
		before, had := s.asked(q.Name)
		if now == before && has == had {
			continue
		}
		if reported, told := s.reported[q.Name]; !has || !told || now != reported {
			return false
		}
		out = true
	}
	return out
}
