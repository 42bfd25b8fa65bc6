package studyfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// FieldError says which place of a spec is wrong and what would be right.
type FieldError struct {
	File         string
	Line, Column int    // from 1; the column counts characters. 0 when the error has no place
	Key          string // path of the key: workloads.balanced.requests
	Problem      string // what is wrong
	Found        string // what stands there; may be empty
	Allowed      string // what may stand there; may be empty
	Near         string // the nearest match of what is allowed; may be empty
}

// Error writes study.yaml:12:7: workloads.balanced.requets: unknown key; did you mean "requests"?
func (e FieldError) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:", e.File)
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", e.Line, e.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if e.Key != "" {
		fmt.Fprintf(&b, "%s: ", e.Key)
	}
	b.WriteString(e.Problem)
	if e.Found != "" {
		fmt.Fprintf(&b, ": found %s", e.Found)
	}
	if e.Allowed != "" {
		fmt.Fprintf(&b, "; allowed: %s", e.Allowed)
	}
	if e.Near != "" {
		fmt.Fprintf(&b, "; did you mean %q?", e.Near)
	}
	return b.String()
}

// Errors are all the errors of a spec, sorted by position.
type Errors []FieldError

// Error writes one error a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// sorted returns the errors by position, without repeats.
func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b FieldError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(e)
}
