package tuner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"autotune/tuner/metric"
)

// ErrEngineChanged says that the engine is another version than the one that the study has measured so far.
var ErrEngineChanged = errors.New("the engine's version has changed")

// ErrEnginePinned says that the engine is another release than the spec asks for.
var ErrEnginePinned = errors.New("the engine is not the release that the spec is for")

// SignatureUnkillable is the signature of a trial whose processes outlive SIGKILL.
const SignatureUnkillable = "unkillable"

// carryOut runs one trial to an end that can be recorded. An error ends the sitting; the trial is then interrupted, and asked again.
func (s *sitting) carryOut(ctx context.Context, t Trial) (Trial, error) {
	outcome, err := s.attempts(ctx, &t)
	if err != nil {
		outcome.Kind = Interrupted
	}
	t.Outcome, t.Ended = outcome, s.Now()
	if outcome.Kind != Interrupted {
		t.Interruptions = 0
		return t, err
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if blameless(err) {
		return t, err
	}
	return s.interrupted(t), err
}

// attempts launches a trial until it has an end that counts: what cannot be believed is measured once more, and autotune's own failures are bounded. The
// cost is that of all of them.
func (s *sitting) attempts(ctx context.Context, t *Trial) (outcome Outcome, err error) {
	cost := time.Duration(0)
	doubted := false
	for try := 1; ; {
		outcome, err = s.attempt(ctx, t)
		cost += outcome.Cost
		switch outcome.Cost = cost; {
		case err == nil && outcome.Kind == Invalid && !doubted:
			doubted = true
			s.say(*t, fmt.Sprintf("trial %d: the measurement cannot be believed (%s: %s): measuring once more", t.Number, outcome.Rule, outcome.Evidence))
		case err != nil && try < runnerTries && retryable(ctx, err):
			try++
			s.say(*t, fmt.Sprintf("trial %d: %v: trying again (%d of %d)", t.Number, err, try, runnerTries))
		default:
			return outcome, err
		}
	}
}

// blameless tells whether what ended a trial cannot have been the trial: then it does not count as an interruption, after three of which a trial is given
// up. A machine that fails under a server that was ready, or that processes hang in, may be the trial's doing.
func blameless(err error) bool {
	if errors.Is(err, ErrEngineChanged) {
		return true
	}
	var machine *MachineError
	if !errors.As(err, &machine) {
		return false
	}
	o := machine.Outcome
	return o.Reason != ReasonEnvironment || o.Phase != PhaseServe && o.Phase != PhaseBench && o.Signature != SignatureUnkillable
}

// retryable tells whether a further attempt may help: not after a stop, nor where the machine or a person has to act.
func retryable(ctx context.Context, err error) bool {
	var machine *MachineError
	return ctx.Err() == nil && !errors.As(err, &machine) && !errors.Is(err, ErrEngineChanged) && !errors.Is(err, ErrEnginePinned)
}

// interrupted counts an interruption; the third in a row gives the trial up.
func (s *sitting) interrupted(t Trial) Trial {
	t.Interruptions++
	if t.Interruptions < MaxInterruptions {
		return t
	}
	return GiveUp(t)
}

// GiveUp ends a trial that was interrupted too often: whatever it does to the machine, it is not asked again.
func GiveUp(t Trial) Trial {
	t.Outcome = Outcome{Kind: Infeasible, Phase: PhaseUnknown, Reason: ReasonUnknown, Signature: "interrupted",
		Evidence: fmt.Sprintf("interrupted %d times in a row", t.Interruptions),
		Hint:     "look at what stopped autotune during this trial; to try the configuration again, start a new study", Run: t.Outcome.Run}
	return t
}

// attempt launches the trial once, with an eye on the engine's version and on the stopper.
func (s *sitting) attempt(ctx context.Context, t *Trial) (Outcome, error) {
	var changed error
	var noted Verdict // what a stopper that only reports would have done, and in which workload
	var at string
	outcome, err := s.Runner.Run(ctx, *t, func(p Partial) Verdict {
		if changed == nil && p.EngineVersion != "" {
			changed = s.checkVersion(ctx, *t, p.EngineVersion)
		}
		if changed != nil {
			return Verdict{Stop: true, Reason: changed.Error()}
		}
		if s.Now().Sub(s.renewed) > renewEvery {
			if err := s.renew(ctx); err != nil && ctx.Err() == nil {
				s.say(*t, err.Error())
			}
		}
		s.publish(Progress{Trial: t, Partial: &p})
		if p.Begins {
			return Verdict{Skip: s.problem.Goal.Guarded(p.Workload) && !s.couldWin(*t, p.Measured), Beat: s.toBeat(*t)}
		}
		if s.Stopper == nil || noted.Rule != "" {
			return Verdict{}
		}
		v := s.Stopper.Stop(s.problem, s.history, p)
		if v.Report {
			if s.problem.Goal.Metric != metric.RequestRate { // there it would have ended a probe, and not the trial
				noted, at = v, p.Workload
			}
			v = Verdict{}
		}
		return v
	})
	if changed != nil {
		err = changed
	}
	s.compare(*t, &outcome)
	return noted.note(outcome, at), err
}

// note adds to a trial's outcome what a stopper that only reports would have done in one of its workloads; the outcome itself is kept.
func (v Verdict) note(o Outcome, workload string) Outcome {
	if v.Rule == "" || o.Kind != Measured {
		return o
	}
	o.Signature, o.Share, o.Evidence = v.Rule, v.Share, "would have been cut short: "+v.Reason
	if all := o.Measured.All(); len(all) > 1 {
		o.Share = shareOfAll(all, workload, v.Share)
	}
	return o
}

// shareOfAll is the share of the time of all workloads of a launch that had gone by at a share of one of them.
func shareOfAll(all []*Measurement, workload string, share float64) float64 {
	seen, whole, over := 0.0, 0.0, false
	for _, m := range all {
		d := m.Metrics["duration"]
		whole += d
		switch {
		case m.Workload == workload:
			seen, over = seen+share*d, true
		case !over:
			seen += d
		}
	}
	if whole <= 0 {
		return share
	}
	return seen / whole
}

// isRelease tells whether a version is a release or a build of it: 0.17.1+cu130 is 0.17.1 and 0.17, and is not 0.17.0.
func isRelease(version, release string) bool {
	rest, begins := strings.CutPrefix(strings.TrimPrefix(version, "v"), release)
	return begins && (rest == "" || !strings.ContainsRune("0123456789", rune(rest[0])))
}

// checkVersion compares the running engine with the one that the study has measured. A change is refused, or makes the earlier trials stale.
func (s *sitting) checkVersion(ctx context.Context, current Trial, version string) error {
	engine := current.Point.Engine()
	if pin := s.Pinned[engine]; pin != "" && !isRelease(version, pin) {
		return fmt.Errorf("%w: %s has to be %s, and is %s", ErrEnginePinned, engine, pin, version)
	}
	var stale []Trial
	known := ""
	for _, t := range s.history {
		v := t.Outcome.Run.EngineVersion
		if t.Number == current.Number || !t.Told() || t.Point.Engine() != engine || v == version {
			continue
		}
		if v != "" {
			known = v
		}
		t.Stale = true // also what never ran: another version may accept it
		stale = append(stale, t)
	}
	if known == "" {
		return nil
	}
	if !s.AcceptEngineChange {
		return fmt.Errorf("%w: %s measured so far is %s, now it is %s", ErrEngineChanged, engine, known, version)
	}
	if err := s.Store.Restate(ctx, stale); err != nil {
		return fmt.Errorf("marking earlier trials as stale: %w", err)
	}
	for _, t := range stale {
		s.put(t)
	}
	s.say(current, fmt.Sprintf("%s is now %s, was %s: %d earlier trials are kept, marked stale, and its baseline is measured again", engine, version, known, len(stale)))
	return nil
}

// say publishes a line of its own, and keeps it as an event.
func (s *sitting) say(t Trial, text string) {
	if err := s.Store.Note(context.Background(), Event{At: s.Now(), Kind: "notice", Trial: t.Number, Text: text}); err != nil {
		text += fmt.Sprintf(" (this line could not be stored: %v)", err)
	}
	s.publish(Progress{Trial: &t, Message: text})
}

// Requeue turns the trials that a dead run left running into interrupted ones, and gives up what was interrupted too often. It returns the changed ones.
func Requeue(h History, now time.Time) []Trial {
	var changed []Trial
	for i, t := range h {
		if t.Foreign || t.Outcome.Kind != Running {
			continue
		}
		t.Outcome.Kind, t.Ended = Interrupted, now
		if t.Interruptions++; t.Interruptions >= MaxInterruptions {
			t = GiveUp(t)
		}
		h[i] = t
		changed = append(changed, t)
	}
	return changed
}
