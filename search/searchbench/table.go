package searchbench

import (
	"fmt"
	"io"
	"strings"
)

// References are the methods that a table compares every other with.
var References = []string{"gp", "one-at-a-time"}

// WriteTable writes a Markdown table of methods: true regret in percent, mean / median by count of trials (at the last also the 90th percentile), and
// what else a row says. A difference whose interval holds 0 is called none. Below it stands, for each method that cuts trials short, how often that would have
// lost a best.
func WriteTable(w io.Writer, rows []Row) error {
	summaries := Summarise(rows, References...)
	if len(summaries) == 0 {
		_, err := fmt.Fprintln(w, "no rows")
		return err
	}
	head := []string{"method", "runs"}
	last := summaries[0].Last().Trials
	for _, at := range summaries[0].At {
		head = append(head, fmt.Sprintf("@%d", at.Trials))
	}
	head = append(head, "confirmed", "bad trials", "in 2nd half", "hours", "P(≤2 %) / P(≤5 %)", "area", "hours to 10 %", "get there", "s a suggestion")
	for _, r := range References {
		head = append(head, fmt.Sprintf("`%s` better by", r))
	}
	lines := []string{line(head), line(strings.Split(strings.Repeat("---,", len(head)-1)+"---", ","))}
	for _, s := range summaries {
		lines = append(lines, line(s.cells(last)))
	}
	for _, s := range summaries {
		if s.Stopped > 0 {
			low, high := Wilson(s.StoppedBest, s.Stopped)
			lines = append(lines, "", fmt.Sprintf("%s cut %d trials short; %d of them would have been the best so far (95 %%: %.2f to %.2f %%).", s.Method, s.Stopped, s.StoppedBest, 100*low, 100*high))
		}
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

func line(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

func (s Summary) cells(last int) []string {
	cells := []string{s.Method, fmt.Sprint(s.N)}
	for _, at := range s.At {
		if at.Trials == last {
			cells = append(cells, fmt.Sprintf("%.1f / %.1f / %.1f", at.Mean, at.Median, at.P90))
		} else {
			cells = append(cells, fmt.Sprintf("%.0f / %.0f", at.Mean, at.Median))
		}
	}
	cells = append(cells, fmt.Sprintf("%.1f", s.Confirmed), percent(s.Last().Bad), percent(s.BadLate), fmt.Sprintf("%.1f", s.Last().Hours),
		percent(s.Within2)+" / "+percent(s.Within5), fmt.Sprintf("%.1f", s.Area), fmt.Sprintf("%.1f", s.NearHours), percent(s.NearShare), fmt.Sprintf("%.3f", s.Seconds))
	for _, r := range References {
		cells = append(cells, s.BetterBy[last][r].String())
	}
	return cells
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// String writes a difference with its interval, "no difference" in front where the interval holds 0, and nothing where there is nothing to compare.
func (i Interval) String() string {
	switch {
	case i.N == 0:
		return ""
	case !i.Differs():
		return fmt.Sprintf("no difference (%+.1f..%+.1f)", i.Low, i.High)
	}
	return fmt.Sprintf("%+.1f (%+.1f..%+.1f)", i.Mean, i.Low, i.High)
}
