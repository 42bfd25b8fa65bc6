//go:build bench

package main

import (
	"bytes"
	"fmt"
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

const (
	targetPoints = 120 // configurations, of which each study tries so many:
	targetTrials = 60
	targetOrders = 100 // studies, each in an order by chance
)

// targetPairs are two targets of equal weight, in the order in which they are measured.
var targetPairs = [][2]string{{"1K/2K", "32K/100"}, {"32K/100", "1K/2K"}, {"8K/1K, the example", "32K/100"}, {"8K/1K, the example", "1K/2K"}}

// TestBenchStopTargets: how often a trial is ended as the second of two targets begins though it would have ended best. What is hoped for of the second is no
// bound (see search.records), so that there is no bar but this count. Configurations come by chance: a search asks more and more of the good ones.
func TestBenchStopTargets(t *testing.T) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]float64{}
	var points []space.Point
	var problem tuner.Problem
	for _, w := range stopWorkloads {
		if !slices.ContainsFunc(targetPairs, func(p [2]string) bool { return p[0] == w.name || p[1] == w.name }) {
			continue
		}
		changed := text
		if w.spec != "" {
			changed = bytes.Replace(text, []byte(exampleWorkload), []byte(w.spec), 1)
		}
		r := mustRunner(t, assembled(t, changed, 42), 42)
		if problem = r.problem; points == nil {
			points = drawn(r, targetPoints)
		}
		for i, p := range points {
			o, err := r.outcome(p, rehearseNoise, 77+uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			v, _ := problem.Goal.Value(o.Measured)
			values[w.name] = append(values[w.name], v)
		}
	}
	wrong, records := 0, 0
	for _, pair := range targetPairs {
		c := endedAtTheSecond(t, problem, points, values[pair[0]], values[pair[1]])
		fmt.Printf("%s, then %s: %d of %d trials ended as the second begins; of %d that ended, or would have ended, better than all before them %d\n", pair[0], pair[1], c.stopped, c.trials, c.records, c.wrong)
		wrong, records = wrong+c.wrong, records+c.records
	}
	reportShare(t, "ended before the second target, of the trials that ended, or would have ended, better than all before them", wrong, records)
}

// drawn are random configurations, all different.
func drawn(r *lawRunner, n int) (points []space.Point) {
	rng := rand.New(rand.NewPCG(2006, 0))
	seen := map[string]bool{}
	for len(points) < n {
		p, ok := r.problem.Space.Draw(rng, func(p space.Point) bool { return seen[p.Key()] })
		if !ok {
			break
		}
		seen[p.Key()], points = true, append(points, p)
	}
	return points
}

type targetCount struct{ trials, stopped, records, wrong int }

// endedAtTheSecond carries studies out by what each configuration gives on both targets; 0 is one that does not run there.
func endedAtTheSecond(t *testing.T, p tuner.Problem, points []space.Point, first, second []float64) (c targetCount) {
	t.Helper()
	p.Goal.SubjectTo, p.Goal.Targets = nil, []tuner.Target{{Workload: "first", Weight: 1}, {Workload: "second", Weight: 1}}
	stopper, err := search.NewStopper(search.StopOn, 0.99)
	if err != nil {
		t.Fatal(err)
	}
	on := func(workload string, v float64) *tuner.Measurement {
		return &tuner.Measurement{Workload: workload, Share: 1, Metrics: map[string]float64{p.Goal.Metric: v}}
	}
	rng := rand.New(rand.NewPCG(2007, 0))
	for range targetOrders {
		var h tuner.History
		best := 0.0
		for _, i := range rng.Perm(len(points))[:min(targetTrials, len(points))] {
			if first[i] == 0 || second[i] == 0 {
				continue
			}
			trial := tuner.Trial{Number: len(h), Point: points[i], Origin: tuner.OriginSearch, Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: on("first", first[i])}}
			v := stopper.Stop(p, h, tuner.Partial{Trial: trial, Phase: tuner.PhaseBench, Elapsed: 5 * time.Second, Workload: "second", Measured: on("first", first[i]),
				Requests: make([]metric.Sight, 100), Pace: []metric.Event{{At: 5 * time.Second}}})
			c.trials++
			leads := first[i]*second[i] > best
			if leads {
				c.records++
			}
			if v.Stop {
				c.stopped++
				if leads {
					c.wrong++
				}
				trial.Outcome.Kind = tuner.Stopped
				h = append(h, trial)
				continue
			}
			best = max(best, first[i]*second[i])
			trial.Outcome.Measured.Also = []*tuner.Measurement{on("second", second[i])}
			h = append(h, trial)
		}
	}
	return c
}
