package load

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"autotune/tuner/workload"
)

// FuzzRows: whatever a file holds, there are rows that expand to requests, or an error; never a panic, and never a prompt of another length than its row's.
func FuzzRows(f *testing.F) {
	readers := []struct {
		dataset string
		read    func(io.Reader) ([]workload.Row, int, error)
	}{
		{workload.JSONL, plainly(readPrompts)}, {workload.Mooncake, plainly(readMooncake)}, {workload.Azure, plainly(readAzure)}, {workload.ShareGPT, func(in io.Reader) ([]workload.Row, int, error) { return readShareGPT(in, 0) }},
	}
	for i, path := range []string{"prompts.jsonl", "mooncake.jsonl", "azure_2023.csv", "sharegpt_rows.json", "azure_2024.csv"} {
		text, err := os.ReadFile("testdata/" + path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint8) {
		r := readers[int(which)%len(readers)]
		rows, _, err := r.read(bytes.NewReader(text))
		var at *lineError
		if errors.As(err, &at) && (at.line < 1 || at.line > 2+bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("\r"))) {
			t.Fatalf("an error of line %d: %v", at.line, err)
		}
		if err != nil || len(rows) == 0 {
			return
		}
		for _, endpoint := range []string{workload.Completions, workload.Chat} {
			s := workload.Spec{Dataset: r.dataset, Endpoint: endpoint, OutputTokens: 1}
			if !workload.Timed(r.dataset) {
				s.Requests = len(rows)
			}
			requests, err := s.Expand(rows)
			if err != nil {
				continue
			}
			for i, q := range requests {
				if q.Arrival < 0 || i > 0 && q.Arrival < requests[i-1].Arrival || q.Output < 1 {
					t.Fatalf("request %+v", q)
				}
				if q.Input > 0 && q.Input < 1<<16 && len(q.Tokens) == 0 && len(workload.Prompt(1, 0, 0, q, 0, nil)) != q.Input {
					t.Fatalf("a prompt of another length than %d: %+v", q.Input, q)
				}
				_ = workload.MarkMessages(q.Messages, 1)
			}
		}
	})
}
