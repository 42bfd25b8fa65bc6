package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/tuner"
)

// earlierSpec is another study's: the flags in another order, one that the later study does not know, and other values.
const earlierSpec = `name: first
model: demo/small
gpus: 1
objective: {maximize: total_token_throughput, subject_to: ["p95_ttft <= 5s"]}
workloads: {w: {dataset: random, input_tokens: 64, output_tokens: 64, requests: 32}}
engines: {vllm: {fixed: {block-size: 16}, space: {max-num-seqs: [default, 1, 2, 4, 8, 16, 32, 64]}}}
budget: {trials: 8}
`

// laterSpec starts from it: its bound is tighter, 64 is not in its space, and 4 stands in its recipes.
const laterSpec = `name: second
model: MODEL
gpus: GPUS
objective: {maximize: total_token_throughput, subject_to: ["p95_ttft <= 3s"]}
workloads: {w: {dataset: random, input_tokens: INPUT, output_tokens: 64, requests: 32}}
engines: {vllm: {space: {enforce-eager: bool, max-num-seqs: [default, {ints: [1, 32]}]}}}
recipes: [{engine: vllm, flags: {max-num-seqs: 4}}]
search: {start_from: [FILE]}
budget: {trials: 20}
`

// earlierFile has, at default, 1, 2, 4, ...: 100 (the reference), a failure, 50, 200, 150, 120 with a broken bound of the later study, 140, 300.
func earlierFile(t *testing.T) string {
	t.Helper()
	oom := tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseLoad, Reason: tuner.ReasonMemory, Evidence: "OOM"}
	interrupted := tuner.Outcome{Kind: tuner.Interrupted}
	outcomes := []tuner.Outcome{came(100, 1), oom, came(50, 1), came(200, 1), came(150, 1), came(120, 4), came(140, 1), came(300, 1), interrupted}
	for i := range outcomes {
		outcomes[i].Run.EngineVersion = "1.0"
	}
	var trials []tuner.Trial
	for _, o := range outcomes {
		trials = append(trials, tuner.Trial{Outcome: o})
	}
	return madeUpStudy(t, earlierSpec, trials...)
}

