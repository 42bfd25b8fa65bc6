package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program makes a script that stands for another program, and the environment in which it is found.
func program(t *testing.T, name, script string) []string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + folder + ":/usr/bin:/bin"}
}

func TestGPUsAreThoseThatTheDriverNames(t *testing.T) {
	found, err := GPUs(t.Context(), program(t, "nvidia-smi", `echo "NVIDIA H200, 143771"; echo "NVIDIA GeForce RTX 4090, 24564"`))
	if err != nil || len(found) != 2 || found[0].Name != "NVIDIA H200" || found[1].MemoryGiB != 24564.0/1024 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestGPUsAreNotKnown(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"other", "true", "there is no nvidia-smi here"},
		{"nvidia-smi", "echo No devices were found; exit 6", "nvidia-smi ends with exit status 6: No devices were found"},
		{"nvidia-smi", "true", "nvidia-smi names no GPU"},
		{"nvidia-smi", "echo 'NVIDIA X, [N/A]'", `nvidia-smi says "[N/A]" of a GPU's memory`},
	} {
		if _, err := GPUs(t.Context(), program(t, c.name, c.script)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.script, err, c.want)
		}
	}
}

// TestAskEndsWhatDoesNotAnswer: the program and what it started are gone when the limit is over.
func TestAskEndsWhatDoesNotAnswer(t *testing.T) {
	environ := program(t, "slow", "tail -f /dev/null & tail -f /dev/null")
	_, err := ask(t.Context(), environ, 20*time.Millisecond, "slow")
	if err == nil || !strings.Contains(err.Error(), "slow does not answer within 20ms") {
		t.Error(err)
	}
}

func TestInstalledReadsVersions(t *testing.T) {
	environ := program(t, "vllm", "echo WARNING; echo 0.27.1")
	environ[0] = strings.TrimSuffix(environ[0], ":/usr/bin:/bin") + ":/bin"
	if got := Installed(t.Context(), environ)["vllm"]; got != "0.27.1" {
		t.Errorf("vllm %q", got)
	}
}
