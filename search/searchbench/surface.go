package searchbench

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// Objective is the metric that every surface wants much of.
const Objective = "total_token_throughput"

// Tolerance is how far a constraint may be broken, in truth, by a point that still counts as keeping it.
const Tolerance = 0.02

// Surface is a search problem whose truth is known.
type Surface struct {
	Name    string // of the family
	Seed    uint64
	Problem tuner.Problem

	mixed  uint64 // family and seed, for everything random that the surface does itself
	truth  func(space.Point) Truth
	replay func(space.Point) *replay // how requests come and go, before it is stretched to what was measured
	starts []space.Point             // structures that are known to be good, for Best
	best   func() (float64, space.Point)
}

// Truth is what a point does, without noise.
type Truth struct {
	Runs      bool
	Phase     tuner.Phase // of one that does not run: in which it ends
	Reason    tuner.Reason
	Signature string
	Metrics   map[string]float64 // of one that runs
	Minutes   float64            // of the trial, from start to end
}

// families make surfaces, by name.
var families = []struct {
	name string
	make func(seed uint64) (*Surface, error)
}{
	{"glm8k", newGLM8K}, {"glm32k", newGLM32K}, {"glm1k2k", newGLM1K2K}, {"small", newSmall}, {"guard", newGuard}, {"additive", newAdditive},
	{"combo", newCombo}, {"rugged", newRugged},
}

// Families lists the families of surfaces; the first six are the ones that tables are made of.
func Families() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// New makes the surface of a family and a seed; the same one every time.
func New(family string, seed uint64) (*Surface, error) {
	for _, f := range families {
		if f.name != family {
			continue
		}
		s, err := f.make(mix(family, seed))
		if err != nil {
			return nil, fmt.Errorf("surface %s, seed %d: %w", family, seed, err)
		}
		s.Name, s.Seed, s.Problem.Seed = family, seed, seed
		s.best = sync.OnceValues(func() (float64, space.Point) { return findBest(s) })
		return s, nil
	}
	return nil, fmt.Errorf("no surface is called %q; there are %s", family, strings.Join(Families(), ", "))
}

// mix makes a seed of a family and a seed, so that two families have nothing in common under one.
func mix(family string, seed uint64) uint64 {
	h := fnv.New64a()
	h.Write([]byte(family))
	return h.Sum64() ^ seed*0x9e3779b97f4a7c15
}

// Truth is what a point does, without noise.
func (s *Surface) Truth(p space.Point) Truth { return s.truth(p) }

// Best is the highest objective, without noise, among the points that keep every constraint, as far as a strong search finds it.
// It takes seconds, once.
func (s *Surface) Best() float64 {
	v, _ := s.best()
	return v
}

// BestPoint is where Best lies.
func (s *Surface) BestPoint() space.Point {
	_, p := s.best()
	return p
}

// value of a truth, and by how much it breaks the constraints in all, in logs.
func (s *Surface) value(t Truth) (value, violation float64) {
	m := tuner.Measurement{Metrics: t.Metrics}
	for _, v := range s.Problem.Goal.Violations(&m) {
		violation += max(0, v)
	}
	return t.Metrics[Objective], violation
}

// Regret is how much of the best a point leaves, in percent: 100 for one that does not run or breaks a constraint by more than the tolerance. It is
// below 0 for a point that is better than what Best found, and says so.
func (s *Surface) Regret(p space.Point) float64 {
	t := s.truth(p)
	if s.Bad(t) {
		return 100
	}
	v, _ := s.value(t)
	return 100 * (1 - v/s.Best())
}

// Bad tells whether a trial is lost: it does not run, or breaks a constraint by more than the tolerance.
func (s *Surface) Bad(t Truth) bool {
	if !t.Runs {
		return true
	}
	m := tuner.Measurement{Metrics: t.Metrics}
	return slices.ContainsFunc(s.Problem.Goal.Violations(&m), func(v float64) bool { return v > math.Log1p(Tolerance) })
}

// In a share of all measurements something else disturbs the machine.
const (
	outlierShare = 0.05
	outlierLeast = 0.05
	outlierMost  = 0.20
)

// Measure is a noisy trial: every metric times a log-normal factor of the given spread, and now and then a run that is slower by 5 to 20 %.
// The noise is a function of surface and trial alone: two methods that measure one point under one number see the same.
func (s *Surface) Measure(p space.Point, trial int, noise float64) tuner.Outcome {
	t := s.truth(p)
	out := tuner.Outcome{Kind: tuner.Measured, Cost: time.Duration(t.Minutes * float64(time.Minute))}
	if !t.Runs {
		out.Kind, out.Phase, out.Reason, out.Signature = tuner.Infeasible, t.Phase, t.Reason, t.Signature
		return out
	}
	r := rand.New(rand.NewPCG(s.mixed^0x6e6f697365, uint64(trial)))
	slow := 1.0
	if r.Float64() < outlierShare {
		slow = 1 - (outlierLeast + (outlierMost-outlierLeast)*r.Float64())
	}
	metrics := map[string]float64{Objective: t.Metrics[Objective] * slow * math.Exp(noise*r.NormFloat64())}
	for _, b := range s.Problem.Goal.SubjectTo {
		metrics[b.Metric] = t.Metrics[b.Metric] / slow * math.Exp(noise*r.NormFloat64())
	}
	out.Measured = &tuner.Measurement{Workload: s.Name, Identity: s.Name, Clock: metric.Law, Share: 1, Metrics: metrics}
	return out
}

// Minutes that a trial takes besides its benchmark.
const (
	minutesRefused = 3
	minutesReady   = 5 // until the server answers, and until it is gone
)

// minutesFailed is how long a start takes that ends in a phase.
func minutesFailed(phase tuner.Phase) float64 {
	switch phase {
	case tuner.PhaseLoad:
		return 4
	case tuner.PhaseProfile:
		return 5
	case tuner.PhaseCapture:
		return 6
	case tuner.PhaseServe, tuner.PhaseBench:
		return 8
	}
	return minutesRefused
}

// failed is the truth of a point that does not run.
func failed(phase tuner.Phase, reason tuner.Reason, signature string) Truth {
	return Truth{Phase: phase, Reason: reason, Signature: signature, Minutes: minutesFailed(phase)}
}
