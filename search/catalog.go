package search

import (
	"fmt"
	"slices"
	"strings"

	"autotune/tuner"
)

// catalog lists the samplers that a spec can name.
var catalog = []struct {
	name string
	make func() tuner.Sampler
}{
	{"gp", func() tuner.Sampler { return newGP() }},
	{"random", func() tuner.Sampler { return random{} }},
	{"tpe", func() tuner.Sampler { return newTPE() }},
	{"one-at-a-time", func() tuner.Sampler { return oneAtATime{} }},
	{"sobol", func() tuner.Sampler { return sobol{} }},
	{"grid", func() tuner.Sampler { return grid{} }},
	{"rf", func() tuner.Sampler { return newRF() }},
	{"goptuna-tpe", func() tuner.Sampler { return goptunaTPE{} }},
	{"goptuna-cmaes", func() tuner.Sampler { return goptunaCMAES{} }},
}

// Names lists the samplers by name, in the catalog's order.
func Names() []string {
	names := make([]string, len(catalog))
	for i, c := range catalog {
		names[i] = c.name
	}
	return names
}

// New makes the sampler of that name. The error lists what there is.
func New(name string) (tuner.Sampler, error) {
	for _, c := range catalog {
		if c.name == name {
			return c.make(), nil
		}
	}
	known := slices.Sorted(slices.Values(Names()))
	return nil, fmt.Errorf("no sampler is called %q; there are %s", name, strings.Join(known, ", "))
}
