package memory

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// printed is a size that an engine printed in a public log.
type printed struct {
	Source, Model, Line, What string
	GiB                       float64 `json:"gib"`
	CacheGiB                  float64 `json:"cache_gib"`
	Tokens                    int
	Note                      string
	Setup                     Setup
	Config                    json.RawMessage
}

func readPrinted(t *testing.T) []printed {
	t.Helper()
	text, err := os.ReadFile("testdata/printed.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []printed
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// row is a printed size beside ours: what it is, both, and how far the lower end is off.
func (p printed) row(t *testing.T) (line string, ours Range, theirs float64) {
	t.Helper()
	m, err := ReadConfig(p.Config)
	if err != nil {
		t.Fatalf("%s: %v", p.Model, err)
	}
	unit := "GiB"
	switch p.What {
	case "weights":
		ours, theirs = WeightsPerGPU(m, p.Setup), p.GiB
	case "request":
		ours, theirs = RequestGiB(m, p.Setup, p.Tokens), p.GiB
	case "token":
		each := TokenBytes(m, p.Setup)
		ours, theirs, unit = Range{each, each}, p.CacheGiB*GiB/float64(p.Tokens), "B"
	}
	layout := fmt.Sprintf("%s, tp %d", p.Setup.Engine, p.Setup.TP)
	if p.Setup.CacheType != "" && p.What != "weights" {
		layout += ", " + p.Setup.CacheType + " cache"
	}
	if p.Note != "" {
		layout += ", " + p.Note
	}
	what := map[string]string{"weights": "weights of a GPU", "token": "KV cache of a token", "request": fmt.Sprintf("KV cache of %d tokens", p.Tokens)}[p.What]
	number := func(x float64) string {
		if unit == "B" {
			return fmt.Sprintf("%.0f B", x)
		}
		return fmt.Sprintf("%.2f GiB", x)
	}
	interval := number(ours.Low)
	if ours.High != ours.Low {
		interval = fmt.Sprintf("%.2f to %s", ours.Low, number(ours.High))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %+.1f %% | %s | `%s` |", p.Model, layout, what, number(theirs), interval, 100*(ours.Low/theirs-1), p.Source, p.Line), ours, theirs
}

const (
	tableBegin = "<!-- printed sizes: go test -run TestPrintedSizes -v ./tuner/memory -->"
	tableEnd   = "<!-- end -->"
)

// TestPrintedSizes holds every size against what an engine printed, and the page in docs against both.
func TestPrintedSizes(t *testing.T) {
	lines := []string{"| model | layout | what | printed | ours | lower end | log | its line |", "|---|---|---|---|---|---|---|---|"}
	for _, p := range readPrinted(t) {
		line, ours, theirs := p.row(t)
		lines = append(lines, line)
		slack := 0.015 // sizes are printed with two digits, and caches come in blocks
		if ours.Low > theirs*(1+slack) || ours.High < theirs*(1-slack) {
			t.Errorf("%s: %s: printed %.4g, ours %.4g to %.4g", p.Source, p.Model, theirs, ours.Low, ours.High)
		}
	}
	table := strings.Join(lines, "\n")
	t.Logf("\n%s", table)
	page, err := os.ReadFile("../../docs/memory.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), tableBegin+"\n")
	if got, _, _ := strings.Cut(rest, "\n"+tableEnd); got != table {
		t.Errorf("docs/memory.md does not hold the table as it is computed; put this between its marks:\n%s", table)
	}
}
