//go:build bench

package main

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"autotune/runner"
	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/law"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// lawRunner carries out trials under the law in this process: no server, no sockets, the same figures.
type lawRunner struct {
	*assembly
	requests []workload.Request
	machine  law.Machine
	seed     uint64
	noise    float64
	// whole holds, of the trials that were cut short, the outcomes that they would have come to.
	whole map[int]tuner.Outcome
}

func newLawRunner(a *assembly, seed uint64, noise float64) (*lawRunner, error) {
	requests, err := a.spec.Workload().Expand(nil)
	// The machine is that which a rehearsal gives to the fake engine.
	return &lawRunner{a, requests, law.Machine{GPUs: a.spec.GPUs}, seed, noise, map[int]tuner.Outcome{}}, err
}

// Run implements tuner.Runner.
func (r *lawRunner) Run(_ context.Context, t tuner.Trial, observe func(tuner.Partial) tuner.Verdict) (tuner.Outcome, error) {
	seed, err := strconv.ParseUint(runner.TrialSeed(r.seed, t.Number), 10, 64)
	if err != nil {
		return tuner.Outcome{}, err
	}
	records, failure, err := r.play(t.Point, r.noise, seed)
	if err != nil {
		return tuner.Outcome{}, err
	}
	whole := r.judge(t.Point, records, failure)
	if v := r.watch(t, records, failure, time.Second, observe); v.Stop {
		r.whole[t.Number] = whole
		return r.cutShort(v), nil
	}
	return whole, nil
}

func (r *lawRunner) outcome(p space.Point, noise float64, seed uint64) (tuner.Outcome, error) {
	records, failure, err := r.play(p, noise, seed)
	if err != nil {
		return tuner.Outcome{}, err
	}
	return r.judge(p, records, failure), nil
}

// judge says what kind of end a whole run came to.
func (r *lawRunner) judge(p space.Point, records []metric.Record, failure *law.Failure) tuner.Outcome {
	if failure != nil {
		_, searched := r.settings(p)
		f := engine.Classify(engine.Evidence{Engine: p.Engine(), Lines: failure.Lines, Phase: tuner.Phase(failure.Phase), ExitCode: failure.Exit, Searched: searched})
		return tuner.Outcome{Kind: tuner.Infeasible, Phase: f.Phase, Reason: f.Reason, Signature: f.Signature, Evidence: f.Evidence}
	}
	metrics := metric.Compute(records, r.spec.GPUs)
	if metrics["success_rate"] < r.spec.Gate {
		return tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseBench, Reason: tuner.ReasonInfeasible, Signature: "low_success"}
	}
	return tuner.Outcome{Kind: tuner.Measured, Measured: r.measurement(1, metrics)}
}

func (r *lawRunner) measurement(share float64, metrics map[string]float64) *tuner.Measurement {
	return &tuner.Measurement{Workload: r.spec.Workload().Name, Identity: r.spec.Workload().Identity(""), Clock: metric.Law, Share: share, Metrics: metrics}
}

// watch shows a run to an observer, as a real one is shown by the second, until he ends it or it ends.
func (r *lawRunner) watch(t tuner.Trial, records []metric.Record, failure *law.Failure, every time.Duration, observe func(tuner.Partial) tuner.Verdict) tuner.Verdict {
	var end time.Duration
	var tokens []int // by the report that they count to
	for _, rec := range records {
		end = max(end, rec.End)
		for _, e := range rec.Tokens {
			n := int((e.At + every - 1) / every)
			if n >= len(tokens) {
				tokens = append(tokens, make([]int, n+1-len(tokens))...)
			}
			tokens[n] += e.Tokens
		}
	}
	if failure != nil {
		end = failure.At
	}
	p := tuner.Partial{Trial: t, Phase: tuner.PhaseBench, Total: len(records), Workload: r.spec.Workload().Name, GPUs: r.spec.GPUs, Requests: make([]metric.Sight, len(records))}
	for n := 1; every*time.Duration(n) < end && n < len(tokens); n++ {
		at := every * time.Duration(n)
		p.Elapsed, p.Done = at, 0
		p.Pace = append(p.Pace, metric.Event{At: at, Tokens: tokens[n]})
		for i := range records {
			if p.Requests[i] = records[i].Sight(at); p.Requests[i].State.Ended() {
				p.Done++
			}
		}
		p.Share = float64(p.Done) / float64(p.Total)
		if v := observe(p); v.Stop {
			return v
		}
	}
	return tuner.Verdict{}
}

