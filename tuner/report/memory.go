package report

import (
	"fmt"
	"strings"

	"autotune/tuner/memory"
)

// Memory says how the memory planner's estimates compare with what the logs of launches said. Its JSON keys are documented and stay.
type Memory struct {
	Launches int          `json:"launches"` // whose logs told sizes
	Sizes    []MemorySize `json:"sizes"`    // of each engine's latest such trial
	Doubts   []string     `json:"doubts,omitempty"`
}

// MemorySize is a size of one trial: as the planner had it before any log, as the log has it, and as the planner now has it.
type MemorySize struct {
	Engine string `json:"engine"`
	Trial  int    `json:"trial"`
	memory.Comparison
	Now memory.Range `json:"now"`
}

// write adds the lines for a terminal: one an engine, and one for what was not believed.
func (m Memory) write(b *strings.Builder) {
	fmt.Fprintf(b, "Memory    the planner goes by the logs of %s\n", trials(m.Launches))
	line, at := "", -1
	flush := func() {
		if line != "" {
			fmt.Fprintf(b, "          %s\n", line)
		}
	}
	for _, s := range m.Sizes {
		text := fmt.Sprintf("%s %s", s.What, s.Line())
		if s.Trial == at {
			line += "; " + text
			continue
		}
		flush()
		line, at = fmt.Sprintf("%s, trial %d: %s", s.Engine, s.Trial, text), s.Trial
	}
	flush()
	for _, d := range m.Doubts {
		fmt.Fprintf(b, "          not believed: %s\n", d)
	}
}

// Line says it in words: "94.5 GiB, planned 86.9 to 101.0, now 93.5 to 95.4".
func (s MemorySize) Line() string {
	text := fmt.Sprintf("%s %s, planned %s", SizeText(s.Unit, s.Measured), s.Unit, SpanText(s.Unit, s.Planned))
	if s.Now != s.Planned {
		text += ", now " + SpanText(s.Unit, s.Now)
	}
	return text
}

// SizeText writes a number of GiB, bytes or tokens.
func SizeText(unit string, x float64) string {
	if unit == "GiB" {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// SpanText writes an interval of them; one number where its ends are written alike.
func SpanText(unit string, r memory.Range) string {
	low, high := SizeText(unit, r.Low), SizeText(unit, r.High)
	if low == high {
		return low
	}
	return low + " to " + high
}
