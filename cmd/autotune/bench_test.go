//go:build bench

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"autotune/search"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// TestBenchOverhead: what autotune itself costs a trial, with a server that starts and serves in no time.
func TestBenchOverhead(t *testing.T) {
	const bar = 500 * time.Millisecond
	folder, spec := writeStudy(t, "instant.yaml", "bench")
	began := time.Now()
	finish(t, folder, exitDone, "run", spec, "--study", "study.db")
	each := time.Since(began) / time.Duration(len(shown(t, folder, "study.db")))
	fmt.Printf("overhead: %v a trial (bar: %v), start and end of the program and of the fake engine included\n", each.Round(time.Millisecond), bar)
	if each > bar {
		t.Error("the bar is broken")
	}
}

// suggestBars are the times that a suggestion may take, by sampler and number of known trials.
var suggestBars = []struct {
	sampler string
	trials  int
	bar     time.Duration
}{
	{"random", 200, 50 * time.Millisecond}, {"tpe", 200, 50 * time.Millisecond},
	{"gp", 60, 100 * time.Millisecond}, {"gp", 250, time.Second}, {"rf", 250, time.Second},
}

// TestBenchSuggest: the time of a suggestion in the published study's space.
func TestBenchSuggest(t *testing.T) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a := assembled(t, text, 1)
	for _, b := range suggestBars {
		h := madeUp(a, b.trials)
		sampler, err := search.New(b.sampler)
		if err != nil {
			t.Fatal(err)
		}
		var took []time.Duration
		for i := range 21 {
			began := time.Now()
			if _, err := sampler.Suggest(a.problem, h, tuner.Ask{Number: h.Next() + i, Seed: 1}); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		fmt.Printf("suggestion at %d trials, %s: median of %d %v (bar: %v)\n", b.trials, b.sampler, len(took), took[len(took)/2].Round(10*time.Microsecond), b.bar)
		if took[len(took)/2] > b.bar {
			t.Errorf("%s at %d trials: the bar is broken", b.sampler, b.trials)
		}
	}
}

// madeUp is a history of random points with smooth made-up values, one in six without enough memory.
func madeUp(a *assembly, n int) tuner.History {
	rng := rand.New(rand.NewPCG(1, 2))
	var h tuner.History
	for number := range n {
		var p space.Point
		if number < len(a.problem.Baselines) {
			p = a.problem.Baselines[number]
		} else {
			p, _ = a.problem.Space.Draw(rng, func(p space.Point) bool { return h.Taken()(p.Key()) })
		}
		t := tuner.Trial{Number: number, Point: p, Outcome: tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseLoad, Reason: tuner.ReasonMemory}}
		if number%6 != 5 {
			v := 1000.0
			for _, q := range a.problem.Space.Params() {
				if x, ok := p.Get(q.Name); ok {
					if u, ok := q.Domain.Position(x); ok {
						v *= 1 + math.Sin(3*u)/5
					}
				}
			}
			t.Outcome = tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Clock: metric.Law, Share: 1, Metrics: map[string]float64{a.problem.Goal.Metric: v, "success_rate": 1}}}
		}
		h = append(h, t)
	}
	return h
}
