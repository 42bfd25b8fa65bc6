package report

import (
	"strings"
	"testing"
	"time"

	"autotune/tuner"
)

func TestPredictionsInWords(t *testing.T) {
	forecast := func(n, inside int, off, plain float64, run *tuner.RunForecast) Predictions {
		f := tuner.Forecast{Metrics: []tuner.MetricForecast{{Metric: "total_token_throughput", Trials: n, Inside: inside, MeanError: off, PlainError: plain}}, Run: run}
		r := Predictions{Forecast: f, Interval: tuner.ForecastShare, Judgement: f.Judge()}
		r.Sentence = r.sentence()
		return r
	}
	for _, c := range []struct {
		p    Predictions
		want []string
	}{
		{forecast(12, 11, 0.0634, 0.3, nil), []string{"11 of 12 measurements inside their 90 % interval, 6.3 % off on average (30 % had it been the mean of earlier trials)", "The model understands this space"}},
		{forecast(12, 12, 0.3, 0.3, nil), []string{"knows little of this space, and knows that it does"}},
		{forecast(12, 6, 0.1, 0.3, nil), []string{"too sure of itself"}},
		{forecast(3, 0, 0.1, 0.3, nil), []string{"Too few predictions"}},
		{forecast(12, 12, 0.1, 0.3, &tuner.RunForecast{Trials: 12, Expected: 0.9, Ran: 5, Deviation: -5}), []string{"to run: 90 % on average; 5 of 12 ran (42 %)", "More configurations fail than it expects."}},
		{forecast(12, 12, 0.1, 0.3, &tuner.RunForecast{Trials: 12, Expected: 0.3, Ran: 12, Deviation: 5}), []string{"Fewer configurations fail than it expects."}},
		{forecast(12, 12, 0.1, 0.3, &tuner.RunForecast{Trials: 12, Expected: 0.9, Ran: 11, Deviation: 0.2}), []string{"earlier trials.\n"}},
	} {
		var b strings.Builder
		c.p.write(&b)
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s\nlacks %q", b.String(), want)
			}
		}
		if !strings.HasPrefix(b.String(), "Predicted ") || strings.Count(b.String(), "Predicted") != 1 {
			t.Errorf("one label: %s", b.String())
		}
	}
}

func TestExpectedHasThreeFiguresAndItsUnit(t *testing.T) {
	for _, c := range []struct {
		metric string
		p      tuner.Prediction
		want   string
	}{
		{"total_token_throughput", tuner.Prediction{Mean: 15213, SD: 0.1}, "15200 tokens/s (12900 to 17900)"},
		{"request_throughput", tuner.Prediction{Mean: 1.2345, SD: 0.05}, "1.23 requests/s (1.14 to 1.34)"},
		{"p95_ttft", tuner.Prediction{Mean: 0.9, SD: 0.2}, "900 ms (648 ms to 1.25s)"},
		{"success_rate", tuner.Prediction{Mean: 0.95, SD: 0.01}, "95 % (93.5 % to 96.6 %)"},
	} {
		if got := Expected(c.metric, c.p); got != c.want {
			t.Errorf("%s: %s, want %s", c.metric, got, c.want)
		}
	}
}

func TestPaceInWords(t *testing.T) {
	p := Pace{TrialsLeft: 24, SecondsLeft: 6 * 3600, pace: tuner.Pace{Ran: 9, StartUp: 6 * time.Minute, Bench: 8*time.Minute + 24*time.Second, Failed: 2, Failure: 75 * time.Second}}
	if want := "a trial that runs takes 6.0 min to start and 8.4 min to measure, one that fails 75 s; the budget is good for about 24 more, 6.0 h"; p.String() != want {
		t.Errorf("%s", p)
	}
	p.StartUps = []StartUp{{Like: "vllm tp-size=8", Seconds: 400, Trials: 6}, {Like: "sglang", Seconds: 330, Trials: 3}}
	if got := p.String(); strings.Contains(got, "sglang") {
		t.Errorf("%q tells apart what hardly differs", got)
	}
	p.StartUps[1].Seconds = 100
	if got, want := p.String(), "a trial that runs takes 6.0 min to start (vllm tp-size=8 6.7 min, sglang 1.7 min) and 8.4 min to measure, "; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p = Pace{TrialsLeft: -1, pace: tuner.Pace{Failed: 2, Failure: 800 * time.Millisecond}}
	if want := "one that fails 800 ms"; p.String() != want {
		t.Errorf("%s", p)
	}
}
