package tuner_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"autotune/tuner"
)

const objective = "total_token_throughput"

// told is a history of trials: each with what was predicted (median, sd of the log; 0: nothing), P(run), and what was measured (0: it did not run).
func told(t *testing.T, trials ...[4]float64) (tuner.Problem, tuner.History) {
	t.Helper()
	p := newBench(t).problem
	var h tuner.History
	for n, c := range trials {
		trial := tuner.Trial{Number: n, Point: p.Baselines[0], Outcome: tuner.Outcome{Kind: tuner.Infeasible}}
		trial.Proposal.PRun = c[2]
		if c[0] > 0 {
			trial.Proposal.Predicted = map[string]tuner.Prediction{objective: {Mean: c[0], SD: c[1]}}
		}
		if c[3] > 0 {
			trial.Outcome = measured(c[3])
		}
		h = append(h, trial)
	}
	return p, h
}

// The 90 % interval of a log-normal distribution is its median times exp(±1.6449 sd).
func TestIntervalOfAPrediction(t *testing.T) {
	p := tuner.Prediction{Mean: 15200, SD: 0.1}
	lo, hi := p.Interval(0.9)
	if math.Abs(lo-12894.6) > 0.5 || math.Abs(hi-17917.6) > 0.5 {
		t.Errorf("%v to %v", lo, hi)
	}
	for v, want := range map[float64]bool{12894: false, 12895: true, 15840: true, 17917: true, 17918: false} {
		if p.Inside(v, 0.9) != want {
			t.Errorf("%v inside: %v", v, !want)
		}
	}
	if lo, hi := (tuner.Prediction{Mean: 3}).Interval(0.9); lo != 3 || hi != 3 {
		t.Errorf("without doubt %v to %v", lo, hi)
	}
}

func TestForecastCountsWhatWasPredictedAndMeasured(t *testing.T) {
	p, h := told(t,
		[4]float64{0, 0, 0, 100},      // a baseline: nothing predicted
		[4]float64{110, 0.1, 0.9, 99}, // a tenth off, inside; the plain mean was 100
		[4]float64{100, 0.01, 0.8, 125},
		[4]float64{100, 0.1, 0.7, 0}) // did not run
	stale := h[2]
	stale.Number, stale.Stale = 4, true
	h = append(h, stale, tuner.Trial{Number: 5, Foreign: true, Outcome: measured(7)})
	got := tuner.Forecasts(p, h)
	plain := math.Exp((math.Log(100) + math.Log(99)) / 2)
	want := &tuner.Forecast{
		Metrics: []tuner.MetricForecast{{Metric: objective, Trials: 2, Inside: 1, MeanError: (0.1 + 0.25) / 2, PlainError: (0.01 + 125/plain - 1) / 2}},
		Run:     &tuner.RunForecast{Trials: 3, Expected: 0.8, Ran: 2, Deviation: (2 - 2.4) / math.Sqrt(0.09+0.16+0.21+0.25)}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	p, h = told(t, [4]float64{0, 0, 0, 100}, [4]float64{0, 0, 0, 0})
	if got := tuner.Forecasts(p, h); got != nil {
		t.Errorf("a forecast of nothing: %+v", got)
	}
}

// Where nothing that was measured of the objective can be compared, it is still the first, so that no bounded metric is judged in its place.
func TestForecastOfAnObjectiveOfNothing(t *testing.T) {
	p, h := told(t, [4]float64{0, 0, 0, 100}, [4]float64{110, 0.1, 0.9, 99})
	p.Goal.SubjectTo = []tuner.Bound{{Metric: "p95_ttft", Op: "<=", Limit: 2}}
	for i := range h {
		h[i].Outcome.Measured.Metrics = map[string]float64{objective: 0, "p95_ttft": 1}
		h[i].Proposal.Predicted = map[string]tuner.Prediction{objective: {Mean: 1, SD: 1}, "p95_ttft": {Mean: 1, SD: 1}}
	}
	f := tuner.Forecasts(p, h)
	if len(f.Metrics) != 2 || f.Metrics[0] != (tuner.MetricForecast{Metric: objective}) || f.Metrics[1].Trials != len(h) || f.Judge() != tuner.JudgedEarly {
		t.Errorf("%+v is judged %q", f.Metrics, f.Judge())
	}
}

func TestForecastIsJudged(t *testing.T) {
	rows := func(n, inside int, mean, plain float64) tuner.Forecast {
		return tuner.Forecast{Metrics: []tuner.MetricForecast{{Trials: n, Inside: inside, MeanError: mean, PlainError: plain}}}
	}
	for _, c := range []struct {
		f    tuner.Forecast
		want tuner.Judgement
	}{
		{tuner.Forecast{}, tuner.JudgedEarly},
		{rows(4, 0, 1, 1), tuner.JudgedEarly},
		{rows(5, 5, 0.05, 0.2), tuner.JudgedGood},
		{rows(10, 8, 0.05, 0.2), tuner.JudgedGood},  // at most 8 of 10 come with probability 0.264
		{rows(10, 7, 0.05, 0.2), tuner.JudgedGood},  // 0.0702
		{rows(10, 6, 0.05, 0.2), tuner.JudgedWrong}, // 0.0128
		{rows(20, 20, 0.18, 0.2), tuner.JudgedVague},
	} {
		if got := c.f.Judge(); got != c.want {
			t.Errorf("%+v is judged %q, want %q", c.f.Metrics, got, c.want)
		}
	}
}

// The loop says what a trial is for where the sampler does not.
func TestBaselinesAndRecipesAreCalledSo(t *testing.T) {
	b := newBench(t)
	b.study.Budget.Trials = 3
	for q := range b.problem.Space.Enumerate() {
		b.problem.Recipes = append(b.problem.Recipes, q)
		break
	}
	b.problem.RecipeWhy = []string{"trial 7 of other.db"}
	if _, err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n, want := range []tuner.Proposal{{Kind: tuner.KindBaseline}, {Kind: tuner.KindRecipe, Why: "trial 7 of other.db"}, {}} {
		got := b.store.trials[n].Proposal
		if got.Kind != want.Kind || got.Why != want.Why {
			t.Errorf("trial %d was asked as %q, %q", n, got.Kind, got.Why)
		}
	}
}
