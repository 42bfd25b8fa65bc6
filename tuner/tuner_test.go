package tuner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"autotune/space"
	"autotune/tuner"
)

// memory is a store in memory: it keeps every write as JSON, so that nothing is shared with the loop.
type memory struct {
	trials  map[int]tuner.Trial
	begun   []int
	notes   []string
	verdict []byte
	fail    error // of the next Renew
}

func (m *memory) Load(context.Context) (tuner.Study, tuner.History, error) {
	return tuner.Study{}, m.history(), nil
}

func (m *memory) history() tuner.History {
	var h tuner.History
	for n := range len(m.trials) {
		h = append(h, m.trials[n])
	}
	return h
}

func (m *memory) Begin(_ context.Context, t tuner.Trial) error {
	if old, ok := m.trials[t.Number]; ok && old.Outcome.Kind != tuner.Interrupted {
		return fmt.Errorf("trial %d: %w", t.Number, tuner.ErrTaken)
	}
	m.trials[t.Number] = t
	m.begun = append(m.begun, t.Number)
	return nil
}
func (m *memory) Finish(_ context.Context, t tuner.Trial) error { m.trials[t.Number] = t; return nil }
func (m *memory) Restate(_ context.Context, ts []tuner.Trial) error {
	for _, t := range ts {
		m.trials[t.Number] = t
	}
	return nil
}
func (m *memory) Note(_ context.Context, e tuner.Event) error {
	m.notes = append(m.notes, e.Text)
	return nil
}
func (m *memory) Renew(context.Context, time.Duration) error      { return m.fail }
func (m *memory) SetVerdict(_ context.Context, text []byte) error { m.verdict = text; return nil }

// script is a runner that answers what it is told for each trial's number, in turn.
type script struct {
	answers map[int][]answer
	ran     []int
	clock   *time.Time
	each    time.Duration
}

type answer struct {
	outcome tuner.Outcome
	err     error
	version string
	before  func()
}

func (s *script) Run(ctx context.Context, t tuner.Trial, observe func(tuner.Partial) tuner.Verdict) (tuner.Outcome, error) {
	s.ran = append(s.ran, t.Number)
	*s.clock = s.clock.Add(s.each)
	a := answer{outcome: measured(float64(t.Number + 1))}
	if queue := s.answers[t.Number]; len(queue) > 0 {
		a, s.answers[t.Number] = queue[0], queue[1:]
	}
	if a.before != nil {
		a.before()
	}
	a.outcome.Run.EngineVersion = a.version
	if observe(tuner.Partial{Trial: t, Phase: tuner.PhaseBench, EngineVersion: a.version}).Stop {
		a.outcome = tuner.Outcome{Kind: tuner.Stopped}
	}
	if ctx.Err() != nil {
		a.outcome = tuner.Outcome{Kind: tuner.Interrupted}
	}
	return a.outcome, a.err
}

func measured(v float64) tuner.Outcome {
	return tuner.Outcome{Kind: tuner.Measured, Measured: &tuner.Measurement{Metrics: map[string]float64{"total_token_throughput": v}}}
}

// inOrder proposes the untaken points of the space in order.
type inOrder struct{}

func (inOrder) Suggest(p tuner.Problem, h tuner.History, _ tuner.Ask) (tuner.Proposal, error) {
	taken := h.Taken()
	for _, b := range p.Baselines {
		if !taken(b.Key()) {
			return tuner.Proposal{Point: b}, nil
		}
	}
	for q := range p.Space.Enumerate() {
		if !taken(q.Key()) && p.Space.Keeps(q) {
			return tuner.Proposal{Point: q}, nil
		}
	}
	return tuner.Proposal{}, tuner.ErrExhausted
}

type byValue struct{}

func (byValue) Rank(p tuner.Problem, h tuner.History) []tuner.Ranked {
	var out []tuner.Ranked
	for _, t := range h {
		if p.Goal.Feasible(t) && t.Told() {
			v, _ := p.Goal.Value(t.Outcome.Measured)
			out = append(out, tuner.Ranked{Trial: t, Value: v})
		}
	}
	slices.SortStableFunc(out, func(a, b tuner.Ranked) int { return int(b.Value - a.Value) })
	return out
}

type listener struct{ seen []tuner.Progress }

func (l *listener) Observe(p tuner.Progress) { l.seen = append(l.seen, p) }

// bench is a loop over a space of one engine with a flag of six values.
type bench struct {
	*tuner.Tuner
	store   *memory
	runner  *script
	seen    *listener
	problem tuner.Problem
	study   tuner.Study
}

