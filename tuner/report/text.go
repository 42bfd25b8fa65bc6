package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

func times(v float64, b tuner.Bound) string {
	if b.Op == ">=" {
		return fmt.Sprintf("%.2f of it", v/b.Limit)
	}
	return fmt.Sprintf("%.2f times that", v/b.Limit)
}

// Text writes the model for a terminal.
func (m Model) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Study     %s: %s\n", m.Name, m.Goal)
	fmt.Fprintf(&b, "State     %s\n", m.stateLine())
	fmt.Fprintf(&b, "Trials    %s\n", m.trialsLine())
	if m.Clock == metric.Law {
		b.WriteString("Clock     law time: a rehearsal against the fake engine; the figures say nothing about real hardware\n")
	}
	if m.Pace != nil {
		fmt.Fprintf(&b, "Pace      %s\n", m.Pace)
	}
	m.writeSaved(&b)
	m.writeEntries(&b)
	m.writeFailures(&b)
	if m.Predictions != nil {
		m.Predictions.write(&b)
	}
	if m.Memory != nil {
		m.Memory.write(&b)
	}
	for _, warning := range m.Warnings {
		fmt.Fprintf(&b, "Warning   %s\n", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSaved says what cutting trials short has saved, or would have.
func (m Model) writeSaved(b *strings.Builder) {
	if n := m.Saved.Trials; n > 0 {
		fmt.Fprintf(b, "Saved     %s by cutting %s short\n", minutes(m.Saved.Minutes), trials(n))
	}
	if w := m.WouldSave; w != nil {
		fmt.Fprintf(b, "Saved     nothing: stoppers only report; they would have cut %s short and saved %s", trials(w.Trials), minutes(w.Minutes))
		if w.Best > 0 {
			fmt.Fprintf(b, ", and lost %s that ended best so far", trials(w.Best))
		} else {
			b.WriteString(", and lost none that ended best so far")
		}
		b.WriteString("\n")
	}
}

func minutes(m float64) string { return length(time.Duration(m * float64(time.Minute))) }

func trials(n int) string {
	if n == 1 {
		return "1 trial"
	}
	return fmt.Sprintf("%d trials", n)
}

func (m Model) stateLine() string {
	s := m.State
	if m.End != "" {
		s += " (" + string(m.End) + ")"
	}
	s = fmt.Sprintf("%s, %s of running", s, time.Duration(m.SpentSeconds*float64(time.Second)).Round(time.Second))
	if m.EndReason != "" {
		s += "\n          " + m.EndReason
	}
	return s
}

func (m Model) trialsLine() string {
	c := m.Trials
	s := fmt.Sprint(c.Total)
	if m.Budget > 0 {
		s += fmt.Sprintf(" of %d", m.Budget)
	}
	for _, part := range []struct {
		n    int
		word string
	}{{c.Measured, "measured"}, {c.Infeasible, "failed"}, {c.Invalid, "not believed"}, {c.Stopped, "cut short"}, {c.Interrupted, "interrupted"}, {c.Running, "running"}, {c.Stale, "stale"}, {c.Foreign, "added by another program"}} {
		if part.n > 0 {
			s += fmt.Sprintf(", %d %s", part.n, part.word)
		}
	}
	return s
}

func (m Model) writeEntries(b *strings.Builder) {
	if m.Baseline != nil {
		fmt.Fprintf(b, "Baseline  %s (%s, %s)\n", metric.Format(m.Baseline.Metric, m.Baseline.Value), m.Baseline.Engine, m.Baseline.which())
	} else if m.awaited && m.State == "ended" {
		b.WriteString("Baseline  not measured, so no gain is given\n")
	} else if m.awaited {
		b.WriteString("Baseline  not measured yet\n")
	} else if m.Trials.Total > 0 {
		b.WriteString("Baseline  none is feasible, so no gain is given\n")
	}
	switch {
	case m.Best != nil:
		fmt.Fprintf(b, "Best      %s (%s, %s)", metric.Format(m.Best.Metric, m.Best.Value), m.Best.Engine, m.Best.which())
		if m.Gain != nil {
			fmt.Fprintf(b, ", %+.1f %% over the baseline", 100**m.Gain)
		}
		fmt.Fprintf(b, "\n          %s\n", m.Best.flagsLine())
		m.Best.writeWorkloads(b)
	case m.Nearest != nil:
		fmt.Fprintf(b, "Best      none keeps every bound; the nearest is trial %d with %s, which breaks %s\n",
			m.Nearest.Trial, metric.Format(m.Nearest.Metric, m.Nearest.Value), strings.Join(m.Misses, ", "))
	default:
		b.WriteString("Best      none yet\n")
	}
}

// which names the entry's trial, or trials: "trial 3", "mean of trials 3 and 7".
func (e Entry) which() string {
	if len(e.Joins) < 2 {
		return fmt.Sprintf("trial %d", e.Trial)
	}
	words := make([]string, len(e.Joins))
	for i, n := range e.Joins {
		words[i] = fmt.Sprint(n)
	}
	last := len(words) - 1
	return "mean of trials " + strings.Join(words[:last], ", ") + " and " + words[last]
}

// writeWorkloads says what an entry comes to on each of several workloads.
func (e Entry) writeWorkloads(b *strings.Builder) {
	reference := map[bool]string{true: "baseline's", false: "stand-in's"}[len(e.Unjudged) == 0]
	for _, w := range e.Workloads {
		fmt.Fprintf(b, "          on %s: %s", w.Name, metric.Format(e.Metric, w.Value))
		if w.Retained != nil {
			fmt.Fprintf(b, ", a guard: %s of the %s", metric.Format(metric.Retained, *w.Retained), reference)
		}
		b.WriteString("\n")
	}
	for _, word := range e.Unjudged {
		fmt.Fprintf(b, "          Not judged: %s\n", word)
	}
}

func (e Entry) flagsLine() string {
	words := make([]string, 0, len(e.Flags))
	for _, name := range slices.Sorted(maps.Keys(e.Flags)) {
		words = append(words, name+"="+e.Flags[name].String())
	}
	if len(words) == 0 {
		return "no flag set"
	}
	return strings.Join(words, " ")
}

func (m Model) writeFailures(b *strings.Builder) {
	for i, f := range m.FailureKinds {
		label := map[bool]string{true: "Failed"}[i == 0]
		fmt.Fprintf(b, "%-9s %d x %s\n", label, f.Count, f.Name())
		if f.Example != "" {
			line, _, _ := strings.Cut(f.Example, "\n")
			fmt.Fprintf(b, "          %s\n", clip(line, 150))
		}
	}
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
