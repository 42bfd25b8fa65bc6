package tuner_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"autotune/space"
	"autotune/tuner"
)

// guarded is a runner with a target and a guard: it asks before the guard begins, as a real one does.
type guarded struct {
	values map[int][2]float64 // by trial: on the target, on the guard
	clock  *time.Time
}

func (g *guarded) Run(_ context.Context, t tuner.Trial, observe func(tuner.Partial) tuner.Verdict) (tuner.Outcome, error) {
	*g.clock = g.clock.Add(time.Minute)
	v := g.values[t.Number]
	const metric = "total_token_throughput"
	m := on("target", map[string]float64{metric: v[0]})
	if v[0] == 0 {
		return tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseLoad, Reason: tuner.ReasonMemory}, nil
	}
	if !observe(tuner.Partial{Trial: t, Phase: tuner.PhaseBench, Begins: true, Workload: "guard", Measured: m}).Skip {
		m.Also = append(m.Also, on("guard", map[string]float64{metric: v[1]}))
	}
	return tuner.Outcome{Kind: tuner.Measured, Measured: m}, nil
}

// twoEngines is a space of two engines, with a guard that may lose a tenth.
func twoEngines(t *testing.T) tuner.Problem {
	t.Helper()
	engines, err := space.Choices(space.String("vllm"), space.String("sglang"))
	if err != nil {
		t.Fatal(err)
	}
	seqs, err := space.Ints(1, 6, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New([]space.Param{{Name: space.EngineParam, Domain: engines},
		{Name: "vllm.max-num-seqs", Engine: "vllm", Flag: "max-num-seqs", Domain: seqs.Allowing(space.Default())}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := tuner.Problem{Space: s, Reference: "vllm", Goal: tuner.Goal{Metric: "total_token_throughput", Direction: tuner.Maximize, Guards: []string{"guard"},
		SubjectTo: []tuner.Bound{{Workload: "guard", Metric: "retained", Op: ">=", Limit: 0.9}}}}
	for _, e := range []string{"vllm", "sglang"} {
		b, err := s.Point(map[string]space.Value{space.EngineParam: space.String(e), "vllm.max-num-seqs": space.Default()})
		if err != nil {
			t.Fatal(err)
		}
		p.Baselines = append(p.Baselines, b)
	}
	return p
}

// TestGuards: baselines are measured on the guard, and of the others only those that could win; each is compared with the reference's value there.
func TestGuards(t *testing.T) {
	for name, c := range map[string]struct {
		values   map[int][2]float64
		retained map[int]float64 // what is measured on the guard, and what it retains
	}{
		"the reference runs":    {map[int][2]float64{0: {100, 50}, 1: {80, 40}, 2: {200, 30}, 3: {95, 60}, 4: {85, 60}}, map[int]float64{0: 1, 1: 0.8, 2: 0.6, 3: 1.2}},
		"it does not":           {map[int][2]float64{0: {0, 0}, 1: {80, 40}, 2: {200, 30}, 3: {70, 60}, 4: {75, 44}}, map[int]float64{1: 1, 2: 0.75, 4: 1.1}},
		"none does":             {map[int][2]float64{0: {0, 0}, 1: {0, 0}, 2: {200, 30}, 3: {190, 60}, 4: {100, 44}}, map[int]float64{2: 1, 3: 2}},
		"a baseline of nothing": {map[int][2]float64{0: {100, 0}, 1: {80, 0}, 2: {200, 30}, 3: {190, 0}}, map[int]float64{0: 1, 1: 1, 2: 1, 3: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.problem = twoEngines(t)
			b.study.Budget.Trials = len(c.values)
			b.Runner = &guarded{c.values, b.runner.clock}
			h, _, err := b.Run(t.Context(), b.study, b.problem, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, trial := range h {
				m := trial.Outcome.Measured.Of("guard")
				want, measured := c.retained[trial.Number]
				if (m != nil) != measured {
					t.Errorf("trial %d: measured on the guard: %v, want %v", trial.Number, m != nil, measured)
				} else if measured && m.Metrics["retained"] != want {
					t.Errorf("trial %d retains %v, want %v", trial.Number, m.Metrics["retained"], want)
				}
				words := tuner.Unjudged(b.problem, h, trial)
				if alone := name == "none does" && measured; (len(words) > 0) != alone || !slices.Equal(trial.Outcome.Warnings, words) {
					t.Errorf("trial %d: %q, warned of %q", trial.Number, words, trial.Outcome.Warnings)
				}
			}
		})
	}
}

// twiceGuarded is a runner with a target and two guards.
type twiceGuarded struct {
	values map[int][3]float64 // by trial: on the target, on the guards
	clock  *time.Time
}

func (g *twiceGuarded) Run(_ context.Context, t tuner.Trial, observe func(tuner.Partial) tuner.Verdict) (tuner.Outcome, error) {
	*g.clock = g.clock.Add(time.Minute)
	const metric = "total_token_throughput"
	m := on("target", map[string]float64{metric: g.values[t.Number][0]})
	for i, name := range []string{"guard", "second"} {
		if !observe(tuner.Partial{Trial: t, Phase: tuner.PhaseBench, Begins: true, Workload: name, Measured: m}).Skip {
			m.Also = append(m.Also, on(name, map[string]float64{metric: g.values[t.Number][1+i]}))
		}
	}
	return tuner.Outcome{Kind: tuner.Measured, Measured: m}, nil
}

// TestTwoGuards: a trial that keeps one guard's bound is measured on the next one, and can win; one that breaks it is not.
func TestTwoGuards(t *testing.T) {
	b := newBench(t)
	b.problem = twoEngines(t)
	b.problem.Baselines = b.problem.Baselines[:1]
	b.problem.Goal.Guards = append(b.problem.Goal.Guards, "second")
	b.problem.Goal.SubjectTo = append(b.problem.Goal.SubjectTo, tuner.Bound{Workload: "second", Metric: "retained", Op: ">=", Limit: 0.9})
	b.study.Budget.Trials = 3
	b.Runner = &twiceGuarded{map[int][3]float64{0: {100, 50, 50}, 1: {200, 50, 60}, 2: {300, 20, 60}}, b.runner.clock}
	h, _, err := b.Run(t.Context(), b.study, b.problem, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := h[1].Outcome.Measured.Of("second"); m == nil || m.Metrics["retained"] != 1.2 || !b.problem.Goal.Feasible(h[1]) {
		t.Errorf("trial 1 keeps the first guard's bound, and came to %+v on the second", m)
	}
	if m := h[2].Outcome.Measured.Of("second"); m != nil {
		t.Errorf("trial 2 breaks the first guard's bound, and was measured on the second: %+v", m)
	}
}
