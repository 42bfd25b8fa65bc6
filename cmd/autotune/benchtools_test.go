package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"autotune/runner/bench"
	"autotune/tuner/studyfile"
)

// shippedWorkloads are the five published workloads and those of the two example studies, each asked of every tool.
func shippedWorkloads(t *testing.T) (all []sendable, specs map[string]*studyfile.Spec) {
	t.Helper()
	specs = map[string]*studyfile.Spec{}
	for _, name := range []string{"bench-tools/published.yaml", "glm-5.2-8xh200.yaml", "qwen3.5-35b-a3b-h200.yaml"} {
		spec, err := readSpec(filepath.Join("../../examples", name), "")
		if err != nil {
			t.Fatal(err)
		}
		specs[filepath.Base(name)] = spec
		all = append(all, sendables(filepath.Base(name), spec)...)
	}
	return all, specs
}

// TestPublishedWorkloadsByTool: seven workloads, five tools, and docs/bench.md says of each whether it runs.
func TestPublishedWorkloadsByTool(t *testing.T) {
	all, _ := shippedWorkloads(t)
	if len(all) != 7*5 {
		t.Fatalf("%d pairs of a workload and a tool", len(all))
	}
	page, err := os.ReadFile("../../docs/bench.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := toolTable(all) + toolLacks(all); !strings.Contains(string(page), want) {
		t.Errorf("docs/bench.md does not have what `autotune bench tools` prints:\n%s", want)
	}
}

// TestPublishedWorkloadsHaveACommand: where a cell says that it runs there is a command line with the workload's numbers in it; else the refusal says a key, a problem and a way out.
func TestPublishedWorkloadsHaveACommand(t *testing.T) {
	all, specs := shippedWorkloads(t)
	for _, s := range all {
		tool, external := bench.Find(s.Tool)
		if !external {
			continue
		}
		for _, traffic := range specs[s.Spec].Traffic {
			if traffic.Name != s.Workload {
				continue
			}
			argv, err := tool.Command(bench.Job{Spec: traffic.Spec, Path: "/data/x.json", URL: "http://127.0.0.1:1", Model: "served", Tokenizer: "org/model", Folder: "/out"})
			if s.Sends != (err == nil) || s.Sends == (len(s.Lacks) > 0) {
				t.Errorf("%s of %s by %s: sends %v, lacks %v, %v", s.Workload, s.Spec, s.Tool, s.Sends, s.Lacks, err)
			}
			line := strings.Join(argv, " ")
			for _, number := range []int{traffic.Requests, min(traffic.Requests, traffic.MaxConcurrency), int(traffic.Rate)} {
				if s.Sends && !strings.Contains(line, strconv.Itoa(number)) {
					t.Errorf("%s of %s by %s has no %d: %s", s.Workload, s.Spec, s.Tool, number, line)
				}
			}
			for _, l := range s.Lacks {
				if l.Key == "" || l.Allowed == "" || !strings.Contains(l.Problem, tool.Title) {
					t.Errorf("%s of %s by %s is refused with %+v", s.Workload, s.Spec, s.Tool, l)
				}
			}
		}
	}
}
