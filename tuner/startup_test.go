package tuner_test

import (
	"testing"
	"time"

	"autotune/space"
	"autotune/tuner"
)

// startSpace has two engines, a parameter of one that takes long to start, and one that does not matter.
func startSpace(t *testing.T) *space.Space {
	t.Helper()
	choices := func(values ...space.Value) space.Domain {
		d, err := space.Choices(values...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	s, err := space.New([]space.Param{{Name: space.EngineParam, Domain: choices(space.String("vllm"), space.String("sglang"))},
		{Name: "vllm.enforce-eager", Engine: "vllm", Flag: "enforce-eager", Domain: choices(space.Bool(false), space.Bool(true))},
		{Name: "vllm.seed", Engine: "vllm", Flag: "seed", Domain: choices(space.Int(1), space.Int(2))}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// started is a trial that took so many seconds to start and a minute to measure.
func started(t *testing.T, s *space.Space, n int, engine string, eager bool, seed int64, seconds int) tuner.Trial {
	t.Helper()
	p, err := s.Point(map[string]space.Value{space.EngineParam: space.String(engine), "vllm.enforce-eager": space.Bool(eager), "vllm.seed": space.Int(seed)})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	trial := tuner.Trial{Number: n, Point: p, Started: at, Ended: at.Add(time.Duration(seconds)*time.Second + time.Minute), Outcome: measured(1)}
	trial.Outcome.Run.Phases = map[tuner.Phase]time.Duration{tuner.PhaseBench: time.Minute}
	return trial
}

// TestStartUps: they are learned by engine, without the cold one, and by the parameter that explains what is left, once a value has been started often enough.
func TestStartUps(t *testing.T) {
	s := startSpace(t)
	var h tuner.History
	add := func(engine string, eager bool, seed int64, seconds int) {
		h = append(h, started(t, s, len(h), engine, eager, seed, seconds))
	}
	of := func(engine string, eager bool) time.Duration {
		return h.Pace().StartUps.Of(started(t, s, 99, engine, eager, 2, 0).Point)
	}
	if d := of("vllm", false); d != 0 {
		t.Errorf("of nothing %v", d)
	}
	add("vllm", false, 1, 900)
	if d := of("vllm", false); d != 900*time.Second {
		t.Errorf("of a cold start alone %v", d)
	}
	add("vllm", false, 2, 200)
	if a, b := of("vllm", false), of("sglang", false); a != 200*time.Second || b != 200*time.Second {
		t.Errorf("with a warm one %v, and %v of an engine that was never started", a, b)
	}
	add("sglang", false, 1, 70)
	add("sglang", false, 1, 40)
	if a, b := of("vllm", false), of("sglang", false); a != 200*time.Second || b != 40*time.Second {
		t.Errorf("of two engines %v and %v", a, b)
	}
	add("vllm", true, 1, 60)
	add("vllm", true, 2, 66)
	if a := of("vllm", true); a != 66*time.Second { // the median of 200, 60, 66: two eager ones are no kind of their own
		t.Errorf("of few %v", a)
	}
	add("vllm", true, 1, 63)
	add("vllm", false, 1, 210)
	add("vllm", false, 2, 190)
	if a, b := of("vllm", false), of("vllm", true); a != 200*time.Second || b != 63*time.Second {
		t.Errorf("by what explains most %v and %v", a, b)
	}
	var like []string
	for _, k := range h.Pace().StartUps.Kinds() {
		like = append(like, k.Like)
	}
	if len(like) != 3 || like[0] != "vllm enforce-eager=false" && like[0] != "vllm enforce-eager=true" {
		t.Errorf("kinds %q", like)
	}
	// What a further trial costs follows what is asked lately: ten eager ones.
	for range 10 {
		add("vllm", true, 1, 63)
	}
	if got := h.Pace().Expected; got != 123*time.Second {
		t.Errorf("a further trial is expected to take %v", got)
	}
	if left := h.Pace().Remaining(h[1], 100*time.Second); left != 160*time.Second {
		t.Errorf("what remains of a slow start is %v", left)
	}
}
