package tuner_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"autotune/tuner"
)

func TestInterruptedIsAskedAgainUnderItsNumber(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("a signal")
	b.runner.answers[2] = []answer{{before: func() { cancel(stop) }}}
	end, err := b.run(ctx)
	if end != tuner.EndInterrupted || !errors.Is(err, stop) {
		t.Fatalf("ended %q, %v", end, err)
	}
	if got := b.store.trials[2]; got.Outcome.Kind != tuner.Interrupted || got.Interruptions != 1 {
		t.Fatalf("trial 2: %+v", got.Outcome)
	}
	if end, err = b.run(t.Context()); err != nil || end != tuner.EndBudgetTrials {
		t.Fatalf("ended %q, %v", end, err)
	}
	if want := []int{0, 1, 2, 2, 3}; !slices.Equal(b.runner.ran, want) {
		t.Errorf("ran %v, want %v", b.runner.ran, want)
	}
}

func TestThreeInterruptionsInARowGiveUp(t *testing.T) {
	b := newBench(t)
	for n := range tuner.MaxInterruptions {
		ctx, cancel := context.WithCancelCause(t.Context())
		b.runner.answers[1] = []answer{{before: func() { cancel(errors.New("stop")) }}}
		if _, err := b.run(ctx); err == nil {
			t.Fatalf("sitting %d ended without an error", n)
		}
	}
	got := b.store.trials[1].Outcome
	if got.Kind != tuner.Infeasible || got.Reason != tuner.ReasonUnknown {
		t.Fatalf("trial 1 ended %q, %q", got.Kind, got.Reason)
	}
	if end, err := b.run(t.Context()); err != nil || end != tuner.EndBudgetTrials {
		t.Fatalf("ended %q, %v", end, err)
	}
}

// TestTheMachinesFaultIsNotTheTrials: however often a study is resumed on a machine that cannot start anything, its trial is not given up; one under which the
// machine fails again and again is.
func TestTheMachinesFaultIsNotTheTrials(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome tuner.Outcome
		givenUp bool
	}{
		{"no driver", tuner.Outcome{Reason: tuner.ReasonEnvironment, Phase: tuner.PhaseInit}, false},
		{"no program", tuner.Outcome{Reason: tuner.ReasonUser, Phase: tuner.PhaseInit}, false},
		{"no benchmark tool", tuner.Outcome{Reason: tuner.ReasonUser, Phase: tuner.PhaseBench}, false},
		{"a broken checkpoint", tuner.Outcome{Reason: tuner.ReasonCheckpoint, Phase: tuner.PhaseLoad}, false},
		{"a GPU falls off the bus under load", tuner.Outcome{Reason: tuner.ReasonEnvironment, Phase: tuner.PhaseServe}, true},
		{"processes that hang in a driver", tuner.Outcome{Reason: tuner.ReasonEnvironment, Phase: tuner.PhaseLoad, Signature: tuner.SignatureUnkillable}, true},
	} {
		b := newBench(t)
		for range tuner.MaxInterruptions {
			b.runner.answers[0] = []answer{{err: &tuner.MachineError{Outcome: c.outcome}}}
			if end, err := b.run(t.Context()); err == nil || end != tuner.EndMachine {
				t.Fatalf("%s: ended %q, %v", c.name, end, err)
			}
		}
		want := map[bool]tuner.Kind{false: tuner.Interrupted, true: tuner.Infeasible}[c.givenUp]
		if got := b.store.trials[0].Outcome.Kind; got != want {
			t.Errorf("%s: after %d sittings the trial is %q, want %q", c.name, tuner.MaxInterruptions, got, want)
		}
	}
}

// TestEveryAttemptCounts: a measurement that is not believed is repeated also after an attempt that autotune failed at, and a trial costs what all attempts did.
func TestEveryAttemptCounts(t *testing.T) {
	b := newBench(t)
	invalid := answer{outcome: tuner.Outcome{Kind: tuner.Invalid, Rule: "client_lag", Cost: time.Minute}}
	good := measured(5)
	good.Cost = 2 * time.Minute
	b.runner.answers[1] = []answer{{err: errors.New("no socket")}, invalid, {outcome: good}}
	if _, err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := b.store.trials[1].Outcome; o.Kind != tuner.Measured || o.Cost != 3*time.Minute {
		t.Errorf("trial 1 ended %q and cost %v", o.Kind, o.Cost)
	}
}

func TestDeadRunLeavesItsTrialInterrupted(t *testing.T) {
	b := newBench(t)
	if _, err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := b.store.trials[3]
	last.Outcome, last.Ended = tuner.Outcome{}, time.Time{} // killed in the middle of it
	b.store.trials[3] = last
	h := b.store.history()
	changed := tuner.Requeue(h, b.Now())
	if len(changed) != 1 || changed[0].Number != 3 || changed[0].Outcome.Kind != tuner.Interrupted || h[3].Interruptions != 1 {
		t.Fatalf("changed %+v", changed)
	}
}

func TestRunnerErrorsAreRetriedAndBounded(t *testing.T) {
	b := newBench(t)
	broken := answer{err: errors.New("no socket")}
	b.runner.answers = map[int][]answer{1: {broken, {outcome: measured(5)}}, 2: {broken, broken, broken}}
	end, err := b.run(t.Context())
	if err == nil || end != tuner.EndMachine {
		t.Fatalf("ended %q, %v", end, err)
	}
	if want := []int{0, 1, 1, 2, 2, 2}; !slices.Equal(b.runner.ran, want) {
		t.Errorf("ran %v, want %v", b.runner.ran, want)
	}
	if k := b.store.trials[2].Outcome.Kind; k != tuner.Interrupted {
		t.Errorf("trial 2 ended %q; the sampler must not hear of it", k)
	}
}

func TestMachineErrorStopsAtOnce(t *testing.T) {
	b := newBench(t)
	fault := &tuner.MachineError{Outcome: tuner.Outcome{Reason: tuner.ReasonEnvironment, Evidence: "Error 802"}}
	b.runner.answers[1] = []answer{{err: fault}}
	end, err := b.run(t.Context())
	var machine *tuner.MachineError
	if end != tuner.EndMachine || !errors.As(err, &machine) || len(b.runner.ran) != 2 {
		t.Fatalf("ended %q, %v after %v", end, err, b.runner.ran)
	}
}
