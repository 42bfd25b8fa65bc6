package searchbench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/law"
)

const (
	bigModel   = "zai-org/GLM-5.2-FP8"
	smallModel = "Qwen/Qwen3.5-35B-A3B"
)

func newGLM8K(seed uint64) (*Surface, error) {
	return newBig(seed, law.Traffic{Input: 8192, Output: 1024, Requests: 1000, Concurrency: 512}, law.Traffic{})
}

func newGLM32K(seed uint64) (*Surface, error) {
	return newBig(seed, law.Traffic{Input: 32000, Output: 100, Requests: 300, Concurrency: 128}, law.Traffic{})
}

func newGLM1K2K(seed uint64) (*Surface, error) {
	return newBig(seed, law.Traffic{Input: 1024, Output: 2048, Requests: 1000, Concurrency: 512}, law.Traffic{})
}

func newGuard(seed uint64) (*Surface, error) {
	return newBig(seed, law.Traffic{Input: 8192, Output: 1024, Requests: 1000, Concurrency: 512}, law.Traffic{Input: 1024, Output: 256, Requests: 200, Concurrency: 32})
}

func newBig(seed uint64, traffic, guard law.Traffic) (*Surface, error) {
	sp, engines, err := bigSpace()
	if err != nil {
		return nil, err
	}
	v := newServing(sp, seed)
	v.model, v.traffic, v.guard = bigModel, traffic, guard
	s, err := servingSurface(v, engines, seed)
	if err != nil {
		return nil, err
	}
	for _, known := range []map[string]space.Value{
		{"enable-dp-attention": space.Bool(true), "dp-size": space.Int(8), "moe-a2a-backend": space.String("deepep"), "kv-cache-dtype": space.String("fp8_e4m3"),
			"deepep-mode": space.String("auto"), "mem-fraction-static": s.near("sglang.mem-fraction-static", 0.85), "max-running-requests": space.Int(256)},
		{"enable-dp-attention": space.Bool(true), "dp-size": space.Int(8), "kv-cache-dtype": space.String("fp8_e4m3"), "mem-fraction-static": s.near("sglang.mem-fraction-static", 0.8)},
		{"kv-cache-dtype": space.String("fp8_e4m3"), "mem-fraction-static": s.near("sglang.mem-fraction-static", 0.85)},
	} {
		if err := s.know(engines[1], known); err != nil {
			return nil, err
		}
	}
	s.rankEngines(v)
	if guard.Requests > 0 {
		s.bound(guardQuantile, chatToken)
	}
	return s, nil
}

// Quantiles of random points that run at which bounds are set: those of the small surface, and of the guard.
const (
	smallQuantile = 0.45
	guardQuantile = 0.6
)

func newSmall(seed uint64) (*Surface, error) {
	checkpoints := []string{smallModel, smallModel + "-FP8"}
	sp, engines, err := smallSpace(checkpoints)
	if err != nil {
		return nil, err
	}
	v := newServing(sp, seed)
	v.machine = law.Machine{GPU: "H200", GPUs: 1}
	v.traffic = law.Traffic{Input: 1500, Output: 500, Requests: 4000, Concurrency: 384}
	s, err := servingSurface(v, engines, seed)
	if err != nil {
		return nil, err
	}
	fp8 := space.String(checkpoints[1])
	if err := s.know(engines[0], map[string]space.Value{space.CheckpointParam: fp8, "performance-mode": space.String("throughput")}); err != nil {
		return nil, err
	}
	if err := s.know(engines[1], map[string]space.Value{space.CheckpointParam: fp8, "cuda-graph-max-bs": space.Default()}); err != nil {
		return nil, err
	}
	s.rankEngines(v)
	s.bound(smallQuantile, firstToken, eachToken)
	return s, nil
}

// perturbTries bounds how many draws of the coefficients are made until every engine runs with nothing tuned.
const perturbTries = 100

