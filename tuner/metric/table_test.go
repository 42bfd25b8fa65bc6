package metric

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// published reads a published table: label to figure.
func published(t *testing.T, path string) (labels []string, figures map[string]float64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	figures = map[string]float64{}
	for line := range strings.Lines(string(text)) {
		label, value, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			t.Fatal(err)
		}
		labels = append(labels, label)
		figures[label] = v
	}
	return labels, figures
}

// The records of a run give every row of the published tables, in their order and under their labels.
func TestTableHasThePublishedRows(t *testing.T) {
	labels, _ := published(t, "testdata/published-table.txt")
	if len(labels) != 26 || len(Table) != 26 {
		t.Fatalf("the published table has %d rows, ours %d; want 26", len(labels), len(Table))
	}
	m := Compute(waves(), 1)
	for i, row := range Table {
		if row.Label != labels[i] {
			t.Errorf("row %d is %q, published %q", i, row.Label, labels[i])
		}
		if row.Value(m) == "n/a" || !Known(row.Metric) {
			t.Errorf("%s has no value", row.Label)
		}
		if row.Published != "" {
			if _, ok := m[row.Published]; !ok {
				t.Errorf("%s, as published (%s), has no value", row.Label, row.Published)
			}
		}
	}
	if got := Table[10].Value(m) + " " + Table[14].Value(m) + " " + Table[19].Value(map[string]float64{}); got != "1.00 500.00 n/a" {
		t.Errorf("latency, TTFT and an undefined TPOT are written %q", got)
	}
}

// What the published tables call TPOT and ITL: requests with the means of one table have its figures under the metrics that Table names.
func TestPublishedTPOTAndITL(t *testing.T) {
	_, want := published(t, "testdata/published-table.txt")
	first := time.Duration(want["Mean TTFT (ms)"] * float64(ms))
	last := time.Duration(want["Mean Latency(s)"] * float64(time.Second))
	out := int(want["Total generated tokens"] / want["Successful requests"])
	r := Record{Output: out, End: last, Tokens: []Event{{first, 1}, {last, out - 1}}}
	m := Compute([]Record{r, r}, 0)
	for _, row := range Table {
		if row.Published != "" && strings.HasPrefix(row.Label, "Mean") {
			if got := 1000 * m[row.Published]; got < want[row.Label]*0.999 || got > want[row.Label]*1.001 {
				t.Errorf("%s: %s is %.2f ms, published %.2f", row.Label, row.Published, got, want[row.Label])
			}
		}
	}
}

// A long answer weighs more in request_itl, each the same in tpot. By hand: 1 token after 100 ms; 3 tokens after 60 ms.
func TestRequestITLByHand(t *testing.T) {
	m := Compute([]Record{answer(0, 0, 1, 0, 100*ms), answer(0, 0, 1, 0, 20*ms, 40*ms, 60*ms)}, 0)
	near(t, m, "mean_tpot", 0.060)
	near(t, m, "mean_request_itl", 0.160/4)
	near(t, m, "p50_request_itl", 0.020)
	near(t, m, "p90_request_itl", 0.020+0.7*0.080) // position 2.7 of 20, 20, 20, 100
	near(t, m, "mean_itl", 0.040)
}
