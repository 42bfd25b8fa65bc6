package searchtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"autotune/space"
	"autotune/tuner"
)

// Seedless is an option of Run for a sampler that goes through the space in one order, whatever the seed.
const Seedless = "seedless"

// NumbersAlone is an option of Run for a sampler that takes neither choices nor conditions: it is tried on Numbers, and on no other surface.
const NumbersAlone = "numbers alone"

// Run checks everything that a sampler keeps to. Each call of make gives a fresh sampler.
func Run(t *testing.T, make func() tuner.Sampler, options ...string) {
	seeded := !slices.Contains(options, Seedless)
	numbersAlone := slices.Contains(options, NumbersAlone)
	surfaces := append(Surfaces(), Wide())
	if numbersAlone {
		surfaces = []Surface{Numbers()}
	}
	for _, surface := range surfaces {
		t.Run("keeps to the space/"+surface.Name, func(t *testing.T) { keepsToTheSpace(t, make(), surface) })
		t.Run("same history, same point/"+surface.Name, func(t *testing.T) { sameHistorySamePoint(t, make, surface, seeded) })
		t.Run("only failures/"+surface.Name, func(t *testing.T) { onlyFailures(t, make(), surface) })
		t.Run("running trials are taken/"+surface.Name, func(t *testing.T) { runningTrialsAreTaken(t, make(), surface) })
		t.Run("strangers are not learned from/"+surface.Name, func(t *testing.T) { strangersAreNotLearnedFrom(t, make(), surface) })
		t.Run("twins count by their mean/"+surface.Name, func(t *testing.T) { twinsCountByTheirMean(t, make(), surface) })
		t.Run("asked twice/"+surface.Name, func(t *testing.T) { askedTwice(t, make(), surface) })
		t.Run("two hundred trials/"+surface.Name, func(t *testing.T) { twoHundredTrials(t, make(), surface) })
	}
	if numbersAlone {
		return
	}
	t.Run("one point", func(t *testing.T) { onePoint(t, make()) })
	t.Run("exhaustion", func(t *testing.T) { exhaustion(t, make()) })
	t.Run("recipes", func(t *testing.T) { recipes(t, make()) })
}

// BeatsRandom checks that a sampler ends closer to the optimum than random does: its mean regret over seeds is below a share of
// random's, on each small surface.
func BeatsRandom(t *testing.T, sampler, random tuner.Sampler, trials, seeds int, share float64) {
	for _, surface := range Surfaces() {
		t.Run(surface.Name, func(t *testing.T) {
			optimum, _ := Optimum(surface)
			regret := func(s tuner.Sampler) float64 {
				sum := 0.0
				for seed := range seeds {
					best, _ := Best(surface.Problem.Goal, Study(t, s, surface, uint64(seed), trials))
					sum += 1 - best/optimum
				}
				return sum / float64(seeds)
			}
			mine, theirs := regret(sampler), regret(random)
			t.Logf("mean regret after %d trials: %.1f %%, random %.1f %%", trials, 100*mine, 100*theirs)
			if !(mine < share*theirs) {
				t.Errorf("mean regret %.3f is not below %.2f of random's %.3f", mine, share, theirs)
			}
		})
	}
}

func keepsToTheSpace(t *testing.T, s tuner.Sampler, surface Surface) {
	p := surface.Problem
	seen := map[string]int{}
	for i, trial := range Study(t, s, surface, 7, 60) {
		point, err := p.Space.Point(trial.Point.Map())
		if err != nil || point.Key() != trial.Point.Key() || len(point.Map()) != len(trial.Point.Map()) {
			t.Fatalf("trial %d is not a point of the space: %s: %v", i, trial.Point.Key(), err)
		}
		if rule, broken := p.Space.Broken(trial.Point); broken {
			t.Errorf("trial %d breaks %s: %s", i, rule.ID, trial.Point.Key())
		}
		if j, twice := seen[trial.Point.Key()]; twice {
			t.Errorf("trial %d asks trial %d again: %s", i, j, trial.Point.Key())
		}
		seen[trial.Point.Key()] = i
		if i < len(p.Baselines) && trial.Point.Key() != p.Baselines[i].Key() {
			t.Errorf("trial %d is not baseline %d: %s", i, i, trial.Point.Key())
		}
		if trial.Proposal.Why == "" {
			t.Errorf("trial %d does not say why", i)
		}
	}
}

