package search

import (
	"testing"

	"autotune/space"
	"autotune/tuner"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// memorySpace has two hungry flags, a share of the GPU among them, and one that is not.
func memorySpace() tuner.Problem {
	params := []space.Param{
		{Name: space.EngineParam, Domain: must(space.Choices(space.String("e"), space.String("f")))},
		{Name: "e.share", Engine: "e", Flag: "share", Domain: must(space.Choices(space.Default(), space.Float(0.7), space.Float(0.8), space.Float(0.9)))},
		{Name: "e.chunk", Engine: "e", Flag: "chunk", Domain: must(space.Choices(space.Default(), space.Int(1024), space.Int(4096), space.Int(16384))), Resolved: space.Int(8192)},
		{Name: "e.tp", Engine: "e", Flag: "tp", Domain: must(space.Choices(space.Int(4), space.Int(8)))},
		{Name: "f.chunk", Engine: "f", Flag: "chunk", Domain: must(space.Choices(space.Int(1024), space.Int(4096)))},
	}
	return tuner.Problem{Space: must(space.New(params, nil, nil)), Hungry: map[string]float64{"e.share": 1, "e.chunk": 0.7},
		Goal: tuner.Goal{Metric: "x", Direction: tuner.Maximize}}
}

func memoryPoint(p tuner.Problem, share, chunk space.Value, tp int64) space.Point {
	return must(p.Space.Point(map[string]space.Value{"engine": space.String("e"), "e.share": share, "e.chunk": chunk, "e.tp": space.Int(tp)}))
}

func TestWhatAsksForMoreThanWhatRanOutIsRefused(t *testing.T) {
	p := memorySpace()
	type point struct {
		share, chunk space.Value
		tp           int64
	}
	serve := tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseServe, Reason: tuner.ReasonMemory}
	profile := tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseProfile, Reason: tuner.ReasonMemory}
	other := tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseServe, Reason: tuner.ReasonInfeasible}
	failed := point{space.Float(0.8), space.Int(4096), 8}
	for _, c := range []struct {
		name    string
		outcome tuner.Outcome
		point   point
		want    bool
	}{
		{"the same", serve, failed, true},
		{"a larger share", serve, point{space.Float(0.9), space.Int(4096), 8}, true},
		{"both larger", serve, point{space.Float(0.9), space.Int(16384), 8}, true},
		{"a smaller share", serve, point{space.Float(0.7), space.Int(4096), 8}, false},
		{"one larger, one smaller", serve, point{space.Float(0.9), space.Int(1024), 8}, false},
		{"another layout", serve, point{space.Float(0.9), space.Int(16384), 4}, false},
		{"a default that stands for more", serve, point{space.Float(0.8), space.Default(), 8}, true},
		{"a default that stands for nobody knows what", serve, point{space.Default(), space.Int(4096), 8}, false},
		{"the pool was too small: a larger share may do", profile, point{space.Float(0.9), space.Int(4096), 8}, false},
		{"the pool was too small: a smaller one will not", profile, point{space.Float(0.7), space.Int(16384), 8}, true},
		{"another reason", other, point{space.Float(0.9), space.Int(16384), 8}, false},
		{"it ran", tuner.Outcome{Kind: tuner.Measured}, point{space.Float(0.9), space.Int(16384), 8}, false},
	} {
		h := tuner.History{{Number: 0, Point: memoryPoint(p, failed.share, failed.chunk, failed.tp), Outcome: c.outcome}}
		if got := outOfMemory(p, h)(memoryPoint(p, c.point.share, c.point.chunk, c.point.tp)); got != c.want {
			t.Errorf("%s: refused %v", c.name, got)
		}
	}
}

// TestNoSamplerAsksForMoreThanWhatRanOut: with everything from the smallest on out of memory, one trial a layout is all that is asked.
func TestNoSamplerAsksForMoreThanWhatRanOut(t *testing.T) {
	for _, name := range Names() {
		p := memorySpace()
		s := must(New(name))
		var h tuner.History
		hopeless := func(q space.Point) bool { return outOfMemory(p, h)(q) }
		for n := range 200 {
			proposal, err := s.Suggest(p, h, tuner.Ask{Number: n, Seed: 7})
			if err != nil {
				if len(h) >= 34 {
					t.Errorf("%s: %d trials before %v: nothing was ruled out", name, len(h), err)
				}
				break
			}
			if hopeless(proposal.Point) {
				t.Errorf("%s: trial %d asks for what is known to be hopeless: %s", name, n, proposal.Point.Key())
			}
			h = append(h, tuner.Trial{Number: n, Point: proposal.Point, Outcome: tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseServe, Reason: tuner.ReasonMemory}})
		}
	}
}
