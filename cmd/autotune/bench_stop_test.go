//go:build bench

package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"autotune/search"
	"autotune/search/searchbench"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
)

const (
	stopBar     = 0.01 // of the trials that would have ended best, stopped ones
	stopDraws   = 400  // configurations of the example's own workload
	stopOthers  = 80   // and of each other one
	stopStudies = 10   // seeds of whole studies, of each sampler
	stopDrift   = 0.05 // standard deviation of the log of the speed within a run
)

// stopWorkloads are the example's traffic, and others under which a run looks quite different.
var stopWorkloads = []struct {
	name, spec string
	draws      int
	drift      float64
}{
	{"8K/1K, the example", "", stopDraws, 0},
	{"the same, its speed drifting by 5 %", "", stopOthers, stopDrift},
	{"32K/100", "{dataset: random, input_tokens: 32768, output_tokens: 100, requests: 600, rate: 1000, max_concurrency: 256, seed: 42}", stopOthers, 0},
	{"1K/2K", "{dataset: random, input_tokens: 1024, output_tokens: 2048, requests: 1000, rate: 1000, max_concurrency: 512, seed: 42}", stopOthers, 0},
	{"8K/1K arriving at 0.8 a second", "{dataset: random, input_tokens: 8192, output_tokens: 1024, requests: 600, rate: 0.8, max_concurrency: 0, seed: 42}", stopOthers, 0},
}

const exampleWorkload = "{dataset: random, input_tokens: 8192, output_tokens: 1024, requests: 1000, rate: 1000, max_concurrency: 512, seed: 42}"

// TestBenchStop: how often the stoppers would end a trial that would have ended best, and what they save.
//
// Each of many random configurations, with 5 % of noise, is seen by the second as a real runner shows it. It is put where stopping is hardest
// to get right: beside a best that its own final value beats by a hair. The slack is that without the margin for noise: the bound itself.
func TestBenchStop(t *testing.T) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var wrong, all int
	for _, w := range stopWorkloads {
		changed := text
		if w.spec != "" {
			if changed = bytes.Replace(text, []byte(exampleWorkload), []byte(w.spec), 1); bytes.Equal(changed, text) {
				t.Fatal("the example's workload is not the one that is to be replaced")
			}
		}
		began := time.Now()
		s := hairs(t, mustRunner(t, assembled(t, changed, 42), 42), w.draws, w.drift)
		fmt.Printf("%s (%.0f s)\n%s", w.name, time.Since(began).Seconds(), s)
		wrong, all = wrong+s.wrong, all+s.feasible
	}
	reportShare(t, "stopped, though they would have ended best by a hair", wrong, all)
}

// TestBenchStopStudies: whole studies with the stoppers on; what was cut short is known to its end all the same.
func TestBenchStopStudies(t *testing.T) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var wrong, records int
	for _, sampler := range []string{"random", "gp"} {
		var sum studySavings
		for seed := uint64(1); seed <= stopStudies; seed++ {
			a := assembled(t, bytes.Replace(text, []byte("search: {seed"), []byte("search: {sampler: "+sampler+", seed"), 1), seed)
			r := mustRunner(t, a, seed)
			h := rehearsed(t, a, r)
			sum.add(a.problem, h, r)
			a.spec.Stoppers = search.StopOff
			whole := mustRunner(t, a, seed)
			sum.apart = append(sum.apart, math.Log(led(t, a, h, r)/led(t, a, rehearsed(t, a, whole), whole)))
		}
		fmt.Printf("%s, %d studies: %s", sampler, stopStudies, sum)
		wrong, records = wrong+sum.wrong, records+sum.records+sum.wrong
	}
	reportShare(t, "stopped, of the trials that ended, or would have ended, better than all before them", wrong, records)
}

// reportShare prints a share with its interval and its bar.
func reportShare(t *testing.T, what string, n, of int) {
	t.Helper()
	lo, hi := searchbench.Wilson(n, of)
	share := float64(n) / float64(max(1, of))
	fmt.Printf("%s: %d of %d, %.2f %% (95 %%: %.2f to %.2f; bar: %.0f %%)\n", what, n, of, 100*share, 100*lo, 100*hi, 100*stopBar)
	if share > stopBar || of == 0 {
		t.Error("the bar is broken")
	}
}

