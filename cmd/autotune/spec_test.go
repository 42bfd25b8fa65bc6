package main

import (
	"testing"

	"autotune/tuner"
)

// A study file says which sampler it began with, so that a version with another default goes on with the same one.
func TestAStudyKeepsItsSampler(t *testing.T) {
	const spec = `model: m
gpus: 1
objective: {maximize: total_token_throughput}
workloads: {w: {dataset: random, input_tokens: 64, output_tokens: 64, requests: 32}}
engines: {vllm: {space: {max-num-seqs: [default, 64]}}}
`
	for _, c := range []struct{ text, inputs, want string }{
		{spec, `{"autotune":"v0"}`, "tpe"},
		{spec, `{"sampler":"random"}`, "random"},
		{spec + "search: {sampler: goptuna-tpe}\n", `{"sampler":"random"}`, "goptuna-tpe"},
		{spec + "sampler: random\n", `{}`, "random"},
	} {
		s, _, err := storedSpec(tuner.Study{Source: "s.yaml", Spec: []byte(c.text), Inputs: []byte(c.inputs)})
		if err != nil || s.Sampler != c.want {
			t.Errorf("inputs %s: %v, %v; want %s", c.inputs, s, err, c.want)
		}
	}
	parsed, err := parseSpec("s.yaml", []byte(spec), "")
	if err != nil {
		t.Fatal(err)
	}
	w := systemWorld()
	a, err := assemble(parsed, w.newInputs(parsed, "s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := storedSpec(w.newStudy(a))
	if err != nil || again.Sampler != parsed.Sampler || a.inputs.Sampler != parsed.Sampler {
		t.Errorf("the study keeps %q, %q, %v; it began with %q", a.inputs.Sampler, again.Sampler, err, parsed.Sampler)
	}
}
