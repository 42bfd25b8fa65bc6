package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"autotune/runner/deploy"
	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/report"
)

type showOptions struct {
	json        bool
	definitions bool
	markdown    bool
	recompute   bool
}

func newShow(w *world) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use: "show STUDY [TRIAL] | show --definitions", Short: "Show every trial of a study, or all that is known of one",
		Long: `Without a number, a line for each trial. With one: its flags, command, phases, what the engine reported, every metric, why it was proposed,
what the model predicted before it was measured, or why it failed.
--definitions prints what each metric means and its formula (--markdown: as docs/metrics.md has them). --recompute computes every figure again from the
stored requests and compares it with the stored one: exit status 1 when one differs. With --json: a list of objects of workload, repeat, requests, equal, further
(figures that were not stored), expected (true: the stored ones are what the whole of a run that was cut short would have come to), differences (metric, stored,
recomputed), metrics.

With --json: an object, or a list of objects, of number, origin, kind, engine, point (parameter to value, null is default), value, unit, metrics, also (metrics of
further workloads by name), probes (metrics at other rates), gauges (columns of what the server said of itself), phase, reason,
signature, evidence, hint, rule, share, warnings, argv, env, engine_version, facts, resolved, differences (flag, asked, runs), same_as, memory (what the planner said before the trial: answer, reason, launches whose logs it knew,
sizes: what, unit, planned, measured; doubts: what of the log is not believed), log, why, proposal (kind, p_run, gain, predicted: by metric its
median, low and high ends of the interval, measured, inside), command, started, ended, stale, outside, foreign. These keys stay.` +
			exitStatuses(statusDone, statusFailed+", or a stored figure is not that of its requests", statusUsage),
		Example: "  autotune show glm.db\n  autotune show glm.db 17\n  autotune show --definitions",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.definitions && len(args) == 0 || len(args) == 1 || len(args) == 2 {
				return nil
			}
			return trying(usage("show takes a study file and, if you like, a trial's number"), "autotune show --help")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.definitions && o.markdown:
				_, err := io.WriteString(w.out, metric.Markdown())
				return err
			case o.definitions:
				return printDefinitions(w.out, o.json)
			}
			return runShow(cmd.Context(), w, args, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.BoolVar(&o.definitions, "definitions", false, "print what each metric means")
	f.BoolVar(&o.markdown, "markdown", false, "with --definitions: print them as a Markdown page")
	f.BoolVar(&o.recompute, "recompute", false, "compute the metrics again from the stored requests")
	return cmd
}

