package searchbench

import (
	"errors"
	"fmt"
	"math"
	"time"

	"autotune/space"
	"autotune/tuner"
)

// Method is a sampler, and the ranker that says what it would return.
type Method struct {
	Name    string
	Sampler tuner.Sampler
	Ranker  tuner.Ranker
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
	c := newScorer(s, m.Name, noise)
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
		c.carryOut(p)
		c.score(m.Ranker)
	}
	c.fill(trials)
	return c.row, nil
}

// scorer keeps a run's history and scores it.
type scorer struct {
	surface *Surface
	noise   float64
	history tuner.History
	ranked  []tuner.Ranked // after the last trial
	bad     bool           // the last trial
	minutes float64
	row     Row
}

func newScorer(s *Surface, method string, noise float64) *scorer {
	return &scorer{surface: s, noise: noise, row: Row{Surface: s.Name, Method: method, Seed: s.Seed, Noise: noise, Confirmed: [2]float64{100, 100}}}
}

// carryOut measures a proposal as the next trial.
func (c *scorer) carryOut(p tuner.Proposal) tuner.Trial {
	s, n := c.surface, len(c.history)
	origin := s.origin(p.Point)
	switch origin {
	case tuner.OriginBaseline:
		p.Kind = tuner.KindBaseline
	case tuner.OriginRecipe:
		p.Kind = tuner.KindRecipe
	}
	t := tuner.Trial{Number: n, Point: p.Point, Origin: origin, Proposal: p, Outcome: s.Measure(p.Point, n, c.noise)}
	t.Started = time.Unix(0, 0).Add(time.Duration(c.minutes * float64(time.Minute))).UTC()
	c.minutes += t.Outcome.Cost.Minutes()
	t.Ended = t.Started.Add(t.Outcome.Cost)
	c.history = append(c.history, t)
	c.bad = s.Bad(s.Truth(p.Point))
	if t.Outcome.Kind != tuner.Measured {
		c.row.Crashed++
	}
	return t
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

// score adds the regret of what the method would return now.
func (c *scorer) score(r tuner.Ranker) {
	ranked := r.Rank(c.surface.Problem, c.history)
	regret := 100.0
	if len(ranked) > 0 {
		regret = c.surface.Regret(ranked[0].Trial.Point)
	}
	c.row.Trials = append(c.row.Trials, Score{Regret: regret, Minutes: c.minutes, Bad: c.bad})
	c.ranked = ranked
	for i, at := range confirmedAt {
		if len(c.history) == at {
			c.row.Confirmed[i] = c.confirm(ranked)
		}
	}
}

// confirm measures the first of the ranking again, and gives the regret of the one whose fresh measurements are best and keep every bound, on
// geometric means; the first's own when none does.
func (c *scorer) confirm(ranked []tuner.Ranked) float64 {
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

// fill ends a run: it confirms where the run was shorter, repeats the last score up to the number of trials for a method that had nothing left to
// ask, and counts the bad trials.
func (c *scorer) fill(trials int) {
	for i, at := range confirmedAt {
		if len(c.history) < at {
			c.row.Confirmed[i] = c.confirm(c.ranked)
		}
	}
	for len(c.row.Trials) < trials {
		last := Score{Regret: 100}
		if n := len(c.row.Trials); n > 0 {
			last = c.row.Trials[n-1]
		}
		last.Bad = false
		c.row.Trials = append(c.row.Trials, last)
	}
	for i, s := range c.row.Trials {
		if s.Bad {
			c.row.Bad++
			if i >= trials/2 {
				c.row.BadLate++
			}
		}
	}
}
