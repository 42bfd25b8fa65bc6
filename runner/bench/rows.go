package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"autotune/tuner/workload"
)

// rowsFile is the file of requests that is written for a tool which does not read the dataset's own file.
const rowsFile = "requests.jsonl"

// Rewrites tells whether a workload's requests are written for the tool in a file of its own format: those that the built-in load generator sends.
func (t Tool) Rewrites(s workload.Spec) bool { return t.row != nil && s.Dataset == workload.ShareGPT }

// Rows is where Prepare writes a job's requests.
func (t Tool) Rows(j Job) string { return j.rows() }

func (j Job) rows() string { return filepath.Join(j.Folder, rowsFile) }

// Prepare makes the job's folder and writes into it what the tool has to be given beside its command line. text is the file's, nil where there is none.
func (t Tool) Prepare(j Job, requests []workload.Request) (text []byte, err error) {
	if err := os.MkdirAll(j.Folder, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of a tool's result: %w", err)
	}
	if !t.Rewrites(j.Spec) {
		return nil, nil
	}
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	for _, r := range requests {
		if err := lines.Encode(t.row(r)); err != nil {
			return nil, fmt.Errorf("writing a tool's requests: %w", err)
		}
	}
	if err := os.WriteFile(t.Rows(j), b.Bytes(), 0o644); err != nil {
		return nil, fmt.Errorf("writing a tool's requests: %w", err)
	}
	return b.Bytes(), nil
}

// Forced refuses a whole run whose answers do not have the tokens together that its requests forced on them, each with a length of its own.
func (r Result) Forced(tokens int) *Refusal {
	got, want := r.Metrics["output_tokens"], float64(tokens)
	if r.Succeeded < r.Requests || math.Abs(got-want) <= lengthsShare*want {
		return nil
	}
	return refuse("lengths", "%d answers have %.0f tokens together, %.0f were forced", r.Succeeded, got, want)
}

// guidellmRow is a row of a file for guidellm, by the names under which it looks for a prompt and a forced length.
func guidellmRow(r workload.Request) any {
	return struct {
		Prompt string `json:"prompt"`
		Output int    `json:"output_tokens_count"`
	}{r.Text, r.Output}
}

// aiperfRow is a row of aiperf's single_turn. Its extra goes into the request's body: the length alone is an upper bound.
func aiperfRow(r workload.Request) any {
	return struct {
		Text   string         `json:"text"`
		Output int            `json:"output_length"`
		Extra  map[string]int `json:"extra"`
	}{r.Text, r.Output, map[string]int{"min_tokens": r.Output}}
}
