package main

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"autotune/tuner"
)

// clock writes a duration as 1:02:03 or 02:03.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

// roughly writes a duration to two figures, for estimates.
func roughly(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	default:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
}

// percent writes a gain with its sign: +184.2 %.
func percent(gain float64) string {
	if math.IsNaN(gain) || math.IsInf(gain, 0) {
		return "n/a"
	}
	return fmt.Sprintf("%+.1f %%", 100*gain)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return clip(line, 160)
}

// clip shortens a line to n characters.
func clip(s string, n int) string {
	if n < 2 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// gainText is ", +12.3 % over the baseline of vllm", or nothing while no baseline ran.
func gainText(p tuner.Problem, h tuner.History, value float64) string {
	ref, ok := tuner.Reference(p, h)
	if !ok {
		return ""
	}
	gain, ok := p.Goal.GainOver(value, ref.Value)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", %s over the baseline of %s", percent(gain), ref.Trial.Point.Engine())
}
