package search

import (
	"math"
	"testing"
)

// TestCautionComesLate: a point that may well not run loses nothing while failures still teach, and later the more the less likely it is to run.
func TestCautionComesLate(t *testing.T) {
	for _, c := range []struct {
		seen int
		run  float64
		want float64
	}{
		{29, 0.1, 0},
		{30, 0.9, 0},
		{30, 0.45, 4 * math.Ln2},
		{60, 0.225, 8 * math.Ln2},
	} {
		b := &belief{seen: make([]sight, c.seen)}
		if got := b.caution(math.Log(c.run)); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("after %d trials, likely to run by %g: %g, want %g", c.seen, c.run, got, c.want)
		}
	}
}
