package load

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/tuner/workload"
)

// What each format's file is read as, row by row.
func TestReadDataset(t *testing.T) {
	const chat = `[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]`
	for _, c := range []struct {
		dataset, path string
		want          []workload.Row
	}{
		{workload.Mooncake, "testdata/mooncake.jsonl", []workload.Row{
			{Input: 1200, Output: 52, Blocks: []int64{46, 47, 48}, Timed: true, Line: 1},
			{Input: 1030, Output: 26, Blocks: []int64{46, 47, 49}, Timed: true, Arrival: 3 * time.Second, Line: 2},
			{Input: 20, Output: 1, Blocks: []int64{50}, Timed: true, Arrival: 3052 * time.Millisecond, Line: 4},
		}},
		{workload.Azure, "testdata/azure_2023.csv", []workload.Row{
			{Input: 4808, Output: 10, Timed: true, Line: 2},
			{Input: 3180, Output: 8, Timed: true, Arrival: 52 * time.Millisecond, Line: 3},
			{Input: 110, Output: 27, Timed: true, Arrival: 29479069 * time.Microsecond, Line: 4},
		}},
		{workload.Azure, "testdata/azure_2024.csv", []workload.Row{
			{Input: 2162, Output: 5, Timed: true, Line: 2},
			{Input: 2399, Output: 6, Timed: true, Arrival: 990070 * time.Microsecond, Line: 3},
		}},
		{workload.JSONL, "testdata/prompts.jsonl", []workload.Row{
			{Prompt: "Say hello.", Output: 8, Timed: true, Line: 1},
			{Tokens: []int32{11, 12, 13}, Output: 4, Timed: true, Arrival: 250 * time.Millisecond, Line: 2},
			{Messages: chat, Output: 2, Timed: true, Arrival: 1500 * time.Millisecond, Line: 3},
		}},
	} {
		d, err := ReadDataset(c.dataset, c.path, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, d.Rows); diff != "" || len(d.Hash) != 32 || d.Dropped != 0 {
			t.Errorf("%s: hash %q, %d dropped (-want +got):\n%s", c.path, d.Hash, d.Dropped, diff)
		}
	}
	d, err := ReadDataset(workload.ShareGPT, "testdata/sharegpt_rows.json", 0)
	if err != nil || len(d.Rows) != 1 || d.Dropped != 2 {
		t.Errorf("ShareGPT: %v, %d rows, %d dropped", err, len(d.Rows), d.Dropped)
	}
}

// A bad row is an error with its line, never left out.
func TestBadRows(t *testing.T) {
	const header, blocks = "TIMESTAMP,ContextTokens,GeneratedTokens\n", `{"timestamp":0,"input_length":5,"output_length":1,"hash_ids":[1]}` + "\n"
	for _, c := range []struct{ dataset, text, want string }{
		{workload.Mooncake, "", ": it has no rows"},
		{workload.Mooncake, blocks + `{"timestamp":0,"input_length":5}`, ":2: output_length is missing; the line has input_length, timestamp"},
		{workload.Mooncake, blocks + "\n" + `{"timestamp":0,"input_length":600,"output_length":1,"hash_ids":[1]}`, ":3: hash_ids has 1 blocks; 600 tokens are 2 blocks of 512"},
		{workload.Mooncake, `{"timestamp":-1,"input_length":5,"output_length":1}`, ":1: timestamp is -1; a number of milliseconds"},
		{workload.Mooncake, `{"timestamp":1,"input_length":5.5,"output_length":1}`, ":1: input_length is 5.5; a whole number from 1"},
		{workload.Mooncake, `{"timestamp":"x","input_length":5,"output_length":1}`, ":1: the line is no JSON object: timestamp is a string"},
		{workload.Mooncake, `[{"timestamp":0}]`, ":1: the line is a list"},
		{workload.Mooncake, `{"timestamp":0`, ":1: the line is no JSON object: the file ends in the middle"},
		{workload.Azure, "", ": it has no rows"},
		{workload.Azure, "TIMESTAMP,ContextTokens\n", ":1: the first line names no column GeneratedTokens"},
		{workload.Azure, header + "2023-11-16 18:17:03.97,12,1\n\nyesterday,12,1\n", `:4: TIMESTAMP is "yesterday"; an instant such as`},
		{workload.Azure, header + "2023-11-16 18:17:03,0,1\n", `:2: ContextTokens is "0"; a whole number from 1`},
		{workload.Azure, header + "2023-11-16 18:17:03,12,many\n", `:2: GeneratedTokens is "many"`},
		{workload.Azure, header + "2023-11-16 18:17:03,12\n", ":2: the line has 2 columns; 3 are wanted"},
		{workload.Azure, header + "2023-11-16 18:17:03,\"12,1\n", ":2: "},
		{workload.JSONL, `{"prompt":"a","output_tokens":1}` + "\n" + `{"promt":"b"}`, ":2: 0 of prompt, token_ids and messages are there; one is wanted; the line has promt"},
		{workload.JSONL, `{"prompt":"a","token_ids":[1]}`, ":1: 2 of prompt, token_ids"},
		{workload.JSONL, `{"prompt":" "}`, ":1: prompt is empty"},
		{workload.JSONL, `{"token_ids":[-1]}`, ":1: token_ids has -1"},
		{workload.JSONL, `{"token_ids":[]}`, ":1: token_ids has 0 of them"},
		{workload.JSONL, `{"messages":[{"content":"x"}]}`, ":1: message 1 has no role"},
		{workload.JSONL, `{"prompt":"a","output_tokens":0}`, ":1: output_tokens is 0"},
		{workload.JSONL, `{"prompt":"a","arrival":-2}`, ":1: arrival is -2; a number of seconds"},
		{workload.JSONL, `{"prompt":"a"} {"prompt":"b"}`, ":1: something follows"},
		{workload.JSONL, `7`, ":1: the line is no JSON object"},
		{workload.Random, "x", "a random dataset has no file"},
	} {
		path := write(t, c.text)
		_, err := ReadDataset(c.dataset, path, 0)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), path, ""), c.want) {
			t.Errorf("%s of\n%s\n%v, want %q", c.dataset, c.text, err, c.want)
		}
	}
}

