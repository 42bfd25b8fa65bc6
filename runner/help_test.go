package runner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"autotune/runner"
	"autotune/runner/engine"
	"autotune/runner/fake"
	"autotune/runner/place"
	"autotune/tuner"
)

// askFor asks an engine for its help, started by a command.
func askFor(t *testing.T, name string, limit time.Duration, command ...string) (engine.Help, error) {
	t.Helper()
	d, _ := engine.Find(name)
	here, err := place.NewLocal(place.LocalConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return runner.ReadHelp(context.Background(), here, runner.Plan{Engine: d, Command: command}, os.Environ(), self(), limit)
}

func TestTheFakeEnginesHelpIsRead(t *testing.T) {
	for _, d := range engine.Catalog() {
		h, err := askFor(t, d.Name, time.Minute, "autotune", fake.Command, "--fault", "reject-flag=stream-interval", d.Name)
		if err != nil || len(h.Flags) < 300 {
			t.Errorf("%s: %d flags, %v", d.Name, len(h.Flags), err)
			continue
		}
		if _, ok := d.Installed(h).Flag("stream-interval"); ok {
			t.Errorf("%s: a flag that the installed engine lacks is there", d.Name)
		}
	}
}

// A release that does not know --help=all is asked in the older way.
func TestHelpIsAskedForInTheOlderWayToo(t *testing.T) {
	recorded, err := filepath.Abs("engine/testdata/vllm/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	script := `case "$0" in --help) cat ` + recorded + `;; *) echo "vllm serve: error: argument -h/--help: ignored explicit argument 'all'" >&2; exit 2;; esac`
	if h, err := askFor(t, "vllm", time.Minute, "sh", "-c", script); err != nil || len(h.Flags) != 316 {
		t.Errorf("%d flags, %v", len(h.Flags), err)
	}
}

// An engine that cannot print its help is the machine's fault; a command that prints something else is nobody's.
func TestHelpThatFails(t *testing.T) {
	for _, c := range []struct {
		name, script string
		reason       tuner.Reason // empty: ErrNoHelp
		evidence     string
	}{
		{"a library is missing", `echo 'ImportError: libcudart.so.13: cannot open shared object file: No such file or directory'; exit 1`, tuner.ReasonEnvironment, "libcudart.so.13"},
		{"a library of another release", `echo 'ImportError: /x/_C.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEa'; exit 1`, tuner.ReasonEnvironment, "undefined symbol"},
		{"a crash", `kill -SEGV $$`, tuner.ReasonEnvironment, "SIGSEGV"},
		{"another traceback", `echo 'KeyError: nobody knows'; exit 1`, tuner.ReasonEnvironment, "KeyError: nobody knows"},
		{"another program", `echo hello`, "", "lists too few flags"},
		{"a parser without help", `echo 'error: no such option'; exit 2`, "", "no such option"},
	} {
		_, err := askFor(t, "vllm", time.Minute, "sh", "-c", c.script)
		var machine *tuner.MachineError
		if c.reason == "" {
			if !errors.Is(err, runner.ErrNoHelp) || !strings.Contains(err.Error(), c.evidence) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !errors.As(err, &machine) || machine.Outcome.Reason != c.reason || !strings.Contains(machine.Outcome.Evidence, c.evidence) || machine.Outcome.Hint == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	var machine *tuner.MachineError
	if _, err := askFor(t, "vllm", time.Minute, "no-such-program-at-all"); !errors.As(err, &machine) || machine.Outcome.Reason != tuner.ReasonUser {
		t.Errorf("a program that is not there: %v", err)
	}
	if _, err := askFor(t, "vllm", 50*time.Millisecond, "sh", "-c", "exec sleep 60"); !errors.Is(err, runner.ErrNoHelp) || !strings.Contains(err.Error(), "did not end within") {
		t.Errorf("a command that does not end: %v", err)
	}
}
