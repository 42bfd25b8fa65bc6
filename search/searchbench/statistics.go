package searchbench

import (
	"math"
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

// Wilson is the score interval, at 95 %, of a share that was seen n times of so many: from 0 to 1, and all of that of none. (E. B. Wilson, Probable
// Inference, the Law of Succession, and Statistical Inference, Journal of the American Statistical Association 22, 1927.) Unlike the mean with its standard
// error it says something where nothing was seen at all.
func Wilson(n, of int) (low, high float64) {
	if of == 0 {
		return 0, 1
	}
	const z = 1.959964 // of a normal variable's values 95 % lie as near to the mean
	p, m := float64(n)/float64(of), float64(of)
	middle, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (middle-half)/(1+z*z/m)), min(1, (middle+half)/(1+z*z/m))
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

// bootstrap is the mean of some numbers with its percentile interval (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13): of the means
// of so many resamples, each as large as the sample, the 2.5th and the 97.5th percentile; the same every time. With 4000 each is known to about a hundredth
// of the interval's width.
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