func newBench(t *testing.T) *bench {
	t.Helper()
	engine, err := space.Choices(space.String("vllm"))
	if err != nil {
		t.Fatal(err)
	}
	seqs, err := space.Ints(1, 6, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New([]space.Param{{Name: space.EngineParam, Domain: engine},
		{Name: "vllm.max-num-seqs", Engine: "vllm", Flag: "max-num-seqs", Domain: seqs.Allowing(space.Default())}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	baseline, err := s.Point(map[string]space.Value{space.EngineParam: space.String("vllm"), "vllm.max-num-seqs": space.Default()})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := &bench{store: &memory{trials: map[int]tuner.Trial{}}, runner: &script{answers: map[int][]answer{}, clock: &now, each: time.Minute}, seen: &listener{},
		problem: tuner.Problem{Space: s, Baselines: []space.Point{baseline}, Goal: tuner.Goal{Metric: "total_token_throughput", Direction: tuner.Maximize}, Reference: "vllm"},
		study:   tuner.Study{Name: "test", Budget: tuner.Budget{Trials: 4}}}
	b.Tuner = &tuner.Tuner{Sampler: inOrder{}, Ranker: byValue{}, Runner: b.runner, Store: b.store, Observer: b.seen, Now: func() time.Time { return now }}
	return b
}

func (b *bench) run(ctx context.Context) (tuner.End, error) {
	h := b.store.history()
	tuner.Requeue(h, b.Now())
	_, end, err := b.Run(ctx, b.study, b.problem, h)
	return end, err
}

func TestBudgetOfTrials(t *testing.T) {
	b := newBench(t)
	end, err := b.run(t.Context())
	if err != nil || end != tuner.EndBudgetTrials {
		t.Fatalf("ended %q, %v", end, err)
	}
	if want := []int{0, 1, 2, 3}; !slices.Equal(b.runner.ran, want) {
		t.Errorf("ran %v, want %v", b.runner.ran, want)
	}
	if b.store.trials[0].Origin != tuner.OriginBaseline || b.store.trials[1].Origin != tuner.OriginSearch {
		t.Errorf("origins %q, %q", b.store.trials[0].Origin, b.store.trials[1].Origin)
	}
}

// Another program, Optuna say, adds a trial while the study runs: its number is left out, and the study goes on.
func TestANumberThatAnotherProgramTakes(t *testing.T) {
	b := newBench(t)
	b.runner.answers[1] = []answer{{outcome: measured(2), before: func() { b.store.trials[2] = tuner.Trial{Number: 2, Foreign: true} }}}
	end, err := b.run(t.Context())
	if err != nil || end != tuner.EndBudgetTrials {
		t.Fatalf("ended %q, %v", end, err)
	}
	if want := []int{0, 1, 3, 4}; !slices.Equal(b.runner.ran, want) {
		t.Errorf("ran %v, want %v", b.runner.ran, want)
	}
}

func TestExhaustedSpaceEndsCleanly(t *testing.T) {
	b := newBench(t)
	b.study.Budget.Trials = 0
	end, err := b.run(t.Context())
	if err != nil || end != tuner.EndExhausted || len(b.runner.ran) != 7 {
		t.Fatalf("ended %q, %v after %d trials; want all 7 points once", end, err, len(b.runner.ran))
	}
}

func TestWallClockCountsAllSittings(t *testing.T) {
	b := newBench(t)
	b.study.Budget = tuner.Budget{WallClock: 5 * time.Minute}
	b.study.Spent = 2 * time.Minute
	end, err := b.run(t.Context())
	if err != nil || end != tuner.EndBudgetClock || len(b.runner.ran) != 3 {
		t.Fatalf("ended %q, %v after %d trials of a minute; want 3", end, err, len(b.runner.ran))
	}
}

func TestFailuresInARow(t *testing.T) {
	b := newBench(t)
	b.study.Budget = tuner.Budget{FailureRow: 2}
	failed := []answer{{outcome: tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseServe, Reason: tuner.ReasonMemory}}}
	b.runner.answers = map[int][]answer{1: failed, 3: failed, 4: failed}
	end, err := b.run(t.Context())
	if err != nil || end != tuner.EndFailureRow || len(b.runner.ran) != 5 {
		t.Fatalf("ended %q, %v after %d trials; want 5", end, err, len(b.runner.ran))
	}
}

func TestInvalidIsRepeatedOnceThenKept(t *testing.T) {
	b := newBench(t)
	invalid := answer{outcome: tuner.Outcome{Kind: tuner.Invalid, Rule: "client lag"}}
	b.runner.answers = map[int][]answer{1: {invalid, invalid}, 2: {invalid}}
	if _, err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 1, 2, 2, 3}; !slices.Equal(b.runner.ran, want) {
		t.Errorf("ran %v, want %v", b.runner.ran, want)
	}
	if k := b.store.trials[1].Outcome.Kind; k != tuner.Invalid {
		t.Errorf("trial 1 ended %q", k)
	}
	if k := b.store.trials[2].Outcome.Kind; k != tuner.Measured {
		t.Errorf("trial 2 ended %q", k)
	}
}

func TestEngineChange(t *testing.T) {
	b := newBench(t)
	for n := range 4 {
		b.runner.answers[n] = []answer{{outcome: measured(float64(n + 1)), version: "1.0"}}
	}
	if _, err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.study.Budget.Trials = 6
	b.runner.answers[4] = []answer{{version: "2.0"}, {outcome: measured(9), version: "2.0"}}
	end, err := b.run(t.Context())
	if end != tuner.EndMachine || !errors.Is(err, tuner.ErrEngineChanged) {
		t.Fatalf("ended %q, %v; want a refusal", end, err)
	}
	b.AcceptEngineChange = true
	for n := 5; n < 10; n++ {
		b.runner.answers[n] = []answer{{outcome: measured(10), version: "2.0"}}
	}
	if end, err = b.run(t.Context()); err != nil || end != tuner.EndBudgetTrials {
		t.Fatalf("ended %q, %v", end, err)
	}
	for n := range 4 {
		if !b.store.trials[n].Stale {
			t.Errorf("trial %d is not stale", n)
		}
	}
	if got := b.store.trials[5]; got.Origin != tuner.OriginBaseline {
		t.Errorf("trial 5 is %q: the baseline has to be measured again", got.Origin)
	}
}

func TestPinnedEngine(t *testing.T) {
	for version, runs := range map[string]bool{"0.17.1": true, "0.17.1+cu130": true, "v0.17.1.post1": true, "0.17.10": false, "0.18.0": false} {
		b := newBench(t)
		for _, e := range b.problem.Baselines {
			b.Pinned = map[string]string{e.Engine(): "0.17.1"}
		}
		b.runner.answers[0] = []answer{{outcome: measured(1), version: version}}
		if _, err := b.run(t.Context()); errors.Is(err, tuner.ErrEnginePinned) == runs {
			t.Errorf("%s where 0.17.1 is asked for: %v", version, err)
		}
	}
}

func TestMovedFileStopsBeforeTheNextLaunch(t *testing.T) {
	b := newBench(t)
	gone := errors.New("the path no longer names the study file")
	b.runner.answers[1] = []answer{{outcome: measured(2), before: func() { b.store.fail = gone }}}
	end, err := b.run(t.Context())
	if end != tuner.EndMachine || !errors.Is(err, gone) || len(b.runner.ran) != 2 {
		t.Fatalf("ended %q, %v after %v; want an end before trial 2", end, err, b.runner.ran)
	}
}

func TestPointsSurviveTheStoresEncoding(t *testing.T) {
	b := newBench(t)
	text, err := json.Marshal(b.problem.Baselines[0])
	if err != nil {
		t.Fatal(err)
	}
	back, err := b.problem.Space.ParsePoint(text)
	if err != nil || back.Key() != b.problem.Baselines[0].Key() {
		t.Fatalf("%s came back as %v, %v", text, back, err)
	}
}

// always is a stopper that says the same of every trial but the baseline.
type always struct{ tuner.Verdict }

func (a always) Stop(_ tuner.Problem, _ tuner.History, p tuner.Partial) tuner.Verdict {
	if p.Trial.Number == 0 {
		return tuner.Verdict{}
	}
	return a.Verdict
}

// A trial that is cut short counts like any other; one that a stopper only reports on is kept as it is, with a note.
func TestStoppers(t *testing.T) {
	v := tuner.Verdict{Rule: tuner.RuleHopeless, Reason: "after 60 s: too slow", Share: 0.2}
	cut, report := v, v
	cut.Stop, report.Report = true, true
	for _, c := range []struct {
		name     string
		verdict  tuner.Verdict
		kind     tuner.Kind
		evidence string
	}{
		{"on", cut, tuner.Stopped, ""},
		{"report", report, tuner.Measured, "would have been cut short: after 60 s: too slow"},
		{"nothing to say", tuner.Verdict{}, tuner.Measured, ""},
	} {
		b := newBench(t)
		b.Stopper = always{c.verdict}
		end, err := b.run(t.Context())
		if err != nil || end != tuner.EndBudgetTrials || len(b.runner.ran) != 4 {
			t.Fatalf("%s: ended %q, %v after %v", c.name, end, err, b.runner.ran)
		}
		if o := b.store.trials[0].Outcome; o.Kind != tuner.Measured || o.Share != 0 {
			t.Errorf("%s: the baseline is %+v", c.name, o)
		}
		o := b.store.trials[2].Outcome
		if o.Kind != c.kind || o.Evidence != c.evidence || (o.Signature == tuner.RuleHopeless) != (c.evidence != "") {
			t.Errorf("%s: %s, %q, %q", c.name, o.Kind, o.Signature, o.Evidence)
		}
	}
}
