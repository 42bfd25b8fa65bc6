//go:build bench

package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"autotune/search"
	"autotune/store"
	"autotune/tuner"
	"autotune/tuner/studyfile"
)

const (
	rehearseSeeds = 10
	rehearseNoise = 0.05
	regretBar     = 0.25 // of the law's best, after 60 trials
	regretSeeds   = 6    // seeds of ten that must keep it
)

// TestBenchRehearse searches the published GLM-5.2 study with ten seeds: the real loop, store and sampler over the law in this process.
func TestBenchRehearse(t *testing.T) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	top, best := mustRunner(t, assembled(t, text, 42), 42).best(1500, 8)
	fmt.Printf("the law's best, of 1500 random points and 8 climbs: %.0f tokens/s (%v)\n  %s\n", best, time.Since(began).Round(time.Second), top.Key())
	kept := 0
	for seed := uint64(1); seed <= rehearseSeeds; seed++ {
		began := time.Now()
		a := assembled(t, text, seed)
		history := rehearsed(t, a, mustRunner(t, a, seed))
		checkNothingKnownWasAsked(t, a, history)
		ranked := search.RankerOf(a.spec.Sampler).Rank(a.problem, history)
		if len(ranked) == 0 {
			t.Fatalf("seed %d: nothing feasible", seed)
		}
		value, _ := mustRunner(t, a, seed).truth(ranked[0].Trial.Point)
		regret := 1 - value/best
		if regret <= regretBar {
			kept++
		}
		c := history.Count()
		fmt.Printf("seed %2d: best of %d trials has a true value of %.0f, %.1f %% below the law's best; %d infeasible (%.1f s)\n",
			seed, len(history), value, 100*regret, c.Infeasible, time.Since(began).Seconds())
	}
	fmt.Printf("within %.0f %% of the law's best: %d of %d seeds (bar: %d)\n", 100*regretBar, kept, rehearseSeeds, regretSeeds)
	if kept < regretSeeds {
		t.Errorf("%d of %d seeds, want %d", kept, rehearseSeeds, regretSeeds)
	}
}

// TestBenchBinary runs one seed through the whole program: real processes, HTTP, the study file; and wants every trial to end in this process as it did there. (A
// whole study in this process goes other ways: nothing in it prints a log that corrects the planner.)
func TestBenchBinary(t *testing.T) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const seed = 1
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "glm.yaml"), assembled(t, text, seed).spec.Text, 0o644); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	finish(t, folder, exitDone, "run", "glm.yaml", "--rehearse", "--noise", fmt.Sprint(rehearseNoise), "--study", "glm.db")
	took := time.Since(began)
	s, err := look(context.Background(), filepath.Join(folder, "glm.db"))
	if err != nil {
		t.Fatal(err)
	}
	apart, otherwise := replayed(t, s.assembly, s.history, mustRunner(t, s.assembly, seed))
	fmt.Printf("seed %d through the binary: %d trials in %.0f s (bar: 300 s); measured values at most %.3f %% apart from those in process (bar: 1 %%), %d trials end otherwise (bar: 0)\n",
		seed, len(s.history), took.Seconds(), 100*apart, otherwise)
	if apart > 0.01 || otherwise > 0 || took > 5*time.Minute {
		t.Error("a bar is broken")
	}
	if err := s.db.Close(); err != nil {
		t.Error(err)
	}
}

// replayed runs the trials of a history again in process, each under the same stopper, seed and earlier trials: how far values are apart at most, and how many
// trials come to another end.
func replayed(t *testing.T, a *assembly, h tuner.History, r *lawRunner) (apart float64, otherwise int) {
	t.Helper()
	stopper, err := search.NewStopper(a.spec.Stoppers, a.spec.Gate)
	if err != nil {
		t.Fatal(err)
	}
	for i, trial := range h {
		o, err := r.Run(context.Background(), trial, func(now tuner.Partial) tuner.Verdict { return stopper.Stop(a.problem, h[:i], now) })
		if err != nil {
			t.Fatal(err)
		}
		if o.Kind != trial.Outcome.Kind || o.Reason != trial.Outcome.Reason {
			t.Logf("trial %d: %s %s, in process %s %s", trial.Number, trial.Outcome.Kind, trial.Outcome.Reason, o.Kind, o.Reason)
			otherwise++
		}
		there, _ := a.problem.Goal.Value(trial.Outcome.Measured)
		if here, ok := a.problem.Goal.Value(o.Measured); ok && o.Kind == tuner.Measured && there > 0 {
			apart = max(apart, math.Abs(there/here-1))
		}
	}
	return apart, otherwise
}

