package engine_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner/memory"
)

// publishedRun is a run of a published tuning study.
type publishedRun struct {
	Engine, Model string
	GPUs, Longest int
	Args          []string
	Status        string // ok, oom, low_success
}

func studies(t *testing.T) (map[string]memory.Model, []publishedRun) {
	t.Helper()
	text, err := os.ReadFile("testdata/published_runs.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Configs map[string]json.RawMessage
		Runs    []publishedRun
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	models := map[string]memory.Model{}
	for name, config := range file.Configs {
		if models[name], err = memory.ReadConfig(config); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if len(file.Runs) != 38 {
		t.Fatalf("%d runs", len(file.Runs))
	}
	return models, file.Runs
}

// lookup gives the settings of a command line by full name.
func lookup(t *testing.T, d *engine.Definition, args []string) space.Lookup {
	t.Helper()
	_, settings, err := d.Parse(append([]string{"--" + d.ModelFlag + "=m"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]space.Value{space.EngineParam: space.String(d.Name)}
	for _, s := range settings {
		values[d.Name+"."+s.Flag] = s.Value
	}
	return func(name string) (space.Value, bool) { v, ok := values[name]; return v, ok }
}

func plan(t *testing.T, r publishedRun, m memory.Model, args ...string) memory.Estimate {
	t.Helper()
	d := find(t, r.Engine)
	s, unknown := d.MemorySetup(engine.Host{GPUs: r.GPUs, GPU: "H200", MemoryGiB: 140.4}, lookup(t, d, append(slices.Clone(r.Args), args...)), r.Longest)
	if unknown != "" {
		t.Fatalf("%v: %s is not followed", r.Args, unknown)
	}
	return memory.Plan(m, s)
}

// TestNothingThatRanIsCalledImpossible holds the planner against every published run, whatever the model's own context is taken for.
func TestNothingThatRanIsCalledImpossible(t *testing.T) {
	models, runs := studies(t)
	for _, context := range []int{0, 202752, 1 << 20} {
		for _, r := range runs {
			m := models[r.Model]
			m.Context = context
			e := plan(t, r, m)
			t.Logf("%-11s %-9s %s %v\n%v\n%v tokens", r.Status, e.Answer, r.Engine, r.Args, e.Sums, e.Tokens)
			if e.Answer == memory.Cannot || e.Answer == memory.Unknown {
				t.Errorf("%s %v ended %s and is called %s: %s", r.Engine, r.Args, r.Status, e.Answer, e.Reason)
			}
			if r.Status == "oom" && e.Answer != memory.Uncertain {
				t.Errorf("%s %v ran out of memory and is called %s", r.Engine, r.Args, e.Answer)
			}
		}
	}
}

// TestWhatRanOutOfMemoryHasLessHeadroom: the published failures differ from a run that was served in the size of a chunk alone.
func TestWhatRanOutOfMemoryHasLessHeadroom(t *testing.T) {
	models, runs := studies(t)
	headroom := map[string]float64{}
	for _, r := range runs {
		if i := slices.IndexFunc(r.Args, func(a string) bool { return strings.HasPrefix(a, "--chunked-prefill-size=") }); i >= 0 {
			headroom[r.Args[i]], _ = plan(t, r, models[r.Model]).Headroom()
		}
	}
	if a, b, c := headroom["--chunked-prefill-size=8192"], headroom["--chunked-prefill-size=16384"], headroom["--chunked-prefill-size=32768"]; !(a > b+2 && b > c+2) {
		t.Errorf("headroom %v", headroom)
	}
}

// TestWhatCannotFit: layouts of the published models that no engine could serve, and their neighbours that one could.
func TestWhatCannotFit(t *testing.T) {
	models, _ := studies(t)
	for _, c := range []struct {
		engine, model string
		gpus          int
		args          string
		want          memory.Answer
		reason        string // part of it
	}{
		{"vllm", "zai-org/GLM-5.2-FP8", 8, "--tensor-parallel-size=4", memory.Cannot, "weights 17"},
		{"vllm", "zai-org/GLM-5.2-FP8", 8, "--tensor-parallel-size=4 --cpu-offload-gb=100", memory.Unknown, "cpu-offload-gb"},
		{"vllm", "zai-org/GLM-5.2-FP8", 8, "--tensor-parallel-size=4 --pipeline-parallel-size=2", memory.Fits, ""},
		{"vllm", "zai-org/GLM-5.2-FP8", 8, "--tensor-parallel-size=8 --gpu-memory-utilization=0.6", memory.Cannot, "0.6 of the GPU's 140.4 GiB"},
		{"vllm", "zai-org/GLM-5.2-FP8", 8, "--tensor-parallel-size=8 --max-model-len=1000000", memory.Cannot, "KV cache of a request of 1000000 tokens"},
		{"vllm", "zai-org/GLM-5.2-FP8", 8, "--tensor-parallel-size=8 --max-model-len=32768", memory.Fits, ""},
		{"vllm", "zai-org/GLM-5.2-FP8", 8, "--tensor-parallel-size=8 --data-parallel-size=2", memory.Cannot, "16 GPUs"},
		{"vllm", "zai-org/GLM-5.2-FP8", 16, "--tensor-parallel-size=8 --data-parallel-size=2 --enable-expert-parallel --max-model-len=32768", memory.Fits, ""},
		{"vllm", "Qwen/Qwen3.5-35B-A3B", 1, "--max-model-len=32768", memory.Fits, ""},
		{"vllm", "Qwen/Qwen3.5-35B-A3B", 1, "--max-model-len=32768 --gpu-memory-utilization=0.4", memory.Cannot, "weights 6"},
		{"vllm", "Qwen/Qwen3.5-35B-A3B", 1, "--max-model-len=32768 --gpu-memory-utilization=0.4 --quantization=fp8", memory.Fits, ""},
		{"vllm", "Qwen/Qwen3.5-35B-A3B", 1, "--max-model-len=32768 --kv-cache-memory-bytes=100000000", memory.Cannot, "the KV cache as given"},
		{"sglang", "zai-org/GLM-5.2-FP8", 8, "--tp-size=8 --mem-fraction-static=0.55", memory.Cannot, "the static pool"},
		{"sglang", "zai-org/GLM-5.2-FP8", 8, "--tp-size=8 --mem-fraction-static=0.999", memory.Cannot, "what the static pool leaves"}, {"sglang", "zai-org/GLM-5.2-FP8", 8, "--tp-size=8 --mem-fraction-static=0.98", memory.Uncertain, ""},
		{"sglang", "zai-org/GLM-5.2-FP8", 8, "--tp-size=8 --dp-size=8", memory.Cannot, "64 GPUs"},
		{"sglang", "zai-org/GLM-5.2-FP8", 8, "--tp-size=8 --dp-size=3 --enable-dp-attention", memory.Cannot, "3 attention ranks"},
	} {
		d := find(t, c.engine)
		s, unknown := d.MemorySetup(engine.Host{GPUs: c.gpus, MemoryGiB: 140.4}, lookup(t, d, strings.Fields(c.args)), 9216)
		e := memory.Plan(models[c.model], s)
		if unknown != "" {
			e = memory.Estimate{Answer: memory.Unknown, Reason: unknown}
		}
		if e.Answer != c.want || !strings.Contains(e.Reason, c.reason) {
			t.Errorf("%s %s: %s (%s), want %s (%s); %v", c.engine, c.args, e.Answer, e.Reason, c.want, c.reason, e.Sums)
		}
	}
}

// TestWithoutGeometryNothingIsSaid: neither of a model nor of a GPU that is not known.
func TestWithoutGeometryNothingIsSaid(t *testing.T) {
	models, runs := studies(t)
	d := find(t, runs[0].Engine)
	look := lookup(t, d, runs[0].Args)
	known, _ := d.MemorySetup(engine.Host{GPUs: 8, MemoryGiB: 140.4}, look, 9216)
	blind, _ := d.MemorySetup(engine.Host{GPUs: 8}, look, 9216)
	for _, e := range []memory.Estimate{memory.Plan(memory.Model{}, known), memory.Plan(models[runs[0].Model], blind)} {
		if _, ok := e.Headroom(); e.Answer != memory.Unknown || ok {
			t.Errorf("%v", e)
		}
	}
}

// TestMeasuredSizesReplaceEstimates goes from real lines of a log to the estimate.
func TestMeasuredSizesReplaceEstimates(t *testing.T) {
	models, runs := studies(t)
	d := find(t, "vllm")
	facts := map[string]string{}
	for _, line := range []string{
		"(Worker_TP0 pid=78022) INFO 05-06 20:59:59 [gpu_model_runner.py:4879] Model loading took 94.46 GiB memory and 31.657031 seconds",
		"(EngineCore_DP0 pid=77352) INFO 10-22 09:33:49 [gpu_worker.py:298] Available KV cache memory: 25.94 GiB",
		"(EngineCore_DP0 pid=77352) INFO 10-22 09:33:49 [kv_cache_utils.py:1087] GPU KV cache size: 162,704 tokens",
		"INFO 06-19 23:05:35 [gpu_model_runner.py:1608] Graph capturing finished in 17 secs, took 0.48 GiB",
	} {
		for name, value := range d.Facts(line) {
			facts[name] = value
		}
	}
	measured := engine.Measured(facts)
	if want := (memory.Facts{WeightsGiB: 94.46, CacheGiB: 25.94, GraphsGiB: 0.48, Tokens: 162704}); measured != want {
		t.Fatalf("facts %+v", measured)
	}
	before := plan(t, runs[0], models[runs[0].Model])
	s, _ := d.MemorySetup(engine.Host{GPUs: 8, MemoryGiB: 140.4}, lookup(t, d, runs[0].Args), runs[0].Longest)
	after := memory.Calibrate(models[runs[0].Model], []memory.Launch{{Setup: s, Facts: measured, Ran: true}}).Plan(s)
	weights := after.Sums[0].Terms[0].GiB
	if after.Tokens != (memory.Span{Low: 162704, High: 162704}) || weights.Low < 93 || weights.High > 96 || before.Sums[0].Terms[0].GiB == weights {
		t.Errorf("%v became %v", before, after)
	}
	if a, b := before.Sums[0].Headroom(), after.Sums[0].Headroom(); b.High-b.Low >= a.High-a.Low {
		t.Errorf("the interval did not shrink: %v, %v", a, b)
	}
	sgl := map[string]string{}
	for _, line := range []string{
		"[2025-09-22 10:25:22 DP0 PP0] Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, avail mem=14.53 GB, mem usage=7.21 GB.",
		"[2026-06-08 07:20:53 TP0] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1106304, K size: 25.32 GB, V size: 25.32 GB",
		"[2025-11-30 12:50:15] Capture cuda graph end. Time elapsed: 5.37 s. mem usage=1.44 GB. avail mem=38.05 GB.",
	} {
		for name, value := range find(t, "sglang").Facts(line) {
			sgl[name] = value
		}
	}
	if got, want := engine.Measured(sgl), (memory.Facts{WeightsGiB: 7.21, CacheGiB: 50.64, GraphsGiB: 1.44, Allocated: 1106304}); got != want {
		t.Errorf("facts %+v", got)
	}
}

// TestMemorySetupReadsTheFlags of both engines as they would resolve them.
func TestMemorySetupReadsTheFlags(t *testing.T) {
	for _, c := range []struct {
		engine, args string
		want         memory.Setup
	}{
		{"vllm", "--tensor-parallel-size=4 --data-parallel-size=2 --enable-expert-parallel --kv-cache-dtype=fp8 --gpu-memory-utilization=0.9 --performance-mode=throughput --max-num-seqs=256",
			memory.Setup{Engine: "vllm", GPUs: 8, GiB: 140.4, TP: 4, PP: 1, DP: 2, DCP: 1, EP: true, Share: 0.9, CacheType: "fp8", Chunk: 16384, Sequences: 256, GraphMax: 512, Longest: 100}},
		{"vllm", `--enforce-eager --max-model-len=4096 --speculative-config={"method":"mtp","num_speculative_tokens":2} --kv-cache-memory-bytes=1000 --quantization=bitsandbytes`,
			memory.Setup{Engine: "vllm", GPUs: 8, GiB: 140.4, TP: 1, PP: 1, DP: 1, DCP: 1, Share: 0.92, CacheType: "auto", CacheBytes: 1000, Narrowed: 0.5, Chunk: 8192, Sequences: 1024, Context: 4096, Longest: 100, Drafts: true,
				Kernels: `quantization=bitsandbytes speculative-config={"method":"mtp","num_speculative_tokens":2}`}},
		{"sglang", "--tp-size=8 --dp-size=8 --enable-dp-attention --moe-a2a-backend=deepep --mem-fraction-static=0.85",
			memory.Setup{Engine: "sglang", GPUs: 8, GiB: 140.4, TP: 8, PP: 1, DP: 8, Inside: true, EP: true, Away: true, Share: 0.85, CacheType: "auto", Chunk: 8192, GraphMax: 512, Longest: 100,
				Kernels: "moe-a2a-backend=deepep"}},
		{"sglang", "--tp-size=2 --dp-size=2 --chunked-prefill-size=-1 --speculative-algorithm=NEXTN --disable-cuda-graph",
			memory.Setup{Engine: "sglang", GPUs: 8, GiB: 140.4, TP: 2, PP: 1, DP: 2, CacheType: "auto", Chunk: 16384, Longest: 100, Drafts: true, Kernels: "speculative-algorithm=NEXTN"}},
	} {
		d := find(t, c.engine)
		got, unknown := d.MemorySetup(h200, lookup(t, d, strings.Fields(c.args)), 100)
		if unknown != "" || got != c.want {
			t.Errorf("%s %s:\n%+v\n%+v %s", c.engine, c.args, got, c.want, unknown)
		}
	}
}
