package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autotune/search"
	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/memory"
)

// planned assembles a spec as a new study on this machine.
func plannedSpec(t *testing.T, text string) *assembly {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "spec.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	spec, err := readSpec(path, "")
	if err != nil {
		t.Fatal(err)
	}
	w := systemWorld()
	w.getenv = func(string) string { return "" } // no cache of this machine's
	a, err := w.assembleNew(t.Context(), spec, w.newInputs(spec, path))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// glmGeometry is the plan of the shipped example.
func glmGeometry(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\nplan:")
	plan, _, ended := strings.Cut(rest, "\nobjective:")
	if !found || !ended {
		t.Fatal("the example has no plan")
	}
	return "plan:" + plan
}

const glmTop = `name: g
model: zai-org/GLM-5.2-FP8
gpus: 8
objective: {maximize: total_token_throughput}
workloads: {w: {dataset: random, input_tokens: 8192, output_tokens: 1024, requests: 1000, rate: 1000, max_concurrency: 512}}
budget: {trials: 40}
`

// TestThePublishedFailureIsNotRepeated: once a chunk of 16384 has run out of memory in the published layout, in whatever phase, no sampler asks for 32768 there.
func TestThePublishedFailureIsNotRepeated(t *testing.T) {
	a := plannedSpec(t, glmTop+glmGeometry(t)+`
engines:
  sglang:
    fixed: {tp-size: 8, dp-size: 8, enable-dp-attention: true, mem-fraction-static: 0.85}
    space: {chunked-prefill-size: [default, 8192, 16384, 32768]}
`)
	const flag = "sglang.chunked-prefill-size"
	at := func(chunk int64) space.Point {
		values := a.problem.Baselines[0].Map()
		values[flag] = space.Int(chunk)
		p, err := a.problem.Space.Point(values)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, chunk := range []int64{16384, 32768} {
		if e := a.planner.estimate(at(chunk).Get); e.Answer != memory.Uncertain {
			t.Errorf("a chunk of %d: %s", chunk, e.Answer)
		}
	}
	for _, name := range search.Names() {
		for _, phase := range []tuner.Phase{tuner.PhaseProfile, tuner.PhaseCapture, tuner.PhaseServe, tuner.PhaseBench, tuner.PhaseUnknown} {
			history := tuner.History{
				{Number: 0, Point: a.problem.Baselines[0], Outcome: tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Metrics: map[string]float64{"total_token_throughput": 13761}}}},
				{Number: 1, Point: at(16384), Outcome: tuner.Outcome{Kind: tuner.Infeasible, Phase: phase, Reason: tuner.ReasonMemory}},
			}
			sampler, err := search.New(name)
			if err != nil {
				t.Fatal(err)
			}
			for n := 2; ; n++ {
				p, err := sampler.Suggest(a.problem, history, tuner.Ask{Number: n, Seed: 1})
				if errors.Is(err, tuner.ErrExhausted) {
					break
				}
				if err != nil && strings.Contains(err.Error(), "nothing but numbers") {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if v, _ := p.Point.Get(flag); v == space.Int(32768) {
					t.Errorf("%s, out of memory in %s: asks for 32768", name, phase)
				}
				history = append(history, tuner.Trial{Number: n, Point: p.Point, Outcome: tuner.Outcome{Kind: tuner.Infeasible, Reason: tuner.ReasonInfeasible}})
				if n > 5 {
					t.Fatalf("%s: %d trials of 4 configurations", name, n)
				}
			}
		}
	}
}

// TestWhatCannotFitIsNotInTheSpace: the planner's verdicts are rules of the space, the same after a resume, and the headroom goes with them.
func TestWhatCannotFitIsNotInTheSpace(t *testing.T) {
	text := glmTop + glmGeometry(t) + `
engines:
  vllm:
    fixed: {max-model-len: 16384}
    space: {tensor-parallel-size: [default, 4, 8], gpu-memory-utilization: [default, 0.6, 0.9]}
`
	a := plannedSpec(t, text)
	kept, removed, exact := a.problem.Space.Census(censusLimit)
	if !exact || kept != 2 || removed["vllm_memory"] != 7 { // of tp 8, whose baseline's default is 1
		t.Errorf("kept %d, removed %v", kept, removed)
	}
	if len(a.warnings) != 1 || !strings.Contains(a.warnings[0], "the baseline of vllm cannot run: weights 680") {
		t.Errorf("%q", a.warnings)
	}
	resumed, err := assemble(a.spec, a.inputs)
	if err != nil {
		t.Fatal(err)
	}
	for p := range a.problem.Space.Enumerate() {
		c, ok := a.problem.Capacity(p.Get)
		again, _ := resumed.problem.Capacity(p.Get)
		gib := c.Headroom
		if !ok || c != again || a.problem.Space.Keeps(p) != resumed.problem.Space.Keeps(p) {
			t.Errorf("%s: %v %v", p.Key(), c, again)
		}
		if !a.problem.Space.Keeps(p) && gib > 0 {
			t.Errorf("%s cannot fit and has %.1f GiB of headroom", p.Key(), gib)
		}
	}
}

// TestWithoutAPlanNothingIsExcluded: neither without the GPU, nor without the geometry.
func TestWithoutAPlanNothingIsExcluded(t *testing.T) {
	engines := `
engines:
  vllm:
    space: {tensor-parallel-size: [default, 4, 8]}
`
	for _, plan := range []string{"", "plan: {gpu: H200}", strings.Replace(glmGeometry(t), "  gpu: H200\n", "", 1)} {
		a := plannedSpec(t, glmTop+plan+engines)
		kept, removed, _ := a.problem.Space.Census(censusLimit)
		if kept != 3 || len(removed) != 0 || a.problem.Capacity != nil {
			t.Errorf("%q: kept %d, removed %v", plan, kept, removed)
		}
	}
}

// TestTheGeometryOfAFolderIsStored: a checkpoint that is gone at the resume is planned with as it was read.
func TestTheGeometryOfAFolderIsStored(t *testing.T) {
	folder := t.TempDir()
	config := `{"model_type": "llama", "num_hidden_layers": 80, "hidden_size": 8192, "vocab_size": 128256, "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672}`
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(glmTop, "zai-org/GLM-5.2-FP8", folder, 1) + `
plan: {gpu: H100}
engines:
  vllm: {space: {tensor-parallel-size: [default, 2, 4, 8], max-model-len: [16384]}}
`
	a := plannedSpec(t, text)
	if m := a.inputs.Models[folder]; m.Layers != 80 || m.Weights.Total()>>30 != 131 {
		t.Fatalf("%+v", m)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	resumed, err := assemble(a.spec, a.inputs)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := a.problem.Space.Census(censusLimit)
	after, removed, _ := resumed.problem.Space.Census(censusLimit)
	if before != after || after != 3 || removed["vllm_memory"] != 1 {
		t.Errorf("%d and %d kept, %v removed", before, after, removed)
	}
}
