//go:build e2e

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"autotune/space"
)

// afterParsing are rules of what SGLang does once processes have started or the model is built: its parser lets their breach pass, and nothing here confirms them.
var afterParsing = []string{"sglang_gpus", "sglang_heads", "sglang_experts_ep", "sglang_running_dp", "sglang_low_latency_tokens", "sglang_context_requests"}

// TestSGLangArgsOfTheStudy holds the space of the GLM-5.2 example against SGLang: what one refuses the other refuses, and what our rewrites
// call one configuration SGLang resolves to the same arguments.
func TestSGLangArgsOfTheStudy(t *testing.T) {
	a := exampleProblem(t)
	s := a.problem.Space
	points := sglangPoints(s, 200)
	for _, b := range a.problem.Baselines {
		if b.Engine() == "sglang" {
			points = append(points, b)
		}
	}
	winner := "--tp-size 8 --enable-dp-attention --dp-size 8 --moe-a2a-backend deepep --kv-cache-dtype fp8_e4m3 --mem-fraction-static 0.85 --max-running-requests 256"
	var lines [][]string
	var pairs [][2]int // of indices into lines
	for _, p := range points {
		lines = append(lines, a.line(p))
		first := len(lines) - 1
		for _, q := range twins(s, p) {
			lines = append(lines, a.line(q))
			pairs = append(pairs, [2]int{first, len(lines) - 1})
		}
	}
	lines = append(lines, append([]string{"--model-path=" + glmArgs}, strings.Fields(winner)...))
	results := resolveSGLang(t, h200MiB, lines)

	if w := results[len(results)-1]; w.Refused != "" {
		t.Errorf("the published winner is refused: %s (%s)", w.Refused, w.Where)
	}
	compareRefusals(t, a, glmArgs, points, lines, results)
	equal := 0
	for _, pair := range pairs {
		x, y := results[pair[0]], results[pair[1]]
		switch names := differing(x, y); {
		case (x.Refused == "") != (y.Refused == ""):
			t.Errorf("one configuration for us, but only one of the two is refused:\n  %v %s\n  %v %s", lines[pair[0]], x.Refused, lines[pair[1]], y.Refused)
		case len(names) > 0:
			t.Errorf("one configuration for us, but SGLang resolves %v differently:\n  %v\n  %v", names, lines[pair[0]], lines[pair[1]])
		default:
			equal++
		}
	}
	fmt.Printf("%d command lines; %d pairs that our rewrites call one configuration, %d of them one for SGLang\n", len(lines), len(pairs), equal)
}

// compareRefusals fails where only one side refuses a point, but for rules that SGLang keeps after parsing.
func compareRefusals(t *testing.T, a *assembly, model string, points []space.Point, lines [][]string, results []sglangArgs) {
	t.Helper()
	byLine := map[string]sglangArgs{}
	for i, l := range lines {
		byLine[strings.Join(l, " ")] = results[i]
	}
	counts := map[string]int{}
	for _, p := range points {
		line := a.lineFor(model, p)
		r := byLine[strings.Join(line, " ")]
		rule, broken := a.problem.Space.Broken(p)
		memory := broken && (memoryRule(rule.ID) || strings.Contains(rule.ID, ".require."))
		switch later := memory || slices.Contains(afterParsing, rule.ID); {
		case broken && r.Refused != "":
			counts["refused by both"]++
		case broken && later:
			counts["refused by us alone, by a rule that is no matter of its parser: "+rule.ID]++
		case broken:
			t.Errorf("%s refuses, SGLang takes it: %v", rule.ID, line)
		case r.Refused != "":
			t.Errorf("SGLang refuses (%s, %s), we take it: %v", r.Refused, r.Where, line)
		default:
			counts["taken by both"]++
		}
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("%4d points %s\n", counts[what], what)
	}
}
