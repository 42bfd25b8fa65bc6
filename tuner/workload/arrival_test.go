package workload

import (
	"math"
	"reflect"
	"testing"
	"time"
)

// gaps are the mean and the variance of the gaps between arrivals, in seconds.
func gaps(arrivals []time.Duration) (mean, variance float64) {
	n := float64(len(arrivals) - 1)
	for i := 1; i < len(arrivals); i++ {
		mean += (arrivals[i] - arrivals[i-1]).Seconds() / n
	}
	for i := 1; i < len(arrivals); i++ {
		d := (arrivals[i] - arrivals[i-1]).Seconds() - mean
		variance += d * d / n
	}
	return mean, variance
}

// The gaps have the mean 1/rate in every seed, and the variance of their gamma distribution: 1/(rate² x burstiness).
func TestGaps(t *testing.T) {
	const rate, n = 20.0, 20_000
	for _, burstiness := range []float64{0, 0.25, 0.5, 1, 4, 100} {
		for seed := range uint64(3) {
			s := balanced
			s.Rate, s.Requests, s.Burstiness, s.Seed = rate, n, burstiness, seed
			requests, err := s.Expand(nil)
			if err != nil {
				t.Fatal(err)
			}
			var at []time.Duration
			for i, r := range requests {
				if i > 0 && r.Arrival < at[i-1] {
					t.Fatalf("request %d comes before the one before", i)
				}
				at = append(at, r.Arrival)
			}
			mean, variance := gaps(at)
			if math.Abs(mean*rate-1) > 1e-4 || at[0] != 0 {
				t.Errorf("burstiness %v, seed %d: a mean gap of %v s, the first at %v", burstiness, seed, mean, at[0])
			}
			want := 0.0
			if burstiness > 0 {
				want = 1 / (rate * rate * burstiness)
			}
			// The estimate's own standard deviation, of gamma-distributed gaps: sqrt((2 + 6/burstiness)/n).
			if off := math.Abs(variance-want) * rate * rate * burstiness; off > 5*math.Sqrt((2+6/max(burstiness, 1e-9))/n) || want == 0 && variance > 1e-11 {
				t.Errorf("burstiness %v, seed %d: a variance of %v s², want %v", burstiness, seed, variance, want)
			}
		}
	}
}

// A ramp lets as many requests through as its rate's integral says, at any instant.
func TestRamp(t *testing.T) {
	for _, ramp := range []Ramp{{1, 20, 2 * time.Minute}, {20, 1, time.Minute}, {0, 10, time.Minute}, {5, 5, time.Second}} {
		s := balanced
		s.Rate, s.Ramp, s.Requests = 0, ramp, 3000
		requests, err := s.Expand(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range requests {
			at, over := r.Arrival.Seconds(), ramp.Over.Seconds()
			within := min(at, over)
			passed := ramp.From*within + (ramp.To-ramp.From)*within*within/(2*over) + max(0, at-over)*ramp.To
			if math.Abs(passed-float64(i)) > 1e-3 {
				t.Fatalf("%+v: request %d at %v, by when %.4f are due", ramp, i, r.Arrival, passed)
			}
		}
	}
	bursty := balanced
	bursty.Rate, bursty.Ramp, bursty.Burstiness, bursty.Requests = 0, Ramp{1, 20, time.Minute}, 1, 631
	requests, _ := bursty.Expand(nil)
	if last := requests[630].Arrival; (last - time.Minute).Abs() > time.Second {
		t.Errorf("the ramp lets 630 through in a minute; the last one comes at %v", last)
	}
}

func TestArrivalsAreOfTheSeed(t *testing.T) {
	s := balanced
	s.Burstiness = 1
	a, _ := s.Expand(nil)
	b, _ := s.Expand(nil)
	s.Seed++
	c, _ := s.Expand(nil)
	if !reflect.DeepEqual(a, b) || reflect.DeepEqual(a, c) {
		t.Error("arrivals are no function of the seed")
	}
}
