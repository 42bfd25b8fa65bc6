package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"autotune/runner/deploy"
	"autotune/runner/engine"
	"autotune/tuner/studyfile"
)

type checkOptions struct {
	json bool
}

func newCheck(w *world) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use: "check SPEC", Short: "Validate a spec and show its space, what is excluded and why, and the budget",
		Long: `Validate a spec: every mistake is printed with its line. Then show the search space, the rules that exclude configurations and how many,
each engine's baseline command, the workload, the budget, and what is worth a warning. Nothing is launched.

With --json: name, valid, errors (one a mistake), goal, engines, points (configurations that keep every rule), points_exact (false: there are more),
excluded (rule, reason, points), baselines (commands by engine), workloads (name, sends: what it sends, in a line), budget_trials, budget_wall_clock, sampler, stoppers, stop_gain, earlier (what is
made of earlier studies), warnings. These keys stay.` + exitStatuses(statusDone, statusFailed, statusUsage),
		Example: "  autotune check glm.yaml\n  autotune check glm.yaml --json",
		Args:    exactArgs(1, "one spec file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runCheck(cmd.Context(), w, args[0], o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

// checkReport is what check found. Its JSON keys are documented and stay.
type checkReport struct {
	Name      string            `json:"name"`
	Valid     bool              `json:"valid"`
	Errors    []string          `json:"errors,omitempty"`
	Goal      string            `json:"goal"`
	Engines   []string          `json:"engines"`
	Points    int               `json:"points"`       // distinct configurations that keep every rule
	Exact     bool              `json:"points_exact"` // false: the space is larger than was counted
	Excluded  []excluded        `json:"excluded"`     // by rule
	Baselines map[string]string `json:"baselines"`    // engine to command
	Workloads []checkedWorkload `json:"workloads,omitempty"`
	Trials    int               `json:"budget_trials"`
	WallClock string            `json:"budget_wall_clock,omitempty"`
	Sampler   string            `json:"sampler"`
	Stoppers  string            `json:"stoppers"`          // on, off or report
	StopGain  float64           `json:"stop_gain"`         // expected gain, as a share of the best, below which the search ends; 0: never
	Earlier   []string          `json:"earlier,omitempty"` // what is made of the studies that it starts from
	Warnings  []string          `json:"warnings"`
}

type excluded struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	Points int    `json:"points"`
}

// censusLimit bounds how many points check looks at: about a second.
const censusLimit = 20_000

func runCheck(ctx context.Context, w *world, path string, o checkOptions) error {
	spec, err := readSpec(path, "")
	if err == nil {
		var a *assembly
		if a, err = assemble(spec, w.newInputs(spec, path)); err == nil {
			err = a.readEarlier(ctx)
		}
		if err == nil {
			return printCheck(w.out, checkAssembly(a, w.getenv), o.json)
		}
	}
	var wrong studyfile.Errors
	if !o.json || !errors.As(err, &wrong) {
		return err
	}
	r := checkReport{Warnings: []string{}}
	for _, e := range wrong {
		r.Errors = append(r.Errors, e.Error())
	}
	if err := printCheck(w.out, r, true); err != nil {
		return err
	}
	return &exitError{code: exitUsage, err: errors.New("")}
}

// newInputs says what a new study on this machine is made from.
func (w *world) newInputs(spec *studyfile.Spec, path string) inputs {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		folder = filepath.Dir(path)
	}
	return inputs{Autotune: version, Catalog: engine.CatalogVersion, Folder: folder, Sampler: spec.Sampler, Host: engine.Host{GPUs: spec.GPUs}}
}

func checkAssembly(a *assembly, getenv func(string) string) checkReport {
	s := a.spec
	r := checkReport{Name: s.Name, Valid: true, Goal: s.Goal.String(), Trials: s.Budget.Trials, Sampler: s.Sampler, Stoppers: s.Stoppers, StopGain: s.StopGain,
		Warnings: slices.Clone(a.warnings), Baselines: map[string]string{}, Excluded: []excluded{}}
	if s.Budget.WallClock > 0 {
		r.WallClock = s.Budget.WallClock.String()
	}
	var removed map[string]int
	r.Points, removed, r.Exact = a.problem.Space.Census(censusLimit)
	reasons := map[string]string{}
	for _, c := range a.problem.Space.Constraints() {
		reasons[c.ID] = c.Reason
	}
	for _, id := range slices.Sorted(maps.Keys(removed)) {
		r.Excluded = append(r.Excluded, excluded{Rule: id, Reason: reasons[id], Points: removed[id]})
	}
	for _, b := range a.problem.Baselines {
		r.Engines = append(r.Engines, b.Engine())
		r.Baselines[b.Engine()] = deploy.Shell(a.export(b))
	}
	for _, e := range a.recalled {
		r.Earlier = append(r.Earlier, e.String())
	}
	for _, t := range a.spec.Traffic {
		line, warning := a.describeWorkload(t.Spec)
		r.Workloads = append(r.Workloads, checkedWorkload{t.Name, line})
		if warning != "" {
			r.Warnings = append(r.Warnings, warning)
		}
		if warning := missingVariable(t.Spec, getenv); warning != "" {
			r.Warnings = append(r.Warnings, warning+": run needs it")
		}
	}
	r.Warnings = append(r.Warnings, a.missingPrograms()...)
	if r.Exact && r.Points == 0 {
		r.Warnings = append(r.Warnings, "the rules leave no configuration at all")
	}
	return r
}

func printCheck(out io.Writer, r checkReport, asJSON bool) error {
	if asJSON {
		return printJSON(out, r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s is valid: %s\n", r.Name, r.Goal)
	more := map[bool]string{false: "more than "}[r.Exact]
	fmt.Fprintf(&b, "\nSpace     %s%d configurations over %s, sampler %s\n", more, r.Points, strings.Join(r.Engines, " and "), r.Sampler)
	for _, e := range r.Excluded {
		fmt.Fprintf(&b, "Excluded  %d points: %s [%s]\n", e.Points, e.Reason, e.Rule)
	}
	for _, e := range r.Earlier {
		fmt.Fprintf(&b, "Earlier   %s\n", e)
	}
	for _, w := range r.Workloads {
		fmt.Fprintf(&b, "Workload  %s: %s\n", w.Name, w.Sends)
	}
	fmt.Fprintf(&b, "Budget    %s\n", budgetLine(r))
	for _, name := range r.Engines {
		fmt.Fprintf(&b, "\nBaseline of %s:\n%s\n", name, strings.TrimRight(r.Baselines[name], "\n"))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "\nWarning: %s\n", warning)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func budgetLine(r checkReport) string {
	parts := []string{"no limit on trials"}
	if r.Trials > 0 {
		parts[0] = fmt.Sprintf("%d trials, baselines included", r.Trials)
	}
	if r.WallClock != "" {
		parts = append(parts, r.WallClock+" of running")
	}
	if r.StopGain > 0 {
		parts = append(parts, fmt.Sprintf("or until the model expects less than %.4g %% more", 100*r.StopGain))
	}
	return strings.Join(parts, ", ")
}

// printJSON writes a value as indented JSON, with < and & as they are.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
