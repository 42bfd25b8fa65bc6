package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autotune/runner/deploy"
	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner/studyfile"
)

// variablesOf are values for what the imported files use and do not set.
var variablesOf = []string{"MODEL_LOCATION=/models/my model", "model_path=/models/r1", "node_ip=192.0.2.7", "num_prefill=2",
	"MODEL_PATH=/storage/m", "MODEL_NAME=m", "HOST=0.0.0.0", "PORT=8000", "MAX_MODEL_LEN=4096", "GPU_MEMORY_UTILIZATION=0.9", "VLLM_API_KEY=an-example"}

// TestTheSpecOfAnImportIsItsCommand: each command that is imported becomes a spec that check accepts, whose baseline keeps the engines' rules and is that
// command again, flag by flag, but for what autotune sets itself.
func TestTheSpecOfAnImportIsItsCommand(t *testing.T) {
	folder := filepath.Join("..", "..", "runner", "deploy", "testdata", "import")
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); ext == ".want" || ext == ".md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		set, err := assignments(variablesOf)
		if err != nil {
			t.Fatal(err)
		}
		im, err := deploy.Read(string(text), deploy.Options{Set: set})
		if err != nil {
			continue // the refusals are deploy's to test
		}
		made++
		w := quiet(t)
		in, _, err := w.specFrom(initOptions{from: filepath.Join(folder, f.Name()), set: variablesOf})
		if err != nil {
			t.Fatal(err)
		}
		written := string(studyfile.Template(in))
		a := assembledSpec(t, w, f.Name(), written)
		assembledSpec(t, w, f.Name(), strings.ReplaceAll(written, "\n#: ", "\n"))
		if points, _, exact := a.problem.Space.Census(2000); points < 10 && exact {
			t.Errorf("%s: %d points to search", f.Name(), points)
		}
		for _, warning := range a.warnings {
			if strings.Contains(warning, "cannot run") {
				t.Errorf("%s: %s", f.Name(), warning)
			}
		}
		sameCommand(t, f.Name(), im, a)
	}
	if made < 30 {
		t.Errorf("only %d specs were made", made)
	}
}

// sameCommand compares the baseline's command with the imported one.
func sameCommand(t *testing.T, name string, im deploy.Import, a *assembly) {
	t.Helper()
	e := a.export(a.problem.Baselines[0])
	launch := im.Launch
	if len(e.Argv) < len(launch) || !slices.Equal(e.Argv[:len(launch)], launch) {
		t.Errorf("%s: %q does not begin with %q", name, e.Argv, launch)
		return
	}
	read, err := im.Engine.Read(e.Argv[len(launch):]) // an older release's flag may be short for several of today's
	if err != nil || read.Model.Text != im.Model {
		t.Errorf("%s: %v, model %s, want %s", name, err, read.Model.Text, im.Model)
	}
	got := map[string]space.Value{}
	for _, g := range read.Given {
		got[g.Flag] = g.Value
	}
	var rest []string
	for _, a := range read.Rest {
		rest = append(rest, a.Text)
	}
	for _, f := range im.Flags {
		switch {
		case f.Deployment:
			if _, there := got[f.Flag]; there {
				t.Errorf("%s: --%s is autotune's own to set", name, f.Flag)
			}
		case f.Unknown:
			if rendered := im.Engine.Render([]engine.Setting{f.Setting}); !slices.Contains(rest, rendered[0]) {
				t.Errorf("%s: %q is not in %q", name, rendered, rest)
			}
		case !space.Equal(got[f.Flag], f.Value):
			t.Errorf("%s: --%s is %v, was %v", name, f.Flag, got[f.Flag], f.Value)
		}
		delete(got, f.Flag)
	}
	if len(got) > 0 {
		t.Errorf("%s: the baseline has more than the command: %v", name, got)
	}
	for _, v := range im.Env {
		if slices.Contains(e.Env, v.Name+"="+v.Value) == v.Deployment {
			t.Errorf("%s: %s=%s in %q", name, v.Name, v.Value, e.Env)
		}
	}
}

// quiet is a world without output, with a home folder of its own.
func quiet(t *testing.T) *world {
	t.Helper()
	w := systemWorld()
	home := t.TempDir()
	w.out, w.err = io.Discard, io.Discard
	w.getenv = func(name string) string { return map[string]string{"HOME": home}[name] }
	return w
}

// assembled is a spec as check sees it.
func assembledSpec(t *testing.T, w *world, name, text string) *assembly {
	t.Helper()
	spec, err := parseSpec(name+".yaml", []byte(text), "")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	a, err := assemble(spec, w.newInputs(spec, name+".yaml"))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return a
}

// TestTheSpecOfAnImportRehearses: today's command is measured as trial 0, for models that the law knows and for generic ones.
func TestTheSpecOfAnImportRehearses(t *testing.T) {
	for _, name := range []string{"16K-suffix-and-dotted-mtp.sh", "hf-overrides-deep-json.sh", "o3-json-many-switches.sh", "sglang-cpu-many-switches.sh", "compose-anchor-list.yaml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, _, err := quiet(t).specFrom(initOptions{from: filepath.Join("..", "..", "runner", "deploy", "testdata", "import", name)})
			if err != nil {
				t.Fatal(err)
			}
			rehearseSpec(t, string(studyfile.Template(in)), true)
		})
	}
}
