package main

import (
	"slices"
	"testing"

	"autotune/runner/bench"
	"autotune/tuner/studyfile"
)

// TestToolNames: the names of a spec's tools are those of the tools that there are.
func TestToolNames(t *testing.T) {
	if !slices.Equal(studyfile.Names.Tools, bench.Names()) {
		t.Errorf("a spec knows %v, the tools are %v", studyfile.Names.Tools, bench.Names())
	}
}

func TestLawClock(t *testing.T) {
	for _, c := range []struct {
		words []string
		law   bool
	}{
		{[]string{"autotune", "fake-engine", "vllm"}, false},
		{[]string{"autotune", "fake-engine", "--clock=law", "vllm"}, true},
		{[]string{"autotune", "fake-engine", "-clock", "law", "vllm"}, true},
		{[]string{"autotune", "fake-engine", "--clock", "wall", "vllm"}, false},
	} {
		if got := lawClock(c.words); got != c.law {
			t.Errorf("%v: %v", c.words, got)
		}
	}
}
