package studyfile

import (
	"fmt"
	"strings"

	"autotune/space"
)

// words lists what a parameter takes: its listed values one by one, its range as one.
func words(d space.Domain) []string {
	var out []string
	logarithm := ""
	if d.Log() {
		logarithm = " (by the logarithm)"
	}
	listed, grid := d.Listed(), []space.Value(nil)
	if d.IsFloatGrid() {
		listed, grid = splitGrid(listed)
	}
	for _, v := range listed {
		out = append(out, v.String())
	}
	if n := len(grid); n > 0 {
		out = append(out, fmt.Sprintf("%s to %s in %d values%s", grid[0], grid[n-1], n, logarithm))
	}
	if lo, hi, step, ok := d.Range(); ok {
		text := fmt.Sprintf("%d to %d", lo, hi)
		if step > 1 {
			text += fmt.Sprintf(" by %d", step)
		}
		out = append(out, text+logarithm)
	}
	return out
}

// splitGrid parts what stands before a grid of floats from the grid, which is every float from the first of a rising row on.
func splitGrid(values []space.Value) (before, grid []space.Value) {
	i := len(values)
	for i > 0 && values[i-1].Kind() == space.KindFloat && (i == len(values) || values[i-1].AsFloat() < values[i].AsFloat()) {
		i--
	}
	return values[:i], values[i:]
}

// describeDomain says in words what values a parameter takes.
func describeDomain(d space.Domain) string { return strings.Join(words(d), ", ") }
