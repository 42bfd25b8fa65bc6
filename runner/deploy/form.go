package deploy

import (
	"regexp"
	"strings"
)

// textForm is what a text is.
type textForm uint8

const (
	shellScript textForm = iota
	dockerfile
	manifest
	prose
	unit
	makefile
	pythonProgram
)

var (
	instruction = regexp.MustCompile(`(?i)^(FROM|ARG)\s+\S+`)
	pythonLine  = regexp.MustCompile(`^(import|from)\s+[A-Za-z_][A-Za-z0-9_.]*(\s+(import|as)\s|\s*$|\s*,)`)
	yamlKey     = regexp.MustCompile(`^(-\s+)?["']?[A-Za-z_][A-Za-z0-9_.-]*["']?:(\s|$)`)
)

// form tells what a text is from its first line that is no comment: a Dockerfile begins with FROM or ARG, YAML with a key, Python with an import,
// a Makefile has a target with a recipe, the rest is a script.
// A text with fences of Markdown is prose around scripts.
func form(text string) textForm {
	switch {
	case fence.MatchString(text):
		return prose
	case isMakefile(text):
		return makefile
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "---" || line == "{" || strings.HasPrefix(line, `{"`) || strings.HasPrefix(line, "%YAML"):
			return manifest
		case line == "[Unit]" || line == "[Service]":
			return unit
		case instruction.MatchString(line):
			return dockerfile
		case pythonLine.MatchString(line):
			return pythonProgram
		case yamlKey.MatchString(line):
			return manifest
		default:
			return shellScript
		}
	}
	return shellScript
}
