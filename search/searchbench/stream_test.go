package searchbench

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// A run that is looked at again ends with what was measured, and all its tokens come, whatever its speed does in between.
func TestReplayEndsWithWhatWasMeasured(t *testing.T) {
	for _, family := range []string{"glm8k", "additive"} {
		s, err := New(family, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := s.Problem.Baselines[0]
		rate := 1.1 * s.Truth(p).Metrics[Objective]
		r := s.replay(p)
		asked, wanted := 0, 0
		for _, q := range r.sights {
			asked += q.Output
		}
		for _, e := range r.events {
			wanted += e.Tokens
		}
		r.stretch(rate, rand.New(rand.NewPCG(1, 1)))
		if got := r.tokens / r.end.Seconds(); math.Abs(got/rate-1) > 1e-6 {
			t.Errorf("%s: %.1f tokens a second at the end, measured %.1f", family, got, rate)
		}
		made := 0
		for _, n := range r.made {
			made += n
		}
		if made != wanted || float64(wanted) < 0.98*float64(asked) {
			t.Errorf("%s: %d tokens came, %d were to come, %d were asked for", family, made, wanted, asked)
		}
		for i, q := range r.sights {
			if q.State != metric.Succeeded || q.First < q.Sent || q.Last < q.First || q.Last > r.end {
				t.Fatalf("%s request %d: %+v, the run ends at %v", family, i, q, r.end)
			}
		}
	}
}

// late stops at an instant, whatever it sees, and counts how often it was asked.
type late struct {
	at    time.Duration
	asked *int
}

func (l late) Stop(_ tuner.Problem, _ tuner.History, now tuner.Partial) tuner.Verdict {
	*l.asked++
	return tuner.Verdict{Stop: now.Elapsed >= l.at, Rule: tuner.RuleHopeless, Share: 0.25, Expected: map[string]float64{Objective: 7}}
}

func TestWatch(t *testing.T) {
	s, err := New("small", 0)
	if err != nil {
		t.Fatal(err)
	}
	trial := tuner.Trial{Number: 1, Point: s.Problem.Baselines[1]}
	whole := s.Measure(trial.Point, 1, 0.05)
	asked := 0
	if got := s.Watch(trial, whole, s.Problem, nil, late{time.Hour * 100, &asked}); got.Kind != tuner.Measured || got.Cost != whole.Cost || asked < 5 {
		t.Errorf("nobody stopped the run, asked %d times: %+v", asked, got)
	}
	got := s.Watch(trial, whole, s.Problem, nil, late{30 * time.Second, &asked})
	if got.Kind != tuner.Stopped || got.Share != 0.25 || got.Signature != tuner.RuleHopeless || got.Cost != minutesReady*time.Minute+30*time.Second ||
		got.Measured.Metrics[Objective] != 7 || got.Measured.Metrics[firstToken] != whole.Measured.Metrics[firstToken] || whole.Measured.Metrics[Objective] == 7 {
		t.Errorf("stopped after 30 s: %+v %+v", got, got.Measured)
	}
}
