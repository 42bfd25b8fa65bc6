package deploy

import (
	"maps"
	"regexp"
	"slices"

	"mvdan.cc/sh/v3/expand"
)

// variable is a shell variable and the line that set it.
type variable struct {
	expand.Variable
	line  int
	notes []Note // what has to be said where it is used
}

// variables are those of the shell.
type variables map[string]variable

// Get finds a variable.
func (v variables) Get(name string) expand.Variable {
	if name == "*" {
		name = "@"
	}
	if _, given := v[name]; name == "@" && !given {
		return expand.Variable{Set: true, Kind: expand.Indexed, List: []string{}}
	}
	return v[name].Variable
}

// Set keeps what ${NAME:=VALUE} assigns.
func (v variables) Set(name string, x expand.Variable) error {
	x.Exported = x.Exported || v[name].Exported
	v[name] = variable{Variable: x}
	return nil
}

// Each is every variable that is set.
func (v variables) Each(f func(string, expand.Variable) bool) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !f(name, v[name].Variable) {
			return
		}
	}
}

// exported are the variables that every command of the script is given, in the order of their lines.
func (v variables) exported() []Variable {
	var out []Variable
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if x := v[name]; x.Exported && x.Set {
			out = append(out, Variable{Name: name, Value: x.String(), Line: x.line})
		}
	}
	slices.SortStableFunc(out, func(a, b Variable) int { return a.Line - b.Line })
	return out
}

// newVariables are those that a script begins with: what the person says, and the home folder.
func newVariables(o *Options) variables {
	v := variables{}
	if o.Home != "" {
		v["HOME"] = variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: o.Home}}
	}
	if o.Path != "" {
		v["0"] = variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: o.Path}}
		v["BASH_SOURCE"] = variable{Variable: expand.Variable{Set: true, Kind: expand.Indexed, List: []string{o.Path}}}
	}
	for name, value := range o.Set {
		v[name] = variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: value}}
	}
	return v
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func exportedVariable(v Variable) variable {
	return variable{Variable: expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: v.Value}, line: v.Line}
}
