package fake

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
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
