//go:build e2e

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autotune/tuner/studyfile"
)

// TestSGLangArgsOfSpecs holds specs against SGLang: the example of Qwen3.5-35B-A3B, with a smaller sibling's config.json, and those that init writes.
func TestSGLangArgsOfSpecs(t *testing.T) {
	example, err := os.ReadFile("../../examples/qwen3.5-35b-a3b-h200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type spec struct {
		name, model string
		gpus        int
		text        []byte
	}
	specs := []spec{{"examples/qwen3.5-35b-a3b-h200.yaml", "qwen3-30b-a3b", 1, example}}
	for _, c := range []spec{{model: "llama-3.1-8b", gpus: 1}, {model: "llama-3.1-8b", gpus: 8}, {model: "qwen3-30b-a3b", gpus: 4}, {model: glmArgs, gpus: 8}} {
		folder, err := filepath.Abs("../../examples/sglang-args/" + c.model)
		if err != nil {
			t.Fatal(err)
		}
		c.name, c.text = fmt.Sprintf("init --model %s --gpus %dxH200", c.model, c.gpus), written(t, folder, c.gpus)
		specs = append(specs, c)
	}
	for _, s := range specs {
		a := problemOf(t, s.text, s.gpus)
		points := sglangPoints(a.problem.Space, 25)
		for _, b := range append(a.problem.Baselines, a.problem.Recipes...) {
			if b.Engine() == "sglang" {
				points = append(points, b)
			}
		}
		var lines [][]string
		for _, p := range points {
			lines = append(lines, a.lineFor(s.model, p))
		}
		fmt.Println(s.name)
		compareRefusals(t, a, s.model, points, lines, resolveSGLang(t, h200MiB, lines))
	}
}

// TestSGLangArgsOfNewFlags tries flags that came with recent releases: SGLang takes each as we write it.
func TestSGLangArgsOfNewFlags(t *testing.T) {
	var lines [][]string
	for _, args := range []string{"--cuda-graph-max-seq-len-prefill=8192", "--prefill-decode-interval=2 --prefill-decode-interval-min-bs=8", "--enable-hierarchical-cache --hicache-host-memory-fraction=0.5",
		"--prefill-kv-cache-dequant-dtype=auto", "--deepep-v2-mode=hybrid", "--speculative-algorithm=NGRAM"} {
		lines = append(lines, append([]string{"--model-path=llama-3.1-8b"}, strings.Fields(args)...))
	}
	for i, r := range resolveSGLang(t, h200MiB, lines) {
		if r.Refused != "" {
			t.Errorf("refused: %v: %s (%s)", lines[i], r.Refused, r.Where)
		}
	}
}

// written is what init writes for a folder's checkpoint.
func written(t *testing.T, folder string, gpus int) []byte {
	t.Helper()
	in, _, err := systemWorld().specFor(t.Context(), initOptions{model: folder, gpus: fmt.Sprintf("%dxH200", gpus), engines: []string{"sglang"}, enginesGiven: true})
	if err != nil {
		t.Fatal(err)
	}
	return studyfile.Template(in)
}
