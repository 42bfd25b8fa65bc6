package workload

import (
	"math"
	"math/rand/v2"
	"time"
)

// arrivals are the instants at which n requests are wanted, ascending, rounded down to the microsecond, to which all instants are kept. The
// first comes at 0.
//
// A process of one request a second on average is drawn first: constant gaps, or gaps of a gamma distribution whose shape is the burstiness
// and whose mean is 1 (an exponential one, a Poisson process, at 1). The drawn gaps are scaled to a mean of exactly 1, so that every seed
// offers the same rate, as vLLM's benchmark does. Then its time is stretched by the rate, which may change (a ramp).
func (s Spec) arrivals(n int) []time.Duration {
	out := make([]time.Duration, n)
	if !s.paced() {
		return out
	}
	passed := s.unitProcess(n)
	for i := range out {
		out[i] = time.Duration(s.when(passed[i])*1e6) * time.Microsecond
	}
	return out
}

// unitProcess is one request a second on average.
func (s Spec) unitProcess(n int) []float64 {
	out := make([]float64, n)
	if s.Burstiness == 0 {
		for i := range out {
			out[i] = float64(i)
		}
		return out
	}
	rng := rand.New(rand.NewPCG(s.Seed, streamArrivals))
	for i := 1; i < n; i++ {
		out[i] = out[i-1] + gamma(s.Burstiness, rng)
	}
	if n > 1 && out[n-1] > 0 {
		scale := float64(n-1) / out[n-1]
		for i := range out {
			out[i] *= scale
		}
	}
	return out
}

// when is the instant in seconds by which the rate has let so many requests through.
func (s Spec) when(passed float64) float64 {
	if s.Ramp == (Ramp{}) {
		return passed / s.Rate
	}
	over := s.Ramp.Over.Seconds()
	during := (s.Ramp.From + s.Ramp.To) / 2 * over // requests while the rate changes
	if passed >= during {
		return over + (passed-during)/s.Ramp.To
	}
	// passed = from t + slope t²/2, solved for t in a form that is exact for a slope of 0 too.
	slope := (s.Ramp.To - s.Ramp.From) / over
	return 2 * passed / (s.Ramp.From + math.Sqrt(max(0, s.Ramp.From*s.Ramp.From+2*slope*passed)))
}

// gamma draws from the gamma distribution of this shape and mean shape, divided by the shape: its mean is 1, its variance 1/shape. By
// Marsaglia and Tsang, A simple method for generating gamma variables (2000).
func gamma(shape float64, rng *rand.Rand) float64 {
	boost := 1.0
	k := shape
	if k < 1 {
		boost = math.Pow(1-rng.Float64(), 1/k)
		k++
	}
	d := k - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return boost * d * v / shape
		}
	}
}
