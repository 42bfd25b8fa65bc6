package tuner_test

import (
	"reflect"
	"testing"
	"time"

	"autotune/tuner"
)

// took is a history of trials: minutes to start, minutes to measure; without the latter it failed.
func took(minutes ...[2]int) tuner.History {
	var h tuner.History
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n, m := range minutes {
		t := tuner.Trial{Number: n, Started: at, Ended: at.Add(time.Duration(m[0]+m[1]) * time.Minute), Outcome: tuner.Outcome{Kind: tuner.Infeasible}}
		if m[1] > 0 {
			t.Outcome = measured(1)
			t.Outcome.Run.Phases = map[tuner.Phase]time.Duration{tuner.PhaseBench: time.Duration(m[1]) * time.Minute}
		}
		h = append(h, t)
	}
	return h
}

func TestPaceTellsStartUpBenchmarkAndFailureApart(t *testing.T) {
	h := took([2]int{6, 4}, [2]int{2, 0}, [2]int{8, 2}, [2]int{4, 0})
	h = append(h, tuner.Trial{Number: 4, Started: h[0].Started}, tuner.Trial{Number: 5, Foreign: true, Ended: h[0].Ended})
	want := tuner.Pace{Ran: 2, StartUp: 7 * time.Minute, Bench: 3 * time.Minute, Failed: 2, Failure: 3 * time.Minute, Expected: 7 * time.Minute} // a warm start took 8
	got := h.Pace()
	if got.StartUps = want.StartUps; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (tuner.History{}).Pace(); got.Ran+got.Failed != 0 || got.Expected != 0 || len(got.StartUps.Kinds()) > 0 {
		t.Errorf("of nothing %+v", got)
	}
	// Only the latest ten say how often further ones fail: here none of them does.
	var many [][2]int
	for range 20 {
		many = append(many, [2]int{1, 0})
	}
	for range 10 {
		many = append(many, [2]int{5, 5})
	}
	if got := took(many...).Pace().Expected; got != 10*time.Minute {
		t.Errorf("a further trial is expected to take %v", got)
	}
}

func TestWhatIsLeftOfABudget(t *testing.T) {
	ten := took([2]int{6, 4}, [2]int{6, 4})
	for name, c := range map[string]struct {
		b              tuner.Budget
		h              tuner.History
		spent, running time.Duration
		trials         int
		left           time.Duration
	}{
		"nothing bounds it":              {tuner.Budget{}, ten, time.Hour, -1, -1, 0},
		"by trials":                      {tuner.Budget{Trials: 6}, ten, time.Hour, -1, 4, 40 * time.Minute},
		"the running one has come far":   {tuner.Budget{Trials: 6}, ten, time.Hour, 3 * time.Minute, 4, 33 * time.Minute},
		"the running one is late":        {tuner.Budget{Trials: 3, WallClock: 9 * time.Hour}, ten, time.Hour, 0, 1, 0},
		"by trials, the clock is far":    {tuner.Budget{Trials: 6, WallClock: 3 * time.Hour}, ten, time.Hour, -1, 4, 40 * time.Minute},
		"by the clock":                   {tuner.Budget{Trials: 60, WallClock: 2 * time.Hour}, ten, 85 * time.Minute, -1, 4, 35 * time.Minute},
		"by the clock alone":             {tuner.Budget{WallClock: 2 * time.Hour}, ten, 90 * time.Minute, -1, 3, 30 * time.Minute},
		"the clock has run out":          {tuner.Budget{WallClock: time.Hour}, ten, 2 * time.Hour, -1, 0, 0},
		"every trial was made":           {tuner.Budget{Trials: 2, WallClock: 3 * time.Hour}, ten, time.Hour, -1, 0, 0},
		"nothing known, by trials":       {tuner.Budget{Trials: 6}, nil, 0, -1, 6, 0},
		"nothing known, but for a clock": {tuner.Budget{Trials: 6, WallClock: time.Hour}, nil, time.Minute, -1, 6, 59 * time.Minute},
	} {
		trials, left := c.b.Left(c.h, c.h.Pace(), c.spent, c.running)
		if trials != c.trials || left != c.left {
			t.Errorf("%s: %d trials, %v; want %d, %v", name, trials, left, c.trials, c.left)
		}
	}
}
