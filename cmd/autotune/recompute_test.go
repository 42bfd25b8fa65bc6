package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const recomputeSpec = `name: again
model: demo/small
gpus: 2
objective: {maximize: goodput}
workloads:
  w: {dataset: random, input_tokens: 64, output_tokens: 16, requests: 32, max_concurrency: 8, warmup: 0, goodput: {ttft: 10s, tpot: 5s}}
engines:
  vllm:
    command: [autotune, fake-engine, --clock, CLOCK, --start-time, 0s, vllm]
    space: {max-num-seqs: [default, 4]}
budget: {trials: 1}
`

// TestRecompute: on both clocks the stored requests give the stored figures, to the last one; a figure that somebody changed, removed or made
// up is found, and one that an earlier version did not have is none.
func TestRecompute(t *testing.T) {
	for _, clock := range []string{"law", "wall"} {
		t.Run(clock, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "s.yaml"), []byte(strings.Replace(recomputeSpec, "CLOCK", clock, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			finish(t, folder, exitDone, "run", "s.yaml", "--study", "s.db")
			again := func(status int) recomputed {
				t.Helper()
				out := finish(t, folder, status, "show", "s.db", "0", "--recompute", "--json")
				var all []recomputed
				if err := json.NewDecoder(strings.NewReader(out)).Decode(&all); err != nil || len(all) != 1 {
					t.Fatalf("%v: %s", err, out)
				}
				return all[0]
			}
			whole := again(exitDone)
			if whole.Requests != 32 || whole.Further != 0 || len(whole.Differences) != 0 || whole.Equal != len(whole.Metrics) || whole.Metrics["goodput_per_gpu"] <= 0 {
				t.Fatalf("an untouched trial: %+v", whole)
			}
			if text := finish(t, folder, exitDone, "show", "s.db", "0", "--json"); strings.Contains(text, `"client_cpu": `) != (clock == "wall") || strings.Contains(text, `"client_files": `) != (clock == "wall") {
				t.Errorf("what the load generator says of itself is stored on the wall clock alone:\n%s", text)
			}
			change(t, filepath.Join(folder, "s.db"), `UPDATE autotune_measurement SET metrics =
				json_set(json_remove(metrics, '$.p99_itl'), '$.p95_ttft', json_extract(metrics, '$.p95_ttft') + 0.001, '$.made_up', 1)`)
			tampered := again(exitFailed)
			var names []string
			for _, d := range tampered.Differences {
				names = append(names, d.Metric)
			}
			if got := strings.Join(names, " "); got != "p95_ttft made_up" || tampered.Further != 1 || tampered.Equal != whole.Equal-2 {
				t.Errorf("changed: %s; %+v", got, tampered)
			}
			text := finish(t, folder, exitFailed, "show", "s.db", "0", "--recompute")
			for _, want := range []string{"figures equal, 2 differ", "  p95_ttft   ", ", recomputed nothing", "1 more are not stored", "2 stored figures of trial 0 are not those of its requests"} {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			}
		})
	}
}

// change edits a study file behind autotune's back.
func change(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
