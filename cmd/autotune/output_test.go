package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestClosedOutput: a run whose reader goes away after some lines goes on to its end, and leaves nothing running.
func TestClosedOutput(t *testing.T) {
	folder, spec := writeStudy(t, "kill.yaml", "closed-output")
	cmd := exec.Command("autotune", "run", spec, "--study", "study.db")
	cmd.Dir = folder
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no line of the study came: %v", err)
		}
		if strings.HasPrefix(line, "Study kill") {
			break
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the run with a closed output: %v", err)
	}
	if n := len(shown(t, folder, "study.db")); n != 8 {
		t.Errorf("%d trials, want 8", n)
	}
	noneAlive(t, "demo/kill-closed-output")
}

// What else goes wrong with the output is an error.
func TestOutputErrors(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(&output{Writer: f}, "x"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing to a closed file: %v", err)
	}
	broken := &output{Writer: writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE })}
	if n, err := io.WriteString(broken, "abc"); n != 3 || err != nil || !broken.closed.Load() {
		t.Errorf("writing without a reader: %d, %v, closed %v", n, err, broken.closed.Load())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
