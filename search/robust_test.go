package search_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"autotune/search"
	"autotune/search/searchtest"
	"autotune/space"
	"autotune/tuner"
)

// histories are what a sampler has to live with: what a trial of the point ends as, by its number.
var histories = map[string]func(n int, truth tuner.Outcome, r *rand.Rand) tuner.Outcome{
	"all failed": func(int, tuner.Outcome, *rand.Rand) tuner.Outcome { return failed(tuner.ReasonUnknown) },
	"one runs": func(n int, truth tuner.Outcome, _ *rand.Rand) tuner.Outcome {
		return choose(n == 17, value(5), failed(tuner.ReasonMemory))
	},
	"all alike":  func(int, tuner.Outcome, *rand.Rand) tuner.Outcome { return value(1) },
	"all zero":   func(int, tuner.Outcome, *rand.Rand) tuner.Outcome { return value(0) },
	"below zero": func(n int, _ tuner.Outcome, r *rand.Rand) tuner.Outcome { return value(-r.Float64()) },
	"a giant": func(n int, _ tuner.Outcome, r *rand.Rand) tuner.Outcome {
		return value(choose(n == 20, 1e6, r.Float64()))
	},
	"the largest": func(n int, _ tuner.Outcome, r *rand.Rand) tuner.Outcome {
		return value(choose(n == 20, math.MaxFloat64, 1e-300))
	},
	"not a number": func(n int, _ tuner.Outcome, r *rand.Rand) tuner.Outcome {
		return value(choose(n%2 == 0, math.NaN(), 1))
	},
	"infinite": func(n int, _ tuner.Outcome, r *rand.Rand) tuner.Outcome {
		return value(choose(n%2 == 0, math.Inf(1), 1))
	},
	"no such metric": func(int, tuner.Outcome, *rand.Rand) tuner.Outcome {
		return tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{}}
	},
	"nothing measured": func(int, tuner.Outcome, *rand.Rand) tuner.Outcome { return tuner.Outcome{Kind: tuner.Measured} },
	"stopped, running, invalid": func(n int, _ tuner.Outcome, _ *rand.Rand) tuner.Outcome {
		return tuner.Outcome{Kind: []tuner.Kind{tuner.Stopped, tuner.Running, tuner.Invalid, tuner.Interrupted, tuner.Infeasible}[n%5]}
	},
	"as it is": func(_ int, truth tuner.Outcome, _ *rand.Rand) tuner.Outcome { return truth },
}

func choose[T any](b bool, yes, no T) T {
	if b {
		return yes
	}
	return no
}

func value(v float64) tuner.Outcome {
	return tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Metrics: map[string]float64{"output_token_throughput": v, "p95_ttft": 1}}}
}

func failed(r tuner.Reason) tuner.Outcome {
	return tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseServe, Reason: r}
}

// TestAnyHistoryIsBorne: no panic, no duplicate, no point outside the space or against a rule, whatever came of the trials before.
func TestAnyHistoryIsBorne(t *testing.T) {
	searchtest.NotShort(t)
	for _, name := range search.Names() {
		for _, surface := range []searchtest.Surface{searchtest.Bounded(), searchtest.Wide(), searchtest.Numbers()} {
			if search.Accepts(name, surface.Problem) != nil {
				continue
			}
			for what, end := range histories {
				t.Run(name+"/"+surface.Name+"/"+what, func(t *testing.T) {
					t.Parallel()
					bear(t, sampler(t, name), surface, end)
				})
			}
		}
	}
}

func bear(t *testing.T, s tuner.Sampler, surface searchtest.Surface, end func(int, tuner.Outcome, *rand.Rand) tuner.Outcome) {
	r := rand.New(rand.NewPCG(1, 2))
	keys := map[string]bool{}
	var h tuner.History
	for n := range 30 {
		proposal, err := s.Suggest(surface.Problem, h, tuner.Ask{Number: n, Seed: 3})
		if errors.Is(err, tuner.ErrExhausted) {
			return
		}
		if err != nil {
			t.Fatalf("trial %d: %v", n, err)
		}
		point, err := surface.Problem.Space.Point(proposal.Point.Map())
		if err != nil || keys[point.Key()] || !surface.Problem.Space.Keeps(point) {
			t.Fatalf("trial %d is no new point that keeps the rules: %s, %v", n, proposal.Point.Key(), err)
		}
		finite(t, proposal)
		keys[point.Key()] = true
		h = append(h, tuner.Trial{Number: n, Point: point, Outcome: end(n, surface.Truth(point), r)})
	}
}

// finite checks what a proposal says in numbers: they are written to a file that has neither infinities nor what is no number.
func finite(t *testing.T, p tuner.Proposal) {
	t.Helper()
	numbers := []float64{p.Gain, p.PRun}
	for _, predicted := range p.Predicted {
		numbers = append(numbers, predicted.Mean, predicted.SD)
	}
	for _, v := range numbers {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s says %v", p.Why, numbers)
		}
	}
}

