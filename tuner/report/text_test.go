package report

import (
	"strings"
	"testing"

	"autotune/space"
	"autotune/tuner"
)

// A baseline that was not measured yet is not one that failed.
func TestBaselineLine(t *testing.T) {
	p := tuner.Problem{Baselines: []space.Point{{}}}
	engine, err := space.Choices(space.String("vllm"))
	if err != nil {
		t.Fatal(err)
	}
	p.Space, err = space.New([]space.Param{{Name: space.EngineParam, Domain: engine}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	point, err := p.Space.Point(map[string]space.Value{space.EngineParam: space.String("vllm")})
	if err != nil {
		t.Fatal(err)
	}
	baseline := func(k tuner.Kind) tuner.History {
		return tuner.History{{Point: point, Origin: tuner.OriginBaseline, Outcome: tuner.Outcome{Kind: k}}}
	}
	for _, c := range []struct {
		history     tuner.History
		state, want string
	}{
		{nil, "new", "Baseline  not measured yet\n"},
		{baseline(tuner.Running), "running", "Baseline  not measured yet\n"},
		{baseline(tuner.Interrupted), "interrupted", "Baseline  not measured yet\n"},
		{baseline(tuner.Interrupted), "ended", "Baseline  not measured, so no gain is given\n"},
		{baseline(tuner.Infeasible), "running", "Baseline  none is feasible, so no gain is given\n"},
	} {
		var b strings.Builder
		if err := New(p, c.history, nil, Facts{State: c.state}).Text(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.want) {
			t.Errorf("%s, %d trials: no %q in\n%s", c.state, len(c.history), c.want, b.String())
		}
	}
}
