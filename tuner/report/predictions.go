package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"autotune/tuner"
	"autotune/tuner/metric"
)

// Predictions is how well a study's predictions held, and what that says of its model.
type Predictions struct {
	tuner.Forecast
	Interval  float64         `json:"interval"` // the share of measurements that an interval should hold
	Judgement tuner.Judgement `json:"judgement"`
	Sentence  string          `json:"sentence"` // the judgement for people
}

// predictions is nil where none was made.
func predictions(p tuner.Problem, h tuner.History) *Predictions {
	f := tuner.Forecasts(p, h)
	if f == nil {
		return nil
	}
	r := &Predictions{Forecast: *f, Interval: tuner.ForecastShare, Judgement: f.Judge()}
	r.Sentence = r.sentence()
	return r
}

// unlikely is how many standard deviations the number of trials that ran may be off before it is remarked on.
const unlikely = 2

func (r Predictions) sentence() string {
	s := map[tuner.Judgement]string{
		tuner.JudgedEarly: "Too few predictions to say whether the model understands this space.",
		tuner.JudgedGood:  "The model understands this space: its intervals hold, and it comes nearer than the mean of earlier trials.",
		tuner.JudgedVague: "The model knows little of this space, and knows that it does: its intervals hold, and are no nearer than the mean of earlier trials.",
		tuner.JudgedWrong: "The model is too sure of itself here: do not rely on its expected gains.",
	}[r.Judgement]
	switch {
	case r.Run == nil || math.Abs(r.Run.Deviation) <= unlikely:
	case r.Run.Deviation < 0:
		s += " More configurations fail than it expects."
	default:
		s += " Fewer configurations fail than it expects."
	}
	return s
}

func (r Predictions) write(b *strings.Builder) {
	label := "Predicted"
	row := func(format string, args ...any) {
		fmt.Fprintf(b, "%-9s %s\n", label, fmt.Sprintf(format, args...))
		label = ""
	}
	for _, m := range r.Metrics {
		if m.Trials == 0 {
			continue
		}
		row("%s: %d of %d measurements inside their %.0f %% interval, %s off on average (%s had it been the mean of earlier trials)",
			m.Metric, m.Inside, m.Trials, 100*r.Interval, share(m.MeanError), share(m.PlainError))
	}
	if r.Run != nil {
		row("to run: %s on average; %d of %d ran (%s)", share(r.Run.Expected), r.Run.Ran, r.Run.Trials, share(float64(r.Run.Ran)/float64(r.Run.Trials)))
	}
	row("%s", r.Sentence)
}

// share writes a share as a percentage to two figures.
func share(x float64) string {
	if x >= 0.1 {
		return strconv.FormatFloat(100*x, 'f', 0, 64) + " %"
	}
	return strconv.FormatFloat(100*x, 'f', 1, 64) + " %"
}

// Expected is a prediction in words: 15200 tokens/s (12900 to 17900).
func Expected(name string, p tuner.Prediction) string {
	lo, hi := p.Interval(tuner.ForecastShare)
	return fmt.Sprintf("%s (%s)", metric.Format(name, round3(p.Mean)), span(name, round3(lo), round3(hi)))
}

// span writes an interval, the unit left out where both ends are written in that of the metric.
func span(name string, lo, hi float64) string {
	a, b := metric.Format(name, lo), metric.Format(name, hi)
	if unit := metric.Unit(name); unit != "s" && unit != "ratio" {
		a, b = strings.TrimSuffix(a, " "+unit), strings.TrimSuffix(b, " "+unit)
	}
	return a + " to " + b
}

// round3 keeps three figures: a prediction has no more.
func round3(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return math.Round(v/unit) * unit
}
