package search

import (
	"slices"
	"testing"

	"autotune/search/searchtest"
	"autotune/tuner"
)

// twinned is a study in which the best measurement was high by luck: its configuration was measured once more, under another spelling, and came out low.
func twinned(t *testing.T) (p tuner.Problem, h tuner.History, lucky, twin int) {
	t.Helper()
	surface := searchtest.TwoEngines()
	p = surface.Problem
	h = searchtest.Study(t, newGP(), surface, 3, 25)
	ranked := Best{}.Rank(p, h)
	lucky, twin = ranked[0].Trial.Number, ranked[len(ranked)-1].Trial.Number
	scale := func(i int, by float64) {
		m := *h[lucky].Outcome.Measured
		m.Metrics = map[string]float64{}
		for name, v := range h[lucky].Outcome.Measured.Metrics {
			m.Metrics[name] = v
		}
		m.Metrics[p.Goal.Metric] = ranked[0].Value * by
		h[i].Outcome.Measured = &m
	}
	h = slices.Clone(h)
	scale(twin, 0.5)
	scale(lucky, 1.1)
	h[twin].Outcome.Run.ResolvedKey = h[lucky].Point.Key()
	return p, h, lucky, twin
}

// TestTheBestIsTheMeanOfItsTwins: a configuration is ranked once, by the mean, and one that was lucky once does not lead.
func TestTheBestIsTheMeanOfItsTwins(t *testing.T) {
	p, h, lucky, twin := twinned(t)
	for _, ranker := range []tuner.Ranker{Best{}, RankerOf("gp")} {
		ranked := ranker.Rank(p, h)
		if n := ranked[0].Trial.Number; n == lucky || n == twin {
			t.Errorf("%T: trial %d leads", ranker, n)
		}
		seen := false
		for _, r := range ranked {
			if r.Trial.Number == twin && lucky < twin || r.Trial.Number == lucky && twin < lucky {
				t.Errorf("%T: the twin is ranked beside its first", ranker)
			}
			if r.Trial.Repeats() == 2 {
				first, other := h[lucky].Outcome.Measured, h[twin].Outcome.Measured
				a, _ := p.Goal.Value(first)
				b, _ := p.Goal.Value(other)
				if seen = true; r.Value != (a+b)/2 {
					t.Errorf("%T: value %g of %g and %g", ranker, r.Value, a, b)
				}
			}
		}
		if !seen {
			t.Errorf("%T: the joined configuration is not ranked", ranker)
		}
	}
}

// TestTwinsMakeTheModelSurer: what was measured twice is known better than what was measured once.
func TestTwinsMakeTheModelSurer(t *testing.T) {
	surface := searchtest.TwoEngines()
	h := searchtest.Study(t, newGP(), surface, 3, 25)
	first := Best{}.Rank(surface.Problem, h)[0].Trial
	again := first
	again.Number = 100
	once, twice := believed(t, surface.Problem, h), believed(t, surface.Problem, append(slices.Clone(h), again))
	_, before := once.value(once.cell(first.Point))
	_, after := twice.value(twice.cell(first.Point))
	if !(after < before) || len(twice.ranked) != len(once.ranked) {
		t.Errorf("variance %g after two measurements of %d configurations, %g after one of %d", after, len(twice.ranked), before, len(once.ranked))
	}
}
