package searchbench

import (
	"math"
	"math/rand/v2"

	"autotune/space"
	"autotune/tuner"
)

// syntheticSpace has one engine with 17 flags of the usual kinds, two of them only beside others. The first three ask for memory.
func syntheticSpace() (*space.Space, []*flags, error) {
	f := newFlags("server", map[string]float64{"server.memory-share": hungryShare, "server.chunk": hungryChunk, "server.running": hungryRunning})
	f.share("memory-share", space.Float(0.85), 0.70, 0.95)
	f.choice("chunk", "", space.Int(4096), numbers(1024, 2048, 8192, 16384, 32768)...)
	f.integers("running", space.Int(256), 32, 1024)
	f.choice("page", "", space.Int(16), numbers(1, 32, 64, 128)...)
	f.choice("interval", "", space.Int(1), numbers(2, 4, 8)...)
	f.share("conservativeness", space.Float(1), 0.2, 1.8)
	f.choice("attention", "", space.Value{}, append([]space.Value{space.Default()}, words("alpha", "beta", "gamma")...)...)
	f.choice("experts", "", space.Value{}, append([]space.Value{space.Default()}, words("alpha", "beta", "gamma")...)...)
	f.choice("sampling", "", space.Value{}, append([]space.Value{space.Default()}, words("alpha", "beta")...)...)
	f.choice("policy", "", space.Value{}, append([]space.Value{space.Default()}, words("first", "longest", "shortest")...)...)
	f.choice("cache-type", "", space.String("auto"), words("auto", "fp8")...)
	f.choice("split", "", space.String("none"), words("none", "wide")...)
	f.choice("split-mode", "split == wide", space.Value{}, append([]space.Value{space.Default()}, words("fast", "even")...)...)
	f.toggle("mixed", "")
	f.toggle("overlap-off", "")
	f.toggle("draft", "")
	f.choice("draft-tokens", "draft", space.Int(3), numbers(1, 2, 5)...)
	engines := []*flags{f}
	s, err := joinEngines(nil, engines, nil)
	return s, engines, err
}

// synthetic is a surface without a law: a baseline's throughput, times the exponential of a random function.
type synthetic struct {
	gain     func(look space.Lookup) float64 // log of the throughput relative to the baseline's
	demand   *field                          // of memory, beside the hungry flags'
	room     float64                         // memory that is there
	crashes  []crash
	baseline float64 // tokens/s
}

// Throughput of a synthetic baseline, and its benchmark: 20 minutes at that speed.
const (
	syntheticRate     = 6000
	syntheticRequests = 1000
	syntheticSlots    = 200
	syntheticInput    = 6200
	syntheticOutput   = 1000
	syntheticTokens   = syntheticRequests * (syntheticInput + syntheticOutput)
)

// hungryPlace is the position in [0, 1] of a flag, the default's where it is left out.
func hungryPlace(s *space.Space, name string, look space.Lookup) float64 {
	p, _ := s.Param(name)
	v, _ := look(name)
	if v.IsDefault() {
		v = p.Resolved
	}
	u, _ := p.Domain.Position(v)
	return u
}

func (y *synthetic) truth(s *space.Space) func(space.Point) Truth {
	return func(p space.Point) Truth {
		for _, c := range y.crashes {
			if c.holds(p.Get) {
				return failed(tuner.PhaseInit, tuner.ReasonInfeasible, "exit")
			}
		}
		wanted := 1.0*hungryPlace(s, "server.memory-share", p.Get) + 0.8*hungryPlace(s, "server.chunk", p.Get) + 0.5*hungryPlace(s, "server.running", p.Get) + y.demand.at(p.Get)
		if wanted > y.room {
			phase := tuner.PhaseCapture
			if wanted < y.room+0.15 {
				phase = tuner.PhaseServe
			}
			return failed(phase, tuner.ReasonMemory, "cuda_oom_torch")
		}
		rate := y.baseline * math.Exp(y.gain(p.Get))
		return Truth{Runs: true, Metrics: map[string]float64{Objective: rate}, Minutes: minutesReady + syntheticTokens/rate/60}
	}
}