// Rows of a file go out as they are, with the workload's own fields and headers, and otherwise in a repeat.
func TestRowsAreSent(t *testing.T) {
	var mu sync.Mutex
	var bodies []map[string]any
	h := func(w http.ResponseWriter, r *http.Request) {
		var got map[string]any
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		got["path"], got["route"] = r.URL.Path, r.Header.Get("X-Route")
		mu.Lock()
		bodies = append(bodies, got)
		mu.Unlock()
		stream(tok, last, usage2, endOfAll)(w, r)
	}
	chat := `[{"role":"user","content":"hi"}]`
	ask := func(endpoint string, repeat int, row workload.Row) map[string]any {
		t.Helper()
		bodies = nil
		row.Output = 2
		s := workload.Spec{Dataset: workload.JSONL, Endpoint: endpoint, Seed: 1<<40 + 9, ExtraBody: `{"temperature":0.5,"top_k":3,"seed":null}`}
		if row.Prompt != "" {
			s.ExtraBody = ""
		}
		result, err := hammerAt(t, context.Background(), http.HandlerFunc(h), Options{Spec: s, Rows: []workload.Row{row}, Repeat: repeat})
		if err != nil || !result.Records[0].OK() || len(bodies) != 1 {
			t.Fatalf("%v, %+v", err, result.Records)
		}
		return bodies[0]
	}
	got := ask(workload.Completions, 0, workload.Row{Tokens: []int32{5, 6}})
	if d := cmp.Diff([]any{5.0, 6.0}, got["prompt"]); d != "" || got["temperature"] != 0.5 || got["top_k"] != 3.0 || got["seed"] != nil || got["path"] != "/v1/completions" || got["route"] != "fast" {
		t.Errorf("token ids: %v", got)
	}
	if got = ask(workload.Completions, 1, workload.Row{Tokens: []int32{5, 6}}); got["prompt"].([]any)[0] == 5.0 || got["prompt"].([]any)[1] != 6.0 {
		t.Errorf("token ids in a repeat: %v", got["prompt"])
	}
	if got = ask(workload.Completions, 0, workload.Row{Prompt: "hi"}); got["prompt"] != "hi" || got["temperature"] != 0.0 || got["seed"] != 9.0 {
		t.Errorf("a text: %v", got)
	}
	if got = ask(workload.Chat, 2, workload.Row{Prompt: "hi"}); got["messages"].([]any)[0].(map[string]any)["content"] != "[000003] hi" || got["path"] != "/v1/chat/completions" {
		t.Errorf("a text as a chat, in a repeat: %v", got)
	}
	if got = ask(workload.Chat, 0, workload.Row{Messages: chat}); got["messages"].([]any)[0].(map[string]any)["content"] != "hi" {
		t.Errorf("a chat: %v", got)
	}
}

func hammerAt(t *testing.T, ctx context.Context, h http.Handler, o Options) (Result, error) {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	return Run(ctx, Target{URL: server.URL, Model: "m", Headers: http.Header{"X-Route": {"fast"}}}, o)
}
