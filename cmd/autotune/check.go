package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"autotune/runner/deploy"
	"autotune/runner/engine"
	"autotune/tuner/studyfile"
)

type checkOptions struct {
	json      bool
	installed bool
	plan      bool
}

func newCheck(w *world) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use: "check SPEC|STUDY", Short: "Validate a spec and show its space, what is excluded and why, and the budget",
		Long: `Validate a spec: every mistake is printed with its line. Then show the search space, the rules that exclude configurations and how many,
each engine's baseline command, the workload, the budget, and what is worth a warning. Nothing is launched.

Flags are held against the catalog; one that it does not know is a warning, since only the installed engine can tell. --installed asks it, as run does
before the first launch: then flags, choices and defaults are its own.

With --plan: the night before it happens, on one page. What a baseline needs of a GPU's memory, how long the phases of a trial last and what is assumed
there, how many trials the budget buys, the GPU-hours, what will not be tried and why, and what is likely to spoil it. The spec's section plan tells the
GPU (gpu or memory), the disk, and the geometry of a checkpoint that lies in no folder and no cache here; docs/memory.md says how it is computed.

Of a study file the spec in it is shown, with what the logs of its own trials said of memory and time in place of estimates.

With --json: name, valid, errors (one a mistake), goal, engines, points (configurations that keep every rule), points_exact (false: there are more),
excluded, resolved and noted (rule, reason, points, of, sample; of what the memory planner excludes also example): what the engines refuse, make something
else of, or run otherwise than it seems, baselines (commands by engine), workloads (name, sends: what it sends, in a line), budget_trials, budget_wall_clock, sampler, stoppers, stop_gain, earlier (what is
made of earlier studies), warnings; with --plan also gpu, memory (what the planner makes of the space's points), sums (of each baseline), phases (of a
trial), trial_seconds, buys_trials, hours, gpu_hours, ends_by (trials, wall_clock or space), not_tried. These keys stay.` + exitStatuses(statusDone, statusFailed, statusUsage),
		Example: "  autotune check glm.yaml\n  autotune check glm.yaml --plan\n  autotune check glm.db --plan\n  autotune check glm.yaml --json",
		Args:    exactArgs(1, "one spec or study file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runCheck(cmd.Context(), w, args[0], o) },
	}
	cmd.Flags().BoolVar(&o.plan, "plan", false, "print the plan of the night: memory, time, what the budget buys")
	cmd.Flags().BoolVar(&o.installed, "installed", false, "ask the installed engines for their flags, and hold the spec against these")
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
	Points    int               `json:"points"`             // distinct configurations that keep every rule
	Exact     bool              `json:"points_exact"`       // false: the space is larger than was counted
	Resolved  []excluded        `json:"resolved,omitempty"` // by rule: points of which the engine makes something else
	Noted     []excluded        `json:"noted,omitempty"`    // by rule: points that run and are not what they seem
	Excluded  []excluded        `json:"excluded"`           // by rule
	Baselines map[string]string `json:"baselines"`          // engine to command
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
	// Of is how many points were looked at; Example is one that cannot fit, with its sum: of the memory planner's rules alone.
	Of      int    `json:"of,omitempty"`
	Example string `json:"example,omitempty"`
	// Sample says that the points are some of a large space by chance.
	Sample bool `json:"sample,omitempty"`
}

// censusLimit bounds how many points check looks at: about a second.
const censusLimit = 20_000