// newSynthetic makes a surface of a random function; gain is made after the space. The baseline runs, on every seed.
func newSynthetic(seed uint64, stream uint64, gain func(open []space.Param, r *rand.Rand) func(space.Lookup) float64) (*Surface, error) {
	sp, engines, err := syntheticSpace()
	if err != nil {
		return nil, err
	}
	p, err := problem(sp, engines, tuner.Goal{Metric: Objective, Direction: tuner.Maximize}, seed)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, stream))
	open := tunable(sp)
	raw := gain(open, r)
	base := p.Baselines[0]
	zero := raw(base.Get)
	y := &synthetic{baseline: syntheticRate, gain: func(look space.Lookup) float64 { return raw(look) - zero }, demand: newField(open[3:], 0.06, 0, 0, 0, r)}
	for range crashPairs {
		y.crashes = append(y.crashes, newCrash(sp, open, r))
	}
	// A quarter of the random points, more or less, wants more memory than there is; the baseline never does.
	y.room = 1.5 + 0.2*r.Float64()
	wanted := 1.0*hungryPlace(sp, "server.memory-share", base.Get) + 0.8*hungryPlace(sp, "server.chunk", base.Get) + 0.5*hungryPlace(sp, "server.running", base.Get) + y.demand.at(base.Get)
	y.room = max(y.room, wanted+0.1)
	replay := func(space.Point) *replay {
		return full(syntheticRequests, syntheticSlots, syntheticInput, syntheticOutput)
	}
	return &Surface{Problem: p, truth: y.truth(sp), replay: replay, mixed: seed}, nil
}

// Sizes of the synthetic surfaces, in logs.
const (
	additiveMain   = 0.035
	additiveSpread = 0.8
	additivePair   = 0.05
	comboMain      = 0.03
	comboAlone     = -0.06
	comboAll       = 0.55
	ruggedMain     = 0.03
	ruggedWaves    = 24
	ruggedSize     = 0.30
)

func newAdditive(seed uint64) (*Surface, error) {
	return newSynthetic(seed, 0x616464, func(open []space.Param, r *rand.Rand) func(space.Lookup) float64 {
		return newField(open, additiveMain, additiveSpread, additivePair, 5, r).at
	})
}

// newCombo adds to small main effects three settings that are a loss each and, all three together, a gain of three quarters.
func newCombo(seed uint64) (*Surface, error) {
	return newSynthetic(seed, 0x636f6d, func(open []space.Param, r *rand.Rand) func(space.Lookup) float64 {
		f := newField(open, comboMain, 0, 0, 0, r)
		var always []space.Param
		for _, p := range open {
			if p.When == nil {
				always = append(always, p)
			}
		}
		r.Shuffle(len(always), func(i, j int) { always[i], always[j] = always[j], always[i] })
		three := []setting{newSetting(always[0], r), newSetting(always[1], r), newSetting(always[2], r)}
		return func(look space.Lookup) float64 {
			n := 0.0
			for _, s := range three {
				if s.holds(look) {
					n++
				}
			}
			x := f.at(look) + comboAlone*n
			if n == 3 {
				x += comboAll - 3*comboAlone
			}
			return x
		}
	})
}

// newRugged sums waves over random directions in the space of all flags, so that a change of one flag says little about another point.
func newRugged(seed uint64) (*Surface, error) {
	return newSynthetic(seed, 0x727567, func(open []space.Param, r *rand.Rand) func(space.Lookup) float64 {
		f := newField(open, ruggedMain, 0, 0, 0, r)
		waves := make([]*field, ruggedWaves)
		phases := make([]float64, ruggedWaves)
		for i := range waves {
			some := make([]space.Param, 0, 4)
			for range 4 {
				some = append(some, open[r.IntN(len(open))])
			}
			waves[i] = newField(some, 0.8, 0, 0, 0, r)
			phases[i] = 2 * math.Pi * r.Float64()
		}
		return func(look space.Lookup) float64 {
			sum := 0.0
			for i, w := range waves {
				sum += math.Cos(w.at(look) + phases[i])
			}
			return f.at(look) + ruggedSize*sum*math.Sqrt(2.0/ruggedWaves)
		}
	})
}