// TestBenchQuickstart runs the quickstart and looks up what its winner is truly worth.
func TestBenchQuickstart(t *testing.T) {
	folder := t.TempDir()
	text, err := os.ReadFile("../../examples/quickstart/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "study.yaml"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	finish(t, folder, exitDone, "run", "study.yaml", "--study", "quickstart.db")
	took := time.Since(began)
	s, err := look(context.Background(), filepath.Join(folder, "quickstart.db"))
	if err != nil {
		t.Fatal(err)
	}
	r := mustRunner(t, s.assembly, s.spec.Seed)
	r.machine.GPU, r.machine.MemoryGiB = "L40S", 44.4 // as in the spec's command
	_, best := r.best(1500, 8)
	value, _ := r.truth(s.ranking()[0].Trial.Point)
	fmt.Printf("quickstart: %.0f s (bar: 120 s); its best has a true value of %.0f, %.1f %% below the law's best %.0f (bar: 10 %%)\n",
		took.Seconds(), value, 100*(1-value/best), best)
	if took > 2*time.Minute || value < 0.9*best {
		t.Error("a bar is broken")
	}
	if err := s.db.Close(); err != nil {
		t.Error(err)
	}
}

// assembled is a spec under another seed, as `run --rehearse` would assemble it.
func assembled(t *testing.T, text []byte, seed uint64) *assembly {
	t.Helper()
	reseeded := bytes.Replace(text, []byte("\nsearch: {seed: 42}"), fmt.Appendf(nil, "\nsearch: {seed: %d}", seed), 1)
	spec, err := studyfile.Parse("glm.yaml", reseeded)
	if err != nil {
		t.Fatal(err)
	}
	in := systemWorld().newInputs(spec, "glm.yaml")
	in.Rehearse, in.Noise = true, rehearseNoise
	a, err := assemble(spec, in)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mustRunner(t *testing.T, a *assembly, seed uint64) *lawRunner {
	t.Helper()
	r, err := newLawRunner(a, seed, rehearseNoise)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type unseen struct{}

func (unseen) Observe(tuner.Progress) {}

// rehearsed runs a whole study in process and reads it back from its file.
func rehearsed(t *testing.T, a *assembly, r *lawRunner) tuner.History {
	t.Helper()
	ctx := context.Background()
	w := systemWorld()
	db, err := store.Create(filepath.Join(t.TempDir(), "study.db"), w.newStudy(a), a.problem)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := db.Acquire(ctx, "bench"); err != nil {
		t.Fatal(err)
	}
	sampler, err := search.New(a.spec.Sampler)
	if err != nil {
		t.Fatal(err)
	}
	stopper, err := search.NewStopper(a.spec.Stoppers, a.spec.Gate)
	if err != nil {
		t.Fatal(err)
	}
	study, history, err := db.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	loop := &tuner.Tuner{Sampler: sampler, Ranker: search.RankerOf(a.spec.Sampler), Stopper: stopper, Runner: r, Store: db, Observer: unseen{}, Now: time.Now}
	if _, _, err := loop.Run(ctx, study, a.problem, history); err != nil {
		t.Fatal(err)
	}
	_, history, err = db.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return history
}

// checkNothingKnownWasAsked: no point is asked twice, breaks a rule, or asks for no less memory everywhere than one in the same layout that ran out of it.
func checkNothingKnownWasAsked(t *testing.T, a *assembly, h tuner.History) {
	t.Helper()
	keys := map[string]int{}
	for i, trial := range h {
		p := trial.Point
		if j, taken := keys[p.Key()]; taken {
			t.Errorf("trials %d and %d are the same configuration", j, trial.Number)
		}
		keys[p.Key()] = trial.Number
		if c, broken := a.problem.Space.Broken(p); broken && trial.Origin != tuner.OriginBaseline {
			t.Errorf("trial %d breaks a rule: %s", trial.Number, c.Reason)
		}
		if n, hopeless := search.OutOfMemory(a.problem, h[:i], p); hopeless && trial.Origin != tuner.OriginBaseline {
			t.Errorf("trial %d asks for no less memory than trial %d, which ran out of it", trial.Number, n)
		}
	}
}
