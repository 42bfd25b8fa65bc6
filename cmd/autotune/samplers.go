package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"autotune/search"
	"autotune/space"
	"autotune/tuner/studyfile"
)

func newSamplers(w *world) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "samplers", Short: "List the samplers: who proposes the next configuration, and when to take which",
		Long: `List the samplers that a spec can name (search: {sampler: NAME}): what each is and when to take it. The one marked * is taken by a spec that names none.

With --json: a list of objects of name, what, when, default.` + exitStatuses(statusDone, statusUsage),
		Example: "  autotune samplers\n  autotune samplers --json", Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(w.out, samplers())
			}
			return printSamplers(w.out, samplers())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// samplerView is a sampler as people and scripts see it. Its JSON keys are documented and stay.
type samplerView struct {
	Name    string `json:"name"`
	What    string `json:"what"`
	When    string `json:"when"`
	Default bool   `json:"default"`
}

func samplers() []samplerView {
	var all []samplerView
	for _, e := range search.Catalog() {
		all = append(all, samplerView{Name: e.Name, What: e.What, When: e.When, Default: e.Name == studyfile.DefaultSampler})
	}
	return all
}

func printSamplers(out io.Writer, all []samplerView) error {
	var b strings.Builder
	for _, s := range all {
		mark := map[bool]string{true: "*"}[s.Default]
		fmt.Fprintf(&b, "%-15s %s\n%-15s when: %s\n", s.Name+mark, s.What, "", s.When)
	}
	fmt.Fprintf(&b, "* taken by a spec that names none\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// checkSampler refuses a sampler that cannot search this space, at the parameter that is at fault.
func (a *assembly) checkSampler() error {
	err := search.Accepts(a.spec.Sampler, a.problem)
	var unfit *search.UnfitError
	if err == nil || !errors.As(err, &unfit) {
		return err
	}
	fault := a.spec.Fault(fmt.Sprintf("the sampler %s cannot search it: %s", unfit.Sampler, unfit.Reason), a.keysOf(unfit.Param)...)
	fault.Allowed = "another sampler, such as " + studyfile.DefaultSampler
	return &exitError{code: exitUsage, err: studyfile.Errors{fault}}
}

// keysOf is where a parameter stands in the spec.
func (a *assembly) keysOf(name string) []string {
	p, ok := a.problem.Space.Param(name)
	switch {
	case name == space.CheckpointParam:
		return []string{"model"}
	case name == space.EngineParam:
		return []string{"engines"}
	case !ok:
		return []string{"search", "sampler"}
	}
	return []string{"engines", p.Engine, "space", p.Flag}
}