func startedFrom(t *testing.T, file string, changes ...string) *assembly {
	t.Helper()
	text := strings.NewReplacer(append(changes, "MODEL", "demo/small", "GPUS", "1", "INPUT", "64", "FILE", file)...).Replace(laterSpec)
	spec, err := parseSpec("second.yaml", []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := assemble(spec, systemWorld().newInputs(spec, "second.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.readEarlier(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

const atSeqs = `{"engine":"vllm","vllm.enforce-eager":null,"vllm.max-num-seqs":`

func TestTheBestOfAnEarlierStudyAreTriedAndTheRestAreHints(t *testing.T) {
	file := earlierFile(t)
	a := startedFrom(t, file)
	var recipes []string
	for i, r := range a.problem.Recipes {
		recipes = append(recipes, r.Key()+" "+strings.ReplaceAll(a.problem.RecipeWhy[i], file, "FILE"))
	}
	// 64 ran fastest, and is not in this space; 4 is the spec's own recipe; 16 breaks this study's bound; the reference and what is worse are not tried.
	want := []string{atSeqs + `4} recipe 1 of the spec`,
		atSeqs + `8} trial 4 of FILE: 150 tokens/s there, +50.0 % over its baseline of vllm`,
		atSeqs + `32} trial 6 of FILE: 140 tokens/s there, +40.0 % over its baseline of vllm`}
	if diff := cmp.Diff(want, recipes); diff != "" {
		t.Error(diff)
	}
	var hints []string
	for _, e := range a.problem.Evidence {
		hints = append(hints, strings.Join([]string{e.Point.Key(), string(e.Kind), string(e.Reason), strings.TrimPrefix(e.Source, file+", ")}, " "))
		if e.Weight != 1 || e.EngineVersion != "1.0" || e.Reference != "vllm" {
			t.Errorf("%+v", e)
		}
	}
	want = []string{atSeqs + `null} measured  trial 0`, atSeqs + `1} infeasible memory trial 1`, atSeqs + `2} measured  trial 2`, atSeqs + `4} measured  trial 3`,
		atSeqs + `8} measured  trial 4`, atSeqs + `16} measured  trial 5`, atSeqs + `32} measured  trial 6`}
	if diff := cmp.Diff(want, hints); diff != "" {
		t.Error(diff)
	}
	for i, value := range []float64{0, 0, math.Log(0.5), math.Log(2), math.Log(1.5), math.Log(1.2), math.Log(1.4)} {
		if got := a.problem.Evidence[i].Value; math.Abs(got-value) > 1e-12 {
			t.Errorf("evidence %d is %v, want %v", i, got, value)
		}
	}
}

// What a lower latency is worth has the same sign as what a higher throughput is.
func TestEvidenceIsPositiveWhereBetter(t *testing.T) {
	a := startedFrom(t, earlierFile(t), "maximize: total_token_throughput, subject_to: [\"p95_ttft <= 3s\"]", "minimize: p95_ttft")
	if got := a.problem.Evidence[5].Value; math.Abs(got-math.Log(0.25)) > 1e-12 { // 4 s against 1 s
		t.Errorf("four times the latency is worth %v", got)
	}
}

func TestEvidenceOfAnotherQuestionWeighsLess(t *testing.T) {
	file := earlierFile(t)
	for name, c := range map[string]struct {
		changes []string
		want    tuner.Differences
	}{
		"the same":         {nil, tuner.Differences{}},
		"another workload": {[]string{"INPUT", "128"}, tuner.Differences{Workload: true}},
		"another model":    {[]string{"MODEL", "demo/other"}, tuner.Differences{Model: true}},
		"another machine":  {[]string{"GPUS", "2"}, tuner.Differences{Machine: true}},
		"two checkpoints":  {[]string{"MODEL", "[demo/other, demo/small]"}, tuner.Differences{}},
	} {
		a := startedFrom(t, file, c.changes...)
		if len(a.problem.Evidence) != 7 {
			t.Errorf("%s: %d hints", name, len(a.problem.Evidence))
		}
		for _, e := range a.problem.Evidence {
			if e.Weight != c.want.Weight() {
				t.Errorf("%s: %s weighs %v, want %v", name, e.Source, e.Weight, c.want.Weight())
			}
			if v, ok := e.Point.Get("checkpoint"); ok && v.String() != "demo/small" {
				t.Errorf("%s: %s became %s", name, e.Source, v)
			}
		}
	}
}

// What was read stands in the study file: the problem of a resume is the same without the other file, also once more.
func TestAResumeNeedsNoEarlierFile(t *testing.T) {
	file := earlierFile(t)
	a := startedFrom(t, file)
	study := systemWorld().newStudy(a)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	again, err := reassemble(study)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*assembly{again, again} {
		b.recall()
		if diff := cmp.Diff(plain(t, a), plain(t, b)); diff != "" {
			t.Error(diff)
		}
	}
}

// plain is what an earlier study adds to a problem, as text.
func plain(t *testing.T, a *assembly) string {
	t.Helper()
	text, err := json.MarshalIndent(map[string]any{"recipes": a.problem.Recipes, "why": a.problem.RecipeWhy, "evidence": a.problem.Evidence}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnEarlierStudyWithoutABaselineGivesFailuresAlone(t *testing.T) {
	failed := tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseLoad, Reason: tuner.ReasonMemory}
	a := startedFrom(t, madeUpStudy(t, earlierSpec, tuner.Trial{Outcome: failed}, tuner.Trial{Outcome: came(70, 1)}, tuner.Trial{}))
	if len(a.problem.Evidence) != 1 || a.problem.Evidence[0].Kind != tuner.Infeasible {
		t.Errorf("hints %+v", a.problem.Evidence)
	}
	if len(a.problem.Recipes) != 2 || !strings.HasSuffix(a.problem.RecipeWhy[1], ": 70 tokens/s there") {
		t.Errorf("recipes %v", a.problem.RecipeWhy)
	}
}
