package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"autotune/tuner"
)

// Suite is an implementation of tuner.Store to be tried.
type Suite struct {
	// New makes the store of a new study. Reopen ends that store as a dead process does, or cleanly, and opens what it has kept.
	New func(t *testing.T, study tuner.Study, p tuner.Problem) (s tuner.Store, reopen func() tuner.Store)
	// Diff is empty when two histories are equal; it comes from the test, so that only tests import a comparer.
	Diff func(want, got tuner.History) string
}

// Run tries the implementation.
func (s Suite) Run(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *trial){
		"every end comes back": everyEnd, "a number is given once": takenNumbers, "an end is recorded once": oneEnd,
		"an interrupted trial is asked again": askedAgain, "restating is all or nothing": restating, "a study comes back": study,
		"an end is kept although the person has had enough": keptAfterCancel,
	} {
		t.Run(name, func(t *testing.T) { test(t, s.begin(t)) })
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("random history %d", seed), func(t *testing.T) { randomHistory(t, s.begin(t), rand.New(rand.NewPCG(seed, 3))) })
	}
}

// trial is one store under trial, and what it should hold.
type trial struct {
	Suite
	problem tuner.Problem
	store   tuner.Store
	reopen  func() tuner.Store
	want    tuner.History
}

func (s Suite) begin(t *testing.T) *trial {
	p := Problem(t)
	store, reopen := s.New(t, Study(), p)
	return &trial{Suite: s, problem: p, store: store, reopen: reopen}
}

// check compares the store with what it should hold, as it stands and opened anew.
func (c *trial) check(t *testing.T) {
	t.Helper()
	for range 2 {
		_, got, err := c.store.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := c.Diff(c.want, got); diff != "" {
			t.Fatalf("history (-want +got):\n%s", diff)
		}
		c.store = c.reopen()
	}
}

func (c *trial) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func everyEnd(t *testing.T, c *trial) {
	kinds := map[tuner.Kind]bool{}
	for n := range 40 {
		c.must(t, c.store.Begin(t.Context(), Begun(c.problem, n)))
		if n == 39 {
			c.want = append(c.want, Begun(c.problem, n)) // stays running
			break
		}
		ended := Ended(c.problem, n)
		kinds[ended.Outcome.Kind] = true
		c.must(t, c.store.Finish(t.Context(), ended))
		c.want = append(c.want, Stored(ended))
	}
	if len(kinds) != 4 {
		t.Fatalf("only the kinds %v were tried", kinds)
	}
	c.check(t)
}

func takenNumbers(t *testing.T, c *trial) {
	first := Begun(c.problem, 0)
	c.must(t, c.store.Begin(t.Context(), first))
	other := Begun(c.problem, 1)
	other.Number = 0
	if err := c.store.Begin(t.Context(), other); !errors.Is(err, tuner.ErrTaken) {
		t.Errorf("another configuration under a number that is running: %v", err)
	}
	c.want = tuner.History{first}
	c.check(t)
	c.must(t, c.store.Finish(t.Context(), Ended(c.problem, 0)))
	if err := c.store.Begin(t.Context(), first); !errors.Is(err, tuner.ErrTaken) {
		t.Errorf("a number that has ended: %v", err)
	}
	c.want = tuner.History{Stored(Ended(c.problem, 0))}
	c.check(t)
}

func oneEnd(t *testing.T, c *trial) {
	if c.store.Finish(t.Context(), Ended(c.problem, 3)) == nil {
		t.Error("the end of a trial that never began was taken")
	}
	c.check(t)
	c.must(t, c.store.Begin(t.Context(), Begun(c.problem, 0)))
	c.must(t, c.store.Finish(t.Context(), Ended(c.problem, 0)))
	again := Ended(c.problem, 0)
	again.Outcome = tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseServe, Reason: tuner.ReasonUnknown}
	if c.store.Finish(t.Context(), again) == nil {
		t.Error("a second end was taken")
	}
	c.want = tuner.History{Stored(Ended(c.problem, 0))}
	c.check(t)
}

