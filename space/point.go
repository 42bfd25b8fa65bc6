package space

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Point is one configuration: a value for every active parameter. Immutable.
type Point struct {
	names  []string // sorted
	values []Value
	key    string
}

// Get returns the value of an active parameter.
func (p Point) Get(name string) (Value, bool) {
	i := sort.SearchStrings(p.names, name)
	if i < len(p.names) && p.names[i] == name {
		return p.values[i], true
	}
	return Value{}, false
}

// All yields the active parameters by name, sorted.
func (p Point) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i, n := range p.names {
			if !yield(n, p.values[i]) {
				return
			}
		}
	}
}

// Map returns a copy of the assignment.
func (p Point) Map() map[string]Value {
	m := make(map[string]Value, len(p.names))
	for i, n := range p.names {
		m[n] = p.values[i]
	}
	return m
}

// Engine is the value of the root choice.
func (p Point) Engine() string { v, _ := p.Get(EngineParam); return v.s }

// Key is canonical: two spellings of one configuration (flags that the engine ignores or forces) have one key.
func (p Point) Key() string { return p.key }

// IsZero tells whether this is no point at all.
func (p Point) IsZero() bool { return len(p.names) == 0 }

// MarshalJSON writes an object from parameter to value, sorted by name; default is null.
func (p Point) MarshalJSON() ([]byte, error) { return json.Marshal(p.Map()) }

// Point makes a point from values by full name; inactive parameters are dropped. An active parameter without a value,
// an unknown name and a value that the parameter cannot take are errors. Rules are not checked: see Broken.
func (s *Space) Point(values map[string]Value) (Point, error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := s.index[name]; !ok {
			return Point{}, fmt.Errorf("no parameter is called %s", name)
		}
	}
	return s.build(func(p Param, _ Lookup) (Value, error) {
		v, ok := values[p.Name]
		if !ok {
			return v, fmt.Errorf("parameter %s has no value", p.Name)
		}
		if !p.Domain.Allows(v) {
			return v, fmt.Errorf("parameter %s cannot be %s", p.Name, v)
		}
		return v, nil
	})
}

// Build makes a point by asking for the value of each parameter in turn, only where it is active; look sees the values chosen so far.
func (s *Space) Build(choose func(p Param, look Lookup) Value) Point {
	p, _ := s.build(func(p Param, look Lookup) (Value, error) { return choose(p, look), nil })
	return p
}

func (s *Space) build(choose func(Param, Lookup) (Value, error)) (Point, error) {
	chosen := make(map[string]Value, len(s.params))
	look := func(name string) (Value, bool) { v, ok := chosen[name]; return v, ok }
	for _, i := range s.order {
		p := s.params[i]
		if !s.Active(p, look) {
			continue
		}
		v, err := choose(p, look)
		if err != nil {
			return Point{}, err
		}
		chosen[p.Name] = v
	}
	return s.seal(chosen), nil
}

func (s *Space) seal(chosen map[string]Value) Point {
	p := Point{names: slices.Sorted(maps.Keys(chosen))}
	p.values = make([]Value, len(p.names))
	for i, n := range p.names {
		p.values[i] = chosen[n]
	}
	p.key = s.key(p)
	return p
}

// key writes every parameter that is still there after the rewrites, sorted by name.
func (s *Space) key(p Point) string {
	look := s.resolve(p.Get)
	resolved := make(map[string]Value, len(s.params))
	for _, q := range s.params {
		if v, ok := look(q.Name); ok {
			resolved[q.Name] = v
		}
	}
	text, err := json.Marshal(resolved)
	if err != nil {
		panic("space: a value without JSON in a point: " + err.Error()) // floats are finite by construction
	}
	return string(text)
}

// ParsePoint reads what MarshalJSON wrote.
func (s *Space) ParsePoint(text []byte) (Point, error) {
	var values map[string]Value
	if err := json.Unmarshal(text, &values); err != nil {
		return Point{}, fmt.Errorf("reading a point: %w", err)
	}
	return s.Point(values)
}

// Diff lists what q sets otherwise than p, as "name=value", and what it no longer has, as "-name"; sorted, engine first.
func (p Point) Diff(q Point) []string {
	var diff []string
	for name, v := range q.All() {
		if old, ok := p.Get(name); !ok || old != v {
			diff = append(diff, name+"="+v.String())
		}
	}
	for name := range p.All() {
		if _, ok := q.Get(name); !ok {
			diff = append(diff, "-"+name)
		}
	}
	sort.SliceStable(diff, func(i, j int) bool {
		return strings.HasPrefix(diff[i], EngineParam+"=") && !strings.HasPrefix(diff[j], EngineParam+"=")
	})
	return diff
}

// ReadPoint reads what MarshalJSON wrote, in whatever space that was: for points that are shown and no longer proposed.
// Its key is made of the values as they stand.
func ReadPoint(text []byte) (Point, error) {
	var values map[string]Value
	if err := json.Unmarshal(text, &values); err != nil {
		return Point{}, fmt.Errorf("reading a point: %w", err)
	}
	var names []Param
	for name := range values {
		names = append(names, Param{Name: name})
	}
	return (&Space{params: names}).seal(values), nil
}
