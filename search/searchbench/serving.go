package searchbench

import (
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/law"
)

// Sizes of the twist over the law, in logs.
const (
	twistMain  = 0.012 // of a flag's value
	twistPair  = 0.03  // of an interaction
	twistPairs = 4
	crashPairs = 2
)

// Perturbation of the law's coefficients.
const (
	perturbLeast = 0.05
	perturbMost  = 0.30
)

// The first engine: in a third of the seeds its best comes to between 0.95 and 1.1 of the second's; in the others it is behind by 5 to 25 % of what
// the law says, on top of whatever that is.
const (
	catchUpShare = 1.0 / 3
	catchUpLeast = 0.95
	catchUpMost  = 1.10
	behindLeast  = 0.75
	behindMost   = 0.95
)

// Names of the bounded metrics, s. They are none of the measured ones, since a closed form has no percentiles.
const (
	firstToken = "slow_first_token" // the 95th percentile, more or less, of the time to first token
	eachToken  = "slow_token"       // of the time per token
	chatToken  = "slow_chat_token"  // of the same, of the guarding workload
)

// serving is a server's law as a surface.
type serving struct {
	space   *space.Space
	params  []space.Param
	model   string // where the space has no checkpoints
	machine law.Machine
	traffic law.Traffic
	guard   law.Traffic // Requests 0: none
	perturb *law.Perturb
	speed   *field  // twist of the throughput
	delay   *field  // twist of latencies
	crashes []crash // in the twist
	first   string  // the engine that catches up
	ahead   float64 // by this factor
}

func newServing(s *space.Space, seed uint64) *serving {
	r := rand.New(rand.NewPCG(seed, 0x7477697374))
	v := &serving{space: s, params: s.Params(), machine: law.Machine{GPU: "H200", GPUs: 8}, ahead: 1}
	v.perturb = &law.Perturb{Seed: seed, Size: perturbMost, Least: perturbLeast}
	open := tunable(s)
	v.speed = newField(open, twistMain, 0, twistPair, twistPairs, r)
	v.delay = newField(open, twistMain, 0, twistPair, twistPairs, r)
	flagsOnly := slices.DeleteFunc(slices.Clone(open), func(p space.Param) bool { return p.Engine == "" })
	for range crashPairs {
		v.crashes = append(v.crashes, newCrash(s, flagsOnly, r))
	}
	return v
}

func (v *serving) modelOf(look space.Lookup) string {
	if m, ok := look(space.CheckpointParam); ok {
		return m.String()
	}
	return v.model
}

// flagsOf lists the engine's own flags as the law reads them.
func (v *serving) flagsOf(look space.Lookup) map[string]space.Value {
	flags := make(map[string]space.Value, 24)
	for _, q := range v.params {
		if value, ok := look(q.Name); ok && q.Flag != "" && !value.IsDefault() {
			flags[q.Flag] = value
		}
	}
	return flags
}

// truth of a point: the hidden crashes, the law, and the twist over it.
func (v *serving) truth(p space.Point) Truth {
	for _, c := range v.crashes {
		if c.holds(p.Get) {
			return failed(tuner.PhaseInit, tuner.ReasonInfeasible, "exit")
		}
	}
	cfg, err := law.Resolve(p.Engine(), v.modelOf(p.Get), v.flagsOf(p.Get), v.machine)
	if err != nil {
		return failed(tuner.PhaseFlags, tuner.ReasonInfeasible, "usage")
	}
	opt := law.Options{Perturb: v.perturb}
	rates, f := law.Steady(cfg, opt, v.traffic)
	if f != nil {
		return lawFailure(f)
	}
	scale, wait := math.Exp(v.speed.at(p.Get)), math.Exp(v.delay.at(p.Get))
	if p.Engine() == v.first {
		scale *= v.ahead
		wait /= v.ahead
	}
	t := Truth{Runs: true, Minutes: minutesReady + rates.Duration/scale/60}
	t.Metrics = map[string]float64{Objective: rates.Throughput * scale, firstToken: waitFirst(rates) * wait, eachToken: waitEach(rates) * wait}
	if v.guard.Requests == 0 {
		return t
	}
	chat, f := law.Steady(cfg, opt, v.guard)
	if f != nil {
		return lawFailure(f)
	}
	t.Metrics[chatToken] = waitEach(chat) * wait
	t.Minutes += chat.Duration / 60
	return t
}

// Both waits stand for percentiles that a closed form has not. Their factors are chosen, not fitted: bounds are set at quantiles of what random points have, so
// that only the order of points counts.

// waitFirst stands for the 95th percentile of the time to first token: near that of the last request of the first burst.
func waitFirst(r law.Rates) float64 { return max(r.TTFT, 0.95*r.BurstTTFT) }

// waitEach stands for the 95th percentile of the time per token: the mean, and a part of what a step with prompts holds it up.
func waitEach(r law.Rates) float64 { return 1.05*r.TPOT + 0.02*r.Stall }

func lawFailure(f *law.Failure) Truth {
	reason := tuner.ReasonMemory
	if f.Signature == "low_success" || f.Signature == "illegal_access" {
		reason = tuner.ReasonInfeasible
	}
	return failed(tuner.Phase(f.Phase), reason, f.Signature)
}
