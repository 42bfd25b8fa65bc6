package tuner

import "math"

// ForecastShare is how much of a prediction its interval holds: nine measurements in ten are expected inside.
const ForecastShare = 0.9

// Interval is the middle of the distribution that holds a share of it, between 0 and 1, in the metric's unit.
func (p Prediction) Interval(share float64) (lo, hi float64) {
	z := math.Sqrt2 * math.Erfinv(share)
	return p.Mean * math.Exp(-z*p.SD), p.Mean * math.Exp(z*p.SD)
}

// Inside tells whether a measured value lies in the interval of a share of the distribution.
func (p Prediction) Inside(v, share float64) bool {
	lo, hi := p.Interval(share)
	return lo <= v && v <= hi
}

// Forecast says how well a study's predictions, each made before the trial, held. It counts what a sampler may learn from: nothing stale,
// foreign or outside the space.
type Forecast struct {
	// Metrics are what was predicted: the objective first, also where nothing that was measured of it can be compared, then bounded metrics.
	Metrics []MetricForecast `json:"metrics"`
	// Run is how well the probabilities held with which trials were expected to run; nil when none was given.
	Run *RunForecast `json:"run"`
}

// MetricForecast is how well the predictions of one metric held.
type MetricForecast struct {
	Metric string `json:"metric"`
	Trials int    `json:"trials"` // measured ones that had a prediction
	Inside int    `json:"inside"` // of them, those measured within the interval of ForecastShare
	// MeanError is the mean of |measured/predicted - 1|.
	MeanError float64 `json:"mean_error"`
	// PlainError is what MeanError would be had each trial been predicted by the geometric mean of the trials before it: a model that is not
	// nearer than that has learned nothing.
	PlainError float64 `json:"plain_error"`
}

// RunForecast is how well P(run) held, over the trials that came to an end with one.
type RunForecast struct {
	Trials   int     `json:"trials"`
	Expected float64 `json:"expected"` // mean P(run)
	Ran      int     `json:"ran"`
	// Deviation is how far Ran is from what was expected, in its own standard deviations; above 0 more ran than expected.
	Deviation float64 `json:"deviation"`
}

// Forecasts looks at every prediction of a history; nil when none was made that has come to an end.
func Forecasts(p Problem, h History) *Forecast {
	f := &Forecast{Metrics: []MetricForecast{}, Run: runForecast(h)}
	metrics := []string{p.Goal.Metric}
	for _, b := range p.Goal.SubjectTo {
		metrics = append(metrics, b.Name())
	}
	seen := map[string]bool{}
	for _, name := range metrics {
		if m := metricForecast(p.Goal, h, name); m.Trials > 0 && !seen[name] {
			f.Metrics = append(f.Metrics, m)
		}
		seen[name] = true
	}
	if len(f.Metrics) == 0 && f.Run == nil {
		return nil
	}
	if len(f.Metrics) > 0 && f.Metrics[0].Metric != p.Goal.Metric { // as where every goodput is 0
		f.Metrics = append([]MetricForecast{{Metric: p.Goal.Metric}}, f.Metrics...)
	}
	return f
}

func metricForecast(g Goal, h History, name string) MetricForecast {
	m := MetricForecast{Metric: name}
	logs, n := 0.0, 0 // of the measurements so far
	for _, t := range h {
		v, ok := measuredMetric(g, t, name)
		if !ok {
			continue
		}
		if p, predicted := t.Proposal.Predicted[name]; predicted && p.Mean > 0 {
			m.Trials++
			m.MeanError += math.Abs(v/p.Mean - 1)
			if n > 0 {
				m.PlainError += math.Abs(v/math.Exp(logs/float64(n)) - 1)
			}
			if p.Inside(v, ForecastShare) {
				m.Inside++
			}
		}
		logs, n = logs+math.Log(v), n+1
	}
	if m.Trials > 0 {
		m.MeanError, m.PlainError = m.MeanError/float64(m.Trials), m.PlainError/float64(m.Trials)
	}
	return m
}

// measuredMetric is what a trial that counts has measured of a metric; what is not above 0 has no logarithm and does not count.
func measuredMetric(g Goal, t Trial, name string) (float64, bool) {
	if !t.Told() || t.Outcome.Kind != Measured {
		return 0, false
	}
	v, ok := g.Metered(t.Outcome.Measured, name)
	return v, ok && v > 0 && !math.IsInf(v, 0)
}

func runForecast(h History) *RunForecast {
	var r RunForecast
	variance := 0.0
	for _, t := range h {
		p := t.Proposal.PRun
		if !t.Told() || p <= 0 || !t.Ran() && t.Outcome.Kind != Infeasible {
			continue
		}
		r.Trials++
		r.Expected += p
		variance += p * (1 - p)
		if t.Ran() {
			r.Ran++
		}
	}
	if r.Trials == 0 {
		return nil
	}
	// Half a trial is added to the deviation: with probabilities of nearly 1 it would be nothing at all.
	r.Deviation = (float64(r.Ran) - r.Expected) / math.Sqrt(variance+0.25)
	r.Expected /= float64(r.Trials)
	return &r
}

// Judgement is what a Forecast comes to. These words appear in JSON and never change.
type Judgement string

// The judgements.
const (
	// JudgedEarly: there are too few predictions to judge by.
	JudgedEarly Judgement = "too early"
	// JudgedGood: intervals hold as often as they claim, and predictions are nearer than the mean of earlier trials.
	JudgedGood Judgement = "understands"
	// JudgedVague: intervals hold, and predictions are not nearer than that: the model knows how little it knows.
	JudgedVague Judgement = "vague"
	// JudgedWrong: measurements fall outside the intervals more often than chance explains.
	JudgedWrong Judgement = "overconfident"
)

const (
	// judgeFrom is the fewest predictions that are judged: with four, one miss would already be a quarter.
	judgeFrom = 5
	// chance is how improbable so few hits have to be, were the intervals right, before they are called wrong.
	chance = 0.05
	// nearer is how much of the plain error a model may have that is said to have learned something.
	nearer = 0.8
)

// Judge says what the forecast of the objective comes to.
func (f Forecast) Judge() Judgement {
	if len(f.Metrics) == 0 || f.Metrics[0].Trials < judgeFrom {
		return JudgedEarly
	}
	m := f.Metrics[0]
	switch {
	case binomialTail(m.Inside, m.Trials, ForecastShare) < chance:
		return JudgedWrong
	case m.MeanError < nearer*m.PlainError:
		return JudgedGood
	default:
		return JudgedVague
	}
}

// binomialTail is the probability of at most k successes in n tries of probability p.
func binomialTail(k, n int, p float64) float64 {
	sum := 0.0
	for i := range k + 1 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(a - b - c + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}
