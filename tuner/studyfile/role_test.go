package studyfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/tuner"
	"autotune/tuner/studyfile"
)

const several = `  long: {dataset: random, input_tokens: 4096, output_tokens: 32, requests: 100, weight: 2}
  guarded: {dataset: random, input_tokens: 8, output_tokens: 8, requests: 10, role: guard, max_regression: 7.5%}
  short: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10}
`

// TestSeveralWorkloads: targets come before guards, the cheapest first; a bound that names no workload holds on each target; what a guard may lose is
// a bound.
func TestSeveralWorkloads(t *testing.T) {
	text := strings.NewReplacer("  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10, rate: 5, max_concurrency: 4}\n", several,
		"{maximize: total_token_throughput}", `{maximize: total_token_throughput, subject_to: ["p95_ttft <= 5s", "guarded.p99_ttft <= 9s"]}`).Replace(good)
	s := parse(t, text)
	var order []string
	for _, w := range s.Traffic {
		order = append(order, w.Role+" "+w.Name)
	}
	if diff := cmp.Diff([]string{"target short", "target long", "guard guarded"}, order); diff != "" || s.Workload().Name != "short" {
		t.Errorf("measured first: %s; (-want +got)\n%s", s.Workload().Name, diff)
	}
	want := tuner.Goal{Metric: "total_token_throughput", Direction: tuner.Maximize, Guards: []string{"guarded"},
		Targets: []tuner.Target{{Workload: "short", Weight: 1}, {Workload: "long", Weight: 2}},
		SubjectTo: []tuner.Bound{
			{Workload: "short", Metric: "p95_ttft", Op: "<=", Limit: 5}, {Workload: "long", Metric: "p95_ttft", Op: "<=", Limit: 5},
			{Workload: "guarded", Metric: "p99_ttft", Op: "<=", Limit: 9}, {Workload: "guarded", Metric: "retained", Op: ">=", Limit: 0.925},
		}}
	if diff := cmp.Diff(want, s.Goal); diff != "" {
		t.Errorf("goal (-want +got)\n%s", diff)
	}
	const words = "maximize total_token_throughput over short, long (weight 2) subject to short.p95_ttft <= 5s and long.p95_ttft <= 5s and guarded.p99_ttft <= 9s and guarded.retained >= 92.5 %"
	if got := s.Goal.String(); got != words {
		t.Error(got)
	}
	other := parse(t, strings.Replace(text, "7.5%", "5%", 1))
	if got := studyfile.DiffText(s, other); len(got) != 2 || got[1] != "workloads.guarded.role: was guard, at most 7.5% lost, is guard, at most 5% lost" {
		t.Errorf("%q", got)
	}
}