func askedAgain(t *testing.T, c *trial) {
	running := Begun(c.problem, 0)
	c.must(t, c.store.Begin(t.Context(), running))
	interrupted := running
	interrupted.Outcome.Kind, interrupted.Interruptions, interrupted.Ended = tuner.Interrupted, 1, running.Started.Add(time.Minute)
	interrupted.Outcome.Run = tuner.Run{Purpose: "search", Argv: []string{"vllm"}, Started: running.Started}
	c.must(t, c.store.Finish(t.Context(), interrupted))
	c.want = tuner.History{interrupted}
	c.check(t)

	again := running
	again.Started, again.Interruptions = running.Started.Add(time.Hour), 1
	c.must(t, c.store.Begin(t.Context(), again))
	c.want = tuner.History{again}
	c.check(t)

	requeued := tuner.History{again}
	changed := tuner.Requeue(requeued, again.Started.Add(time.Hour))
	c.must(t, c.store.Restate(t.Context(), changed))
	c.want = requeued
	c.check(t)

	ended := Ended(c.problem, 0)
	c.must(t, c.store.Begin(t.Context(), running))
	c.must(t, c.store.Finish(t.Context(), ended))
	c.want = tuner.History{Stored(ended)}
	c.check(t)
}

func restating(t *testing.T, c *trial) {
	for n := range 3 {
		c.must(t, c.store.Begin(t.Context(), Begun(c.problem, n)))
		c.must(t, c.store.Finish(t.Context(), Ended(c.problem, n)))
		c.want = append(c.want, Stored(Ended(c.problem, n)))
	}
	stale := append(tuner.History(nil), c.want...)
	for i := range stale {
		stale[i].Stale = true
	}
	if c.store.Restate(t.Context(), append(stale, Begun(c.problem, 17))) == nil {
		t.Error("a trial that never began was restated")
	}
	c.check(t)
	c.must(t, c.store.Restate(t.Context(), stale))
	c.want = stale
	c.check(t)
	c.must(t, c.store.Restate(t.Context(), nil))
}

func study(t *testing.T, c *trial) {
	c.must(t, c.store.Renew(t.Context(), time.Minute))
	c.must(t, c.store.Note(t.Context(), tuner.Event{At: Epoch, Kind: "notice", Trial: -1, Text: "a line"}))
	c.must(t, c.store.SetVerdict(t.Context(), []byte(`{"end":"interrupted"}`)))
	c.must(t, c.store.SetVerdict(t.Context(), []byte(`{"end":"budget: trials"}`)))
	c.must(t, c.store.Renew(t.Context(), 90*time.Second))
	c.check(t)
	want := Study()
	want.Spent = 150 * time.Second
	got, _, err := c.store.Load(t.Context())
	c.must(t, err)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the study came back as\n%v, was\n%v", got, want)
	}
}

func keptAfterCancel(t *testing.T, c *trial) {
	c.must(t, c.store.Begin(t.Context(), Begun(c.problem, 0)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.must(t, c.store.Finish(ctx, Ended(c.problem, 0)))
	c.want = tuner.History{Stored(Ended(c.problem, 0))}
	c.check(t)
}

// randomHistory does what a loop may do, in any order, and compares now and then.
func randomHistory(t *testing.T, c *trial, r *rand.Rand) {
	running := -1
	for step := range 120 {
		switch do := r.IntN(10); {
		case running < 0:
			running = c.start(t)
		case do < 5:
			c.want[running] = Stored(Ended(c.problem, running))
			c.must(t, c.store.Finish(t.Context(), Ended(c.problem, running)))
			running = -1
		case do < 7: // a dead process: the next one requeues
			c.store = c.reopen()
			c.must(t, c.store.Restate(t.Context(), tuner.Requeue(c.want, Epoch.Add(time.Duration(step)*time.Hour))))
			running = -1
		case do < 8:
			stale := r.IntN(len(c.want))
			c.want[stale].Stale = !c.want[stale].Stale
			c.must(t, c.store.Restate(t.Context(), []tuner.Trial{c.want[stale]}))
		case do < 9:
			c.must(t, c.store.Renew(t.Context(), time.Second))
		default:
			c.check(t)
		}
	}
	c.check(t)
}

// start begins the interrupted trial again, or the next one, and returns its number.
func (c *trial) start(t *testing.T) int {
	for i, w := range c.want {
		if w.Outcome.Kind == tuner.Interrupted {
			w.Outcome, w.Ended = tuner.Outcome{}, time.Time{}
			c.must(t, c.store.Begin(t.Context(), w))
			c.want[i] = w
			return i
		}
	}
	n := c.want.Next()
	c.must(t, c.store.Begin(t.Context(), Begun(c.problem, n)))
	c.want = append(c.want, Begun(c.problem, n))
	return n
}
