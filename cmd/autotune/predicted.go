package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/report"
)

// proposalView is why a trial was asked, for scripts. Its JSON keys are documented and stay.
type proposalView struct {
	Kind      tuner.ProposalKind        `json:"kind,omitempty"`
	PRun      *float64                  `json:"p_run,omitempty"` // probability that it runs, given before
	Gain      *float64                  `json:"gain,omitempty"`  // expected, as a share of the best; of kind gain alone
	Predicted map[string]predictionView `json:"predicted,omitempty"`
}

// predictionView is a prediction beside what was measured.
type predictionView struct {
	Median   float64  `json:"median"`
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
	Interval float64  `json:"interval"` // share of the distribution between low and high
	Measured *float64 `json:"measured"`
	Inside   *bool    `json:"inside"`
}

func viewProposal(g tuner.Goal, t tuner.Trial) proposalView {
	p := t.Proposal
	v := proposalView{Kind: p.Kind}
	if p.PRun > 0 {
		v.PRun = &p.PRun
	}
	if p.Kind == tuner.KindGain {
		v.Gain = &p.Gain
	}
	for name, q := range p.Predicted {
		if v.Predicted == nil {
			v.Predicted = map[string]predictionView{}
		}
		view := predictionView{Median: q.Mean, Interval: tuner.ForecastShare}
		view.Low, view.High = q.Interval(tuner.ForecastShare)
		if x, ok := measuredOf(g, t, name); ok {
			inside := q.Inside(x, tuner.ForecastShare)
			view.Measured, view.Inside = &x, &inside
		}
		v.Predicted[name] = view
	}
	return v
}

// measuredOf is a metric of a trial that was measured to the end.
func measuredOf(g tuner.Goal, t tuner.Trial, name string) (float64, bool) {
	if t.Outcome.Kind != tuner.Measured {
		return 0, false
	}
	return g.Metered(t.Outcome.Measured, name)
}

// askedAs is what a trial was asked as, in a word.
func askedAs(t tuner.Trial) string {
	if t.Origin == tuner.OriginSearch && t.Proposal.Kind != "" {
		return string(t.Proposal.Kind)
	}
	return string(t.Origin)
}

// asked says what a trial was asked for, and with what hope.
func asked(t tuner.Trial) string {
	p := t.Proposal
	s := map[tuner.ProposalKind]string{
		tuner.KindBaseline:  "baseline: what gains are counted from",
		tuner.KindRecipe:    "recipe: listed in the spec, or among the best of an earlier study",
		tuner.KindScreen:    "screen: to see what the space is like, before the model is asked",
		tuner.KindGain:      "gain: the model expects most of it",
		tuner.KindExplore:   "exploration: near the best, and little is known of it",
		tuner.KindStructure: "exploration: another layout, of which little is known",
		tuner.KindRandom:    "random: by chance",
		tuner.KindSweep:     "sweep: the next step of a fixed order",
		tuner.KindGuard:     "guard: it would lead, and was not measured on every guard",
	}[p.Kind]
	if s == "" {
		s = string(p.Kind)
	}
	var hopes []string
	if p.Kind == tuner.KindGain {
		hopes = append(hopes, fmt.Sprintf("expected gain %s over the best", percent(p.Gain)))
	}
	if p.PRun > 0 {
		hopes = append(hopes, fmt.Sprintf("%.0f %% likely to run", 100*p.PRun))
	}
	return strings.TrimPrefix(strings.Join(append([]string{s}, hopes...), "; "), "; ")
}

// predicted sets what the model predicted beside what was measured, a line for each metric, the objective first.
func (o *opened) predicted(t tuner.Trial) string {
	names := slices.Sorted(maps.Keys(t.Proposal.Predicted))
	slices.SortStableFunc(names, func(a, b string) int {
		return objectiveFirst(o.problem.Goal.Metric, a) - objectiveFirst(o.problem.Goal.Metric, b)
	})
	var lines []string
	for _, name := range names {
		p := t.Proposal.Predicted[name]
		line := fmt.Sprintf("%s %s", name, report.Expected(name, p))
		switch v, ok := measuredOf(o.problem.Goal, t, name); {
		case ok && p.Inside(v, tuner.ForecastShare):
			line += fmt.Sprintf(", measured %s: inside", metric.Format(name, v))
		case ok:
			line += fmt.Sprintf(", measured %s: outside", metric.Format(name, v))
		case t.Outcome.Kind == tuner.Infeasible:
			line += ", but it did not run"
		case t.Outcome.Kind != tuner.Running:
			line += ", not measured"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func objectiveFirst(objective, name string) int {
	if name == objective {
		return 0
	}
	return 1
}
