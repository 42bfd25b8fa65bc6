package fake

import (
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestCleanEnd(t *testing.T) {
	for name, words := range bothEngines {
		for _, clock := range []string{"law", "wall"} {
			p := ready(t, "--clock "+clock+" "+words)
			if n := len(session(p.cmd.Process.Pid)); n != 2 {
				t.Errorf("%s, %s: %d processes, want the server and its child", name, clock, n)
			}
			if got := p.terminate(); got != 0 {
				t.Errorf("%s, %s: exit status %d", name, clock, got)
			}
			p.nothingLeft()
		}
	}
}

func TestEndWhileServing(t *testing.T) {
	p := ready(t, "vllm serve demo/tiny")
	done := make(chan answer)
	go func() { done <- p.ask("/v1/completions", completion("demo/tiny", 100, 8000)) }()
	p.poll("tokens to come", func() bool { return p.metric("vllm:generation_tokens_total", "") > 2 })
	if got := p.terminate(); got != 0 {
		t.Errorf("exit status %d", got)
	}
	if a := <-done; a.Events == 0 || a.Usage == 8000 || a.Finish == "length" {
		t.Errorf("a request that was broken off: %d events, usage %d, finish %q", a.Events, a.Usage, a.Finish)
	}
	p.nothingLeft()
}

func TestKilledServerTakesItsChildAlong(t *testing.T) {
	p := ready(t, "--clock law vllm serve demo/tiny")
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.status()
	p.nothingLeft()
}

func TestKilledChildTakesTheServerAlong(t *testing.T) {
	p := ready(t, "--clock law vllm serve demo/tiny")
	for _, pid := range children(p.cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.status(); got != 1 {
		t.Errorf("exit status %d", got)
	}
	p.logged(`died unexpectedly`)
	p.nothingLeft()
}

func TestIdleServerEnds(t *testing.T) {
	p := ready(t, "--clock law --idle-limit 100ms vllm serve demo/tiny")
	if got := p.status(); got != 0 {
		t.Errorf("exit status %d", got)
	}
	p.nothingLeft()
}

func TestEndWhileStarting(t *testing.T) {
	p := start(t, "--clock law --start-time 1s sglang --model-path demo/tiny --host=127.0.0.1 --port=0")
	p.logged(`Load weight begin`)
	if got := p.terminate(); got != 0 { // it does not answer yet, and ends at once
		t.Errorf("exit status %d", got)
	}
}

func TestLedgerOfTheWallClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	p := ready(t, "--seed 9 --ledger "+path+" sglang --model-path demo/tiny --max-running-requests 4")
	const n = 24
	begin := time.Now()
	answers := make(chan answer, n)
	for i := range n {
		go func() { answers <- p.ask("/v1/completions", completion("demo/tiny", 20+i, 5+i)) }()
	}
	byPrompt := map[int]answer{}
	for range n {
		a := <-answers
		byPrompt[a.Prompt] = a
	}
	took := time.Since(begin)
	p.terminate()
	ledger, err := ReadLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := ledger.Server; s.Engine != "sglang" || s.Model != "demo/tiny" || s.Clock != "wall" || s.Seed != 9 || s.PID != p.cmd.Process.Pid || s.Start.IsZero() {
		t.Errorf("the ledger's first line: %+v", s)
	}
	if len(ledger.Entries) != n || len(byPrompt) != n {
		t.Fatalf("%d entries, %d answers", len(ledger.Entries), len(byPrompt))
	}
	for _, e := range ledger.Entries {
		a := byPrompt[e.Input]
		first, _ := e.First()
		if !e.OK() || e.Output != a.Usage || e.Output != e.Input-15 || e.Events != a.Events || len(e.Stamps) != e.Output || e.Finish != a.Finish || a.Status != http.StatusOK {
			t.Errorf("ledger %+v, client %+v", e, a)
		}
		if first < e.Received || e.End < e.Stamps[len(e.Stamps)-1] || e.End-e.Received > took || a.Elapsed < e.Stamps[len(e.Stamps)-1]-first {
			t.Errorf("instants: %+v, client %v", e, a.Elapsed)
		}
	}
}

func TestLedgerThatCannotBeWritten(t *testing.T) {
	p := start(t, "--clock law --ledger /nonexistent/ledger vllm serve demo/tiny --port=0")
	if got := p.status(); got != 1 {
		t.Errorf("exit status %d", got)
	}
	p.logged(`opening the ledger`)
	p.nothingLeft()
}

func TestLedgersThatCannotBeRead(t *testing.T) {
	if _, err := ReadLedger(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}
