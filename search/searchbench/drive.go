package searchbench

import (
	"fmt"

	"autotune/space"
)

// Parameter describes a parameter to a program that defines its search space while it runs: either listed values, or a range.
type Parameter struct {
	Name    string        `json:"name"`
	Values  []space.Value `json:"values,omitempty"`  // of a choice; of a range, its grid when that is one of floats
	Low     float64       `json:"low,omitempty"`     // of a range
	High    float64       `json:"high,omitempty"`    // of a range
	Kind    string        `json:"kind"`              // choice, int, float
	Log     bool          `json:"log,omitempty"`     // of a range: spaced by logarithm
	Default bool          `json:"default,omitempty"` // of a range: leaving the flag out is a value too
}

// Parameters describes what may change, in the order of the space; which are there beside given values, Next tells.
func (s *Surface) Parameters() []Parameter {
	var out []Parameter
	for _, p := range s.Problem.Space.Ordered() {
		d := p.Domain
		if d.Size() < 2 {
			continue
		}
		q := Parameter{Name: p.Name, Kind: "choice", Values: d.Listed()}
		_, _, _, isInt := d.Range()
		if isInt || d.IsFloatGrid() {
			q.Low, q.High, _ = d.Bounds()
			q.Log, q.Default, q.Kind = d.Log(), d.Contains(space.Default()), "int"
			q.Values = nil
			if d.IsFloatGrid() {
				q.Kind = "float"
				for _, v := range d.Listed() {
					if v.IsNumber() {
						q.Values = append(q.Values, v)
					}
				}
			}
		}
		out = append(out, q)
	}
	return out
}

// Next completes a partial assignment by the parameters that have one value only, and names the next parameter that has none; when every parameter
// that is there has a value, it gives the point, and the rule that the point breaks.
func (s *Surface) Next(given map[string]space.Value) (name string, p space.Point, broken string, err error) {
	values := map[string]space.Value{}
	look := func(n string) (space.Value, bool) { v, ok := values[n]; return v, ok }
	for _, q := range s.Problem.Space.Ordered() {
		if !s.Problem.Space.Active(q, look) {
			continue
		}
		v, ok := given[q.Name]
		switch {
		case q.Domain.Size() == 1:
			v = q.Domain.At(0)
		case !ok:
			return q.Name, p, "", nil
		case !q.Domain.Allows(v):
			return "", p, "", fmt.Errorf("%s cannot be %s", q.Name, v)
		}
		values[q.Name] = v
	}
	if p, err = s.Problem.Space.Point(values); err != nil {
		return "", p, "", err
	}
	if c, ok := s.Problem.Space.Broken(p); ok {
		broken = c.ID
	}
	return "", p, broken, nil
}

// Openings are the baselines and recipes with values that may be proposed: a baseline's default is what it stands for, where default is no choice.
func (s *Surface) Openings() []map[string]space.Value {
	var out []map[string]space.Value
	for _, p := range append(s.Problem.Baselines[:len(s.Problem.Baselines):len(s.Problem.Baselines)], s.Problem.Recipes...) {
		values := map[string]space.Value{}
		for name, v := range p.All() {
			q, _ := s.Problem.Space.Param(name)
			if !q.Domain.Contains(v) && q.Domain.Contains(q.Resolved) {
				v = q.Resolved
			}
			if q.Domain.Size() > 1 {
				values[name] = v
			}
		}
		out = append(out, values)
	}
	return out
}
