package main

import (
	"os"
	"testing"

	"autotune/search"
	"autotune/space"
	"autotune/tuner"
)

// publishedFailures are the two configurations of the published GLM-5.2 study that ran out of memory, as recipes of the shipped example.
const publishedFailures = `
recipes:
  - {engine: sglang, flags: {enable-dp-attention: true, dp-size: 8, mem-fraction-static: 0.85, chunked-prefill-size: 16384}}
  - {engine: sglang, flags: {enable-dp-attention: true, dp-size: 8, mem-fraction-static: 0.85, chunked-prefill-size: 32768}}
`

// TestTheSecondPublishedFailureIsNotLaunched: in the space of the shipped example the planner leaves both open; once the first has run out of memory, in whatever
// phase, no sampler launches the second, not even where the spec lists it as a recipe.
func TestTheSecondPublishedFailureIsNotLaunched(t *testing.T) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a := plannedSpec(t, string(text)+publishedFailures)
	if len(a.problem.Recipes) != 2 {
		t.Fatalf("%d recipes", len(a.problem.Recipes))
	}
	first, second := a.problem.Recipes[0], a.problem.Recipes[1]
	var before tuner.History
	for i, b := range a.problem.Baselines {
		before = append(before, tuner.Trial{Number: i, Point: b, Origin: tuner.OriginBaseline, Outcome: came(5482+1006*float64(i), 1)})
	}
	for _, name := range search.Names() {
		if name == "goptuna-cmaes" {
			continue // refuses spaces with choices
		}
		sampler, err := search.New(name)
		if err != nil {
			t.Fatal(err)
		}
		c := calibrated{sampler, search.Best{}, a}
		ask := func(h tuner.History) space.Point {
			p, err := c.Suggest(a.problem, h, tuner.Ask{Number: h.Next(), Seed: a.problem.Seed})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return p.Point
		}
		if p := ask(before); p.Key() != first.Key() {
			t.Fatalf("%s asks for %s, not for the first recipe", name, p.Key())
		}
		for _, phase := range []tuner.Phase{tuner.PhaseProfile, tuner.PhaseCapture, tuner.PhaseServe, tuner.PhaseUnknown} {
			failed := tuner.Outcome{Kind: tuner.Infeasible, Phase: phase, Reason: tuner.ReasonMemory}
			h := append(before[:2:2], tuner.Trial{Number: 2, Point: first, Origin: tuner.OriginRecipe, Outcome: failed})
			if p := ask(h); p.Key() == second.Key() {
				t.Errorf("%s, out of memory in %s: the second is launched", name, phase)
			}
		}
		// A first that ran says nothing against it.
		h := append(before[:2:2], tuner.Trial{Number: 2, Point: first, Origin: tuner.OriginRecipe, Outcome: came(13761, 1)})
		if p := ask(h); p.Key() != second.Key() {
			t.Errorf("%s: after a first that ran it asks for %s", name, p.Key())
		}
	}
}

// TestARecipeThatIsNotTriedIsToldOf: by name, and why.
func TestARecipeThatIsNotTriedIsToldOf(t *testing.T) {
	text, err := os.ReadFile("../../examples/glm-5.2-8xh200.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a := plannedSpec(t, string(text)+publishedFailures)
	o := &opened{assembly: a, history: tuner.History{
		{Number: 0, Point: a.problem.Baselines[0], Origin: tuner.OriginBaseline, Outcome: came(5482, 1)},
		{Number: 1, Point: a.problem.Recipes[0], Origin: tuner.OriginRecipe, Outcome: tuner.Outcome{Kind: tuner.Infeasible, Reason: tuner.ReasonMemory, Phase: tuner.PhaseServe}},
	}}
	if said := o.untried(); len(said) != 0 {
		t.Errorf("before a search: %q", said)
	}
	p, err := search.New("random")
	if err != nil {
		t.Fatal(err)
	}
	next, err := p.Suggest(a.problem, o.history, tuner.Ask{Number: 2})
	if err != nil {
		t.Fatal(err)
	}
	o.history = append(o.history, tuner.Trial{Number: 2, Point: next.Point, Origin: tuner.OriginSearch, Outcome: came(1, 1)})
	if said := o.untried(); len(said) != 1 || said[0] != "recipe 2 of the spec is not tried: it asks for no less memory than trial 1, which ran out of it" {
		t.Errorf("%q", said)
	}
}
