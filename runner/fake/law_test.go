package fake

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/space"
	"autotune/tuner/law"
)

func TestPlanIsServedAsTheLedgerSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	p := ready(t, "--clock law --seed 3 --ledger "+path+" vllm serve demo/tiny")
	l := steady(60, 50, 8, 300, 40)
	l.output = func(i int) int { return 20 + i }
	answers, sent := p.play(t, l)
	if code := p.terminate(); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	ledger, err := ReadLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(ledger.Entries) != 60 || len(answers) != 60 {
		t.Fatalf("%d entries, %d answers", len(ledger.Entries), len(answers))
	}
	for _, e := range ledger.Entries {
		a := answers[e.Index]
		var stamps []int64
		for _, at := range e.Stamps {
			stamps = append(stamps, at.Microseconds())
		}
		got := answer{Status: a.Status, Usage: a.Usage, Prompt: a.Prompt, Finish: a.Finish, Stamps: a.Stamps, End: a.End, Events: a.Events}
		want := answer{Status: e.Status, Usage: e.Output, Prompt: e.Input, Finish: e.Finish, Stamps: stamps, End: e.End.Microseconds(), Events: e.Events}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("request %d: ledger (-), client (+):\n%s", e.Index, diff)
		}
		if !e.OK() || e.Plan != "p" || e.Received.Microseconds() != sent[e.Index] || a.Usage != l.output(e.Index) || len(a.Stamps) != a.Usage || !a.Done {
			t.Fatalf("request %d sent at %d: %+v", e.Index, sent[e.Index], e)
		}
	}
}

// served is what a plan must give again: the same bit for bit.
type served struct {
	Sent   []int64
	Stamps [][]int64
	Ends   []int64
}

func (p *process) serve(t *testing.T, l traffic) served {
	t.Helper()
	answers, sent := p.play(t, l)
	s := served{Sent: sent}
	for _, a := range answers {
		s.Stamps, s.Ends = append(s.Stamps, a.Stamps), append(s.Ends, a.End)
	}
	return s
}

func TestSameSeedSameStamps(t *testing.T) {
	l := steady(80, 100, 16, 500, 60)
	l.input = func(i int) int { return 100 + 37*i%900 }
	const words = " sglang --model-path=demo/tiny --max-running-requests=12"
	first := ready(t, "--clock law --seed 7"+words)
	want := first.serve(t, l)
	if diff := cmp.Diff(want, first.serve(t, l)); diff != "" {
		t.Errorf("the same plan on the same server gave something else:\n%s", diff)
	}
	again := ready(t, "--clock law"+words, SeedVariable+"=7")
	if diff := cmp.Diff(want, again.serve(t, l)); diff != "" {
		t.Errorf("another server with the same seed gave something else:\n%s", diff)
	}
	if other := ready(t, "--clock law --seed 8"+words).serve(t, l); cmp.Equal(want, other) {
		t.Error("another seed gave the same stamps")
	}
	if quiet := ready(t, "--clock law --seed 8 --noise 0"+words).serve(t, l); !cmp.Equal(quiet, ready(t, "--clock law --seed 9 --noise 0"+words).serve(t, l)) {
		t.Error("without noise the seed matters")
	}
}

// TestPlanIsThatOfTheLaw plays the same plan over HTTP and in process.
func TestPlanIsThatOfTheLaw(t *testing.T) {
	for _, most := range []int{0, 1, 5, 32} {
		l := steady(60, 40, most, 700, 50)
		l.output = func(i int) int { return 10 + 13*i%70 }
		p := ready(t, "--clock law --seed 7 vllm serve demo/tiny --max-num-seqs=8")
		got := p.serve(t, l)

		machine := law.Machine{GPU: "H200", GPUs: 8, MemoryGiB: 140.4}
		cfg, err := law.Resolve("vllm", "demo/tiny", map[string]space.Value{"max-num-seqs": space.Int(8)}, machine)
		if err != nil {
			t.Fatal(err)
		}
		sim, failure := law.New(cfg, law.Options{Noise: 0.05, Seed: 7})
		if failure != nil {
			t.Fatal(failure.Message)
		}
		plan := law.Plan{Cap: most}
		for i, at := range l.plan.Arrivals {
			plan.Arrivals = append(plan.Arrivals, duration(at))
			plan.Input, plan.Output = append(plan.Input, l.input(i)), append(plan.Output, l.output(i))
		}
		records, failure := law.Play(sim, plan)
		if failure != nil {
			t.Fatal(failure.Message)
		}
		var want served
		for _, r := range records {
			var stamps []int64
			for _, e := range r.Tokens {
				for range e.Tokens {
					stamps = append(stamps, e.At.Microseconds())
				}
			}
			want.Sent, want.Stamps, want.Ends = append(want.Sent, r.Sent.Microseconds()), append(want.Stamps, stamps), append(want.Ends, r.End.Microseconds())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at most %d at once: in process (-), over HTTP (+):\n%.2000s", most, diff)
		}
	}
}
