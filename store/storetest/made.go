package storetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// Epoch is when the made-up study begins.
var Epoch = time.Date(2026, 3, 29, 0, 59, 58, 123456789, time.UTC)

// Study is a made-up study, with text that is hard to keep.
func Study() tuner.Study {
	return tuner.Study{UUID: "5a1c9e0e-8d5c-4c0b-9c3e-2f8d7f1f0a11", Name: "größe 'n\" <more>", Spec: []byte("name: größe\r\n\tx: \"\x7f\"\n"), Source: "it's a spec.yaml",
		Created: Epoch, Budget: tuner.Budget{Trials: 60, WallClock: 10 * time.Hour, FailureRow: 12}, Inputs: []byte(`{"gpus":8,"noise":0.05}`)}
}

// Params are the parameters of the made-up problem: a domain of every kind, conditions, and integers that no float holds.
func Params(t testing.TB) []space.Param {
	t.Helper()
	must := func(d space.Domain, err error) space.Domain {
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	when, err := space.ParseExpr("enable-dp-attention")
	if err != nil {
		t.Fatal(err)
	}
	if when, err = when.Bind(func(flag string) (string, bool) { return "sglang." + flag, true }); err != nil {
		t.Fatal(err)
	}
	words := func(values ...string) (out []space.Value) {
		for _, v := range values {
			out = append(out, space.String(v))
		}
		return out
	}
	none := space.Default()
	flag := func(engine, name string, d space.Domain) space.Param {
		return space.Param{Name: engine + "." + name, Engine: engine, Flag: name, Domain: d.Allowing(none)}
	}
	dp := flag("sglang", "dp-size", must(space.Choices(space.Int(2), space.Int(4), space.Int(8))))
	dp.When = when
	return []space.Param{
		{Name: space.EngineParam, Domain: must(space.Choices(words("vllm", "sglang")...))},
		flag("vllm", "max-num-seqs", must(space.Ints(64, 1024, 1, true, none))),
		flag("vllm", "block-size", must(space.Ints(16, 128, 16, false))),
		flag("vllm", "max-num-batched-tokens", must(space.Choices(none, space.Int(128), space.Int(256)))),
		flag("vllm", "kv-cache-dtype", must(space.Choices(words("auto", "fp8", `{"a": "<b> & ü"}`)...))),
		flag("vllm", "seed", must(space.Choices(space.Int(1<<53+1), space.Int(1<<63-1), space.Int(-1<<63)))),
		flag("vllm", "swap-space", must(space.Choices(space.Float(4), space.Int(4), space.String("4"), space.Bool(true)))),
		flag("sglang", "enable-dp-attention", space.Bools()),
		dp,
		flag("sglang", "mem-fraction-static", must(space.Floats(0.70, 0.92, 0, false, none))),
		flag("sglang", "kv-cache-memory-bytes", must(space.Ints(1000, 1<<63-1, 1, true, space.String("auto")))),
	}
}

// Problem is the made-up problem.
func Problem(t testing.TB) tuner.Problem {
	t.Helper()
	s, err := space.New(Params(t), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tuner.Problem{Space: s, Seed: 7, Goal: tuner.Goal{Metric: "total_token_throughput", Direction: tuner.Maximize,
		SubjectTo: []tuner.Bound{{Metric: "p95_ttft", Op: "<=", Limit: 5}}}}
}

// Point is a random point of the made-up space, with values that are never proposed now and then.
func Point(r *rand.Rand, s *space.Space) space.Point {
	return s.Build(func(p space.Param, _ space.Lookup) space.Value {
		if r.IntN(5) == 0 && p.Domain.Allows(space.Default()) {
			return space.Default()
		}
		return p.Domain.Sample(r)
	})
}

// Begun is trial number n as it begins: a function of the problem and the number alone.
func Begun(p tuner.Problem, n int) tuner.Trial {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	point := Point(r, p.Space)
	origins := []tuner.Origin{tuner.OriginBaseline, tuner.OriginRecipe, tuner.OriginSearch, tuner.OriginHand}
	return tuner.Trial{Number: n, Point: point, Origin: origins[r.IntN(len(origins))], Started: Epoch.Add(time.Duration(n) * 17 * time.Minute),
		Proposal: tuner.Proposal{Point: point, Why: fmt.Sprintf("because of \"%d\"", n), PRun: r.Float64(), Gain: r.NormFloat64(),
			Predicted: map[string]tuner.Prediction{"total_token_throughput": {Mean: 5000 * r.Float64(), SD: r.Float64()}}}}
}

// Ended is trial number n as it ends, in one of every way; a function of the problem and the number alone.
func Ended(p tuner.Problem, n int) tuner.Trial {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	t := Begun(p, n)
	t.Ended = t.Started.Add(time.Duration(1 + r.Int64N(int64(16*time.Minute))))
	o := &t.Outcome
	o.Run, o.Cost = run(r, t), t.Ended.Sub(t.Started)
	switch r.IntN(6) {
	case 0:
		o.Kind, o.Phase, o.Reason = tuner.Infeasible, tuner.PhaseServe, tuner.ReasonMemory
		o.Signature, o.Evidence, o.Hint = "torch_oom", "CUDA out of memory.\n\ttried 2.5 GiB; ünïcode \x1b[31m", "lower it"
	case 1:
		o.Kind, o.Rule, o.Evidence = tuner.Invalid, "lag", "the client was 3 s late"
		o.Measured = measurement(r)
	case 2:
		o.Kind, o.Phase, o.Signature, o.Share = tuner.Stopped, tuner.PhaseBench, tuner.RuleHopeless, r.Float64()
		o.Measured = measurement(r)
		o.Measured.Share = o.Share
	case 3:
		o.Kind, o.Phase, o.Reason, o.Run = tuner.Infeasible, tuner.PhaseFlags, tuner.ReasonInfeasible, tuner.Run{}
	default:
		o.Kind = tuner.Measured
		o.Measured, o.Warnings = measurement(r), []string{"a warning", "another"}
		if r.IntN(2) == 0 { // a study of several workloads
			o.Measured.Also = []*tuner.Measurement{measurement(r), measurement(r)}
			o.Measured.Also[0].Workload, o.Measured.Also[1].Workload = "chat", "guard"
		}
	}
	return t
}

func run(r *rand.Rand, t tuner.Trial) tuner.Run {
	return tuner.Run{Purpose: "search", Argv: []string{"vllm", "serve", "a b", `--x={"y": [1, 2.0], "z": "<&>"}`, ""}, Env: []string{"CUDA_VISIBLE_DEVICES=0,1", "TOKEN=[redacted]"},
		Additions: []string{"--port", "8000"}, EngineVersion: "0.11.2", Host: "node-7", GPUs: []int{0, 1}, Log: fmt.Sprintf("study.db.d/%04d-1/engine.log", t.Number),
		Phases: map[tuner.Phase]time.Duration{tuner.PhaseLoad: 71 * time.Second, tuner.PhaseBench: time.Duration(r.Int64N(1e12))}, Started: t.Started.Add(time.Millisecond),
		Ended: t.Ended, Resolved: json.RawMessage(`{"max_num_seqs": 256, "f": 4.0}`), ResolvedKey: fmt.Sprintf("key %d", t.Number), Facts: map[string]string{"kv_tokens": "1,234"}}
}

func measurement(r *rand.Rand) *tuner.Measurement {
	return &tuner.Measurement{Workload: "balanced", Identity: "c0ffee", Sent: "beef", Repeat: r.IntN(3), Clock: metric.Law, Share: 1,
		Metrics:    map[string]float64{"total_token_throughput": 9000 * r.Float64(), "p95_ttft": 10 * r.Float64(), "success_rate": 1, "failed_requests": 0, "mean_itl": 1e-9 * r.Float64()},
		Records:    Records(r, 20),
		ServerSide: map[string]float64{"generation_tokens": 1e15 + 1},
		Gauges: &metric.Gauges{At: []float64{1, 2.5}, Running: []float64{3, 4}, Waiting: []float64{0, 1}, KVUse: []float64{0.5, 0.75},
			PrefixHits: []float64{0, 12}, Preempted: []float64{0, 1}}}
}

// Records are the made-up requests of a measurement, in whole microseconds, as they are kept.
func Records(r *rand.Rand, n int) []metric.Record {
	records := make([]metric.Record, n)
	for i := range records {
		at := time.Duration(i) * time.Millisecond
		records[i] = metric.Record{Index: i, Scheduled: at, Sent: at, Status: 200, AskedIn: 512, AskedOut: 8, Input: 512, Output: 8}
		for range 8 {
			at += time.Duration(r.IntN(50_000)) * time.Microsecond
			records[i].Tokens = append(records[i].Tokens, metric.Event{At: at, Tokens: 1})
		}
		records[i].FirstByte, records[i].End = records[i].Tokens[0].At, at
	}
	return records
}

// Stored is a trial as a store gives it back: the requests' records stay behind.
func Stored(t tuner.Trial) tuner.Trial {
	if m := t.Outcome.Measured; m != nil {
		kept := *m
		kept.Records, kept.Also = nil, nil
		for _, also := range m.Also {
			also := *also
			also.Records = nil
			kept.Also = append(kept.Also, &also)
		}
		t.Outcome.Measured = &kept
	}
	return t
}
