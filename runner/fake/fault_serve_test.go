package fake

import (
	"fmt"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
)

// crowd is a plan under which requests overlap: 20 of them, 4 at once.
func crowd() traffic { return steady(20, 1000, 4, 64, 16) }

func TestSharesOfTheRequests(t *testing.T) {
	for name, fine := range map[string]func(a answer, sent int64) bool{
		"refuse": func(a answer, sent int64) bool {
			return a.Status == http.StatusServiceUnavailable && a.End == sent+refusalTime && a.Events == 0
		},
		"stream-error": func(a answer, _ int64) bool {
			return a.Status == 200 && a.Error != "" && len(a.Stamps) == 8 && a.End > 0 && a.Finish == ""
		},
		"abort": func(a answer, _ int64) bool { return a.Finish == "abort" && a.Usage == 8 && a.Error == "" && a.Done },
		"truncate": func(a answer, _ int64) bool {
			return a.Finish == "" && !a.Done && a.Usage == -1 && len(a.Stamps) == 8 && !a.Broken
		},
		"cut":     func(a answer, _ int64) bool { return a.Broken && !a.Done && a.Status == 200 },
		"empty":   func(a answer, _ int64) bool { return a.Usage == 0 && a.Events == 0 && a.Done && a.Finish != "" },
		"lengths": func(a answer, _ int64) bool { return a.Usage == 8 && a.Finish == "stop" && a.Done },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger")
			p := ready(t, "--clock law --ledger "+path+" --fault "+name+"=0.25 vllm serve demo/tiny")
			answers, sent := p.play(t, crowd())
			befell := 0
			for i, a := range answers {
				healthy := a.Status == 200 && a.Usage == 16 && a.Finish == "length" && a.Done && a.Error == ""
				switch {
				case i%4 == 3 && fine(a, sent[i]):
					befell++
				case i%4 == 3 || !healthy:
					t.Errorf("request %d: %+v", i, a)
				}
			}
			if len(answers) != 20 || befell != 5 {
				t.Errorf("it befell %d of %d requests, want 5 of 20", befell, len(answers))
			}
			p.terminate()
			ledger, err := ReadLedger(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range ledger.Entries {
				if (e.Fault == name) != (e.Index%4 == 3) || e.OK() != (e.Index%4 != 3) {
					t.Errorf("the ledger: %+v", e)
				}
			}
		})
	}
}

func TestSharesOnTheWallClock(t *testing.T) {
	p := ready(t, "--fault refuse=0.5 --fault stream-error=0.25 vllm serve demo/tiny")
	counts := map[string]int{}
	for range 8 {
		a := p.ask("/v1/completions", completion("demo/tiny", 4, 4))
		switch {
		case a.Status == 503:
			counts["refused"]++
		case a.Error != "" && a.Events == 2:
			counts["broken"]++
		case a.Usage == 4:
			counts["served"]++
		}
	}
	if counts["refused"] != 4 || counts["served"] != 4 { // the quarter lies within the half
		t.Errorf("%v", counts)
	}
}

func TestDeathUnderLoad(t *testing.T) {
	for engineName, words := range bothEngines {
		for fault, reason := range map[string]string{"oom-load": "memory", "crash-after": ""} {
			t.Run(engineName+"/"+fault, func(t *testing.T) {
				p := ready(t, "--clock law --fault "+fault+"=10 "+words)
				answers, _ := p.play(t, crowd())
				served := 0
				for _, a := range answers {
					if a.Usage == 16 && a.Error == "" {
						served++
					}
				}
				if served < 10 || served > 13 {
					t.Errorf("%d requests were served before it died at 10", served)
				}
				want := map[string]int{"vllm": 1, "sglang": -int(syscall.SIGKILL)}[engineName]
				if got := p.status(); got != want {
					t.Errorf("exit status %d, want %d:\n%s", got, want, p.log())
				}
				f := p.verdict(engineName, want)
				if reason != "" && string(f.Reason) != reason || f.Phase != "serve" && f.Phase != "load" {
					t.Errorf("the log reads as %s in %s (%s):\n%s", f.Reason, f.Phase, f.Signature, p.log())
				}
				p.nothingLeft()
			})
		}
	}
}

