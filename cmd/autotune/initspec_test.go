package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/tuner/studyfile"
)

// TestTheSpecFitsTheCheckpoint: for a dense model, a mixture of experts and one with latent attention on top, on one, four and eight GPUs, the spec passes
// check with the lines that matter, and a rehearsal of its baselines and first recipes runs.
func TestTheSpecFitsTheCheckpoint(t *testing.T) {
	for _, c := range []struct {
		model       string
		gpus        int
		has, hasNot []string
		fits        bool
	}{
		{"Qwen3-8B", 1, []string{"dense, 36 layers", "15.3 GiB", "max-num-seqs"}, []string{"tensor-parallel-size", "tp-size", "expert", "attention:"}, true},
		{"Qwen3-8B", 4, []string{"tensor-parallel-size: [1, 2, 4]", "dp-size: [1, 2, 4]"}, []string{"expert-parallel", "enable-dp-attention"}, true},
		{"Qwen3-8B", 8, []string{"data-parallel-size: [1, 2, 4, 8]", "replicas instead of a split"}, []string{"expert-parallel", "deepep"}, true},
		{"Qwen3.5-35B-A3B", 1, []string{"mixture of 256 experts, linear attention in some layers", "64.4 GiB"}, []string{"tensor-parallel-size", "deepep", "expert-parallel: bool"}, true},
		{"Qwen3.5-35B-A3B", 4, []string{"enable-expert-parallel: bool", "enable-dp-attention: bool", "dp-size in [2, 4]"}, nil, true},
		{"Qwen3.5-35B-A3B", 8, []string{"tp-size in [default, 1] && dp-size == 8", "moe-a2a-backend: [none, deepep]"}, nil, true},
		{"GLM-5.2-FP8", 1, []string{"latent attention (MLA)", "more than 1 x 140.4 GiB"}, nil, false},
		{"GLM-5.2-FP8", 4, []string{"more than 4 x 140.4 GiB", "tp-size: 4"}, nil, false},
		{"GLM-5.2-FP8", 8, []string{"694.1 GiB", "tp-size: 8 #", "tensor-parallel-size: [1, 2, 4, 8]", `dp-size: {choices: [2, 4, 8], when: "enable-dp-attention"}`, "enable-expert-parallel: true"}, []string{"more than 8"}, true},
	} {
		t.Run(fmt.Sprintf("%s on %d", c.model, c.gpus), func(t *testing.T) {
			t.Parallel()
			w := quiet(t)
			in, notes, err := w.specFor(t.Context(), initOptions{model: filepath.Join("testdata", "checkpoints", c.model), gpus: fmt.Sprintf("%dxH200", c.gpus), engines: []string{"vllm", "sglang"}})
			if err != nil || len(notes) > 0 {
				t.Fatal(err, notes)
			}
			text := string(studyfile.Template(in))
			for _, s := range c.has {
				if !strings.Contains(text, s) {
					t.Errorf("%q is not in\n%s", s, text)
				}
			}
			for _, s := range c.hasNot {
				if strings.Contains(text, s) {
					t.Errorf("%q is in\n%s", s, text)
				}
			}
			a := assembledSpec(t, w, c.model, text)
			assembledSpec(t, w, c.model, strings.ReplaceAll(text, "\n#: ", "\n"))
			if len(a.problem.Recipes) == 0 || len(a.warnings) > 0 {
				t.Errorf("%d recipes, %v", len(a.problem.Recipes), a.warnings)
			}
			rehearseSpec(t, text, c.fits)
		})
	}
}

// rehearseSpec runs a few trials of a spec: with room for the weights the baselines are measured, without it the study has no feasible configuration.
func rehearseSpec(t *testing.T, text string, fits bool) {
	t.Helper()
	folder := t.TempDir()
	short := strings.NewReplacer("trials: 40", "trials: 3", "requests: 500", "requests: 64").Replace(text)
	if err := os.WriteFile(filepath.Join(folder, "s.yaml"), []byte(short), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "autotune", "run", "s.yaml", "--rehearse", "--study", "s.db")
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	want := map[bool]int{true: exitDone, false: exitNone}[fits]
	if got := cmd.ProcessState.ExitCode(); got != want || strings.Contains(string(out), "Baseline  none") == fits || !strings.Contains(string(out), "Trials    3 of 3") {
		t.Errorf("exit status %d, want %d: %v\n%s", got, want, err, out)
	}
}

// TestEveryProposalIsValid: whatever is known of a model, and however many GPUs there are, the spec passes check, its baselines and recipes keep every rule.
func TestEveryProposalIsValid(t *testing.T) {
	w := quiet(t)
	checkpoints := []engine.Checkpoint{engine.GuessCheckpoint("m"), engine.GuessCheckpoint("a-30B-A3B"), engine.GuessCheckpoint("Kimi-K2"), engine.GuessCheckpoint("x-7B")}
	for _, heads := range []int{12, 40, 56, 96} {
		for _, gib := range []float64{15, 400} {
			dense := engine.Checkpoint{Model: engine.Model{Heads: heads, Dense: true, ContextLen: 4096}, WeightsGiB: gib}
			mixed := engine.Checkpoint{Model: engine.Model{Heads: heads, Experts: 64, DraftLayers: 1}, Latent: heads == 96, WeightsGiB: gib, ExpertsGiB: 0.9 * gib}
			checkpoints = append(checkpoints, dense, mixed)
		}
	}
	for i, c := range checkpoints {
		for _, gpus := range []int{0, 1, 2, 3, 4, 6, 8, 12, 16} {
			for _, memory := range []float64{0, 80} {
				in := studyfile.TemplateInput{Model: "m", GPUs: gpus, Longest: c.ContextLen}
				for _, d := range engine.Catalog() {
					e, recipes := proposed(d, d.Propose(c, engine.Host{GPUs: gpus, MemoryGiB: memory}))
					in.Engines, in.Recipes = append(in.Engines, e), append(in.Recipes, recipes...)
				}
				text := string(studyfile.Template(in))
				a := assembledSpec(t, w, fmt.Sprintf("checkpoint %d on %d GPUs", i, gpus), text)
				assembledSpec(t, w, "all", strings.ReplaceAll(text, "\n#: ", "\n"))
				if len(a.warnings) > 0 {
					t.Errorf("checkpoint %d on %d GPUs: %v", i, gpus, a.warnings)
				}
			}
		}
	}
}
