package tuner

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Tuner runs a study. Every field but Stopper is needed.
type Tuner struct {
	Sampler  Sampler
	Ranker   Ranker
	Stopper  Stopper // nil: no trial is cut short
	Runner   Runner
	Store    Store
	Observer Observer
	Now      func() time.Time
	// AcceptEngineChange lets a study go on with another version of an engine: its earlier trials become stale, its baseline is measured again.
	AcceptEngineChange bool
	// Pinned is the release that an engine has to be, by the engine's name: a server of another one stops the study before anything is measured.
	Pinned map[string]string
	// StopGain ends the study once its model expects less than this share of the best: see NoGain. 0: only budget and space end it.
	StopGain float64
}

// MaxInterruptions is how often in a row one trial may be interrupted before it is given up as unknown.
const MaxInterruptions = 3

// runnerTries bounds how often one trial is tried when autotune or its machine failed.
const runnerTries = 3

// End says why a study stopped.
type End string

// The ends of a study. These words appear in JSON and never change.
const (
	EndBudgetTrials End = "budget: trials"
	EndBudgetClock  End = "budget: wall clock"
	EndFailureRow   End = "failures in a row"
	EndExhausted    End = "space exhausted"
	EndNoGain       End = "no gain expected"
	EndInterrupted  End = "interrupted"
	EndMachine      End = "machine"
)

// sitting is one call of Run: the study between two starts of the program.
type sitting struct {
	*Tuner
	study   Study
	problem Problem
	history History
	started time.Time
	renewed time.Time
	ranked  bool    // since the history last changed: ranking may take a model's while, and progress comes every second
	leader  *Ranked // nil: nothing leads
	paced   *Pace   // nil: the history has changed since
}

// Run goes on with a study until its budget, its space or ctx ends, and returns the history as it then is.
// With ctx ended the error is ctx's cause; a *MachineError is the machine's fault. What was measured is in the store either way.
func (t *Tuner) Run(ctx context.Context, study Study, p Problem, h History) (History, End, error) {
	s := &sitting{Tuner: t, study: study, problem: p, history: h, started: t.Now()}
	s.renewed = s.started
	end, err := s.loop(ctx)
	if renewErr := s.renew(context.WithoutCancel(ctx)); err == nil {
		err = renewErr
	}
	return s.history, end, err
}

// loop is the whole of a study: ask, persist, run, persist, publish.
func (s *sitting) loop(ctx context.Context) (End, error) {
	for {
		if end := s.ended(); end != "" {
			return end, nil
		}
		if err := s.renew(ctx); err != nil {
			return EndMachine, err
		}
		trial, err := s.next()
		if errors.Is(err, ErrExhausted) {
			return EndExhausted, nil
		}
		if err != nil {
			return EndMachine, err
		}
		err = s.Store.Begin(ctx, trial)
		if errors.Is(err, ErrTaken) && s.reload(ctx) {
			continue
		}
		if err != nil {
			return s.stopped(ctx, fmt.Errorf("recording that trial %d begins: %w", trial.Number, err))
		}
		s.put(trial)
		s.publish(Progress{Trial: &trial})
		trial, err = s.carryOut(ctx, trial)
		// What was seen is kept although the person has asked to stop.
		if keep := s.Store.Finish(context.WithoutCancel(ctx), trial); keep != nil {
			return EndMachine, errors.Join(fmt.Errorf("recording the end of trial %d: %w", trial.Number, keep), err)
		}
		s.put(trial)
		s.publish(Progress{Trial: &trial, Ended: true})
		if warning, n := LittleRoom(s.history); n == roomFrom && trial.Origin != OriginBaseline && trial.Outcome.Kind == Infeasible {
			s.say(trial, "Warning: "+warning)
		}
		if err != nil {
			return s.stopped(ctx, err)
		}
	}
}

// reload reads the history again: another program has added a trial. False: there is nothing new, so that asking again would not help.
func (s *sitting) reload(ctx context.Context) bool {
	_, h, err := s.Store.Load(ctx)
	if err != nil || len(h) <= len(s.history) {
		return false
	}
	s.history, s.ranked, s.paced = h, false, nil
	return true
}

func (s *sitting) stopped(ctx context.Context, err error) (End, error) {
	if ctx.Err() != nil {
		return EndInterrupted, context.Cause(ctx)
	}
	return EndMachine, err
}

// ended tells which rule of the budget has ended the study, or "".
func (s *sitting) ended() End {
	b := s.study.Budget
	switch {
	case s.pending() != nil && (b.WallClock == 0 || s.spent() < b.WallClock):
		return "" // what was begun is finished first
	case b.Trials > 0 && s.history.Finished() >= b.Trials:
		return EndBudgetTrials
	case b.WallClock > 0 && s.spent() >= b.WallClock:
		return EndBudgetClock
	case b.FailureRow > 0 && s.history.failureRow() >= b.FailureRow:
		return EndFailureRow
	}
	if _, over := NoGain(s.problem, s.history, s.StopGain); over {
		if _, more := s.leftOut(); !more {
			return EndNoGain
		}
	}
	return ""
}