func printDefinitions(out io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(out, metric.Definitions())
	}
	var b strings.Builder
	for _, d := range metric.Definitions() {
		fmt.Fprintf(&b, "%s [%s]\n  %s\n", strings.Join(d.Names(), ", "), d.Unit, d.Help)
		if d.Formula != "" {
			fmt.Fprintf(&b, "  = %s\n", d.Formula)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func runShow(ctx context.Context, w *world, args []string, o showOptions) (err error) {
	s, err := look(ctx, args[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	if len(args) == 1 {
		return s.showAll(w.out, o.json)
	}
	number, err := strconv.Atoi(args[1])
	if err != nil || number < 0 {
		return usage("a trial's number is 0 or more, got %q", args[1])
	}
	t, err := s.numbered(number)
	if err != nil {
		return err
	}
	if o.recompute {
		return s.recompute(ctx, w.out, t, o.json)
	}
	if o.json {
		return printJSON(w.out, s.view(t))
	}
	_, err = io.WriteString(w.out, s.describe(t))
	return err
}

func (o *opened) numbered(number int) (tuner.Trial, error) {
	for _, t := range o.history {
		if t.Number == number {
			return t, nil
		}
	}
	return tuner.Trial{}, usage("the study has no trial %d: it has %d trials, from 0", number, len(o.history))
}

// trialView is a trial for scripts. Its JSON keys are documented and stay.
type trialView struct {
	Number   int                    `json:"number"`
	Origin   tuner.Origin           `json:"origin"`
	Kind     tuner.Kind             `json:"kind"`
	Engine   string                 `json:"engine"`
	Point    map[string]space.Value `json:"point"`
	Value    *float64               `json:"value"`
	Unit     string                 `json:"unit"`
	Feasible bool                   `json:"feasible"`
	Metrics  map[string]float64     `json:"metrics,omitempty"`
	Clock    metric.Clock           `json:"clock,omitempty"`
	Gauges   *metric.Gauges         `json:"gauges,omitempty"` // what the server said of itself, about once a second
	Probes   []map[string]float64   `json:"probes,omitempty"` // metrics of the other rates that a search for the highest has tried
	// Also are the metrics of the study's further workloads, by the workload's name.
	Also      map[string]map[string]float64 `json:"also,omitempty"`
	Phase     tuner.Phase                   `json:"phase,omitempty"`
	Reason    tuner.Reason                  `json:"reason,omitempty"`
	Signature string                        `json:"signature,omitempty"`
	Evidence  string                        `json:"evidence,omitempty"`
	Hint      string                        `json:"hint,omitempty"`
	Rule      string                        `json:"rule,omitempty"`
	Share     float64                       `json:"share,omitempty"` // of the run that was seen before it was, or would have been, cut short
	Warnings  []string                      `json:"warnings,omitempty"`
	Argv      []string                      `json:"argv,omitempty"`
	Env       []string                      `json:"env,omitempty"`
	Version   string                        `json:"engine_version,omitempty"`
	Facts     map[string]string             `json:"facts,omitempty"`
	Resolved  json.RawMessage               `json:"resolved,omitempty"`
	// Differences are flags that were asked for and that the engine resolved to something else; SameAs is the first trial whose engine reported the
	// very same configuration.
	Differences []engine.Difference `json:"differences,omitempty"`
	SameAs      *int                `json:"same_as,omitempty"`
	Memory      *sizesView          `json:"memory,omitempty"`
	Log         string              `json:"log,omitempty"`
	Why         string              `json:"why,omitempty"`
	Proposal    proposalView        `json:"proposal"`
	Command     string              `json:"command,omitempty"`
	Started     time.Time           `json:"started"`
	Ended       *time.Time          `json:"ended"`
	Stale       bool                `json:"stale"`
	Outside     bool                `json:"outside"`
	Foreign     bool                `json:"foreign"`
}

func (o *opened) view(t tuner.Trial) trialView {
	c := t.Outcome
	v := trialView{Number: t.Number, Origin: t.Origin, Kind: c.Kind, Engine: t.Point.Engine(), Point: t.Point.Map(), Unit: metric.Unit(o.problem.Goal.Metric),
		Feasible: o.problem.Goal.Feasible(t), Phase: c.Phase, Reason: c.Reason, Signature: c.Signature, Evidence: c.Evidence, Hint: c.Hint, Rule: c.Rule, Share: c.Share,
		Warnings: c.Warnings, Argv: c.Run.Argv, Env: c.Run.Env, Version: c.Run.EngineVersion, Facts: c.Run.Facts, Resolved: c.Run.Resolved, Log: c.Run.Log,
		Why: t.Proposal.Why, Proposal: viewProposal(o.problem.Goal, t), Started: t.Started, Stale: t.Stale, Outside: t.Outside, Foreign: t.Foreign}
	v.Differences, v.Memory = o.otherwise(t), o.sizes(t)
	if n, ok := o.twins()[t.Number]; ok {
		v.SameAs = &n
	}
	if value, ok := o.problem.Goal.Value(c.Measured); ok {
		v.Value = &value
	}
	for i, m := range c.Measured.All() {
		if i == 0 {
			v.Metrics, v.Clock, v.Gauges = m.Metrics, m.Clock, m.Gauges
			continue
		}
		if isProbe(m) {
			v.Probes = append(v.Probes, m.Metrics)
			continue
		}
		if v.Also == nil {
			v.Also = map[string]map[string]float64{}
		}
		v.Also[m.Workload] = m.Metrics
	}
	if !t.Point.IsZero() && !t.Outside {
		v.Command = deploy.Shell(o.export(t.Point))
	}
	if !t.Ended.IsZero() {
		v.Ended = &t.Ended
	}
	return v
}

func (o *opened) showAll(out io.Writer, asJSON bool) error {
	if asJSON {
		views := make([]trialView, 0, len(o.history))
		for _, t := range o.history {
			views = append(views, o.view(t))
		}
		return printJSON(out, views)
	}
	var b strings.Builder
	for _, t := range o.history {
		fmt.Fprintf(&b, "%4d  %-9s %s\n      %s\n", t.Number, askedAs(t), o.oneLine(t), o.flagLine(t))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// oneLine is a trial's end in a line.
func (o *opened) oneLine(t tuner.Trial) string {
	if t.Foreign {
		return "added by another program"
	}
	if t.Outcome.Kind == tuner.Running {
		return "running"
	}
	s := ending(tuner.Progress{Trial: &t, Problem: o.problem})
	if t.Stale {
		s += " (stale: another engine version)"
	}
	if t.Outside {
		s += " (outside the present space)"
	}
	return s
}

// flagLine is a trial's configuration: engine, then what is not left at its default.
func (o *opened) flagLine(t tuner.Trial) string {
	words := []string{t.Point.Engine()}
	for name, v := range t.Point.All() {
		if name != space.EngineParam && !v.IsDefault() {
			words = append(words, strings.TrimPrefix(name, t.Point.Engine()+".")+"="+v.String())
		}
	}
	return strings.Join(words, " ")
}

// describe writes all that is known of a trial for people.
func (o *opened) describe(t tuner.Trial) string {
	var b strings.Builder
	c := t.Outcome
	fmt.Fprintf(&b, "Trial     %d of %s, %s\n", t.Number, o.study.Name, t.Origin)
	fmt.Fprintf(&b, "Outcome   %s\n", o.oneLine(t))
	for _, row := range [][2]string{{"Evidence", c.Evidence}, {"Hint", c.Hint}, {"Asked", asked(t)}, {"Why", t.Proposal.Why},
		{"Predicted", o.predicted(t)}, {"Flags", o.flagLine(t)}, {"Engine", o.resolution(t)}, {"Memory", o.planned(t)},
		{"Version", c.Run.EngineVersion}, {"Log", c.Run.Log}, {"Env", strings.Join(c.Run.Env, " ")}, {"Added", strings.Join(c.Run.Additions, " ")}} {
		if row[1] != "" {
			fmt.Fprintf(&b, "%-9s %s\n", row[0], strings.ReplaceAll(strings.TrimSpace(row[1]), "\n", "\n          "))
		}
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "Warning   %s\n", warning)
	}
	for _, p := range tuner.Phases {
		if d, ok := c.Run.Phases[p]; ok {
			fmt.Fprintf(&b, "Phase     %-8s %s\n", p, d.Round(time.Millisecond))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Run.Facts)) {
		fmt.Fprintf(&b, "Fact      %s = %s\n", name, c.Run.Facts[name])
	}
	for i, m := range c.Measured.All() {
		if isProbe(m) && i > 0 {
			fmt.Fprintf(&b, "Probe     %s\n", o.probe(m))
			continue
		}
		fmt.Fprintf(&b, "Workload  %s%s, %s time, asked %s, sent %s\n", m.Workload, guarding(o.problem.Goal, m), m.Clock, clip(m.Identity, 16), clip(m.Sent, 16))
		if m.Share < 1 && c.Share > 0 {
			fmt.Fprintf(&b, "Expected  what the whole run would have come to, by its first %.0f %%; --recompute shows what had come\n", 100*c.Share)
		}
		if tool := c.Run.Facts["bench_tool"]; tool != "" {
			fmt.Fprintf(&b, "Measured  by %s, whose result and output lie beside the log: no requests are stored\n", strings.TrimSpace(tool+" "+c.Run.Facts["bench_version"]))
		}
		writeMetrics(&b, m.Metrics)
		writeGauges(&b, m.Gauges)
	}
	if !t.Point.IsZero() && !t.Outside {
		fmt.Fprintf(&b, "Command\n%s\n", strings.TrimRight(deploy.Shell(o.export(t.Point)), "\n"))
	}
	return b.String()
}

// planned is the memory planner beside what a trial's log says, line by line.
func (o *opened) planned(t tuner.Trial) string {
	if v := o.sizes(t); v != nil {
		return v.String()
	}
	return ""
}

// isProbe tells whether a measurement is one of a search for a rate.
func isProbe(m *tuner.Measurement) bool {
	_, ok := m.Metrics[metric.RequestRate]
	return ok
}

// probe says what came of a rate that is not the one that counts.
func (o *opened) probe(m *tuner.Measurement) string {
	s := metric.Format(metric.RequestRate, m.Metrics[metric.RequestRate]) + ": "
	switch broken := report.Misses(o.problem.Goal, m); {
	case len(broken) > 0:
		return s + "breaks " + strings.Join(broken, ", ")
	case m.Metrics["success_rate"] < o.spec.Gate:
		return s + "only " + metric.Format("success_rate", m.Metrics["success_rate"]) + " succeeded"
	case !metric.Sustained(m.Metrics):
		return s + "not sustained, only " + metric.Format("request_throughput", m.Metrics["request_throughput"]) + " served"
	default:
		return s + "holds"
	}
}

// guarding marks a guard.
func guarding(g tuner.Goal, m *tuner.Measurement) string {
	if g.Guarded(m.Workload) {
		return " (guard)"
	}
	return ""
}

// resolution says what the engine made of the configuration, line by line.
func (o *opened) resolution(t tuner.Trial) string {
	var lines []string
	for _, x := range o.otherwise(t) {
		lines = append(lines, x.String())
	}
	if n, ok := o.twins()[t.Number]; ok {
		lines = append(lines, fmt.Sprintf("reports the same configuration as trial %d", n))
	}
	if found := o.found(t); found != "" {
		lines = append(lines, "found out by itself: "+found)
	}
	return strings.Join(lines, "\n")
}

func writeMetrics(b *strings.Builder, metrics map[string]float64) {
	for _, d := range metric.Definitions() {
		for _, name := range d.Names() {
			if v, ok := metrics[name]; ok {
				fmt.Fprintf(b, "  %-34s %s\n", name, metric.Format(name, v))
			}
		}
	}
}

// writeGauges says in short what the server said of itself.
func writeGauges(b *strings.Builder, g *metric.Gauges) {
	if g == nil || len(g.At) == 0 {
		return
	}
	n := len(g.At) - 1
	fmt.Fprintf(b, "Server    by its own gauges, %d looks: running %.0f on average (at most %.0f), queued %.0f (%.0f), KV cache %.0f %% used (%.0f %%), %.0f preemptions, %.0f prompt tokens from the prefix cache\n",
		n+1, metric.Mean(g.Running), metric.Most(g.Running), metric.Mean(g.Waiting), metric.Most(g.Waiting), 100*metric.Mean(g.KVUse), 100*metric.Most(g.KVUse), g.Preempted[n], g.PrefixHits[n])
}
