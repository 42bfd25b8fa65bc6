package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// readNotes adds to the flags what turning them does, from a table of name, memory, hint: memory is the weight of a flag's effect on running
// out of it, or - where setting it leaves memory free. It panics on a bad table, which is part of the program.
func readNotes(flags []Flag, table string) []Flag {
	at := map[string]*Flag{}
	for i := range flags {
		at[flags[i].Name] = &flags[i]
	}
	for n, line := range strings.Split(strings.TrimRight(table, "\n"), "\n") {
		if n == 0 {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 3 || at[cells[0]] == nil || cells[2] == "" {
			panic(fmt.Sprintf("notes on flags, line %d: %q", n+1, line))
		}
		f := at[cells[0]]
		f.note, f.Frees, f.Help = n, cells[1] == "-", cells[2]
		if f.Frees {
			continue
		}
		weight, err := strconv.ParseFloat(cells[1], 64)
		if err != nil || weight < 0 || weight > 1 {
			panic(fmt.Sprintf("notes on flags, line %d: memory %q", n+1, cells[1]))
		}
		f.Hungry = weight
	}
	return flags
}

// Tuning returns the flags, and keys of JSON flags, that matter for speed or memory: the layout first, then memory, batching and the rest.
func (d *Definition) Tuning() []Flag {
	noted := slices.DeleteFunc(slices.Concat(d.flags, d.keys), func(f Flag) bool { return f.note == 0 })
	slices.SortFunc(noted, func(a, b Flag) int { return a.note - b.note })
	return noted
}
