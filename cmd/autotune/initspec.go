package main

import (
	"context"
	"fmt"
	"strings"

	"autotune/runner/engine"
	"autotune/tuner/studyfile"
)

// specFor proposes a spec for a model on a machine.
func (w *world) specFor(ctx context.Context, o initOptions) (studyfile.TemplateInput, []string, error) {
	m, err := w.machineFor(ctx, o)
	if err != nil {
		return studyfile.TemplateInput{}, nil, err
	}
	c, notes := w.checkpointOf(o.model)
	names, served := m.serving(m.enginesFor(o), c, o.enginesGiven)
	notes = append(notes, served...)
	in := studyfile.TemplateInput{Model: o.model, GPUs: m.host.GPUs, Longest: c.ContextLen, Comments: []string{"Made for " + m.String() + "."}}
	if about := aboutModel(c); about != "" {
		in.Comments = append(in.Comments, about)
	}
	said := map[string]bool{}
	for _, name := range names {
		d, _ := engine.Find(name)
		p := d.Propose(c, m.host)
		e, recipes := proposed(d, p)
		if v := m.installed[name]; v != "" {
			e.Comments = append(e.Comments, d.Title+" "+v+" is installed here.")
		}
		in.Engines, in.Recipes = append(in.Engines, e), append(in.Recipes, recipes...)
		for _, n := range p.Notes {
			if !said[n] {
				in.Comments = append(in.Comments, n)
			}
			said[n] = true
		}
	}
	return in, append(m.notes, notes...), nil
}

// aboutModel says what is known of a checkpoint, and from where.
func aboutModel(c engine.Checkpoint) string {
	kind := c.Kind()
	switch {
	case kind == "" && c.Guessed:
		return "Nothing is known of the model but its name: with its folder as --model, its config.json is read."
	case c.Guessed:
		return "By its name the model is a " + kind + "."
	}
	return strings.TrimPrefix(fmt.Sprintf("%s: %s, %d layers, %d attention heads.", c.Architecture, kind, c.Layers, c.Heads), ": ")
}

// proposed turns what an engine proposes into what a spec says.
func proposed(d *engine.Definition, p engine.Proposal) (e studyfile.TemplateEngine, recipes []studyfile.TemplateRecipe) {
	e = studyfile.TemplateEngine{Name: d.Name, Fixed: chosen(p.Fixed), Baseline: chosen(p.Baseline)}
	// Layouts come last: what is enumerated of a large space then has all of them.
	for _, dim := range append(p.Tuning[:len(p.Tuning):len(p.Tuning)], p.Layout...) {
		e.Space = append(e.Space, dimension(dim))
	}
	if p.Require != "" {
		e.Require = []studyfile.TemplateLine{{Value: p.Require, Why: p.RequireWhy}}
	}
	for _, s := range p.Seeds {
		r := studyfile.TemplateRecipe{Engine: d.Name, Why: s.Why}
		for _, f := range s.Settings {
			r.Flags = append(r.Flags, studyfile.TemplateLine{Flag: f.Flag, Value: studyfile.ValueText(f.Value)})
		}
		recipes = append(recipes, r)
	}
	return e, recipes
}

func chosen(choices []engine.Choice) (lines []studyfile.TemplateLine) {
	for _, c := range choices {
		lines = append(lines, studyfile.TemplateLine{Flag: c.Flag, Value: studyfile.ValueText(c.Value), Why: c.Why})
	}
	return lines
}

func dimension(d engine.Dimension) studyfile.TemplateLine {
	return studyfile.TemplateLine{Flag: d.Flag, Value: d.Text(studyfile.ValueText), Why: d.Why, Off: d.Off}
}
