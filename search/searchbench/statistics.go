package searchbench

import (
	"math/rand/v2"
	"slices"
)

// average of some numbers; 0 of none.
func average(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// quantile interpolates linearly between the two nearest values; q from 0 to 1; 0 of none.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// Interval is a mean with a 95 % bootstrap interval.
type Interval struct {
	N         int
	Mean      float64
	Low, High float64
}

// Differs tells whether 0 lies outside: only then is a difference called one.
func (i Interval) Differs() bool { return i.N > 1 && (i.Low > 0 || i.High < 0) }

const (
	resamples     = 4000
	bootstrapSeed = 20261202
)

// bootstrap is the mean of some numbers with its percentile interval; the same every time.
func bootstrap(x []float64) Interval {
	out := Interval{N: len(x), Mean: average(x)}
	if len(x) == 0 {
		return out
	}
	r := rand.New(rand.NewPCG(bootstrapSeed, uint64(len(x))))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range x {
			sum += x[r.IntN(len(x))]
		}
		means[i] = sum / float64(len(x))
	}
	out.Low, out.High = quantile(means, 0.025), quantile(means, 0.975)
	return out
}