// Finished counts the trials of this study that have come to an end, stale ones left out. One that was cut short counts like any other: it has been
// asked, and it has been answered.
func (h History) Finished() int {
	n := 0
	for _, t := range h {
		if !t.Foreign && !t.Stale && t.Outcome.Kind != Running && t.Outcome.Kind != Interrupted {
			n++
		}
	}
	return n
}

func (h History) failureRow() int {
	n := 0
	for _, t := range h {
		switch {
		case t.Foreign || t.Stale || t.Outcome.Kind == Running || t.Outcome.Kind == Interrupted:
		case t.Outcome.Kind == Infeasible || t.Outcome.Kind == Invalid:
			n++
		default:
			n = 0
		}
	}
	return n
}

// pending is the trial that was begun and has not ended, nil when there is none.
func (s *sitting) pending() *Trial {
	for i, t := range s.history {
		if !t.Foreign && !t.Stale && !t.Outside && (t.Outcome.Kind == Running || t.Outcome.Kind == Interrupted) {
			return &s.history[i]
		}
	}
	return nil
}

// next is the trial to carry out: an interrupted one again, under its own number, else one that would lead if its guards were measured, else what the sampler
// suggests. Each is a function of the problem and the history.
func (s *sitting) next() (Trial, error) {
	if t := s.pending(); t != nil {
		again := *t
		again.Outcome = Outcome{}
		again.Started, again.Ended = s.Now(), time.Time{}
		return again, nil
	}
	number := s.history.Next()
	if proposal, ok := s.leftOut(); ok {
		return Trial{Number: number, Point: proposal.Point, Origin: OriginSearch, Proposal: proposal, Started: s.Now()}, nil
	}
	proposal, err := s.Sampler.Suggest(s.problem, s.history, Ask{Number: number, Seed: s.problem.Seed})
	if err != nil {
		return Trial{}, err
	}
	return Trial{Number: number, Point: proposal.Point, Origin: s.describe(&proposal), Proposal: proposal, Started: s.Now()}, nil
}

// describe finds where a proposal comes from, and says so where the sampler cannot know.
func (s *sitting) describe(p *Proposal) Origin {
	origin := s.origin(*p)
	switch origin {
	case OriginBaseline:
		p.Kind = KindBaseline
	case OriginRecipe:
		p.Kind = KindRecipe
		for i, r := range s.problem.Recipes {
			if r.Key() == p.Point.Key() && i < len(s.problem.RecipeWhy) {
				p.Why = s.problem.RecipeWhy[i]
				break
			}
		}
	}
	return origin
}

func (s *sitting) origin(p Proposal) Origin {
	for _, b := range s.problem.Baselines {
		if b.Key() == p.Point.Key() {
			return OriginBaseline
		}
	}
	for _, r := range s.problem.Recipes {
		if r.Key() == p.Point.Key() {
			return OriginRecipe
		}
	}
	return OriginSearch
}

// put replaces the trial of the same number in the history, or appends it.
func (s *sitting) put(t Trial) {
	s.ranked, s.paced = false, nil
	for i := range s.history {
		if s.history[i].Number == t.Number && !s.history[i].Foreign {
			s.history[i] = t
			return
		}
	}
	s.history = append(s.history, t)
}

// renewEvery is how often the lease is renewed while a trial runs.
const renewEvery = 5 * time.Second

func (s *sitting) renew(ctx context.Context) error {
	now := s.Now()
	err := s.Store.Renew(ctx, now.Sub(s.renewed))
	if err == nil {
		s.study.Spent += now.Sub(s.renewed)
		s.renewed = now
	}
	return err
}

func (s *sitting) spent() time.Duration { return s.study.Spent + s.Now().Sub(s.renewed) }

func (s *sitting) publish(p Progress) {
	p.Study, p.Problem, p.History = s.study, s.problem, s.history
	p.Study.Spent = s.spent()
	p.Leader = s.lead()
	p.Left = s.left(p.Trial, p.Ended)
	s.Observer.Observe(p)
}

// lead is the trial that leads; nil while none does.
func (s *sitting) lead() *Ranked {
	if !s.ranked {
		s.ranked, s.leader = true, nil
		if all := s.Ranker.Rank(s.problem, s.history); len(all) > 0 {
			s.leader = &all[0]
		}
	}
	return s.leader
}

// pace is how long trials take.
func (s *sitting) pace() *Pace {
	if s.paced == nil {
		p := s.history.Pace()
		s.paced = &p
	}
	return s.paced
}

// left estimates the time to the end of the budget: by the clock, or by the trials left, whichever is sooner.
func (s *sitting) left(current *Trial, ended bool) time.Duration {
	running := time.Duration(-1)
	if current != nil && !ended {
		running = s.pace().Remaining(*current, s.Now().Sub(current.Started))
	}
	_, left := s.study.Budget.Left(s.history, *s.pace(), s.spent(), running)
	return left
}