// TestThreeHundredOfAnyKind asks after three hundred trials that failed, were all alike, or of which one was far from the rest.
func TestThreeHundredOfAnyKind(t *testing.T) {
	searchtest.NotShort(t)
	for _, name := range search.Names() {
		surface := searchtest.Surface{Problem: published(t)}
		if search.Accepts(name, surface.Problem) != nil {
			surface = searchtest.Numbers()
		}
		for _, what := range []string{"all failed", "one runs", "all alike", "a giant"} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(1, 2))
				var h tuner.History
				for n := range 300 {
					h = append(h, tuner.Trial{Number: n, Point: surface.Problem.Space.Random(r), Outcome: histories[what](n, value(1+r.Float64()), r)})
				}
				proposal, err := sampler(t, name).Suggest(surface.Problem, h, tuner.Ask{Number: 301, Seed: 3})
				if err != nil || h.Taken()(proposal.Point.Key()) {
					t.Fatalf("%v: %s", err, proposal.Point.Key())
				}
				finite(t, proposal)
			})
		}
	}
}

// TestThreeHundredTrials is a long study: no duplicates, and the best is still found.
func TestThreeHundredTrials(t *testing.T) {
	searchtest.NotShort(t)
	surface := searchtest.TwoEngines()
	h := searchtest.Study(t, sampler(t, "tpe"), surface, 5, 300)
	keys := map[string]bool{}
	for _, trial := range h {
		keys[trial.Point.Key()] = true
	}
	if len(h) != 300 || len(keys) != 300 {
		t.Errorf("%d trials of %d points", len(h), len(keys))
	}
	optimum, _ := searchtest.Optimum(surface)
	if best, _ := searchtest.Best(surface.Problem.Goal, h); best < 0.97*optimum {
		t.Errorf("the best of 300 is %.1f, the optimum %.1f", best, optimum)
	}
}

// published is a space in the size and shape of a published study's: two engines, fourteen flags, conditions, ranges.
func published(t testing.TB) tuner.Problem {
	t.Helper()
	choices := func(v ...space.Value) space.Domain {
		d, err := space.Choices(v...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ints, err := space.Ints(64, 1024, 1, true, space.Default())
	if err != nil {
		t.Fatal(err)
	}
	floats, err := space.Floats(0.7, 0.92, 0, false, space.Default())
	if err != nil {
		t.Fatal(err)
	}
	when := func(text string) *space.Expr {
		e, err := space.ParseExpr(text)
		if err == nil {
			e, err = e.Bind(func(n string) (string, bool) { return "sglang." + n, n == "attention" || n == "backend" })
		}
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	sizes := choices(space.Default(), space.Int(2048), space.Int(4096), space.Int(8192), space.Int(16384), space.Int(32768))
	cache := choices(space.String("auto"), space.String("fp8"))
	params := []space.Param{{Name: space.EngineParam, Domain: choices(space.String("vllm"), space.String("sglang"))}}
	add := func(engine, flag string, d space.Domain, when *space.Expr) {
		params = append(params, space.Param{Name: engine + "." + flag, Engine: engine, Flag: flag, Domain: d, When: when})
	}
	add("vllm", "seqs", ints, nil)
	add("vllm", "tokens", sizes, nil)
	add("vllm", "share", floats, nil)
	add("vllm", "cache", cache, nil)
	add("vllm", "experts", space.Bools(), nil)
	add("sglang", "attention", space.Bools(), nil)
	add("sglang", "dp", choices(space.Int(2), space.Int(4), space.Int(8)), when("attention"))
	add("sglang", "ep", choices(space.Default(), space.Int(8)), nil)
	add("sglang", "share", floats, nil)
	add("sglang", "chunk", sizes, nil)
	add("sglang", "backend", choices(space.String("none"), space.String("deepep")), nil)
	add("sglang", "mode", choices(space.String("auto"), space.String("normal"), space.String("low_latency")), when("backend == deepep"))
	add("sglang", "running", ints, nil)
	add("sglang", "cache", cache, nil)
	s, err := space.New(params, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tuner.Problem{Space: s, Goal: tuner.Goal{Metric: "output_token_throughput", Direction: tuner.Maximize},
		Hungry: map[string]float64{"vllm.share": 1, "vllm.tokens": 1, "sglang.share": 1, "sglang.chunk": 1, "sglang.running": 0.5}}
}

// BenchmarkSuggest asks after 200 trials, a sixth of which ran out of memory.
func BenchmarkSuggest(b *testing.B) {
	for _, name := range search.Names() {
		b.Run(name, func(b *testing.B) {
			p := published(b)
			if search.Accepts(name, p) != nil {
				p = searchtest.Numbers().Problem
			}
			r := rand.New(rand.NewPCG(1, 1))
			var h tuner.History
			for n := range 200 {
				h = append(h, tuner.Trial{Number: n, Point: p.Space.Random(r), Outcome: choose(n%6 == 0, failed(tuner.ReasonMemory), value(r.ExpFloat64()))})
			}
			s := sampler(b, name)
			for n := 0; b.Loop(); n++ {
				if _, err := s.Suggest(p, h, tuner.Ask{Number: 200 + n, Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
