package tuner_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"autotune/tuner"
)

// byMean ranks configurations by the mean of their measurements.
type byMean struct{}

func (byMean) Rank(p tuner.Problem, h tuner.History) []tuner.Ranked {
	var out []tuner.Ranked
	for _, t := range h.Joined() {
		if t.Told() && !t.Twin && p.Goal.Feasible(t) {
			v, _ := p.Goal.Value(t.Outcome.Measured)
			out = append(out, tuner.Ranked{Trial: t, Value: v})
		}
	}
	slices.SortStableFunc(out, func(a, b tuner.Ranked) int { return cmp.Compare(b.Value, a.Value) })
	return out
}

// sameAs is a guarded runner whose servers report of some trials that they are another one's configuration.
type sameAs struct {
	guarded
	of   map[int]int // by trial, the trial whose configuration it turned out to be
	keys map[int]string
}

func (s *sameAs) Run(ctx context.Context, t tuner.Trial, observe func(tuner.Partial) tuner.Verdict) (tuner.Outcome, error) {
	o, err := s.guarded.Run(ctx, t, observe)
	s.keys[t.Number] = t.Point.Key()
	if first, ok := s.of[t.Number]; ok {
		o.Run.ResolvedKey = s.keys[first]
	}
	return o, err
}

// TestALeftOutGuardIsMadeUpFor: trial 3 lay far behind trial 2 and was not measured on the guard. Then trial 4 turned out to be trial 2's configuration, and both
// together lose too much there: so that trial 3 would lead, and is asked again with its guard, before the sampler is asked or the study ends.
func TestALeftOutGuardIsMadeUpFor(t *testing.T) {
	for name, c := range map[string]struct {
		again   [2]float64 // what trial 3's configuration comes to when it is asked again
		budget  int
		asked   bool // again, as trial 5
		leads   int  // after the study
		leftOut bool // and still unknown on the guard
	}{
		"it keeps the guard":  {[2]float64{164, 50}, 7, true, 3, false},
		"it breaks the guard": {[2]float64{164, 20}, 7, true, 0, false},
		"it fails":            {[2]float64{0, 0}, 7, true, 0, true},
		"the budget ends":     {[2]float64{164, 50}, 5, false, 0, true},
		"by the last trial":   {[2]float64{164, 50}, 6, true, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.problem = twoEngines(t)
			b.study.Budget.Trials, b.Ranker = c.budget, byMean{}
			b.Runner = &sameAs{guarded{map[int][2]float64{0: {100, 50}, 1: {80, 40}, 2: {200, 46}, 3: {160, 60}, 4: {200, 40}, 5: c.again, 6: {90, 50}}, b.runner.clock}, map[int]int{4: 2}, map[int]string{}}
			h, _, err := b.Run(t.Context(), b.study, b.problem, nil)
			if err != nil {
				t.Fatal(err)
			}
			if h[3].Outcome.Measured.Of("guard") != nil {
				t.Fatal("trial 3 was measured on the guard although another led by far")
			}
			if asked := len(h) > 5 && h[5].Proposal.Kind == tuner.KindGuard; asked != c.asked || asked && (h[5].Point.Key() != h[3].Point.Key() || !strings.Contains(h[5].Proposal.Why, "trial 3 would lead, and was not measured on guard")) {
				t.Errorf("trial 5: %+v of %s, trial 3 was %s", h[5].Proposal, h[5].Point.Key(), h[3].Point.Key())
			}
			if len(h) > 6 && h[6].Proposal.Kind == tuner.KindGuard {
				t.Error("it is asked a second time")
			}
			if lead := b.Ranker.Rank(b.problem, h); lead[0].Trial.Number != c.leads {
				t.Errorf("trial %d leads, not %d", lead[0].Trial.Number, c.leads)
			}
			if left, ok := tuner.LeftOut(b.problem, h, b.Ranker, nil); ok != c.leftOut || ok && left.Trial.Number != 3 {
				t.Errorf("left out at the end: %v, trial %d", ok, left.Trial.Number)
			}
		})
	}
}

// TestTheStopRuleWaitsForALeftOutGuard: the model expects no gain from trial 20 on, and trial 3 would lead by then.
func TestTheStopRuleWaitsForALeftOutGuard(t *testing.T) {
	b := newBench(t)
	b.problem = twoEngines(t)
	widen(t, b)
	b.Sampler, b.StopGain, b.study.Budget.Trials, b.Ranker = hopeless{}, 0.01, 60, byMean{}
	values := map[int][2]float64{0: {100, 50}, 1: {80, 40}, 2: {200, 46}, 3: {160, 60}, 19: {200, 40}, 20: {164, 50}}
	for n := range 60 {
		if _, ok := values[n]; !ok {
			values[n] = [2]float64{50, 50}
		}
	}
	b.Runner = &sameAs{guarded{values, b.runner.clock}, map[int]int{19: 2}, map[int]string{}}
	h, end, err := b.Run(t.Context(), b.study, b.problem, nil)
	if err != nil || end != tuner.EndNoGain || len(h) != 21 {
		t.Fatalf("ended %q, %v after %d trials; want 21", end, err, len(h))
	}
	if h[20].Proposal.Kind != tuner.KindGuard || b.Ranker.Rank(b.problem, h)[0].Trial.Number != 3 {
		t.Errorf("trial 20 was asked for %+v", h[20].Proposal)
	}
}
