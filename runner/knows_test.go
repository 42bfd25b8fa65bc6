package runner

import (
	"testing"

	"autotune/tuner"
	"autotune/tuner/workload"
)

// TestKnows: prompts of a file are marked where one server is sent them more than once, and else go out as the file has them.
func TestKnows(t *testing.T) {
	of := func(datasets ...string) (all []Traffic) {
		for _, d := range datasets {
			all = append(all, Traffic{Workload: workload.Spec{Dataset: d}})
		}
		return all
	}
	for _, c := range []struct {
		name    string
		traffic []Traffic
		goal    *tuner.Goal
		want    bool
	}{
		{"one workload of texts", of(workload.ShareGPT), nil, false},
		{"texts beside token ids", of(workload.ShareGPT, workload.Random, workload.Mooncake), nil, false},
		{"two workloads of texts", of(workload.ShareGPT, workload.Random, workload.ShareGPT), nil, true},
		{"texts of two formats", of(workload.ShareGPT, workload.JSONL), nil, true},
		{"a search for a rate", of(workload.JSONL), &tuner.Goal{}, true},
	} {
		a := &attempt{Runner: &Runner{Config: Config{Traffic: c.traffic, RateGoal: c.goal}}}
		if got := a.knows(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
