package search

import (
	"cmp"
	"slices"

	"autotune/tuner"
)

// RankerOf is who says which trial leads under a sampler: the sampler's own model where it has one, else the best measurement.
func RankerOf(sampler string) tuner.Ranker {
	if sampler == "gp" {
		return byModel{newGP()}
	}
	return Best{}
}

// byModel ranks by the model's mean: of many noisy measurements the highest is high by luck.
type byModel struct{ gp }

// Rank lists the trials that were measured whole and keep every bound, the highest posterior mean first. Their values are as measured.
func (m byModel) Rank(p tuner.Problem, h tuner.History) []tuner.Ranked {
	ranked := Best{}.Rank(p, h)
	if len(ranked) < 2 {
		return ranked
	}
	b, err := m.believe(p, h)
	if err != nil {
		return ranked
	}
	mean := make(map[int]float64, len(b.ranked))
	for _, s := range b.ranked {
		mean[s.trial.Number] = s.mean
	}
	slices.SortStableFunc(ranked, func(x, y tuner.Ranked) int {
		return cmp.Compare(mean[y.Trial.Number], mean[x.Trial.Number])
	})
	return ranked
}