func servingSurface(v *serving, engines []*flags, seed uint64) (*Surface, error) {
	p, err := problem(v.space, engines, tuner.Goal{Metric: Objective, Direction: tuner.Maximize}, seed)
	if err != nil {
		return nil, err
	}
	// A hidden crash takes no baseline, since its settings are not the default; but coefficients may leave an engine no memory for its own defaults.
	for try := range uint64(perturbTries) {
		v.perturb.Seed = seed + try
		if !slices.ContainsFunc(p.Baselines, func(b space.Point) bool { return !v.truth(b).Runs }) {
			break
		}
	}
	replay := func(p space.Point) *replay {
		if r := v.replayed(p); r != nil {
			return r
		}
		return full(v.traffic.Requests, v.traffic.Concurrency/2, v.traffic.Input, v.traffic.Output)
	}
	if p.Capacity, err = v.capacity(seed); err != nil {
		return nil, err
	}
	return &Surface{Problem: p, truth: v.truth, replay: replay, mixed: seed}, nil
}

// near is the value of a grid that lies nearest to a number.
func (s *Surface) near(name string, x float64) space.Value {
	p, _ := s.Problem.Space.Param(name)
	best := space.Default()
	for i := range p.Domain.Size() {
		if v := p.Domain.At(i); v.IsNumber() && (!best.IsNumber() || math.Abs(v.AsFloat()-x) < math.Abs(best.AsFloat()-x)) {
			best = v
		}
	}
	return best
}

// know adds a structure from which Best climbs.
func (s *Surface) know(f *flags, set map[string]space.Value) error {
	p, err := s.Problem.Space.Point(withDefaults(s.Problem.Space, f, set))
	if err != nil {
		return fmt.Errorf("a known structure: %w", err)
	}
	s.starts = append(s.starts, p)
	return nil
}

// sampled is how many random points bounds are taken from.
const sampled = 300

// bound adds an upper bound on each metric, which a share of the random points that run keeps, and every baseline too, with a twentieth to spare: who
// sets an SLO wants more throughput beside latencies that the engines as they are keep.
func (s *Surface) bound(share float64, names ...string) {
	r := rand.New(rand.NewPCG(s.mixed, 0x626f756e64))
	var seen []Truth
	for range sampled {
		p, ok := s.Problem.Space.Draw(r, func(space.Point) bool { return false })
		if !ok {
			break
		}
		if t := s.truth(p); t.Runs {
			seen = append(seen, t)
		}
	}
	limits := make([]float64, len(names))
	for i, name := range names {
		values := make([]float64, len(seen))
		for j, t := range seen {
			values[j] = t.Metrics[name]
		}
		slices.Sort(values)
		if len(values) > 0 {
			limits[i] = values[int(share*float64(len(values)-1))]
		}
	}
	for _, b := range s.Problem.Baselines {
		if t := s.truth(b); t.Runs {
			for i, name := range names {
				limits[i] = max(limits[i], 1.05*t.Metrics[name])
			}
		}
	}
	s.Problem.Goal.SubjectTo = bounds(names, limits)
}

// bounds are limits as a person would write them, rounded up to three digits.
func bounds(names []string, limits []float64) []tuner.Bound {
	out := make([]tuner.Bound, len(names))
	for i, x := range limits {
		digits := math.Pow(10, math.Floor(math.Log10(x))-2)
		out[i] = tuner.Bound{Metric: names[i], Op: "<=", Limit: math.Ceil(x/digits) * digits}
	}
	return out
}

// rankEngines raises the first engine in a third of the seeds, so that its best comes near that of the other, and lowers it in the others.
func (s *Surface) rankEngines(v *serving) {
	r := rand.New(rand.NewPCG(s.mixed, 0x6361746368))
	v.first = s.Problem.Baselines[0].Engine()
	if r.Float64() >= catchUpShare {
		v.ahead = behindLeast + (behindMost-behindLeast)*r.Float64()
		return
	}
	a, b := s.quickBest(s.Problem.Baselines[0].Engine(), r), s.quickBest(s.Problem.Baselines[1].Engine(), r)
	if a > 0 && b > 0 {
		v.ahead = max(1, b/a*(catchUpLeast+(catchUpMost-catchUpLeast)*r.Float64()))
	}
}
