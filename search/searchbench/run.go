package searchbench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"autotune/space"
	"autotune/tuner"
)

// Method is a sampler, the ranker that says what it would return, and what cuts its trials short.
type Method struct {
	Name    string
	Sampler tuner.Sampler
	Ranker  tuner.Ranker
	Stopper tuner.Stopper // nil: every trial is measured whole
}

// Confirmation, beyond the trial budget.
const (
	finalists     = 3
	confirmations = 2
)

// confirmedAt are the numbers of trials after which the row has the regret after confirmation.
var confirmedAt = [2]int{40, 60}

// Run lets a method search a surface for so many trials, as a study would, and scores it after each one by the true regret of the point that it would
// return. Everything in the row but the seconds is a function of surface, method, noise and trials.
func Run(s *Surface, m Method, noise float64, trials int) (Row, error) {
	c := NewSession(s, m.Name, m.Ranker, noise)
	c.stopper = m.Stopper
	for n := range trials {
		begun := time.Now()
		p, err := m.Sampler.Suggest(s.Problem, c.history, tuner.Ask{Number: n, Seed: s.Seed})
		c.row.Seconds += time.Since(begun).Seconds()
		if errors.Is(err, tuner.ErrExhausted) {
			break
		}
		if err != nil {
			return Row{}, fmt.Errorf("%s on %s, seed %d, trial %d: %w", m.Name, s.Name, s.Seed, n, err)
		}
		c.CarryOut(p)
	}
	return c.End(trials), nil
}

// Session is one run in the making: it measures what is proposed, keeps the history, and scores.
type Session struct {
	surface *Surface
	ranker  tuner.Ranker
	stopper tuner.Stopper
	noise   float64
	highest float64 // of the measurements, whole or as they would have been, that keep every bound
	history tuner.History
	ranked  []tuner.Ranked // after the last trial
	minutes float64
	row     Row
}

// NewSession begins a run of a method on a surface.
func NewSession(s *Surface, method string, r tuner.Ranker, noise float64) *Session {
	return &Session{surface: s, ranker: r, noise: noise, row: Row{Surface: s.Name, Method: method, Seed: s.Seed, Noise: noise, Confirmed: [2]float64{100, 100}}}
}

// Trials is how many trials have ended.
func (c *Session) Trials() int { return len(c.history) }

// CarryOut measures a proposal as the next trial, and scores what the method would return then.
func (c *Session) CarryOut(p tuner.Proposal) tuner.Trial {
	s, n := c.surface, len(c.history)
	origin := s.origin(p.Point)
	switch origin {
	case tuner.OriginBaseline:
		p.Kind = tuner.KindBaseline
	case tuner.OriginRecipe:
		p.Kind = tuner.KindRecipe
	}
	t := tuner.Trial{Number: n, Point: p.Point, Origin: origin, Proposal: p}
	t.Outcome = c.measure(t)
	t.Started = time.Unix(0, 0).Add(time.Duration(c.minutes * float64(time.Minute))).UTC()
	c.minutes += t.Outcome.Cost.Minutes()
	t.Ended = t.Started.Add(t.Outcome.Cost)
	c.history = append(c.history, t)
	if !t.Ran() {
		c.row.Crashed++
	}
	c.score(s.Bad(s.Truth(p.Point)))
	return t
}

// measure a trial, under the eyes of the stopper if there is one.
func (c *Session) measure(t tuner.Trial) tuner.Outcome {
	s := c.surface
	whole := s.Measure(t.Point, t.Number, c.noise)
	if whole.Kind != tuner.Measured {
		return whole
	}
	out := whole
	if c.stopper != nil {
		out = s.Watch(t, whole, s.Problem, c.history, c.stopper)
	}
	v, _ := s.Problem.Goal.Value(whole.Measured)
	best := s.Problem.Goal.TotalViolation(whole.Measured) == 0 && v > c.highest
	if best {
		c.highest = v
	}
	if out.Kind == tuner.Stopped {
		c.row.Stopped++
		if best {
			c.row.StoppedBest++
		}
	}
	return out
}

func (s *Surface) origin(p space.Point) tuner.Origin {
	for _, b := range s.Problem.Baselines {
		if b.Key() == p.Key() {
			return tuner.OriginBaseline
		}
	}
	for _, r := range s.Problem.Recipes {
		if r.Key() == p.Key() {
			return tuner.OriginRecipe
		}
	}
	return tuner.OriginSearch
}

// score adds the regret of what the method would return now, after a trial that was bad or not.
func (c *Session) score(bad bool) {
	c.ranked = c.ranker.Rank(c.surface.Problem, c.history)
	regret := 100.0
	if len(c.ranked) > 0 {
		regret = c.surface.Regret(c.ranked[0].Trial.Point)
	}
	c.row.Trials = append(c.row.Trials, Score{Regret: regret, Minutes: c.minutes, Bad: bad})
	for i, at := range confirmedAt {
		if len(c.history) == at {
			c.row.Confirmed[i] = c.confirm(c.ranked)
		}
	}
}

// confirm measures the first of the ranking again, and gives the regret of the one whose fresh measurements are best and keep every bound, on
// geometric means; the first's own when none does.
func (c *Session) confirm(ranked []tuner.Ranked) float64 {
	if len(ranked) == 0 {
		return 100
	}
	goal := c.surface.Problem.Goal
	winner, best := ranked[0].Trial.Point, math.Inf(-1)
	for i, r := range ranked[:min(finalists, len(ranked))] {
		mean := map[string]float64{}
		runs := true
		for k := range confirmations {
			o := c.surface.Measure(r.Trial.Point, 100_000+1000*len(c.history)+10*i+k, c.noise)
			if o.Kind != tuner.Measured {
				runs = false
				break
			}
			for name, v := range o.Measured.Metrics {
				mean[name] += math.Log(v) / confirmations
			}
		}
		for name := range mean {
			mean[name] = math.Exp(mean[name])
		}
		m := tuner.Measurement{Metrics: mean}
		if v, _ := goal.Value(&m); runs && goal.TotalViolation(&m) == 0 && v > best {
			winner, best = r.Trial.Point, v
		}
	}
	return c.surface.Regret(winner)
}

// End gives the row of a run. It confirms where the run was shorter, and repeats the last score up to the number of trials for a method that had
// nothing left to ask.
func (c *Session) End(trials int) Row {
	for i, at := range confirmedAt {
		if len(c.history) < at {
			c.row.Confirmed[i] = c.confirm(c.ranked)
		}
	}
	row := c.row
	row.Trials = slices.Clone(row.Trials)
	for len(row.Trials) < trials {
		last := Score{Regret: 100}
		if n := len(row.Trials); n > 0 {
			last = row.Trials[n-1]
		}
		last.Bad = false
		row.Trials = append(row.Trials, last)
	}
	row.Bad, row.BadLate = badIn(row.Trials), badIn(row.Trials[trials/2:])
	return row
}