// sameHistorySamePoint asks twice, a fresh sampler, and after a round trip of points and outcomes through JSON, as a store makes it;
// and once more after a study of its own, in case the sampler remembers something.
func sameHistorySamePoint(t *testing.T, make func() tuner.Sampler, surface Surface, seeded bool) {
	whole := Study(t, make(), surface, 3, 45)
	used := make()
	for _, n := range []int{0, 1, 5, 12, 13, 30, 44} {
		want := whole[n].Point.Key()
		for name, h := range map[string]tuner.History{"the same": whole[:n], "a stored": stored(t, surface.Problem.Space, whole[:n])} {
			before := len(h)
			for name2, s := range map[string]tuner.Sampler{"fresh": make(), "used": used} {
				got, err := s.Suggest(surface.Problem, h, tuner.Ask{Number: n, Seed: 3})
				if err != nil || got.Point.Key() != want {
					t.Errorf("trial %d from %s history by a %s sampler: %v %s, was %s", n, name, name2, err, got.Point.Key(), want)
				}
			}
			if len(h) != before {
				t.Error("the history was changed")
			}
		}
	}
	other := Study(t, make(), surface, 4, 45)
	if seeded && slices.EqualFunc(whole, other, func(a, b tuner.Trial) bool { return a.Point.Key() == b.Point.Key() }) {
		t.Error("another seed gives the same study")
	}
}

