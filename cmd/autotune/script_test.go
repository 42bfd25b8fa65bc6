package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"autotune/runner/fake"
)

// TestMain lets the test binary stand in for autotune: in scripts, and when a run starts the fake engine.
func TestMain(m *testing.M) {
	// A run starts its own executable again, by its path: that is this binary.
	if len(os.Args) > 1 && (os.Args[1] == fake.Command || os.Args[1] == guardCommand) {
		main()
	}
	testscript.Main(m, map[string]func(){"autotune": main})
}

func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			e.Setenv("DOCS", filepath.Join(examples, "..", "docs"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("PORT", strconv.Itoa(freePort(t)))
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// TestEveryCommandIsDocumented: each command has a script of its name, an example, and a section on its exit statuses.
func TestEveryCommandIsDocumented(t *testing.T) {
	w := systemWorld()
	for _, construct := range commands {
		cmd := construct(w)
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.Name())
		}
		if !strings.Contains(cmd.Long, "EXIT STATUS") {
			t.Errorf("%s does not say its exit statuses", cmd.Name())
		}
		if _, err := os.Stat(filepath.Join("testdata", "script", cmd.Name()+".txtar")); err != nil {
			t.Errorf("%s has no script: %v", cmd.Name(), err)
		}
	}
}
