package searchbench

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixedRows are two methods on three surfaces with four trials each, few enough to work the table out by hand.
func fixedRows() []Row {
	row := func(method string, seed uint64, confirmed float64, trials ...Score) Row {
		r := Row{Surface: "glm8k", Method: method, Seed: seed, Noise: 0.05, Seconds: 2, Confirmed: [2]float64{confirmed, 99}, Trials: trials}
		for i, s := range trials {
			if s.Bad {
				r.Bad++
				if i >= 2 {
					r.BadLate++
				}
			}
		}
		return r
	}
	return []Row{
		row("gp", 0, 4, Score{50, 60, false}, Score{20, 120, false}, Score{8, 180, true}, Score{4, 240, false}),
		row("gp", 1, 6, Score{40, 30, false}, Score{40, 60, true}, Score{20, 90, false}, Score{12, 120, false}),
		row("gp", 2, 1, Score{60, 60, false}, Score{30, 120, false}, Score{5, 180, false}, Score{2, 240, false}),
		row("one-at-a-time", 0, 10, Score{50, 60, false}, Score{50, 120, false}, Score{30, 180, false}, Score{14, 240, false}),
		row("one-at-a-time", 1, 20, Score{40, 60, false}, Score{40, 120, false}, Score{40, 180, false}, Score{22, 240, false}),
		row("one-at-a-time", 2, 15, Score{60, 60, false}, Score{40, 120, false}, Score{20, 180, false}, Score{12, 240, false}),
	}
}

// The figures were worked out by hand: of gp, the regrets at the end are 4, 12 and 2, so that the mean is 6, the median 4 and the 90th percentile lies
// four fifths of the way from 4 to 12; runs come within 10 % after 3 h and 3 h, and the second never does in its 2 h.
func TestSummaryAgainstFiguresWorkedOutByHand(t *testing.T) {
	summaries := Summarise(fixedRows(), References...)
	if len(summaries) != 2 {
		t.Fatalf("%d summaries", len(summaries))
	}
	got := summaries[0]
	better := got.BetterBy[4]["one-at-a-time"]
	got.BetterBy = nil
	want := Summary{Method: "gp", N: 3, At: []At{{Trials: 4, Mean: 6, Median: 4, P90: 10.4, Bad: 2.0 / 12, Hours: 10.0 / 3}}, Confirmed: 11.0 / 3,
		BadLate: 1.0 / 6, Within2: 1.0 / 3, Within5: 2.0 / 3, Area: 291.0 / 12, NearHours: 8.0 / 3, NearShare: 2.0 / 3, Seconds: 0.5}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
		t.Errorf("summary of gp (-want +got):\n%s", diff)
	}
	// All three differences are -10, whatever is drawn.
	if want := (Interval{N: 3, Mean: -10, Low: -10, High: -10}); better != want {
		t.Errorf("gp against one-at-a-time: %+v, want %+v", better, want)
	}
	var table bytes.Buffer
	if err := WriteTable(&table, fixedRows()); err != nil {
		t.Fatal(err)
	}
	const row = "| one-at-a-time | 3 | 16.0 / 14.0 / 20.4 | 15.0 | 0 % | 0 % | 4.0 | 0 % / 0 % | 34.8 | 4.0 | 0 % | 0.500 | +10.0 (+10.0..+10.0) |  |"
	if !strings.Contains(table.String(), row) {
		t.Errorf("the table lacks\n%s\nin\n%s", row, table.String())
	}
}

// An interval that holds 0 is called no difference, and the bootstrap gives the same interval every time.
func TestIntervals(t *testing.T) {
	mixed := bootstrap([]float64{-3, 4, -2, 5, -4, 3})
	if mixed.Differs() || !strings.HasPrefix(mixed.String(), "no difference (") {
		t.Errorf("%+v is called a difference: %s", mixed, mixed)
	}
	clear := bootstrap([]float64{3, 4, 2, 5, 4, 3})
	if !clear.Differs() || clear.Low < 2 || clear.High > 5 || clear.Mean != 3.5 {
		t.Errorf("%+v is called no difference", clear)
	}
	if again := bootstrap([]float64{3, 4, 2, 5, 4, 3}); again != clear {
		t.Errorf("two bootstraps of the same numbers: %+v, %+v", clear, again)
	}
	if q := quantile([]float64{5, 1, 3}, 0.25); q != 2 {
		t.Errorf("the first quartile of 1, 3, 5 is %g", q)
	}
}

// The intervals are scipy's: binomtest(n, of).proportion_ci(0.95, "wilson").
func TestWilsonAgreesWithScipy(t *testing.T) {
	for _, c := range []struct {
		n, of     int
		low, high float64
	}{{0, 2192, 0, 0.0017494407}, {1, 10, 0.0178761857, 0.4041500268}, {5, 5, 0.5655175223, 1}, {0, 0, 0, 1}} {
		if low, high := Wilson(c.n, c.of); math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 {
			t.Errorf("%d of %d: %.10f to %.10f, want %.10f to %.10f", c.n, c.of, low, high, c.low, c.high)
		}
	}
}

// What was cut short is said with its interval, of the methods that do so alone.
func TestTheTableSaysWhatWasCutShort(t *testing.T) {
	rows := fixedRows()
	rows[0].Stopped, rows[0].StoppedBest, rows[2].Stopped = 6, 1, 4
	var b bytes.Buffer
	if err := WriteTable(&b, rows); err != nil {
		t.Fatal(err)
	}
	if want := "\n\ngp cut 10 trials short; 1 of them would have been the best so far (95 %: 1.79 to 40.42 %).\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("the table ends with\n%s", b.String())
	}
}

func TestRowsComeBackAsWritten(t *testing.T) {
	rows := fixedRows()
	var b bytes.Buffer
	if err := WriteHeader(&b); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	text := b.String()
	got, err := ReadRows(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("rows (-written +read):\n%s", diff)
	}
	if _, err := ReadRows(strings.NewReader(text[:len(text)-30] + "x\n")); err == nil || !strings.Contains(err.Error(), "line 7") {
		t.Errorf("a damaged line 7: %v", err)
	}
}