// hairCount is what became of the configurations of one workload.
type hairCount struct {
	feasible int
	wrong    int                  // stopped beside a best that they beat by a hair
	below    []int                // the bound lay below the final value by more than each of slacks
	stopped  int                  // beside a best of half as much again
	shares   []float64            // of the run, when they were
	off      map[string][]float64 // log of what was expected then over what came, by metric
}

// slacks are errors of the bound, as logarithms, all within the margin for noise.
var slacks = []float64{0, 0.02, 0.05, 0.1}

// offMetrics are those whose expectation is looked at.
var offMetrics = []string{"total_token_throughput", "p95_ttft", "p50_latency", "mean_tpot"}

func (s hairCount) String() string {
	out := fmt.Sprintf("  %d configurations; %d stopped beside a best that they beat by a hair; the bound itself was wrong in %d, by over 2 %% in %d, 5 %% in %d, 10 %% in %d\n",
		s.feasible, s.wrong, s.below[0], s.below[1], s.below[2], s.below[3])
	out += fmt.Sprintf("  beside a best of 1.5 times their value %d are stopped, after %.0f %% of the run (median), 90 %% of them by %.0f %%; expected over final:", s.stopped, 100*quantile(s.shares, 0.5), 100*quantile(s.shares, 0.9))
	for _, name := range offMetrics {
		mean, sd := moments(s.off[name])
		out += fmt.Sprintf(" %s %+.1f %% (sd %.1f)", name, 100*mean, 100*sd)
	}
	return out + "\n"
}

func moments(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, math.Sqrt(sd)
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(v))
	return sorted[int(q*float64(len(sorted)-1))]
}

func hairs(t *testing.T, r *lawRunner, draws int, drift float64) hairCount {
	t.Helper()
	s := hairCount{off: map[string][]float64{}, below: make([]int, len(slacks))}
	rng := rand.New(rand.NewPCG(2005, 0)) // other draws than the stopper was made on
	seen := map[string]bool{}
	margin := math.Exp(2.326 * math.Sqrt2 * 0.05) // as the stopper's own while nothing was repeated
	for i := range draws {
		p, ok := r.problem.Space.Draw(rng, func(p space.Point) bool { return seen[p.Key()] })
		if !ok {
			break
		}
		seen[p.Key()] = true
		records, failure, err := r.play(p, rehearseNoise, 2005+uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		warp(records, drift, uint64(i))
		o := r.judge(p, records, failure)
		v, ok := r.problem.Goal.Value(o.Measured)
		if !ok || o.Kind != tuner.Measured {
			continue
		}
		s.feasible++
		bests := []float64{v * 0.9999, v * 1.5}
		for _, slack := range slacks {
			bests = append(bests, v*0.9999*margin*math.Exp(-slack))
		}
		by := r.beside(p, records, bests...)
		if by[0].Stop {
			s.wrong++
		}
		for i := range slacks {
			if by[2+i].Stop {
				s.below[i]++
			}
		}
		if cut := by[1]; cut.Stop {
			s.stopped++
			s.shares = append(s.shares, cut.Share)
			for _, name := range offMetrics {
				s.off[name] = append(s.off[name], math.Log(cut.Expected[name]/o.Measured.Metrics[name]))
			}
		}
	}
	return s
}

// beside shows a run, as often as prospects are worked out, to stoppers each of which knows of one measurement with a value.
func (r *lawRunner) beside(p space.Point, records []metric.Record, bests ...float64) []tuner.Verdict {
	stopper, err := search.NewStopper(search.StopOn, r.spec.Gate)
	if err != nil {
		panic(err)
	}
	verdicts := make([]tuner.Verdict, len(bests))
	r.watch(tuner.Trial{Number: 1, Point: p, Origin: tuner.OriginSearch}, records, nil, 5*time.Second, func(now tuner.Partial) tuner.Verdict {
		for i, best := range bests {
			if !verdicts[i].Stop {
				h := tuner.History{{Number: 0, Point: r.problem.Baselines[0], Origin: tuner.OriginBaseline,
					Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: r.measurement(1, map[string]float64{r.problem.Goal.Metric: best})}}}
				verdicts[i] = stopper.Stop(r.problem, h, now)
			}
		}
		return tuner.Verdict{}
	})
	return verdicts
}

