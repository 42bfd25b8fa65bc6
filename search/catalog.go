package search

import (
	"fmt"
	"slices"
	"strings"

	"autotune/tuner"
)

// Entry says what a sampler is, for people who choose one.
type Entry struct {
	Name string
	What string // it is, in half a sentence
	When string // it is the one to take
	make func() tuner.Sampler
}

// Catalog describes the samplers that a spec can name, in the order in which they are shown.
func Catalog() []Entry {
	return []Entry{
		{"gp", "Gaussian processes: what a trial gives, whether it runs, which bounds it keeps",
			"nearly always", func() tuner.Sampler { return newGP() }},
		{"tpe", "two densities, of the good trials and of the rest",
			"many hundreds of trials, where its suggestions stay quick", func() tuner.Sampler { return newTPE() }},
		{"rf", "a random forest in the way of SMAC, times the chance that it runs",
			"to compare with gp", func() tuner.Sampler { return newRF() }},
		{"one-at-a-time", "one flag after another from the best baseline, keeping what improves",
			"few flags that do not depend on each other; few failures wanted", func() tuner.Sampler { return oneAtATime{} }},
		{"random", "any configuration, evenly down the tree of conditions",
			"the reference that others have to beat", func() tuner.Sampler { return random{} }},
		{"sobol", "spread evenly over the space, without learning",
			"to see the whole space, or to fit a model of one's own", func() tuner.Sampler { return sobol{} }},
		{"grid", "every configuration in the spec's order, the last flag turning fastest",
			"small spaces that are to be measured completely", func() tuner.Sampler { return grid{} }},
		{"goptuna-tpe", "TPE of the library goptuna, failures told as bad values",
			"to compare with what a Go program would use", func() tuner.Sampler { return goptunaTPE{} }},
		{"goptuna-cmaes", "CMA-ES of the library goptuna, for spaces of numbers alone",
			"many trials over numbers that work together; other spaces are refused", func() tuner.Sampler { return goptunaCMAES{} }},
	}
}

// Names lists the samplers by name, in the catalog's order.
func Names() []string {
	var names []string
	for _, e := range Catalog() {
		names = append(names, e.Name)
	}
	return names
}

// New makes the sampler of that name. The error lists what there is.
func New(name string) (tuner.Sampler, error) {
	for _, e := range Catalog() {
		if e.Name == name {
			return e.make(), nil
		}
	}
	known := slices.Sorted(slices.Values(Names()))
	return nil, fmt.Errorf("no sampler is called %q; there are %s", name, strings.Join(known, ", "))
}