func TestExitStatusOnDemand(t *testing.T) {
	for code, want := range map[int]int{7: 7, -9: -9, -11: 139} {
		p := start(t, fmt.Sprintf("--clock law --fault oom-start --fault exit-code=%d vllm serve demo/tiny --port=0", code))
		if got := p.status(); got != want {
			t.Errorf("exit-code=%d: ended with %d, want %d", code, got, want)
		}
	}
}

func TestHangInServing(t *testing.T) {
	for _, fault := range []string{"hang-serve=2", "health-200-but-hangs", "rank-dies=2"} {
		t.Run(fault, func(t *testing.T) {
			p := ready(t, "--clock law --fault "+fault+" vllm serve demo/tiny")
			done := make(chan []answer)
			load := steady(4, 1, 1, 10, 10)
			load.taken = make(chan struct{})
			go func() {
				answers, _ := p.play(t, load)
				done <- answers
			}()
			<-load.taken
			if fault != "health-200-but-hangs" {
				p.poll("two requests to be served", func() bool { return p.metric("vllm:request_success_total", `finished_reason="length"`) == 2 })
			}
			if status, _ := p.get("/health"); status != http.StatusOK {
				t.Errorf("/health: %d", status)
			}
			select {
			case answers := <-done:
				t.Errorf("it did not hang: %+v", answers)
			default:
			}
			if got := p.terminate(); got != 0 {
				t.Errorf("exit status %d", got)
			}
			p.nothingLeft()
			served := 0
			for _, a := range <-done {
				if a.Usage == 10 {
					served++
				}
			}
			if want := map[bool]int{true: 0, false: 2}[fault == "health-200-but-hangs"]; served != want {
				t.Errorf("%d were served, want %d", served, want)
			}
		})
	}
}

func TestBundles(t *testing.T) {
	p := ready(t, "--fault bundle=4 vllm serve demo/tiny")
	if a := p.ask("/v1/completions", completion("demo/tiny", 4, 10)); a.Events != 3 || a.Usage != 10 {
		t.Errorf("wall clock: %+v", a)
	}
	q := ready(t, "--clock law --fault bundle=4 vllm serve demo/tiny")
	answers, _ := q.play(t, steady(1, 1, 0, 4, 10))
	stamps := answers[0].Stamps
	if len(stamps) != 10 || stamps[0] != stamps[3] || stamps[3] == stamps[4] || stamps[4] != stamps[7] || stamps[8] != stamps[9] {
		t.Errorf("law time: %v", stamps)
	}
}

func TestIgnoredTermination(t *testing.T) {
	p := ready(t, "--clock law --fault ignore-sigterm vllm serve demo/tiny")
	for range 3 {
		if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	if a := p.ask("/v1/completions", completion("demo/tiny", 3, 3)); a.Usage != 3 {
		t.Errorf("after SIGTERM: %+v", a)
	}
	if n := len(session(p.cmd.Process.Pid)); n != 2 {
		t.Errorf("%d processes live", n)
	}
	if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := p.status(); got != -int(syscall.SIGKILL) {
		t.Errorf("ended with %d", got)
	}
	p.nothingLeft() // the child goes with its server
}

func TestOrphan(t *testing.T) {
	p := ready(t, "--clock law --fault orphan vllm serve demo/tiny")
	leader := p.cmd.Process.Pid
	if got := p.terminate(); got != 0 {
		t.Errorf("exit status %d", got)
	}
	left := session(leader)
	if len(left) != 1 {
		t.Fatalf("%d processes stay behind, want one", len(left))
	}
	orphan := left[0]
	if group, err := syscall.Getpgid(orphan); err != nil || group != orphan {
		t.Errorf("its process group is %d (%v), not its own", group, err)
	}
	if err := syscall.Kill(orphan, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if len(session(leader)) != 1 {
		t.Error("it obeyed SIGTERM")
	}
	if err := syscall.Kill(orphan, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.nothingLeft()
}

func TestOrphanInASessionOfItsOwn(t *testing.T) {
	p := ready(t, "--clock law --fault orphan=session vllm serve demo/tiny")
	var orphan int
	for _, pid := range children(p.cmd.Process.Pid) {
		if len(session(pid)) > 0 {
			orphan = pid
		}
	}
	if orphan == 0 {
		t.Fatal("there is none")
	}
	defer func() { _ = syscall.Kill(orphan, syscall.SIGKILL) }()
	p.terminate()
	if len(session(p.cmd.Process.Pid)) != 0 || len(session(orphan)) != 1 {
		t.Error("it is not alone in its session")
	}
}