func runCheck(ctx context.Context, w *world, path string, o checkOptions) error {
	spec, err := readSpec(path, "")
	if errors.Is(err, errStudy) {
		return w.checkStudy(ctx, path, o)
	}
	if err == nil {
		var a *assembly
		if a, err = w.assembleNew(ctx, spec, w.newInputs(spec, path)); err == nil {
			err = a.readEarlier(ctx)
		}
		if err == nil && o.installed {
			a, err = w.askEngines(ctx, a)
		}
		if err == nil && o.plan {
			return w.printPlan(ctx, a, experience{}, o)
		}
		if err == nil {
			return printCheck(w.out, w.check(a), o.json)
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

// checkStudy looks at the spec of a study file, with the memory planner after what the study's logs said.
func (w *world) checkStudy(ctx context.Context, path string, o checkOptions) (err error) {
	if o.installed {
		return trying(usage("a study file has asked the installed engines already"), "without --installed, or a spec")
	}
	s, err := look(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	s.learn(s.history)
	if !o.plan {
		return printCheck(w.out, w.check(s.assembly), o.json)
	}
	var x experience
	if p := s.history.Pace(); p.Ran > 0 && !s.inputs.Rehearse {
		x = experience{pace: p, from: path}
	}
	return w.printPlan(ctx, s.assembly, x, o)
}

func (w *world) printPlan(ctx context.Context, a *assembly, x experience, o checkOptions) error {
	n, err := a.night(ctx, w.check(a), x)
	if err != nil {
		return err
	}
	return printNight(w.out, n, o.json)
}

// newInputs says what a new study on this machine is made from.
func (w *world) newInputs(spec *studyfile.Spec, path string) inputs {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		folder = filepath.Dir(path)
	}
	return inputs{Autotune: version, Catalog: engine.CatalogVersion, Folder: folder, Sampler: spec.Sampler, Host: engine.Host{GPUs: spec.GPUs}}
}

// check is what a check says of a spec here, where variables are set or not.
func (w *world) check(a *assembly) checkReport {
	r := checkAssembly(a)
	for _, t := range a.spec.Traffic {
		if warning := missingVariable(t.Spec, w.getenv); warning != "" {
			r.Warnings = append(r.Warnings, warning+": run needs it")
		}
	}
	return r
}

func checkAssembly(a *assembly) checkReport {
	s := a.spec
	r := checkReport{Name: s.Name, Valid: true, Goal: s.Goal.String(), Trials: s.Budget.Trials, Sampler: s.Sampler, Stoppers: a.stoppers(), StopGain: s.StopGain,
		Warnings: slices.Clone(a.warnings), Baselines: map[string]string{}, Excluded: []excluded{}}
	if s.Budget.WallClock > 0 {
		r.WallClock = s.Budget.WallClock.String()
	}
	var removed map[string]int
	r.Points, removed, r.Exact = a.problem.Space.Census(censusLimit)
	a.countRules(&r, removed)
	a.exampleOfMemory(&r)
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
	}
	r.Warnings = append(r.Warnings, a.missingPrograms()...)
	if problem := a.missingTool(); problem != "" {
		r.Warnings = append(r.Warnings, problem)
	}
	if r.Exact && r.Points == 0 {
		r.Warnings = append(r.Warnings, "the rules leave no configuration at all")
	}
	return r
}

// exampleOfMemory says of what the planner excludes how much of the space it is, and why one of the points cannot fit. Of a large space, of which the
// census has seen a corner, it is what a sample by chance shows.
func (a *assembly) exampleOfMemory(r *checkReport) {
	c := a.memoryCensus(r.Exact)
	if c.Excluded == 0 {
		return
	}
	r.Excluded = slices.DeleteFunc(r.Excluded, func(e excluded) bool { return memoryRule(e.Rule) })
	for _, rule := range a.problem.Space.Constraints() {
		if example := c.Examples[rule.ID]; example != "" {
			r.Excluded = append(r.Excluded, excluded{Rule: rule.ID, Reason: rule.Reason, Points: c.Rules[rule.ID], Of: c.Looked, Example: example, Sample: !r.Exact})
		}
	}
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
		if e.Example != "" {
			chance := map[bool]string{true: " by chance"}[e.Sample]
			fmt.Fprintf(&b, "Excluded  by memory: %d of %d points%s, e.g. %s [%s]\n", e.Points, e.Of, chance, e.Example, e.Rule)
			continue
		}
		fmt.Fprintf(&b, "Excluded  %s: %s [%s]\n", e.share(), e.Reason, e.Rule)
	}
	for _, e := range r.Resolved {
		fmt.Fprintf(&b, "Resolved  %s: the engine %s [%s]\n", e.share(), e.Reason, e.Rule)
	}
	for _, e := range r.Noted {
		fmt.Fprintf(&b, "Noted     %s: the engine %s [%s]\n", e.share(), e.Reason, e.Rule)
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
