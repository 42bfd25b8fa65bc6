package searchbench

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/search"
)

func method(t *testing.T, name string) Method {
	t.Helper()
	s, err := search.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return Method{Name: name, Sampler: s, Ranker: search.RankerOf(name)}
}

// Three methods on two surfaces with three seeds: every row is complete and the same a second time but for its seconds, time passes, nobody finds more than the best,
// and the ones that learn end, in the mean, below the one that does not.
func TestRun(t *testing.T) {
	const trials = 24
	mean := map[string]float64{}
	for _, family := range []string{"small", "additive"} {
		for seed := range uint64(3) {
			s, err := New(family, seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"random", "one-at-a-time", "gp"} {
				row, err := Run(s, method(t, name), 0.05, trials)
				if err != nil {
					t.Fatal(err)
				}
				check(t, row, trials)
				mean[name] += row.Trials[trials-1].Regret / 6
				if seed > 0 {
					continue
				}
				again, err := Run(s, method(t, name), 0.05, trials)
				if err != nil {
					t.Fatal(err)
				}
				row.Seconds, again.Seconds = 0, 0
				if diff := cmp.Diff(row, again); diff != "" {
					t.Errorf("%s on %s: two runs of one seed differ: %s", name, family, diff)
				}
			}
		}
	}
	t.Logf("mean regret after %d trials: %v", trials, mean)
	if mean["gp"] > mean["random"] {
		t.Errorf("after %d trials the mean regret is %v", trials, mean)
	}
}

func check(t *testing.T, row Row, trials int) {
	t.Helper()
	if len(row.Trials) != trials || row.Crashed > row.Bad || row.BadLate > row.Bad || row.Bad > trials {
		t.Errorf("%s: %d trials, %d crashed, %d bad, %d late", row.Key(), len(row.Trials), row.Crashed, row.Bad, row.BadLate)
	}
	for i, s := range row.Trials {
		if s.Regret < 0 || s.Regret > 100 || i > 0 && s.Minutes < row.Trials[i-1].Minutes+minutesRefused {
			t.Errorf("%s: trial %d: %+v", row.Key(), i, s)
		}
	}
}

// Noise has the spread that was asked for, outliers are slow and one in twenty, and what does not run costs what it costs.
func TestMeasure(t *testing.T) {
	s, err := New("glm8k", 0)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Problem.Baselines[1]
	truth := s.Truth(p)
	low := 0
	const n = 4000
	for i := range n {
		o := s.Measure(p, i, 0.001)
		ratio := o.Measured.Metrics[Objective] / truth.Metrics[Objective]
		if ratio < 0.97 {
			low++
		}
		if ratio < 0.79 || ratio > 1.01 {
			t.Fatalf("measurement %d is %.3f of the truth", i, ratio)
		}
		if o.Cost.Minutes() < minutesReady || o.Cost.Minutes() > 200 {
			t.Fatalf("a trial of %v", o.Cost)
		}
	}
	if share := float64(low) / n; share < 0.04 || share > 0.06 {
		t.Errorf("%.1f %% of the measurements are slow outliers", 100*share)
	}
}
