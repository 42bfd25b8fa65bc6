package main

import (
	"fmt"

	"autotune/search"
	"autotune/space"
	"autotune/tuner"
)

// untried says which recipes the study has passed over, and why: what has been learned since it began speaks against them.
func (o *opened) untried() []string {
	searching := false
	for _, t := range o.history {
		searching = searching || t.Origin == tuner.OriginSearch
	}
	if !searching {
		return nil
	}
	var said []string
	now, taken := o.plannerAfter(o.history), o.history.Taken()
	p := now.correct(o.problem)
	for i, r := range p.Recipes {
		if taken(r.Key()) {
			continue
		}
		if why := o.against(now, p, r); why != "" {
			name := fmt.Sprintf("recipe %d", i+1)
			if i < len(p.RecipeWhy) {
				name = p.RecipeWhy[i]
			}
			said = append(said, name+" is not tried: "+why)
		}
	}
	return said
}

// against is what speaks against a point; empty where nothing does.
func (o *opened) against(now planner, p tuner.Problem, q space.Point) string {
	if rule, broken := p.Space.Broken(q); broken {
		return now.because(rule, p.Space, q)
	}
	if n, hopeless := search.OutOfMemory(p, o.history, q); hopeless {
		return fmt.Sprintf("it asks for no less memory than trial %d, which ran out of it", n)
	}
	return ""
}
