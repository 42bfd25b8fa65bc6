package main

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
)

const predictedSpec = `name: predicted
model: demo/small
gpus: 1
objective: {maximize: total_token_throughput, subject_to: ["p95_ttft <= 5s"]}
workloads: {w: {dataset: random, input_tokens: 64, output_tokens: 64, requests: 32}}
engines: {vllm: {space: {max-num-seqs: [default, 1, 2, 4, 8, 16, 32]}}}
budget: {trials: 7}
`

// madeUpStudy writes a study file with trials of these proposals and outcomes, at points in the order of the space; the first is the baseline.
func madeUpStudy(t *testing.T, spec string, trials ...tuner.Trial) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "study.db")
	parsed, err := parseSpec("s.yaml", []byte(spec), "")
	if err != nil {
		t.Fatal(err)
	}
	w := systemWorld()
	a, err := assemble(parsed, w.newInputs(parsed, "s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := create(t.Context(), path, w.newStudy(a), a)
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	var points []space.Point
	for p := range a.problem.Space.Enumerate() {
		points = append(points, p)
	}
	for n, trial := range trials {
		trial.Number, trial.Started = n, time.Date(2026, 1, 1, n, 0, 0, 0, time.UTC)
		trial.Point, trial.Origin = points[next%len(points)], tuner.OriginSearch
		if next++; n == 0 {
			trial.Origin = tuner.OriginBaseline
		}
		begun := trial
		begun.Outcome = tuner.Outcome{}
		trial.Ended = trial.Started.Add(time.Minute)
		if err := db.Begin(t.Context(), begun); err != nil {
			t.Fatal(err)
		}
		if trial.Outcome.Kind == tuner.Running {
			continue
		}
		if err := db.Finish(t.Context(), trial); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// said is what a command prints.
func said(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := systemWorld()
	w.args, w.out, w.err = args, &out, io.Discard
	if code := execute(t.Context(), w); code != exitDone {
		t.Fatalf("autotune %s: exit status %d", strings.Join(args, " "), code)
	}
	return out.String()
}

func came(throughput, ttft float64) tuner.Outcome {
	return tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Workload: "w", Clock: metric.Law, Share: 1,
		Metrics: map[string]float64{"total_token_throughput": throughput, "p95_ttft": ttft}}}
}

func guessed(kind tuner.ProposalKind, run, gain, throughput, ttft float64) tuner.Proposal {
	return tuner.Proposal{Kind: kind, Why: "because", PRun: run, Gain: gain,
		Predicted: map[string]tuner.Prediction{"total_token_throughput": {Mean: throughput, SD: 0.1}, "p95_ttft": {Mean: ttft, SD: 0.2}}}
}

// guesses are a baseline, a hit, a miss of one metric, a failure and a trial that still runs.
func guesses(t *testing.T) string {
	t.Helper()
	return madeUpStudy(t, predictedSpec,
		tuner.Trial{Proposal: tuner.Proposal{Kind: tuner.KindBaseline}, Outcome: came(10000, 2)},
		tuner.Trial{Proposal: guessed(tuner.KindGain, 0.93, 0.021, 15213, 0.31), Outcome: came(15840, 0.3)},
		tuner.Trial{Proposal: guessed(tuner.KindStructure, 0.9, 0.5, 12000, 1), Outcome: came(12100, 3)},
		tuner.Trial{Proposal: guessed(tuner.KindExplore, 0.6, 0, 20000, 1), Outcome: tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseLoad, Reason: tuner.ReasonMemory, Evidence: "OOM"}},
		tuner.Trial{Proposal: guessed(tuner.KindGain, 0.8, 0.01, 17000, 1)})
}

func TestShowSetsThePredictionBesideTheMeasurement(t *testing.T) {
	path := guesses(t)
	for number, lines := range map[string][]string{
		"0": {"Asked     baseline: what gains are counted from\n"},
		"1": {"Asked     gain: the model expects most of it; expected gain +2.1 % over the best; 93 % likely to run\n", "Why       because\n",
			"Predicted total_token_throughput 15200 tokens/s (12900 to 17900), measured 15840 tokens/s: inside\n          p95_ttft 310 ms (223 ms to 431 ms), measured 300 ms: inside\n"},
		"2": {"Asked     exploration: another layout, of which little is known; 90 % likely to run\n", "measured 12100 tokens/s: inside\n",
			"p95_ttft 1s (720 ms to 1.39s), measured 3s: outside\n"},
		"3": {"Predicted total_token_throughput 20000 tokens/s (17000 to 23600), but it did not run\n"},
		"4": {"Outcome   running\n", "Predicted total_token_throughput 17000 tokens/s (14400 to 20000)\n"},
	} {
		got := said(t, "show", path, number)
		for _, want := range lines {
			if !strings.Contains(got, want) {
				t.Errorf("trial %s:\n%s\nlacks %q", number, got, want)
			}
		}
	}
	if all := said(t, "show", path); !strings.Contains(all, "   2  structure measured") || !strings.Contains(all, "   0  baseline  measured") {
		t.Error(all)
	}
}

func TestShowAsJSONHasTheProposal(t *testing.T) {
	var all []struct{ Proposal map[string]any }
	if err := json.Unmarshal([]byte(said(t, "show", guesses(t), "--json")), &all); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"kind": "gain", "p_run": 0.93, "gain": 0.021, "predicted": map[string]any{
		"total_token_throughput": map[string]any{"median": 15213.0, "low": 12905.6, "high": 17932.9, "interval": 0.9, "measured": 15840.0, "inside": true},
		"p95_ttft":               map[string]any{"median": 0.31, "low": 0.2231, "high": 0.4307, "interval": 0.9, "measured": 0.3, "inside": true}}}
	if diff := cmp.Diff(want, all[1].Proposal, cmpopts.EquateApprox(1e-3, 0)); diff != "" {
		t.Error(diff)
	}
	if _, has := all[2].Proposal["gain"]; has {
		t.Error("a structural step has an expected gain")
	}
	if diff := cmp.Diff(map[string]any{"kind": "baseline"}, all[0].Proposal); diff != "" {
		t.Error(diff)
	}
}

func TestStatusSaysHowWellPredictionsHeld(t *testing.T) {
	path := guesses(t)
	got := said(t, "status", path)
	for _, want := range []string{
		"Predicted total_token_throughput: 2 of 2 measurements inside their 90 % interval, 2.5 % off on average (31 % had it been the mean of earlier trials)\n",
		"          p95_ttft: 1 of 2 measurements inside", "to run: 81 % on average; 2 of 3 ran (67 %)\n", "          Too few predictions to say",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %q", got, want)
		}
	}
	var m struct {
		Predictions map[string]any `json:"predictions"`
	}
	if err := json.Unmarshal([]byte(said(t, "status", path, "--json")), &m); err != nil {
		t.Fatal(err)
	}
	if m.Predictions["judgement"] != "too early" || m.Predictions["interval"] != 0.9 || len(m.Predictions["metrics"].([]any)) != 2 || m.Predictions["run"] == nil {
		t.Errorf("%v", m.Predictions)
	}
	plain := madeUpStudy(t, predictedSpec, tuner.Trial{Outcome: came(10000, 2)})
	if got := said(t, "status", plain); strings.Contains(got, "Predicted") {
		t.Error(got)
	}
	if got := said(t, "status", plain, "--json"); !strings.Contains(got, `"predictions": null`) {
		t.Error(got)
	}
}
