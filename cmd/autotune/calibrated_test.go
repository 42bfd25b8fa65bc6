package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"autotune/runner/engine"
	"autotune/search"
	"autotune/space"
	"autotune/store"
	"autotune/tuner"
	"autotune/tuner/memory"
)

const glmShares = `
engines:
  vllm:
    fixed: {tensor-parallel-size: 8, max-model-len: 16384}
    space: {gpu-memory-utilization: [default, 0.68, 0.7, 0.72, 0.74, 0.8, 0.9], enable-prefix-caching: bool, block-size: [16, 32]}
`

// served is what a server whose weights take 94.46 GiB and whose steps take 8.8 comes to, and says in its log.
func served(a *assembly, p space.Point) tuner.Outcome {
	look := a.problem.Space.Resolved(p)
	s, _ := a.engines[p.Engine()].MemorySetup(a.planner.host, look, a.planner.longest)
	cache := s.Share*s.GiB - 94.46 - 8.8
	facts := map[string]string{"weights_gib": "94.46"}
	if cache < 1.6 {
		return tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseProfile, Reason: tuner.ReasonMemory, Run: tuner.Run{Facts: facts}}
	}
	facts["kv_gib"] = fmt.Sprintf("%.2f", cache)
	facts["kv_tokens"] = fmt.Sprintf("%.0f", cache*memory.GiB/55224)
	o := came(5000+10*cache, 1)
	o.Run.Facts = facts
	return o
}

// shareOf is a point's gpu-memory-utilization.
func shareOf(p space.Point) float64 {
	v, _ := p.Get("vllm.gpu-memory-utilization")
	if v.IsDefault() {
		return 0.92
	}
	return v.AsFloat()
}

// TestWhatLogsSayIsExcluded: the estimates leave every configuration open; after the baseline's log no sampler asks for a share that cannot hold the
// weights and the step that it told of, and what ran stays possible.
func TestWhatLogsSayIsExcluded(t *testing.T) {
	a := plannedSpec(t, glmTop+glmGeometry(t)+glmShares)
	for p := range a.problem.Space.Enumerate() {
		if rule, broken := a.problem.Space.Broken(p); broken {
			t.Fatalf("before any log %s excludes %s", rule.ID, p.Key())
		}
	}
	h := tuner.History{{Number: 0, Point: a.problem.Baselines[0], Origin: tuner.OriginBaseline, Outcome: served(a, a.problem.Baselines[0])}}
	after := a.corrected(a.problem, h)
	for p := range after.Space.Enumerate() {
		if kept := after.Space.Keeps(p); kept != (shareOf(p) > 0.73) {
			t.Errorf("share %.2f: kept %v", shareOf(p), kept)
		}
	}
	for _, name := range search.Names() {
		if name == "goptuna-cmaes" {
			continue // refuses the space
		}
		sampler, err := search.New(name)
		if err != nil {
			t.Fatal(err)
		}
		c, h := calibrated{sampler, search.Best{}, a}, slices.Clone(h)
		for n := 1; ; n++ {
			p, err := c.Suggest(a.problem, h, tuner.Ask{Number: n, Seed: 1})
			if errors.Is(err, tuner.ErrExhausted) {
				if n != 1+16 { // the baseline, and four shares of seven
					t.Errorf("%s: %d of 17 configurations", name, n)
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if shareOf(p.Point) < 0.73 {
				t.Fatalf("%s asks for a share of %.2f", name, shareOf(p.Point))
			}
			h = append(h, tuner.Trial{Number: n, Point: p.Point, Outcome: served(a, p.Point)})
		}
	}
	// Whatever its log says: one that ran is possible, and what differs from it in a larger share; others are judged as before it.
	small := a.problem.Baselines[0].Map()
	small["vllm.gpu-memory-utilization"] = space.Float(0.7)
	p, err := a.problem.Space.Point(small)
	if err != nil {
		t.Fatal(err)
	}
	ran := tuner.Trial{Number: 1, Point: p, Outcome: came(1, 1)}
	for _, facts := range []map[string]string{nil, {"weights_gib": "1e99", "kv_gib": "-3", "kv_tokens": "99999999999999999999"}, {"weights_gib": "NaN"}, {"kv_gib": "Inf", "kv_tokens": "1"}} {
		ran.Outcome.Run.Facts = facts
		now := a.corrected(a.problem, append(slices.Clone(h), ran))
		for q := range now.Space.Enumerate() {
			if want := shareOf(q) >= 0.7; now.Space.Keeps(q) != want {
				t.Errorf("%v: %s kept %v", facts, q.Key(), !want)
			}
		}
		if !now.Space.Keeps(p) {
			t.Errorf("%v: what ran is excluded", facts)
		}
	}
}

// TestTheCorrectedPlannerIsAFunctionOfTheFile: a study whose program dies after every trial asks for what an undisturbed one does, and its earlier points
// have the capacity that its candidates are given.
func TestTheCorrectedPlannerIsAFunctionOfTheFile(t *testing.T) {
	const trials = 12
	text := glmTop + glmGeometry(t) + glmShares
	a := plannedSpec(t, text)
	sampler, err := a.newCalibrated()
	if err != nil {
		t.Fatal(err)
	}
	var undisturbed tuner.History
	for n := range trials {
		p, err := sampler.Suggest(a.problem, undisturbed, tuner.Ask{Number: n, Seed: a.problem.Seed})
		if err != nil {
			t.Fatal(err)
		}
		undisturbed = append(undisturbed, tuner.Trial{Number: n, Point: p.Point, Outcome: served(a, p.Point)})
	}
	path := madeUpStudy(t, text)
	for n := range trials {
		if got, want := nextPoint(t, path), undisturbed[n].Point.Key(); got != want {
			t.Fatalf("trial %d: the file asks for %s, an undisturbed study for %s", n, got, want)
		}
		s, err := reopenForWriting(t, path)
		if err != nil {
			t.Fatal(err)
		}
		trial := undisturbed[n]
		trial.Started = time.Date(2026, 1, 1, n, 0, 0, 0, time.UTC)
		begun := trial
		begun.Outcome = tuner.Outcome{}
		trial.Ended = trial.Started.Add(time.Minute)
		if err := errors.Join(s.db.Begin(t.Context(), begun), s.db.Finish(t.Context(), trial), s.db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	now := a.corrected(a.problem, undisturbed)
	plain, _ := a.problem.Capacity(undisturbed[0].Point.Get)
	later, _ := now.Capacity(undisturbed[0].Point.Get)
	want := a.planner.after(a.launches(undisturbed)).estimate(now.Space.Resolved(undisturbed[0].Point))
	if room, _ := want.Headroom(); plain == later || later.Headroom != room {
		t.Errorf("the first trial's capacity was %v and is %v, want a headroom of %.2f", plain, later, room)
	}
	if f := engine.Measured(undisturbed[0].Outcome.Run.Facts); f.WeightsGiB != 94.46 {
		t.Errorf("%+v", f)
	}
}

// reopenForWriting opens a study file as resume does.
func reopenForWriting(t *testing.T, path string) (*opened, error) {
	t.Helper()
	db, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	s := &opened{db: db}
	return s, errors.Join(db.Acquire(t.Context(), "test"), s.read(t.Context()))
}
