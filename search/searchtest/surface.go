package searchtest

import (
	"math"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// Surface is a small problem whose truth is known: it stands for a server.
type Surface struct {
	Name    string
	Problem tuner.Problem
	// Truth says how a trial of the point ends, without noise.
	Truth func(space.Point) tuner.Outcome
}

// Surfaces returns the two small surfaces on which a sampler that learns has to beat random.
func Surfaces() []Surface { return []Surface{TwoEngines(), Bounded()} }

const throughput, firstToken = "output_token_throughput", "p95_ttft"

// TwoEngines has a choice of engine, a conditional flag, a rule, and runs out of memory where much is asked for at once.
// The best of it is 185.4 on "fast": tp 8, chunk 4096 (or next to it), fraction 0.8, fp8 cache, drafting 4 tokens.
func TwoEngines() Surface {
	engines := must(space.Choices(space.String("fast"), space.String("plain")))
	params := []space.Param{
		{Name: "engine", Domain: engines},
		flag("fast", "tp", must(space.Choices(space.Int(1), space.Int(2), space.Int(4), space.Int(8))), ""),
		flag("fast", "chunk", must(space.Ints(256, 16384, 256, false, space.Default())), ""),
		flag("fast", "fraction", must(space.Floats(0.5, 0.95, 0.05, false)), ""),
		flag("fast", "cache", must(space.Choices(space.String("auto"), space.String("fp8"))), ""),
		flag("fast", "draft", space.Bools(), ""),
		flag("fast", "draft-tokens", must(space.Ints(1, 8, 1, false)), "fast.draft == true"),
		flag("plain", "batch", must(space.Ints(1, 512, 1, true, space.Default())), ""),
		flag("plain", "mode", must(space.Choices(space.String("x"), space.String("y"), space.String("z"))), ""),
	}
	params[2].Resolved = space.Int(2048)
	rules := []space.Constraint{{
		ID: "draft-needs-tp", Reason: "drafts only on two GPUs or more", Engine: "fast",
		Holds: func(look space.Lookup) bool {
			draft, _ := look("fast.draft")
			tp, _ := look("fast.tp")
			return !draft.AsBool() || tp.AsInt() > 1
		},
	}}
	s := must(space.New(params, rules, nil))
	return Surface{
		Name: "two engines",
		Problem: tuner.Problem{
			Space: s,
			Baselines: []space.Point{
				point(s, "fast", map[string]space.Value{"tp": space.Int(1), "chunk": space.Default(), "fraction": space.Float(0.5), "cache": space.String("auto"), "draft": space.Bool(false)}),
				point(s, "plain", map[string]space.Value{"batch": space.Default(), "mode": space.String("x")}),
			},
			Goal:   tuner.Goal{Metric: throughput, Direction: tuner.Maximize},
			Hungry: map[string]float64{"fast.chunk": 1.5, "fast.fraction": 2},
		},
		Truth: func(p space.Point) tuner.Outcome {
			if p.Engine() == "plain" {
				batch, _ := number(p, "plain.batch", 32)
				mode, _ := p.Get("plain.mode")
				return measured(60*math.Exp(-sq(math.Log2(batch/128)/4))+map[string]float64{"x": 0, "y": 8, "z": -5}[mode.String()], 1)
			}
			chunk, _ := number(p, "fast.chunk", 2048)
			fraction, _ := number(p, "fast.fraction", 0)
			tp, _ := number(p, "fast.tp", 0)
			if fraction+0.1*math.Log2(chunk/4096) > 0.86 {
				return failed(tuner.ReasonMemory)
			}
			v := 40 * (1 + 0.35*math.Log2(tp)) * (0.6 + fraction) * math.Exp(-sq(math.Log2(chunk/4096)/5))
			if cache, _ := p.Get("fast.cache"); cache == space.String("fp8") {
				v *= 1.2
			}
			if draft, ok := number(p, "fast.draft-tokens", 0); ok {
				v *= 1.35 - sq((draft-4)/6)
			}
			return measured(v, 1)
		},
	}
}

// Bounded has one engine, pairs of flags that matter together, hidden combinations that do not start, and a bound that the fastest points break.
func Bounded() Surface {
	params := []space.Param{
		{Name: "engine", Domain: must(space.Choices(space.String("one")))},
		flag("one", "seqs", must(space.Ints(8, 1024, 1, true)), ""),
		flag("one", "delay", must(space.Floats(0, 2, 0.25, false)), ""),
		flag("one", "policy", must(space.Choices(space.String("fcfs"), space.String("lpm"), space.String("random"), space.String("dfs"))), ""),
		flag("one", "backend", must(space.Choices(space.String("a"), space.String("b"), space.String("c"))), ""),
		flag("one", "overlap", space.Bools(), ""),
		flag("one", "page", must(space.Choices(space.Default(), space.Int(1), space.Int(16), space.Int(64))), ""),
	}
	s := must(space.New(params, nil, nil))
	return Surface{
		Name: "bounded",
		Problem: tuner.Problem{
			Space: s,
			Baselines: []space.Point{point(s, "one", map[string]space.Value{"seqs": space.Int(64), "delay": space.Float(0), "policy": space.String("fcfs"),
				"backend": space.String("a"), "overlap": space.Bool(false), "page": space.Default()})},
			Goal: tuner.Goal{Metric: throughput, Direction: tuner.Maximize, SubjectTo: []tuner.Bound{{Metric: firstToken, Op: "<=", Limit: 2}}},
		},
		Truth: func(p space.Point) tuner.Outcome {
			policy, backend := word(p, "one.policy"), word(p, "one.backend")
			overlap, _ := p.Get("one.overlap")
			if backend == "c" && !overlap.AsBool() || policy == "dfs" && backend == "a" {
				return failed(tuner.ReasonInfeasible)
			}
			seqs, _ := number(p, "one.seqs", 0)
			delay, _ := number(p, "one.delay", 0)
			page, _ := number(p, "one.page", 1)
			v := 100 * (1 - math.Exp(-seqs/150)) * (1 - 0.2*sq(delay-0.75))
			v *= map[string]float64{"fcfs": 1, "lpm": 1.15, "random": 0.8, "dfs": 1.1}[policy]
			v *= map[string]float64{"a": 1, "b": 0.9, "c": 1.2}[backend]
			if overlap.AsBool() && page == 64 {
				v *= 1.25
			}
			return measured(v, 0.5+seqs/300+0.5*delay)
		},
	}
}

// Numbers has ranges and a list of numbers, without any choice or condition beside them: a smooth hill whose top is 100, a rule, and a corner that
// runs out of memory.
func Numbers() Surface {
	params := []space.Param{
		{Name: "engine", Domain: must(space.Choices(space.String("n")))},
		flag("n", "word", must(space.Choices(space.String("always"))), ""),
		flag("n", "seqs", must(space.Ints(1, 1024, 1, true)), ""),
		flag("n", "share", must(space.Floats(0.5, 0.95, 0.05, false)), ""),
		flag("n", "tp", must(space.Choices(space.Int(1), space.Int(2), space.Int(4), space.Int(8))), ""),
		flag("n", "chunk", must(space.Ints(256, 16384, 256, false)), ""),
	}
	rules := []space.Constraint{{
		ID: "seqs-fit-chunk", Reason: "a chunk holds a token of every sequence", Engine: "n",
		Holds: func(look space.Lookup) bool {
			seqs, _ := look("n.seqs")
			chunk, _ := look("n.chunk")
			return seqs.AsInt() <= chunk.AsInt()
		},
	}}
	s := must(space.New(params, rules, nil))
	base := map[string]space.Value{"word": space.String("always"), "seqs": space.Int(16), "share": space.Float(0.5), "tp": space.Int(1), "chunk": space.Int(1024)}
	return Surface{
		Name: "numbers",
		Problem: tuner.Problem{Space: s, Baselines: []space.Point{point(s, "n", base)}, Goal: tuner.Goal{Metric: throughput, Direction: tuner.Maximize},
			Hungry: map[string]float64{"n.seqs": 0.5, "n.share": 2, "n.chunk": 1.5}},
		Truth: func(p space.Point) tuner.Outcome {
			seqs, _ := number(p, "n.seqs", 0)
			share, _ := number(p, "n.share", 0)
			tp, _ := number(p, "n.tp", 0)
			chunk, _ := number(p, "n.chunk", 0)
			if share > 0.85 && chunk > 8192 {
				return failed(tuner.ReasonMemory)
			}
			far := sq(math.Log2(seqs/128)/5) + sq((share-0.8)/0.3) + sq(math.Log2(tp/4)/2) + sq(math.Log2(chunk/4096)/3)
			return measured(100*math.Exp(-far), 1)
		},
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func flag(engine, name string, d space.Domain, when string) space.Param {
	p := space.Param{Name: engine + "." + name, Engine: engine, Flag: name, Domain: d}
	if when != "" {
		e := must(space.ParseExpr(when))
		p.When = must(e.Bind(func(n string) (string, bool) { return n, n == "fast.draft" }))
	}
	return p
}

func point(s *space.Space, engine string, flags map[string]space.Value) space.Point {
	values := map[string]space.Value{space.EngineParam: space.String(engine)}
	for name, v := range flags {
		values[engine+"."+name] = v
	}
	return must(s.Point(values))
}

func word(p space.Point, name string) string { v, _ := p.Get(name); return v.String() }

func number(p space.Point, name string, byDefault float64) (float64, bool) {
	v, ok := p.Get(name)
	if v.IsDefault() {
		return byDefault, ok
	}
	return v.AsFloat(), ok
}

func sq(x float64) float64 { return x * x }

func measured(v, ttft float64) tuner.Outcome {
	return tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{
		Workload: "w", Clock: metric.Law, Share: 1, Metrics: map[string]float64{throughput: v, firstToken: ttft},
	}}
}

func failed(r tuner.Reason) tuner.Outcome {
	return tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseLoad, Reason: r, Signature: "test"}
}
