//go:build bench

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"autotune/search"
	"autotune/space"
	"autotune/store"
	"autotune/tuner"
	"autotune/tuner/report"
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

// TestBenchBinary runs one seed through the whole program: real processes, HTTP, the study file; and wants the figure of the run in process.
func TestBenchBinary(t *testing.T) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const seed = 1
	a := assembled(t, text, seed)
	history := rehearsed(t, a, mustRunner(t, a, seed))
	ranked := search.RankerOf(a.spec.Sampler).Rank(a.problem, history)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "glm.yaml"), a.spec.Text, 0o644); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	finish(t, folder, exitDone, "run", "glm.yaml", "--rehearse", "--noise", fmt.Sprint(rehearseNoise), "--study", "glm.db")
	took := time.Since(began)
	var m report.Model
	if err := json.Unmarshal([]byte(finish(t, folder, exitDone, "status", "glm.db", "--json")), &m); err != nil {
		t.Fatal(err)
	}
	apart := m.Best.Value/ranked[0].Value - 1
	fmt.Printf("seed %d through the binary: %d trials in %.0f s (bar: 300 s), best %.1f; in process %.1f; apart %.3f %% (bar: 1 %%)\n",
		seed, m.Trials.Total, took.Seconds(), m.Best.Value, ranked[0].Value, 100*apart)
	saved, _ := tuner.Saved(a.problem.Goal, history)
	fmt.Printf("  %d trials cut short, %.0f minutes saved; in process %d and %.0f\n", m.Trials.Stopped, m.Saved.Minutes, saved.Trials, saved.Minutes)
	if math.Abs(apart) > 0.01 || took > 5*time.Minute || saved.Trials != m.Saved.Trials || math.Abs(saved.Minutes/m.Saved.Minutes-1) > 0.01 {
		t.Error("a bar is broken")
	}
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
		for _, earlier := range h[:i] {
			if earlier.Outcome.Kind == tuner.Infeasible && earlier.Outcome.Reason == tuner.ReasonMemory && hungrier(a.problem, earlier.Point, p) {
				t.Errorf("trial %d asks for no less memory than trial %d, which ran out of it", trial.Number, earlier.Number)
			}
		}
	}
}

// hungrier tells whether q differs from p in memory-hungry numbers alone, none of them smaller.
func hungrier(problem tuner.Problem, p, q space.Point) bool {
	for _, d := range problem.Space.Params() {
		a, hasA := p.Get(d.Name)
		b, hasB := q.Get(d.Name)
		switch {
		case hasA != hasB:
			return false
		case !hasA || a == b:
		case problem.Hungry[d.Name] > 0 && a.IsNumber() && b.IsNumber() && b.AsFloat() > a.AsFloat():
		default:
			return false
		}
	}
	return true
}
