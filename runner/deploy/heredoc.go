package deploy

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// document is a here-document of a script: the text, the line of its first line, and whether the shell leaves it as it is.
type document struct {
	text    string
	line    int
	literal bool
	vars    variables
}

// document keeps a here-document that mentions a server. What it is for, another shell, a file or a cluster, does not matter to what it says.
func (s *script) document(r *syntax.Redirect) {
	if r.Hdoc == nil || r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc {
		return
	}
	first := int(r.Hdoc.Pos().Line()) - 1
	if first < 0 || first >= len(s.lines) {
		return
	}
	spelled := s.spelled(r.Word)
	literal := strings.ContainsAny(spelled, `'"\`)
	last := first + slices.IndexFunc(s.lines[first:], func(line string) bool { return strings.TrimLeft(line, "\t") == strings.Trim(spelled, `'"\`) })
	if last < first {
		last = len(s.lines)
	}
	text := strings.Join(s.lines[first:last], "\n")
	if !mentionsServer(text) {
		return
	}
	s.documents = append(s.documents, document{text: text, line: s.base + first + 1, literal: literal, vars: maps.Clone(s.vars)})
}

// readDocuments finds commands that serve in the here-documents of a script that has none itself.
func (s *script) readDocuments(o *Options) ([]start, error) {
	var found []start
	for _, d := range s.documents {
		if !d.literal { // the shell has put its own variables in their places
			d.text = substituteKnown(d.text, d.vars)
		}
		more, err := findFrom(d.text, d.line, o)
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].notes = append(more[i].notes, Note{d.line, "the command stands in a here-document: it is read as what runs"})
		}
		found = append(found, more...)
	}
	return found, nil
}

// substituteKnown puts the values of variables that are set in their places, and leaves \$ to whoever reads the text.
func substituteKnown(text string, vars variables) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '$')
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		if at > 0 && text[at-1] == '\\' {
			b.WriteString(text[:at-1] + "$")
			text = text[at+1:]
			continue
		}
		b.WriteString(text[:at])
		found := interpolated.FindString(text[at:])
		name := strings.Trim(found, "${}")
		if v := vars.Get(name); found != "" && v.IsSet() {
			b.WriteString(v.String())
		} else if found != "" {
			b.WriteString(found)
		} else {
			found = "$"
			b.WriteString(found)
		}
		text = text[at+len(found):]
	}
}
