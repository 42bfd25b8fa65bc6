package report

import (
	"strings"
	"testing"

	"autotune/space"
	"autotune/tuner"
)

func TestSavedInWords(t *testing.T) {
	for _, c := range []struct {
		m    Model
		want string
	}{
		{Model{}, ""},
		{Model{Saved: tuner.Savings{Trials: 12, Minutes: 143.4}}, "Saved     2.4 h by cutting 12 trials short\n"},
		{Model{Saved: tuner.Savings{Trials: 1, Minutes: 14.4}}, "Saved     14 min by cutting 1 trial short\n"},
		{Model{WouldSave: &tuner.Savings{Trials: 2, Minutes: 30}}, "Saved     nothing: stoppers only report; they would have cut 2 trials short and saved 30 min, and lost none that ended best so far\n"},
		{Model{WouldSave: &tuner.Savings{Trials: 2, Minutes: 30, Best: 1}}, "Saved     nothing: stoppers only report; they would have cut 2 trials short and saved 30 min, and lost 1 trial that ended best so far\n"},
	} {
		var b strings.Builder
		c.m.writeSaved(&b)
		if b.String() != c.want {
			t.Errorf("%q, want %q", b.String(), c.want)
		}
	}
}

// While nothing was measured whole, the nearest is one that was cut short for breaking a bound; a whole one is nearer whatever it breaks.
func TestNearestCutShort(t *testing.T) {
	g := tuner.Goal{Metric: "total_token_throughput", Direction: tuner.Maximize, SubjectTo: []tuner.Bound{{Metric: "p95_ttft", Op: "<=", Limit: 1}}}
	engine, err := space.Choices(space.String("vllm"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := space.New([]space.Param{{Name: space.EngineParam, Domain: engine}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	point, err := whole.Point(map[string]space.Value{space.EngineParam: space.String("vllm")})
	if err != nil {
		t.Fatal(err)
	}
	trial := func(n int, kind tuner.Kind, ttft float64) tuner.Trial {
		return tuner.Trial{Number: n, Point: point, Outcome: tuner.Outcome{Kind: kind, Measured: &tuner.Measurement{Metrics: map[string]float64{g.Metric: 100, "p95_ttft": ttft}}}}
	}
	h := tuner.History{trial(0, tuner.Stopped, 3), trial(1, tuner.Stopped, 2), trial(2, tuner.Measured, 9)}
	p := tuner.Problem{Goal: g, Space: whole}
	for n, want := range map[int]int{2: 1, 3: 2} {
		m := New(p, h[:n], nil, Facts{})
		if m.Best != nil || m.Nearest == nil || m.Nearest.Trial != want {
			t.Errorf("of %d trials the nearest is %+v, want trial %d", n, m.Nearest, want)
		}
	}
}
