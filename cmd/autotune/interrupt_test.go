package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSignals: each signal once ends the study cleanly with its own status, says how to go on, leaves nothing running, and loses nothing.
func TestSignals(t *testing.T) {
	folder, spec := writeStudy(t, "kill.yaml", "undisturbed")
	finish(t, folder, exitDone, "run", spec, "--study", "study.db")
	want := shown(t, folder, "study.db")
	for _, test := range []struct {
		signal syscall.Signal
		status int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		t.Run(test.signal.String(), func(t *testing.T) {
			mark := strings.ReplaceAll(test.signal.String(), " ", "-")
			folder, spec := writeStudy(t, "kill.yaml", mark)
			p := start(t, folder, "run", spec, "--study", "study.db")
			if !p.until(t, "trial 2/") {
				t.Fatalf("the run ended by itself:\n%s", p.output.String())
			}
			if err := p.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			if code := p.wait(t); code != test.status {
				t.Fatalf("exit status %d, want %d:\n%s", code, test.status, p.output.String())
			}
			if left := alive(t, mark); len(left) > 0 {
				t.Fatalf("still running:\n%s", strings.Join(left, "\n"))
			}
			if !strings.Contains(p.output.String(), "autotune resume study.db") {
				t.Errorf("it does not say how to go on:\n%s", p.output.String())
			}
			finish(t, folder, exitDone, "resume", "study.db")
			if diff := cmp.Diff(want, shown(t, folder, "study.db")); diff != "" {
				t.Errorf("the study differs from an undisturbed one (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStopTwice: the second signal ends autotune at once; what it had started ends too, and the study goes on afterwards.
func TestStopTwice(t *testing.T) {
	folder, spec := writeStudy(t, "stubborn.yaml", "twice")
	p := start(t, folder, "run", spec, "--study", "study.db")
	if !p.until(t, "trial 0/1  flags") {
		t.Fatalf("the run ended by itself:\n%s", p.output.String())
	}
	if out := finish(t, folder, exitUsage, "run", spec, "--study", "study.db"); !strings.Contains(out, "is held by autotune run, process ") {
		t.Errorf("a second run does not name the holder:\n%s", out)
	}
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if !p.until(t, "once more to stop at once") {
		t.Fatalf("it does not say how to stop at once:\n%s", p.output.String())
	}
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != 130 {
		t.Fatalf("exit status %d, want 130:\n%s", code, p.output.String())
	}
	noneAlive(t, "demo/kill-twice")
	if out := finish(t, folder, exitDone, "status", "study.db"); !strings.Contains(out, "interrupted") || !strings.Contains(out, "Baseline  not measured yet\n") || !strings.Contains(out, "autotune resume study.db\n") {
		t.Errorf("status does not say that the study was interrupted before its baseline was measured, and how to go on:\n%s", out)
	}
}