func stored(t *testing.T, s *space.Space, h tuner.History) tuner.History {
	t.Helper()
	out := make(tuner.History, len(h))
	for i, trial := range h {
		text, err := json.Marshal(trial.Point)
		if err != nil {
			t.Fatal(err)
		}
		point, err := s.ParsePoint(text)
		if err != nil {
			t.Fatal(err)
		}
		outcome, err := json.Marshal(trial.Outcome)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = tuner.Trial{Number: trial.Number, Point: point}
		if err := json.Unmarshal(outcome, &out[i].Outcome); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func onlyFailures(t *testing.T, s tuner.Sampler, surface Surface) {
	surface.Truth = func(space.Point) tuner.Outcome { return failed(tuner.ReasonInfeasible) }
	distinct(t, surface, Study(t, s, surface, 1, 40), 40)
}

func distinct(t *testing.T, surface Surface, h tuner.History, want int) {
	t.Helper()
	keys := map[string]bool{}
	for _, trial := range h {
		keys[trial.Point.Key()] = true
		if !surface.Problem.Space.Keeps(trial.Point) {
			t.Errorf("trial %d breaks a rule: %s", trial.Number, trial.Point.Key())
		}
	}
	if len(h) != want || len(keys) != want {
		t.Errorf("%d trials with %d points, want %d", len(h), len(keys), want)
	}
}

func runningTrialsAreTaken(t *testing.T, s tuner.Sampler, surface Surface) {
	h := Study(t, s, surface, 2, 15)
	surface.Truth = func(space.Point) tuner.Outcome { return tuner.Outcome{Kind: tuner.Running} }
	distinct(t, surface, Continue(t, s, surface, 2, 30, h), 30)
}

// strangersAreNotLearnedFrom adds trials that a sampler is not told of: the next point stays the same.
func strangersAreNotLearnedFrom(t *testing.T, s tuner.Sampler, surface Surface) {
	all := Study(t, s, surface, 5, 50)
	h, elsewhere := all[:25], all[40:]
	ask := tuner.Ask{Number: 100, Seed: 5}
	want, err := s.Suggest(surface.Problem, h, ask)
	if err != nil {
		t.Fatal(err)
	}
	marks := map[string]func(*tuner.Trial){
		"foreign": func(t *tuner.Trial) { t.Foreign = true },
		"stale":   func(t *tuner.Trial) { t.Stale = true },
		"outside": func(t *tuner.Trial) { t.Outside = true },
	}
	for name, mark := range marks {
		longer := slices.Clone(h)
		for _, trial := range elsewhere {
			if trial.Point.Key() != want.Point.Key() {
				mark(&trial)
				longer = append(longer, trial)
			}
		}
		if got, err := s.Suggest(surface.Problem, longer, ask); err != nil || got.Point.Key() != want.Point.Key() {
			t.Errorf("with %s trials the point is %s (%v), without %s", name, got.Point.Key(), err, want.Point.Key())
		}
	}
}

// twinsCountByTheirMean makes two measured trials one configuration, by what their servers reported: what each of them measured makes no difference,
// only the mean of both.
func twinsCountByTheirMean(t *testing.T, s tuner.Sampler, surface Surface) {
	h := Study(t, s, surface, 4, 24)
	var twins []int
	for i, trial := range h {
		if _, ok := surface.Problem.Goal.Value(trial.Outcome.Measured); ok && trial.Outcome.Kind == tuner.Measured {
			twins = append(twins, i)
		}
	}
	if len(twins) < 2 {
		t.Skip("fewer than two trials were measured")
	}
	a, b := twins[0], twins[len(twins)-1]
	with := func(share float64) tuner.History {
		joined := slices.Clone(h)
		for k, i := range []int{a, b} {
			m := *h[a].Outcome.Measured
			m.Metrics = map[string]float64{}
			for name, v := range h[a].Outcome.Measured.Metrics {
				m.Metrics[name] = v * (1 + share*float64(1-2*k)) // sums to twice v
			}
			joined[i].Outcome.Measured = &m
		}
		joined[b].Outcome.Run.ResolvedKey = h[a].Point.Key()
		return joined
	}
	for number := 24; number < 28; number++ { // exploring trials, too
		ask := tuner.Ask{Number: number, Seed: 4}
		want, err := s.Suggest(surface.Problem, with(0), ask)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Suggest(surface.Problem, with(0.25), ask)
		if err != nil || got.Point.Key() != want.Point.Key() {
			t.Errorf("trial %d: with measurements apart the point is %s (%v), with their mean twice %s", number, got.Point.Key(), err, want.Point.Key())
		}
	}
}

// twoHundredTrials asks after a long study. How long that takes is a benchmark's business; a sampler that hangs meets the test's own time limit.
func twoHundredTrials(t *testing.T, s tuner.Sampler, surface Surface) {
	random := surface.Problem.Space
	h := tuner.History{}
	r := newRand(9)
	for n := range 200 {
		p := random.Random(r)
		h = append(h, tuner.Trial{Number: n, Point: p, Outcome: surface.Truth(p)})
	}
	for _, b := range surface.Problem.Baselines {
		h = append(h, tuner.Trial{Number: len(h), Point: b, Outcome: surface.Truth(b)})
	}
	proposal, err := s.Suggest(surface.Problem, h, tuner.Ask{Number: len(h), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if h.Taken()(proposal.Point.Key()) {
		t.Errorf("it asks again what was asked: %s", proposal.Point.Key())
	}
}

func onePoint(t *testing.T, s tuner.Sampler) {
	surface := Surface{Name: "one point", Problem: tuner.Problem{Goal: tuner.Goal{Metric: throughput, Direction: tuner.Maximize}}}
	surface.Problem.Space = must(space.New([]space.Param{
		{Name: "engine", Domain: must(space.Choices(space.String("one")))},
		flag("one", "tp", must(space.Ints(8, 8, 1, false)), ""),
	}, nil, nil))
	surface.Truth = func(space.Point) tuner.Outcome { return measured(1, 1) }
	distinct(t, surface, Study(t, s, surface, 1, 3), 1)
	surface.Problem.Baselines = []space.Point{point(surface.Problem.Space, "one", map[string]space.Value{"tp": space.Int(8)})}
	h := Study(t, s, surface, 1, 3)
	distinct(t, surface, h, 1)
	if _, err := s.Suggest(surface.Problem, h, tuner.Ask{Number: 1, Seed: 1}); !errors.Is(err, tuner.ErrExhausted) {
		t.Errorf("after the only point: %v, want %v", err, tuner.ErrExhausted)
	}
}

// exhaustion runs a space of 25 configurations dry: 2 x 3 x 3 by "a", where two flags break a rule 4 times and one is ignored
// beside another (18 - 4 - 2 = 12 configurations), 13 by "b".
func exhaustion(t *testing.T, s tuner.Sampler) {
	surface := Dry()
	h := Study(t, s, surface, 11, 100)
	distinct(t, surface, h, DryPoints)
	if kept, _, exact := surface.Problem.Space.Census(1000); !exact || kept != DryPoints {
		t.Errorf("the space has %d configurations (exact: %v), want %d", kept, exact, DryPoints)
	}
}

func recipes(t *testing.T, s tuner.Sampler) {
	surface := TwoEngines()
	flags := map[string]space.Value{"tp": space.Int(8), "chunk": space.Int(4096), "fraction": space.Float(0.8), "cache": space.String("fp8"), "draft": space.Bool(false)}
	first := point(surface.Problem.Space, "fast", flags)
	flags["tp"], flags["draft"], flags["draft-tokens"] = space.Int(1), space.Bool(true), space.Int(2)
	broken := point(surface.Problem.Space, "fast", flags)
	surface.Problem.Recipes = []space.Point{surface.Problem.Baselines[1], broken, first}
	h := Study(t, s, surface, 1, 5)
	want := append(slices.Clone(surface.Problem.Baselines), first)
	for i, w := range want {
		if h[i].Point.Key() != w.Key() {
			t.Errorf("trial %d is %s, want %s", i, h[i].Point.Key(), w.Key())
		}
	}
	distinct(t, surface, h, 5)
}

// DryPoints is how many configurations Dry has.
const DryPoints = 25

// Dry is a small space with a rule and a flag that is ignored beside another.
func Dry() Surface {
	params := []space.Param{
		{Name: "engine", Domain: must(space.Choices(space.String("a"), space.String("b")))},
		flag("a", "on", space.Bools(), ""),
		flag("a", "size", must(space.Choices(space.Default(), space.Int(16), space.Int(32))), ""),
		flag("a", "kind", must(space.Choices(space.String("x"), space.String("y"), space.String("z"))), ""),
		flag("b", "n", must(space.Ints(0, 11, 1, false, space.Default())), ""),
	}
	rules := []space.Constraint{{
		ID: "z-is-small", Reason: "kind z fits no size but the default", Engine: "a",
		Holds: func(look space.Lookup) bool {
			kind, _ := look("a.kind")
			size, _ := look("a.size")
			return kind != space.String("z") || size.IsDefault()
		},
	}}
	rewrites := []space.Rewrite{{
		ID: "x-is-never-on", Reason: "kind x ignores on where the size is set", Engine: "a",
		Apply: func(look space.Lookup) map[string]space.Value {
			kind, _ := look("a.kind")
			size, _ := look("a.size")
			if kind != space.String("x") || size.IsDefault() {
				return nil
			}
			return map[string]space.Value{"a.on": space.Bool(false)}
		},
	}}
	s := must(space.New(params, rules, rewrites))
	return Surface{
		Name:    "dry",
		Problem: tuner.Problem{Space: s, Goal: tuner.Goal{Metric: throughput, Direction: tuner.Minimize}},
		Truth: func(p space.Point) tuner.Outcome {
			if n, ok := number(p, "b.n", 5); ok {
				return measured(1+n, 1)
			}
			return measured(4, 1)
		},
	}
}

// Wide has what is awkward in domains: integers at the ends of int64, a log range over all of them, words beside numbers,
// a value that only the baseline has, 200 choices, and a smaller-is-better goal.
func Wide() Surface {
	many := make([]space.Value, 200)
	for i := range many {
		many[i] = space.String(fmt.Sprintf("c%03d", i))
	}
	mixed := must(space.Ints(1, 1000, 1, false, space.Default(), space.String("off"), space.Bool(true), space.Int(-1)))
	params := []space.Param{
		{Name: "engine", Domain: must(space.Choices(space.String("w")))},
		flag("w", "top", must(space.Ints(math.MaxInt64-5, math.MaxInt64, 1, false)), ""),
		flag("w", "bottom", must(space.Ints(math.MinInt64, math.MinInt64+300, 3, false)), ""),
		flag("w", "log", must(space.Ints(1, math.MaxInt64, 1, true)), ""),
		flag("w", "high-log", must(space.Ints(math.MaxInt64-5, math.MaxInt64, 1, true)), ""),
		flag("w", "mixed", mixed.Allowing(space.Int(5000), space.String("auto")), ""),
		flag("w", "floats", must(space.Floats(1e-6, 10, 0, true, space.Default())), ""),
		flag("w", "many", must(space.Choices(many...)), ""),
	}
	s := must(space.New(params, nil, nil))
	base := map[string]space.Value{"top": space.Int(math.MaxInt64), "bottom": space.Int(math.MinInt64), "log": space.Int(1), "high-log": space.Int(math.MaxInt64),
		"mixed": space.String("auto"), "floats": space.Default(), "many": many[0]}
	return Surface{
		Name:    "wide",
		Problem: tuner.Problem{Space: s, Baselines: []space.Point{point(s, "w", base)}, Goal: tuner.Goal{Metric: throughput, Direction: tuner.Minimize}},
		Truth: func(p space.Point) tuner.Outcome {
			if word(p, "w.mixed") == "off" {
				return failed(tuner.ReasonUnknown)
			}
			log, _ := number(p, "w.log", 0)
			floats, _ := number(p, "w.floats", 1)
			return measured(1+math.Log(log)+sq(math.Log(floats)), 1)
		},
	}
}
