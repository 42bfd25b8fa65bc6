package law

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/space"
	"autotune/tuner/metric"
)

func config(t *testing.T, engine, model string, gpus int, memory float64, args ...string) Config {
	t.Helper()
	c, err := Resolve(engine, model, flagsOf(args), Machine{GPU: "H200", GPUs: gpus, MemoryGiB: memory})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func uniform(n, input, output, limit int) Plan {
	p := Plan{Cap: limit}
	for i := range n {
		p.Arrivals = append(p.Arrivals, time.Duration(i)*time.Millisecond)
		p.Input = append(p.Input, input)
		p.Output = append(p.Output, output)
	}
	return p
}

func play(t *testing.T, c Config, o Options, p Plan) []metric.Record {
	t.Helper()
	s, f := New(c, o)
	if f != nil {
		t.Fatalf("start: %s", f.Message)
	}
	records, f := Play(s, p)
	if f != nil {
		t.Fatalf("serving: %s", f.Message)
	}
	return records
}

func throughput(t *testing.T, c Config, p Plan) float64 {
	t.Helper()
	rate, status := judge(play(t, c, Options{}, p), nil)
	if status != "ok" {
		t.Fatalf("status %s", status)
	}
	return rate
}

// Whatever the engine and the layout, every request gets exactly its tokens, at instants in order, and never more run than allowed.
func TestEveryRequestGetsItsTokens(t *testing.T) {
	for _, c := range []Config{
		config(t, "vllm", "demo/tiny", 1, 44),
		config(t, "vllm", "demo/tiny", 1, 32, "--max-model-len=2048", "--max-num-seqs=64", "--gpu-memory-utilization=0.95"),
		config(t, "vllm", "demo/tiny", 2, 44, "--data-parallel-size=2"),
		config(t, "vllm", "zai-org/GLM-5.2-FP8", 8, 0, "--tensor-parallel-size=4", "--data-parallel-size=2", "--enable-expert-parallel", "--max-model-len=32768"),
		config(t, "sglang", "zai-org/GLM-5.2-FP8", 8, 0, "--tp-size=8", "--dp-size=8", "--enable-dp-attention", "--mem-fraction-static=0.8"),
		config(t, "sglang", "meta/Some-8B", 1, 40, "--enable-mixed-chunk"),
		config(t, "vllm", "meta/Some-8B", 1, 44, `--speculative-config={"method":"eagle3","num_speculative_tokens":3}`),
		config(t, "vllm", "meta/Some-8B", 1, 44, "--no-enable-chunked-prefill"),
	} {
		records := play(t, c, Options{}, uniform(150, 900, 70, 100))
		for _, r := range records {
			got, last := 0, time.Duration(0)
			for _, e := range r.Tokens {
				if e.At < last || e.At%time.Microsecond != 0 {
					t.Fatalf("%s request %d: a token at %v after %v", c.Engine, r.Index, e.At, last)
				}
				got, last = got+e.Tokens, e.At
			}
			if got != 70 || !r.OK() || r.End != last || r.Input != 900 || r.FirstByte <= r.Sent {
				t.Fatalf("%s request %d: %d tokens, %+v", c.Engine, r.Index, got, r.Error)
			}
		}
	}
}

func TestCacheIsEmptyAtTheEndAndPreemptionIsCounted(t *testing.T) {
	c := config(t, "vllm", "demo/tiny", 1, 32, "--max-model-len=2048", "--gpu-memory-utilization=0.96", "--max-num-seqs=256")
	s, f := New(c, Options{})
	if f != nil {
		t.Fatal(f.Message)
	}
	if _, f := Play(s, uniform(200, 100, 600, 0)); f != nil {
		t.Fatal(f.Message)
	}
	got := s.Counters()
	if got.Preemptions == 0 {
		t.Error("a cache that is far too small for what runs preempted nothing")
	}
	got.Preemptions = 0
	if diff := cmp.Diff(Counters{PromptTokens: 200 * 100, GenerationTokens: 200 * 600, Finished: 200}, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

func TestSameSeedSameRun(t *testing.T) {
	c := config(t, "vllm", "demo/tiny", 1, 44)
	p := uniform(100, 500, 50, 64)
	a, b := play(t, c, Options{Noise: 0.05, Seed: 7}, p), play(t, c, Options{Noise: 0.05, Seed: 7}, p)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("two runs of one seed differ: %.300s", diff)
	}
	if other := play(t, c, Options{Noise: 0.05, Seed: 8}, p); other[99].End == a[99].End {
		t.Error("two seeds gave the same end")
	}
}

// The noise of runs has the spread that was asked for.
func TestNoiseHasItsSpread(t *testing.T) {
	c := config(t, "vllm", "demo/tiny", 1, 44)
	sum, squares := 0.0, 0.0
	const n = 2000
	for seed := range uint64(n) {
		s, f := New(c, Options{Noise: 0.05, Seed: seed})
		if f != nil {
			t.Fatal(f.Message)
		}
		x := math.Log(s.pace)
		sum += x
		squares += x * x
	}
	if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.005 || math.Abs(sd-0.05) > 0.003 {
		t.Errorf("log of the pace: mean %.4f, spread %.4f; wanted 0 and 0.05", mean, sd)
	}
}

// A request that is sent at the instant at which a step ends has no part in the next one, so that nobody has to look into the future.
func TestSubmitAtTheEndOfAStepDoesNotChangeTheNext(t *testing.T) {
	c := config(t, "vllm", "demo/tiny", 1, 44)
	next := func(late bool) time.Duration {
		s, _ := New(c, Options{})
		s.Submit(Request{ID: 0, Input: 100, Output: 5})
		s.Step() // wakes up
		end, _ := s.Next()
		s.Step()
		if late {
			s.Submit(Request{ID: 1, At: end, Input: 1000, Output: 5})
		}
		at, _ := s.Next()
		return at
	}
	if next(true) != next(false) {
		t.Error("a request changed the step that had begun when it came")
	}
}

func TestFlagsMatterOnTheDemoModel(t *testing.T) {
	p := uniform(200, 1024, 256, 128)
	at := func(args ...string) float64 {
		return throughput(t, config(t, "vllm", "autotune/demo-13b", 1, 44, args...), p)
	}
	few, many := at("--max-num-seqs=8"), at("--max-num-seqs=64")
	bf16, fp8 := at("--max-num-seqs=128"), at("--max-num-seqs=128", "--kv-cache-dtype=fp8")
	eager := at("--max-num-seqs=8", "--enforce-eager")
	t.Logf("8 sequences %.0f, 64 %.0f; 128 with bf16 %.0f, fp8 %.0f; eager at 8 %.0f", few, many, bf16, fp8, eager)
	if many < 1.3*few || fp8 < 1.1*bf16 || eager > 0.95*few {
		t.Error("flags that matter do not")
	}
}

// Every failure shows the signature that it names, in a phase that the signature knows.
func TestFailuresShowTheirSignatures(t *testing.T) {
	text, err := os.ReadFile("testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var signatures []struct {
		ID, Class, Pattern string
		Phases             []string
	}
	if err := json.Unmarshal(text, &signatures); err != nil {
		t.Fatal(err)
	}
	dp8 := []string{"--tp-size=8", "--dp-size=8", "--enable-dp-attention"}
	long := uniform(600, 8192, 64, 512)
	const glm, qwen = "zai-org/GLM-5.2-FP8", "Qwen/Qwen3.5-35B-A3B-FP8"
	for _, c := range []struct {
		want, phase string
		config      Config
		plan        Plan
	}{
		{"cuda_oom_torch", "load", config(t, "vllm", "some/model-70B", 1, 80), long},
		{"vllm_no_blocks", "profile", config(t, "vllm", "demo/tiny", 1, 26), long},
		{"vllm_kv_too_small", "profile", config(t, "vllm", "some/model-70B", 1, 0, "--gpu-memory-utilization=0.99", "--max-num-batched-tokens=2048", "--max-num-seqs=64", "--quantization=fp8", "--max-model-len=1000000"), long},
		{"vllm_sampler_warmup_oom", "capture", config(t, "vllm", "autotune/demo-13b", 1, 44, "--gpu-memory-utilization=0.99"), long},
		{"sgl_not_enough_mem", "profile", config(t, "sglang", glm, 8, 0, append(dp8, "--mem-fraction-static=0.6")...), long},
		{"sgl_max_total_tokens", "profile", config(t, "sglang", glm, 8, 0, append(dp8, "--max-total-tokens=9000000")...), long},
		{"sgl_capture_oom", "capture", config(t, "sglang", glm, 8, 0, append(dp8, "--mem-fraction-static=0.98")...), long},
		{"cuda_oom_torch", "serve", config(t, "sglang", glm, 8, 0, append(dp8, "--mem-fraction-static=0.85", "--chunked-prefill-size=16384")...), long},
		{"illegal_access", "serve", config(t, "vllm", qwen, 1, 0, `--speculative-config={"method":"mtp","num_speculative_tokens":4}`, "--max-model-len=32768"), uniform(600, 300, 200, 512)},
	} {
		s, f := New(c.config, Options{})
		if f == nil {
			_, f = Play(s, c.plan)
		}
		if f == nil {
			t.Errorf("%s in %s: it lived", c.want, c.phase)
			continue
		}
		i := slices.IndexFunc(signatures, func(g struct {
			ID, Class, Pattern string
			Phases             []string
		}) bool {
			return g.ID == f.Signature
		})
		if f.Signature != c.want || f.Phase != c.phase || i < 0 {
			t.Errorf("%s in %s: got %s in %s: %s", c.want, c.phase, f.Signature, f.Phase, f.Message)
			continue
		}
		if !regexp.MustCompile(signatures[i].Pattern).MatchString(strings.Join(f.Lines, "\n")) {
			t.Errorf("%s: no line shows it: %q", c.want, f.Lines)
		}
		if !slices.Contains(signatures[i].Phases, f.Phase) {
			t.Errorf("%s: the signature does not know phase %s", c.want, f.Phase)
		}
	}
}

func TestStartupHasTheMarkersOfTheEngines(t *testing.T) {
	for engine, markers := range map[string][]string{
		"vllm": {"vLLM API server version", "Model loading took", "torch.compile takes", "Available KV cache memory:", "GPU KV cache size:", "Maximum concurrency for", "Capturing CUDA graphs",
			"Graph capturing finished in", "init engine (", "Application startup complete."},
		"sglang": {"Load weight begin", "Load weight end.", "KV Cache is allocated.", "Memory pool end.", "Capture cuda graph begin.", "Capture cuda graph end.", "max_total_num_tokens=", "Uvicorn running",
			"The server is fired up and ready to roll!"},
	} {
		s, f := New(config(t, engine, "some/model-8B", 1, 0), Options{})
		if f != nil {
			t.Fatal(f.Message)
		}
		i := 0
		for _, stage := range s.Startup() {
			if i < len(markers) && strings.Contains(stage.Line, markers[i]) {
				i++
			}
			if stage.Took < 0 || stage.Phase == "" {
				t.Errorf("%s: %+v", engine, stage)
			}
		}
		if i < len(markers) {
			t.Errorf("%s: %q is missing, or out of order", engine, markers[i])
		}
	}
}

func TestTooLongARequestFailsAlone(t *testing.T) {
	c := config(t, "vllm", "demo/tiny", 1, 44, "--max-model-len=2048")
	p := uniform(3, 100, 10, 0)
	p.Input[1] = 5000
	records := play(t, c, Options{}, p)
	if records[0].Error != "" || records[1].Error != metric.ErrRefused || records[2].Error != "" {
		t.Errorf("errors %q, %q, %q; wanted the second alone", records[0].Error, records[1].Error, records[2].Error)
	}
}

func TestUnknownModelsGetTheSizeOfTheirName(t *testing.T) {
	for name, want := range map[string]float64{"x/y-7B": 7e9, "x/y-1.5b-instruct": 1.5e9, "x/Z-30B-A3B": 30e9, "x/nothing": 7e9, "x/small-350m": 350e6} {
		m := lookup(name)
		if got := m.expert + m.rest + m.embed; math.Abs(got/want-1) > 0.01 {
			t.Errorf("%s: %.3g parameters, wanted %.3g", name, got, want)
		}
	}
}

// Arguments that no engine takes are errors, and whatever is resolved never panics.
func TestResolveNeverPanics(t *testing.T) {
	values := []space.Value{space.Int(-5), space.Int(0), space.Int(1 << 40), space.Float(math.Inf(1)), space.String("x"), space.Bool(true), space.Default(), space.Float(0.5), space.Int(8)}
	names := []string{"tp-size", "dp-size", "tensor-parallel-size", "max-num-seqs", "max-num-batched-tokens", "chunked-prefill-size", "mem-fraction-static", "max-running-requests", "gpu-memory-utilization",
		"kv-cache-dtype", "page-size", "block-size", "max-total-tokens", "speculative-config", "cuda-graph-max-bs", "context-length", "max-model-len", "pipeline-parallel-size", "enable-dp-attention", "speculative-algorithm", "speculative-num-draft-tokens"}
	p := uniform(20, 300, 5, 0)
	for _, engine := range []string{"vllm", "sglang", "other"} {
		for _, name := range names {
			for _, v := range values {
				c, err := Resolve(engine, "zai-org/GLM-5.2-FP8", map[string]space.Value{name: v, "tensor-parallel-size": space.Int(8)}, Machine{GPUs: 8})
				if err != nil {
					continue
				}
				if s, f := New(c, Options{Perturb: &Perturb{Seed: 3, Size: 0.3}}); f == nil {
					Play(s, p)
				}
			}
		}
	}
}

func TestPerturbKeepsOneLawASeed(t *testing.T) {
	m := lookup("demo/tiny")
	a, b := (&Perturb{Seed: 1, Size: 0.3}).apply(m), (&Perturb{Seed: 1, Size: 0.3}).apply(m)
	if a.coefficient != b.coefficient || a.coefficient == m.coefficient {
		t.Error("a seed gives one law, another than the fitted one")
	}
	for i, p := range a.coefficient.each() {
		if f := *p / *m.coefficient.each()[i]; f > 1.3001 || f < 1/1.3001 {
			t.Errorf("coefficient %d changed by a factor of %.3f", i, f)
		}
	}
	for seed := range uint64(50) {
		changed := (&Perturb{Seed: seed, Size: 0.3, Least: 0.05}).apply(m)
		for i, p := range changed.coefficient.each() {
			if f := math.Abs(math.Log(*p / *m.coefficient.each()[i])); f > math.Log(1.3001) || f < math.Log(1.0499) {
				t.Errorf("coefficient %d changed by a factor of %.3f, want 5 to 30 %% up or down", i, math.Exp(f))
			}
		}
	}
}

// A thousand requests of a thousand tokens take a small part of a second; the bound is against hanging.
func TestAMillionTokensSimulateFast(t *testing.T) {
	start := time.Now()
	play(t, config(t, "vllm", "zai-org/GLM-5.2-FP8", 8, 0, "--tensor-parallel-size=8"), Options{}, uniform(1000, 8192, 1024, 512))
	took := time.Since(start)
	t.Logf("%v", took)
	if took > 5*time.Second {
		t.Errorf("a million tokens took %v", took)
	}
}
