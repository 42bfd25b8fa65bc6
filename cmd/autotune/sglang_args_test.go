//go:build e2e

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner/studyfile"
)

// sglangArgs is what SGLang's own argument resolution made of a command line: examples/sglang-args/resolve.py.
type sglangArgs struct {
	Resolved map[string]any `json:"resolved"` // by the parser's own names, underscores inside; nil when it refused
	Refused  string         `json:"refused"`  // the last line of its error
	Failed   string         `json:"failed"`   // why nothing can be said: a package is missing
	Where    string         `json:"where"`    // file, line and function that raised it; empty when the parser itself complained
}

// resolveSGLang asks SGLang what it makes of command lines, on pretended GPUs of that many MiB.
// AUTOTUNE_SGLANG_PYTHON is the Python that has it: `make e2e-sglang-args` sets it.
func resolveSGLang(t *testing.T, memoryMiB int, lines [][]string) []sglangArgs {
	t.Helper()
	python := os.Getenv("AUTOTUNE_SGLANG_PYTHON")
	if python == "" {
		t.Fatal("AUTOTUNE_SGLANG_PYTHON is not set. Try: make e2e-sglang-args")
	}
	in, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "resolve.py", "--gpus=8", fmt.Sprintf("--memory=%d", memoryMiB))
	cmd.Dir = filepath.Join("..", "..", "examples", "sglang-args")
	cmd.Stdin = bytes.NewReader(in)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.Bytes())
	}
	var results []sglangArgs
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(lines) {
		t.Fatalf("%d lines, %d results: %v", len(lines), len(results), err)
	}
	for i, r := range results {
		if r.Failed != "" {
			t.Fatalf("%v could not be resolved: %s", lines[i], r.Failed)
		}
	}
	return results
}

// chance are the arguments that SGLang draws at random when they are left out.
var chance = []string{"random_seed", "nccl_port"}

// differing names the arguments in which two resolutions differ; what begins with an underscore is the parser's note of what was given.
func differing(a, b sglangArgs) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(a.Resolved)) {
		if !slices.Contains(chance, name) && !strings.HasPrefix(name, "_") && !reflect.DeepEqual(a.Resolved[name], b.Resolved[name]) {
			names = append(names, name)
		}
	}
	return names
}

const (
	h200MiB = 143771
	glmArgs = "glm-5.2-fp8" // the folder beside resolve.py with config.json
)

// exampleProblem is the space of examples/glm-5.2-8xh200.yaml on eight H200.
func exampleProblem(t *testing.T) *assembly {
	t.Helper()
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return problemOf(t, text, 8)
}

// problemOf is the space of a spec on so many H200.
func problemOf(t *testing.T, text []byte, gpus int) *assembly {
	t.Helper()
	spec, err := studyfile.Parse("spec.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	in := systemWorld().newInputs(spec, "spec.yaml")
	in.Host = engine.Host{GPUs: gpus, GPU: "H200", MemoryGiB: h200MiB / 1024.0}
	a, err := assemble(spec, in)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// line is the command line of a point as it would be started, without the executable.
func (a *assembly) line(p space.Point) []string { return a.lineFor(glmArgs, p) }

// lineFor is the command line of a point with the folder of another checkpoint.
func (a *assembly) lineFor(model string, p space.Point) []string {
	d := a.engines["sglang"]
	settings, _ := a.settings(p)
	argv := d.Plain(engine.Launch{Model: model, Settings: settings})
	return argv[len(d.Executable()):]
}

// twins are the points that differ from p in one parameter's value and are the same configuration by our rewrites.
func twins(s *space.Space, p space.Point) []space.Point {
	var same []space.Point
	for _, q := range s.Params() {
		was, ok := p.Get(q.Name)
		if !ok || q.Domain.Size() > 16 {
			continue
		}
		for i := range q.Domain.Size() {
			values := p.Map()
			if values[q.Name] = q.Domain.At(i); values[q.Name] == was {
				continue
			}
			if other, err := s.Point(values); err == nil && other.Key() == p.Key() {
				same = append(same, other)
			}
		}
	}
	return same
}

func sglangPoints(s *space.Space, n int) []space.Point {
	r := rand.New(rand.NewPCG(42, 0))
	var points []space.Point
	seen := map[string]bool{}
	for len(points) < n {
		p := s.Build(func(q space.Param, _ space.Lookup) space.Value {
			if q.Name == space.EngineParam {
				return space.String("sglang")
			}
			return q.Domain.Sample(r)
		})
		if key := fmt.Sprint(p.Map()); !seen[key] {
			seen[key] = true
			points = append(points, p)
		}
	}
	return points
}
