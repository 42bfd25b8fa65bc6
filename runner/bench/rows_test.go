package bench

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"autotune/tuner/workload"
)

// TestPrepare: the rows of a ShareGPT file are written for the tools that do not read it, each with its own length forced; nothing else is.
func TestPrepare(t *testing.T) {
	requests := []workload.Request{{Text: "how <many>, \"said\" he?\n", Output: 12}, {Index: 1, Text: "и", Output: 3}}
	share := workload.Spec{Dataset: workload.ShareGPT, Requests: 2, Endpoint: workload.Completions}
	for name, want := range map[string]string{
		"guidellm": `{"prompt":"how <many>, \"said\" he?\n","output_tokens_count":12}` + "\n" + `{"prompt":"и","output_tokens_count":3}` + "\n",
		"aiperf": `{"text":"how <many>, \"said\" he?\n","output_length":12,"extra":{"min_tokens":12}}` + "\n" +
			`{"text":"и","output_length":3,"extra":{"min_tokens":3}}` + "\n",
		"vllm-bench": "", "sglang-bench": "",
	} {
		tool, _ := Find(name)
		for _, spec := range []workload.Spec{share, random("w", 8, 8, 2, 0)} {
			j := Job{Spec: spec, Folder: filepath.Join(t.TempDir(), "a", "b")}
			text, err := tool.Prepare(j, requests)
			if err != nil {
				t.Fatal(err)
			}
			wanted := want
			if spec.Dataset == workload.Random {
				wanted = ""
			}
			written, err := os.ReadFile(tool.Rows(j))
			if string(text) != wanted || string(written) != wanted || (wanted == "") != errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s of %s: %q, on disk %q, %v", spec.Dataset, name, text, written, err)
			}
			if info, err := os.Stat(j.Folder); err != nil || !info.IsDir() {
				t.Error("there is no folder for the result")
			}
		}
	}
}

// TestForced: of a whole run the tokens have to be those that were forced, to 1 %.
func TestForced(t *testing.T) {
	for _, c := range []struct {
		succeeded int
		tokens    float64
		refused   bool
	}{{10, 1000, false}, {10, 991, false}, {10, 980, true}, {10, 1020, true}, {9, 700, false}} {
		r := Result{Requests: 10, Succeeded: c.succeeded, Metrics: map[string]float64{"output_tokens": c.tokens}}
		if refusal := r.Forced(1000); (refusal != nil) != c.refused || refusal != nil && refusal.Rule != "lengths" {
			t.Errorf("%d answers of %v tokens: %v", c.succeeded, c.tokens, refusal)
		}
	}
}
