package main

import (
	"strings"

	"autotune/runner/engine"
)

// serving leaves out the engines that have no code for the model's architecture, where another one has: in the release that is installed here, else in the newest known.
// Engines that were asked for by name stay. notes say what was done and why, also where nothing could be told.
func (m machine) serving(names []string, c engine.Checkpoint, asked bool) (kept, notes []string) {
	if c.Architecture == "" {
		if len(names) > 1 {
			notes = append(notes, "the model's architecture is not known without its config.json, so neither is which engines serve it: "+strings.Join(names, " and ")+" are kept")
		}
		return names, notes
	}
	for _, name := range names {
		d, _ := engine.Find(name)
		lacks := d.LacksArchitecture(c.Architecture, m.installed[name])
		if lacks != "" {
			notes = append(notes, lacks)
		}
		if lacks == "" || asked {
			kept = append(kept, name)
		}
	}
	if len(kept) == 0 {
		return names, append(notes, "no engine is known to serve "+c.Architecture+" with code of its own: "+strings.Join(names, " and ")+" are kept, to be tried")
	}
	if len(kept) < len(names) {
		notes = append(notes, "the spec is for "+strings.Join(kept, " and ")+" alone; --engine NAME keeps another one")
	}
	return kept, notes
}