// warp lets a server's speed drift within its run, as an autoregressive process by the second whose memory is two minutes.
func warp(records []metric.Record, drift float64, seed uint64) {
	if drift == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	keep := math.Exp(-1.0 / 120)
	x := drift * rng.NormFloat64()
	starts := []float64{0} // where each second of the run begins
	at := func(d time.Duration) time.Duration {
		second := int(d / time.Second)
		for len(starts) <= second+1 {
			starts = append(starts, starts[len(starts)-1]+math.Exp(x))
			x = keep*x + drift*math.Sqrt(1-keep*keep)*rng.NormFloat64()
		}
		part := d.Seconds() - float64(second)
		return time.Duration((starts[second] + part*(starts[second+1]-starts[second])) * float64(time.Second))
	}
	for i := range records {
		r := &records[i]
		r.Sent, r.FirstByte, r.End = max(r.Scheduled, at(r.Sent)), at(r.FirstByte), at(r.End)
		for j := range r.Tokens {
			r.Tokens[j].At = at(r.Tokens[j].At)
		}
	}
}

// studySavings adds up studies.
type studySavings struct {
	trials, stopped, wrong, records int
	saved, spent                    float64 // minutes of benchmarks
	off                             []float64
	apart                           []float64 // log of the leader's true value over that of the same study without stoppers
	truer                           int       // stopped ones whose true value is higher than that of the best when they were stopped
}

func (s studySavings) String() string {
	mean, sd := moments(s.off)
	apart, spread := moments(s.apart)
	return fmt.Sprintf("%d of %d trials cut short, %.0f of %.0f minutes of benchmarks saved (%.0f %%)\n"+
		"  %d would have ended best; %d are truly better than the best then was; expected over final %+.1f %% (sd %.1f)\n"+
		"  the leader's true value at the end against that of the same study without stoppers: %+.1f %% (sd %.1f, %d studies)\n",
		s.stopped, s.trials, s.saved, s.saved+s.spent, 100*s.saved/(s.saved+s.spent), s.wrong, s.truer, 100*mean, 100*sd, 100*apart, 100*spread, len(s.apart))
}

// led is what the leader of a study is truly worth.
func led(t *testing.T, a *assembly, h tuner.History, r *lawRunner) float64 {
	t.Helper()
	ranked := search.RankerOf(a.spec.Sampler).Rank(a.problem, h)
	if len(ranked) == 0 {
		t.Fatal("nothing is feasible")
	}
	v, _ := r.truth(ranked[0].Trial.Point)
	return v
}

func (s *studySavings) add(p tuner.Problem, h tuner.History, r *lawRunner) {
	var best *tuner.Trial
	for i, trial := range h {
		s.trials++
		o := trial.Outcome
		if o.Measured != nil && o.Kind == tuner.Measured {
			s.spent += o.Measured.Metrics["duration"] / 60
		}
		if p.Goal.Feasible(trial) && (best == nil || p.Goal.Better(o.Measured, best.Outcome.Measured)) {
			best = &h[i]
			s.records++
		}
		if o.Kind != tuner.Stopped {
			continue
		}
		s.stopped++
		whole := r.whole[trial.Number]
		seen := o.Share * o.Measured.Metrics["duration"] / 60
		s.spent += seen
		if whole.Measured == nil {
			continue // it would have failed
		}
		s.saved += whole.Measured.Metrics["duration"]/60 - seen
		s.off = append(s.off, math.Log(o.Measured.Metrics[p.Goal.Metric]/whole.Measured.Metrics[p.Goal.Metric]))
		if p.Goal.Better(whole.Measured, best.Outcome.Measured) {
			s.wrong++
		}
		mine, _ := r.truth(trial.Point)
		if theirs, _ := r.truth(best.Point); mine > theirs {
			s.truer++
		}
	}
}
