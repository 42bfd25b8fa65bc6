package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autotune/tuner/workload"
)

func TestLoadShareGPT(t *testing.T) {
	rows, hash, err := loadShareGPT("testdata/sharegpt_rows.json")
	if err != nil {
		t.Fatal(err)
	}
	// The answer of the second row is too short, the third has no answer.
	if len(rows) != 1 || !strings.HasPrefix(rows[0].Prompt, "Summarize the main ideas") || rows[0].Output != 23 || len(hash) != 32 {
		t.Errorf("%+v, %s", rows, hash)
	}
	text, _ := os.ReadFile("testdata/sharegpt_rows.json")
	if _, other, _ := loadShareGPT(write(t, string(text)+"\n")); other == hash || other == "" {
		t.Error("another content has the same hash")
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func row(prompt, answer int) string {
	return `{"id":"x","conversations":[{"from":"human","value":"` + strings.Repeat("word", prompt) + `"},{"from":"gpt","value":"` + strings.Repeat("word", answer) + `"}]}`
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		prompt, answer, kept int
	}{{4, 4, 1}, {3, 4, 0}, {4, 3, 0}, {1024, 1024, 1}, {1025, 4, 0}, {1024, 1025, 0}, {4, 2044, 1}} {
		rows, _, err := loadShareGPT(write(t, "["+row(100, 100)+","+row(c.prompt, c.answer)+"]"))
		if err != nil || len(rows)-1 != c.kept {
			t.Errorf("%d and %d tokens: %d rows kept, %v", c.prompt, c.answer, len(rows)-1, err)
		}
	}
}

// TestFilterOfForcedAnswers: with a length for all answers a row's own answer neither drops nor keeps it.
func TestFilterOfForcedAnswers(t *testing.T) {
	for _, c := range []struct{ prompt, answer, forced, kept int }{
		{4, 1, 100, 1}, {4, 3000, 100, 1}, {1024, 2000, 1024, 1}, {1024, 10, 1025, 0}, {3, 10, 100, 0}, {1025, 10, 1, 0}, {10, 10, 2, 1},
	} {
		d, err := ReadDataset(workload.ShareGPT, write(t, "["+row(100, 100)+","+row(c.prompt, c.answer)+"]"), c.forced)
		if err != nil || len(d.Rows)-1 != c.kept || d.Dropped != 1-c.kept {
			t.Errorf("%d and %d tokens, %d forced: %d rows kept, %v", c.prompt, c.answer, c.forced, len(d.Rows)-1, err)
		}
	}
}

func TestBadShareGPT(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":       {"", "it is empty"},
		"object":      {`{"a":1}`, "it begins with {"},
		"text":        {"hello", "it is no JSON"},
		"cut":         {"[" + row(5, 5) + `,{"conversations":[{"fr`, "element 2"},
		"cut between": {"[" + row(5, 5), "in the middle"},
		"type":        {`[{"conversations":"none"}]`, "conversations is a string"},
		"number":      {`[` + row(5, 5) + `,7]`, "element 2"},
		"unusable":    {`[]`, "no conversation of it can be used"},
		"more":        {`[` + row(5, 5) + `] {}`, "something follows"},
	} {
		path := write(t, c.text)
		_, _, err := loadShareGPT(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{"testdata/none.json", "testdata"} {
		if _, _, err := loadShareGPT(path); err == nil || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func loadShareGPT(path string) ([]workload.Row, string, error) {
	d, err := ReadDataset(workload.ShareGPT, path, 0)
	return d.Rows, d.Hash, err
}
