package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/tuner"
)

// TestKilledAtAnyMoment kills runs at twenty random moments, goes on each time, and wants the study of a run that nobody disturbed:
// no trial lost or run again, the one in flight asked again under its own number, the next suggestion a function of the file alone, nothing left running.
func TestKilledAtAnyMoment(t *testing.T) {
	const kills = 20
	folder, spec := writeStudy(t, "kill.yaml", "undisturbed")
	finish(t, folder, exitDone, "run", spec, "--study", "study.db")
	want := shown(t, folder, "study.db")
	if len(want) != 8 {
		t.Fatalf("the undisturbed study has %d trials, want 8", len(want))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for done, round := 0, 0; done < kills; round++ {
		mark := fmt.Sprintf("killed-%d", round)
		folder, spec := writeStudy(t, "kill.yaml", mark)
		next := []string{"run", spec, "--study", "study.db"}
		for done < kills {
			p := start(t, folder, next...)
			if !killed(t, p, rng) {
				break
			}
			done++
			// The run that takes the place of the killed one must find nothing of its server.
			noneAlive(t, mark)
			if _, err := os.Stat(filepath.Join(folder, "study.db")); err == nil {
				next = []string{"resume", "study.db"}
				samePointFromCopy(t, filepath.Join(folder, "study.db"))
			}
		}
		finish(t, folder, exitDone, next...)
		got := shown(t, folder, "study.db")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d: the study differs from an undisturbed one (-want +got):\n%s", round, diff)
		}
		noneAlive(t, mark)
	}
}

// killed lets a run print some lines, waits a little more, and kills it; false: it had ended before.
func killed(t *testing.T, p *program, rng *rand.Rand) bool {
	t.Helper()
	running := p.skip(t, 6+rng.IntN(24))
	<-time.After(time.Duration(rng.IntN(60)) * time.Millisecond) // the moment is the test's input, no wait for something
	if err := p.Process.Signal(syscall.SIGKILL); err != nil {
		running = false
	}
	return p.wait(t) == 128+int(syscall.SIGKILL) && running
}

// samePointFromCopy asks for the next point of a study file and of a copy of it.
func samePointFromCopy(t *testing.T, path string) {
	t.Helper()
	folder := t.TempDir()
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if os.IsNotExist(err) && suffix != "" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "copy.db"+suffix), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, b := nextPoint(t, path), nextPoint(t, filepath.Join(folder, "copy.db"))
	if a != b {
		t.Fatalf("the study file asks for %s, its copy for %s", a, b)
	}
}

// nextPoint is what the study's sampler would suggest now.
func nextPoint(t *testing.T, path string) string {
	t.Helper()
	s, err := look(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.db.Close(); err != nil {
			t.Error(err)
		}
	}()
	sampler, err := s.newCalibrated()
	if err != nil {
		t.Fatal(err)
	}
	p, err := sampler.Suggest(s.problem, s.history, tuner.Ask{Number: s.history.Next(), Seed: s.problem.Seed})
	if err != nil {
		return err.Error()
	}
	return p.Point.Key()
}
