package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"autotune/tuner"
)

// Pace is how long trials take, and what the rest of the budget buys at that pace.
type Pace struct {
	StartUpSeconds   float64 `json:"start_up_seconds"`  // of a trial that ran: all but its benchmark, on average
	BenchmarkSeconds float64 `json:"benchmark_seconds"` // of a trial that ran, on average
	FailureSeconds   float64 `json:"failure_seconds"`   // of a trial that failed, on average
	// StartUps are the start-ups by kind of configuration, the most frequent first.
	StartUps []StartUp `json:"start_ups"`
	// TrialsLeft and SecondsLeft are what is left of the budget while the study has not ended; -1 trials: nothing bounds them.
	TrialsLeft  int     `json:"trials_left"`
	SecondsLeft float64 `json:"seconds_left"`

	pace tuner.Pace
}

// StartUp is how long one kind of configuration takes to start: see tuner.StartUp.
type StartUp struct {
	Like        string  `json:"like"`
	Seconds     float64 `json:"seconds"`
	ColdSeconds float64 `json:"cold_seconds,omitempty"`
	Trials      int     `json:"trials"`
}

// pace is nil while no trial has ended.
func pace(h tuner.History, f Facts) *Pace {
	p := h.Pace()
	if p.Ran+p.Failed == 0 {
		return nil
	}
	r := &Pace{StartUpSeconds: p.StartUp.Seconds(), BenchmarkSeconds: p.Bench.Seconds(), FailureSeconds: p.Failure.Seconds(), StartUps: []StartUp{}, pace: p}
	for _, k := range p.StartUps.Kinds() {
		r.StartUps = append(r.StartUps, StartUp{k.Like, k.Typical.Seconds(), k.Cold.Seconds(), k.Trials})
	}
	if f.State != "ended" {
		trials, left := f.Study.Budget.Left(h, p, f.Study.Spent, -1)
		r.TrialsLeft, r.SecondsLeft = trials, left.Seconds()
	}
	return r
}

func (r Pace) String() string {
	var parts []string
	if r.pace.Ran > 0 {
		parts = append(parts, fmt.Sprintf("a trial that runs takes %s to start%s and %s to measure", length(r.pace.StartUp), r.apart(), length(r.pace.Bench)))
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

// Kinds of configurations are told apart for people when their start-ups differ by so much, as a ratio; and so many of them.
const (
	kindsApart = 1.25
	kindsTold  = 4
)

// apart says how long the kinds of configurations take to start where that differs.
func (r Pace) apart() string {
	least, most := math.Inf(1), 0.0
	var words []string
	for i, k := range r.StartUps {
		least, most = min(least, k.Seconds), max(most, k.Seconds)
		if i < kindsTold {
			words = append(words, k.Like+" "+length(time.Duration(k.Seconds*float64(time.Second))))
		}
	}
	if len(words) < 2 || most < kindsApart*least {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
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
