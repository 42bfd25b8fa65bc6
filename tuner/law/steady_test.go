package law

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"autotune/space"
)

// randomFlags draws a configuration of the kind that examples/glm-5.2-8xh200.yaml asks about.
func randomFlags(r *rand.Rand) (string, map[string]space.Value) {
	f := map[string]space.Value{}
	pick := func(name string, values ...space.Value) {
		if v := values[r.IntN(len(values))]; !v.IsDefault() {
			f[name] = v
		}
	}
	d, on, off := space.Default(), space.Bool(true), space.Bool(false)
	if r.IntN(2) == 0 {
		f["tensor-parallel-size"] = space.Int(8)
		pick("max-num-seqs", d, space.Int(64), space.Int(128), space.Int(256), space.Int(512))
		pick("max-num-batched-tokens", d, space.Int(2048), space.Int(4096), space.Int(16384))
		pick("gpu-memory-utilization", d, space.Float(0.88), space.Float(0.9), space.Float(0.93), space.Float(0.95))
		pick("kv-cache-dtype", space.String("auto"), space.String("fp8"))
		pick("enable-expert-parallel", on, off)
		return "vllm", f
	}
	f["tp-size"] = space.Int(8)
	pick("enable-dp-attention", on, off)
	if f["enable-dp-attention"].AsBool() {
		pick("dp-size", space.Int(2), space.Int(4), space.Int(8))
	}
	pick("ep-size", d, space.Int(8))
	pick("mem-fraction-static", d, space.Float(0.75), space.Float(0.8), space.Float(0.85), space.Float(0.88))
	pick("chunked-prefill-size", d, space.Int(2048), space.Int(4096), space.Int(8192), space.Int(16384), space.Int(32768))
	pick("moe-a2a-backend", space.String("none"), space.String("deepep"))
	pick("deepep-mode", space.String("auto"), space.String("normal"), space.String("low_latency"))
	pick("max-running-requests", d, space.Int(64), space.Int(128), space.Int(256), space.Int(512))
	pick("kv-cache-dtype", space.String("auto"), space.String("fp8_e4m3"))
	pick("enable-mixed-chunk", on, off, off)
	return "sglang", f
}

func loopPlan(t Traffic) Plan {
	p := Plan{Cap: t.Concurrency}
	for i := range t.Requests {
		p.Arrivals = append(p.Arrivals, time.Duration(i)*time.Millisecond)
		p.Input = append(p.Input, t.Input)
		p.Output = append(p.Output, t.Output)
	}
	return p
}

// The closed form orders configurations as the simulation does, and fails where it fails. Over 60 points a workload the rank correlation is 0.98 to
// 0.997 and the mean error 0.7 to 4.5 %; what is asked of fewer points here leaves room for one bad draw.
func TestSteadyAgreesWithTheSimulation(t *testing.T) {
	for _, traffic := range []Traffic{{8192, 1024, 1000, 512}, {1024, 2048, 1000, 512}, {32000, 100, 300, 128}} {
		r := rand.New(rand.NewPCG(1, 2))
		var simulated, closed, tpot, closedTPOT []float64
		sum := 0.0
		for range 24 {
			engine, flags := randomFlags(r)
			c, err := Resolve(engine, "zai-org/GLM-5.2-FP8", flags, Machine{GPU: "H200", GPUs: 8})
			if err != nil {
				t.Fatal(err)
			}
			got, failure := Steady(c, Options{}, traffic)
			rate, each, ok := simulate(c, traffic)
			if ok != (failure == nil) {
				t.Errorf("%v %s %v: the simulation ran: %v, the closed form: %+v", traffic, engine, flags, ok, failure)
				continue
			}
			if ok {
				simulated, closed = append(simulated, rate), append(closed, got.Throughput)
				tpot, closedTPOT = append(tpot, each), append(closedTPOT, got.TPOT)
				sum += math.Abs(got.Throughput/rate - 1)
			}
		}
		rank, rankTPOT, mean := spearman(simulated, closed), spearman(tpot, closedTPOT), sum/float64(len(closed))
		t.Logf("%v: %d ran, rank correlation of throughput %.3f and of time per token %.3f, mean error of throughput %.3f", traffic, len(closed), rank, rankTPOT, mean)
		if len(closed) < 15 || rank < 0.95 || rankTPOT < 0.6 || mean > 0.08 {
			t.Errorf("%v: %d ran, rank correlations %.3f and %.3f, mean error %.3f", traffic, len(closed), rank, rankTPOT, mean)
		}
	}
}

// simulate is the discrete-event simulation's answer: tokens a second, and the mean time per token.
func simulate(c Config, traffic Traffic) (rate, tpot float64, ok bool) {
	s, failure := New(c, Options{})
	if failure != nil {
		return 0, 0, false
	}
	records, crash := Play(s, loopPlan(traffic))
	rate, status := judge(records, crash)
	n := 0.0
	for i := range records {
		if q := &records[i]; q.OK() && len(q.Tokens) > 1 {
			tpot += (q.End - q.Tokens[0].At).Seconds() / float64(q.Output-q.Tokens[0].Tokens)
			n++
		}
	}
	return rate, tpot / n, status == "ok"
}

func spearman(a, b []float64) float64 {
	x, y := ranksOf(a), ranksOf(b)
	n := float64(len(a))
	sum := 0.0
	for i := range x {
		sum += (x[i] - y[i]) * (x[i] - y[i])
	}
	return 1 - 6*sum/(n*(n*n-1))
}

func ranksOf(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return v[order[i]] < v[order[j]] })
	out := make([]float64, len(v))
	for place, i := range order {
		out[i] = float64(place)
	}
	return out
}
