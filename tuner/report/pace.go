package report

import (
	"fmt"
	"strings"
	"time"

	"autotune/tuner"
)

// Pace is how long trials take, and what the rest of the budget buys at that pace.
type Pace struct {
	StartUpSeconds   float64 `json:"start_up_seconds"`  // of a trial that ran: all but its benchmark, on average
	BenchmarkSeconds float64 `json:"benchmark_seconds"` // of a trial that ran, on average
	FailureSeconds   float64 `json:"failure_seconds"`   // of a trial that failed, on average
	// TrialsLeft and SecondsLeft are what is left of the budget while the study has not ended; -1 trials: nothing bounds them.
	TrialsLeft  int     `json:"trials_left"`
	SecondsLeft float64 `json:"seconds_left"`

	pace tuner.Pace
}

// pace is nil while no trial has ended.
func pace(h tuner.History, f Facts) *Pace {
	p := h.Pace()
	if p.Ran+p.Failed == 0 {
		return nil
	}
	r := &Pace{StartUpSeconds: p.StartUp.Seconds(), BenchmarkSeconds: p.Bench.Seconds(), FailureSeconds: p.Failure.Seconds(), pace: p}
	if f.State != "ended" {
		trials, left := f.Study.Budget.Left(h, f.Study.Spent, 0)
		r.TrialsLeft, r.SecondsLeft = trials, left.Seconds()
	}
	return r
}

func (r Pace) String() string {
	var parts []string
	if r.pace.Ran > 0 {
		parts = append(parts, fmt.Sprintf("a trial that runs takes %s to start and %s to measure", length(r.pace.StartUp), length(r.pace.Bench)))
	}
	if r.pace.Failed > 0 {
		parts = append(parts, fmt.Sprintf("one that fails %s", length(r.pace.Failure)))
	}
	s := strings.Join(parts, ", ")
	if r.TrialsLeft > 0 && r.SecondsLeft > 0 {
		s += fmt.Sprintf("; the budget is good for about %d more, %s", r.TrialsLeft, length(time.Duration(r.SecondsLeft*float64(time.Second))))
	}
	return s
}

// length writes a duration to about two figures.
func length(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 10*time.Minute:
		return fmt.Sprintf("%.1f min", d.Minutes())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	default:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
}