// cutShort is the outcome of a run that was ended early.
func (r *lawRunner) cutShort(v tuner.Verdict) tuner.Outcome {
	return tuner.Outcome{Kind: tuner.Stopped, Phase: tuner.PhaseBench, Signature: v.Rule, Evidence: v.Reason, Share: v.Share, Measured: r.measurement(v.Share, v.Expected)}
}

// play serves the workload under the law. A configuration that the engine refuses is a failure in the phase of the flags.
func (r *lawRunner) play(p space.Point, noise float64, seed uint64) ([]metric.Record, *law.Failure, error) {
	flags := map[string]space.Value{}
	all, _ := r.settings(p)
	for _, s := range all {
		flags[s.Flag] = s.Value
	}
	cfg, err := law.Resolve(p.Engine(), r.model(p), flags, r.machine)
	if err != nil {
		return nil, &law.Failure{Phase: string(tuner.PhaseFlags), Lines: []string{"ValueError: " + err.Error()}, Exit: 1}, nil
	}
	sim, failure := law.New(cfg, law.Options{Noise: noise, Seed: seed})
	if failure != nil {
		return nil, failure, nil
	}
	plan := law.Plan{Cap: r.spec.Workload().MaxConcurrency, Limit: r.spec.Workload().WallLimit}
	for _, q := range r.requests {
		plan.Arrivals = append(plan.Arrivals, q.Arrival.Truncate(time.Microsecond))
		plan.Input, plan.Output = append(plan.Input, q.Input), append(plan.Output, q.Output)
	}
	records, failure := law.Play(sim, plan)
	return records, failure, nil
}

// truth is a point's objective without noise; ok is false when it does not run, or breaks a bound.
func (r *lawRunner) truth(p space.Point) (value float64, ok bool) {
	o, err := r.outcome(p, 0, 0)
	if err != nil || o.Kind != tuner.Measured || r.problem.Goal.TotalViolation(o.Measured) > 0 {
		return 0, false
	}
	return r.problem.Goal.Value(o.Measured)
}

// ascent climbs the law's noise-free surface.
type ascent struct {
	*lawRunner
	known map[string]float64
}

// best looks for the law's best: at many random points, then from the best few of them along one parameter at a time until nothing gets better.
func (r *lawRunner) best(random, climbs int) (space.Point, float64) {
	s := &ascent{lawRunner: r, known: map[string]float64{}}
	rng := rand.New(rand.NewPCG(1, 0))
	var starts []space.Point
	for range random {
		if p, ok := r.problem.Space.Draw(rng, func(p space.Point) bool { _, seen := s.known[p.Key()]; return seen }); ok {
			s.value(p)
			starts = append(starts, p)
		}
	}
	slices.SortStableFunc(starts, func(a, b space.Point) int { return cmp.Compare(s.value(b), s.value(a)) })
	top := starts[0]
	for _, p := range starts[:min(climbs, len(starts))] {
		if p = s.climb(p); s.value(p) > s.value(top) {
			top = p
		}
	}
	return top, s.value(top)
}

// value is -Inf for what does not run or breaks a bound.
func (s *ascent) value(p space.Point) float64 {
	v, seen := s.known[p.Key()]
	if !seen {
		var ok bool
		if v, ok = s.truth(p); !ok {
			v = math.Inf(-1)
		}
		s.known[p.Key()] = v
	}
	return v
}

func (s *ascent) climb(p space.Point) space.Point {
	for better := true; better; {
		better = false
		for _, q := range s.problem.Space.Params() {
			if _, active := p.Get(q.Name); !active {
				continue
			}
			for _, v := range probes(q.Domain) {
				if next := s.moved(p, q.Name, v); s.problem.Space.Keeps(next) && s.value(next) > s.value(p) {
					p, better = next, true
				}
			}
		}
	}
	return p
}

// moved is p with one parameter changed; what becomes active by it takes its domain's first value.
func (s *ascent) moved(p space.Point, name string, to space.Value) space.Point {
	return s.problem.Space.Build(func(q space.Param, _ space.Lookup) space.Value {
		if q.Name == name {
			return to
		}
		if v, ok := p.Get(q.Name); ok {
			return v
		}
		return q.Domain.At(0)
	})
}

// probes are at most a dozen values over a whole domain.
func probes(d space.Domain) []space.Value {
	const most = 12
	n := d.Size()
	var out []space.Value
	for i := range min(n, most) {
		out = append(out, d.At(i*(n-1)/max(1, min(n, most)-1)))
	}
	return out
}
