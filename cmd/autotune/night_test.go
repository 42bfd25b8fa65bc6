package main

import (
	"strings"
	"testing"
	"time"

	"autotune/tuner"
	"autotune/tuner/memory"
)

// TestANightLearnsFromEarlierOnes: times and sizes that an earlier study measured take the place of what is assumed.
func TestANightLearnsFromEarlierOnes(t *testing.T) {
	const engines = `
engines: {vllm: {fixed: {tensor-parallel-size: 8, max-model-len: 16384}, space: {max-num-seqs: [default, 64]}}}
`
	ran := came(100, 1)
	ran.Run.Phases = map[tuner.Phase]time.Duration{tuner.PhaseBench: 20 * time.Second}
	ran.Run.Facts = map[string]string{"weights_gib": "94.46", "kv_gib": "25.94", "kv_tokens": "162704", "graphs_gib": "0.48"}
	file := madeUpStudy(t, glmTop+engines, tuner.Trial{Outcome: ran})
	a := plannedSpec(t, glmTop+glmGeometry(t)+engines+"search: {start_from: ["+file+"]}\n")
	if err := a.readEarlier(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, err := a.night(t.Context(), checkAssembly(a), experience{})
	if err != nil {
		t.Fatal(err)
	}
	if s := n.Sums[0]; s.Source != file+", trial 0" || s.Tokens != (memory.Span{Low: 162704, High: 162704}) || s.Answer != memory.Fits {
		t.Errorf("%+v", s)
	}
	if len(n.Phases) != 2 || n.Phases[0].Seconds != 40 || n.Phases[1].Seconds != 20 || n.TrialTime != 60 {
		t.Errorf("%+v", n.Phases)
	}
	var page strings.Builder
	if err := printNight(&page, n, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mean of the 1 trial that ran in", ": vllm 40 s in 1 trial", "said, where it did", "93.5 to 95.4   weights", "17 requests of the longest at once"} {
		if !strings.Contains(strings.Join(strings.Fields(page.String()), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%q is not in\n%s", want, page.String())
		}
	}
	// Without an earlier study everything is assumed.
	alone := plannedSpec(t, glmTop+glmGeometry(t)+engines)
	m, err := alone.night(t.Context(), checkAssembly(alone), experience{})
	if err != nil || m.Sums[0].Source != "" || len(m.Phases) != 5 {
		t.Errorf("%+v %v", m.Phases, err)
	}
}
