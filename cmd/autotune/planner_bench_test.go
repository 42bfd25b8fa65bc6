package main

import (
	"os"
	"testing"
)

func BenchmarkPlanner(b *testing.B) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		b.Fatal(err)
	}
	spec, err := parseSpec("glm.yaml", text, "")
	if err != nil {
		b.Fatal(err)
	}
	w := systemWorld()
	a, err := assemble(spec, w.newInputs(spec, "glm.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	q := a.problem.Baselines[1]
	b.Run("estimate", func(b *testing.B) {
		for b.Loop() {
			a.planner.estimate(q.Get)
		}
	})
	b.Run("keeps", func(b *testing.B) {
		for b.Loop() {
			a.problem.Space.Keeps(q)
		}
	})
}
