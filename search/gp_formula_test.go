package search

import (
	"math"
	"slices"
	"testing"

	"autotune/search/gaussian"
	"autotune/search/searchtest"
	"autotune/space"
	"autotune/tuner"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.9g, want %.9g", what, got, want)
	}
}

// TestNoiseOfShare by hand: half of a workload has four times the variance of a whole one, a quarter ten times; an unknown share counts as a whole.
func TestNoiseOfShare(t *testing.T) {
	for share, want := range map[float64]float64{1: 1, 0.5: 4, 0.25: 10, 0: 1, 2: 1} {
		near(t, "noise", noiseOfShare(share), want, 1e-12)
	}
}

// TestExpectedByHand: with mean 1, a variance of 0.08 of which noise as large lets half be seen, and a target of 0.9, less the margin, z = 0.098/0.2 = 0.49 and the
// improvement is 0.2 (z Φ(z) + φ(z)). Without a target nothing is expected, and the probabilities are all.
func TestExpectedByHand(t *testing.T) {
	noisy := &gaussian.Mixture{Regression: &gaussian.Regression{Noise: 0.08 - 2e-6}}
	b := &belief{target: 0.9, objective: noisy, value: func([]int) (mean, variance float64) { return 1, 0.08 - 2e-6 }}
	// Φ(0.49) = 0.6879331, φ(0.49) = 0.3538124, from tables.
	near(t, "expected", math.Exp(b.highest(nil)), 0.2*(0.49*0.6879331+0.3538124), 1e-7)
	b.target = math.Inf(-1)
	near(t, "expected without a target", b.highest(nil), 0, 0)
}

// TestKeepByHand: two bounds, one kept by two standard deviations and one broken by one: Φ(2) Φ(-1).
func TestKeepByHand(t *testing.T) {
	at := func(mean, variance float64) func([]int) (float64, float64) {
		return func([]int) (float64, float64) { return mean, variance }
	}
	b := &belief{broken: []func([]int) (float64, float64){at(-0.4, 0.04), at(0.3, 0.09)}}
	near(t, "P(bounds kept)", math.Exp(b.logKeep(nil)), 0.9772499*0.1586553, 1e-6)
}

// TestTheHopelessAreCut: what lies more than a factor of e³ below the best counts as that.
func TestTheHopelessAreCut(t *testing.T) {
	p := tuner.Goal{Direction: tuner.Minimize}
	near(t, "a value that is to be small", logObjective(p, math.E), -1, 1e-12)
	near(t, "a value without a logarithm", logObjective(tuner.Goal{Direction: tuner.Maximize}, -5), math.Log(smallestValue), 1e-12)
	var got []float64
	for _, o := range clipLow(observations(2, -0.5, -9)) {
		got = append(got, o.Value)
	}
	if !slices.Equal(got, []float64{2, -0.5, -1}) {
		t.Errorf("cut to %v", got)
	}
}

func observations(values ...float64) (out []gaussian.Observation) {
	for _, v := range values {
		out = append(out, gaussian.Observation{Value: v})
	}
	return out
}

// TestPriorOfMemoryByHand: chunk weighs 1.5 and the fraction 2; at the top of both ranges the logit is 3 - 2·1.5·½ - 2·2·½, in their lower halves it is 3.
func TestPriorOfMemoryByHand(t *testing.T) {
	surface := searchtest.TwoEngines()
	b := believed(t, surface.Problem, nil)
	set := func(chunk space.Value, fraction float64) cell {
		c := b.settle(slices.Clone(b.cell(surface.Problem.Baselines[0])))
		c = b.with(c, b.place["fast.chunk"], b.dims[b.place["fast.chunk"]].level(chunk))
		return b.with(c, b.place["fast.fraction"], b.dims[b.place["fast.fraction"]].level(space.Float(fraction)))
	}
	near(t, "prior at the top", b.logitMemory(set(space.Int(16384), 0.95)), -0.5, 1e-9)
	near(t, "prior at the bottom", b.logitMemory(set(space.Int(256), 0.5)), 3, 1e-9)
}

// TestLevelsOfMemory by hand: 32 sequences are half of the way to 1024 in their logarithm, 5 GiB half of the way from -10 to 20.
func TestLevelsOfMemory(t *testing.T) {
	for _, c := range []struct {
		sequences, headroom float64
		known               bool
		want                capacity
	}{
		{32, 5, true, capacity{12, 12}}, {1, -10, true, capacity{0, 0}}, {1024, 20, true, capacity{23, 23}},
		{1e9, 1e9, true, capacity{23, 23}}, {0, -1e9, true, capacity{0, 0}}, {32, 5, false, capacity{24, 24}},
	} {
		if got := levelsOf(tuner.Capacity{Sequences: c.sequences, Headroom: c.headroom}, c.known); got != c.want {
			t.Errorf("%+v has the levels %v", c, got)
		}
	}
}
