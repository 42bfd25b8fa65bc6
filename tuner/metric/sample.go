package metric

import (
	"slices"
	"time"
)

// weighted is a value that stands for so many equal ones.
type weighted struct {
	value  float64
	weight int
}

// sample collects values of one metric.
type sample struct {
	values []weighted
}

func (s *sample) add(d time.Duration, weight int) { s.addSeconds(d.Seconds(), weight) }

func (s *sample) addSeconds(v float64, weight int) {
	s.values = append(s.values, weighted{v, weight})
}

// report writes a family's members; nothing when there are no values.
func (s *sample) report(out map[string]float64, family string) {
	if len(s.values) == 0 {
		return
	}
	s.sort()
	out["mean_"+family] = s.mean()
	out["p50_"+family] = s.percentile(0.50)
	out["p90_"+family] = s.percentile(0.90)
	out["p95_"+family] = s.percentile(0.95)
	out["p99_"+family] = s.percentile(0.99)
}

// sort brings the values in order and merges equal ones, so that a mean does not depend on the order in which they came.
func (s *sample) sort() {
	slices.SortFunc(s.values, func(a, b weighted) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	merged := s.values[:0]
	for _, v := range s.values {
		if n := len(merged); n > 0 && merged[n-1].value == v.value {
			merged[n-1].weight += v.weight
			continue
		}
		merged = append(merged, v)
	}
	s.values = merged
}

func (s *sample) mean() float64 {
	sum, n := 0.0, 0
	for _, v := range s.values {
		sum += v.value * float64(v.weight)
		n += v.weight
	}
	return sum / float64(n)
}

// percentile interpolates linearly between the two values around position q*(n-1), as NumPy does by default. The values are sorted.
func (s *sample) percentile(q float64) float64 {
	n := 0
	for _, v := range s.values {
		n += v.weight
	}
	position := q * float64(n-1)
	below := int(position)
	share := position - float64(below)
	seen := 0
	for i, v := range s.values {
		seen += v.weight
		if below >= seen {
			continue
		}
		if below+1 < seen || i+1 == len(s.values) || share == 0 {
			return v.value
		}
		return v.value + share*(s.values[i+1].value-v.value)
	}
	return s.values[len(s.values)-1].value
}
