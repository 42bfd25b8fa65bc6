package deploy

import (
	"regexp"
	"strings"
)

var fence = regexp.MustCompile("(?m)^[ \t]*```")

// readProse finds the commands in the fenced blocks of a Markdown text. A block in another language is passed over: most are no shell.
func readProse(text string, o *Options) ([]start, error) {
	var found []start
	var unread error
	var block []string
	open, first := false, 0
	for n, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		switch fenced := strings.HasPrefix(strings.TrimSpace(line), "```"); {
		case fenced && !open:
			open, first, block = true, n+2, nil
		case fenced:
			open = false
			inner := strings.Join(block, "\n")
			if !mentionsServer(inner) {
				continue
			}
			more, err := findFrom(inner, first, o)
			if err != nil && unread == nil { // most likely another language
				unread = err
			}
			found = append(found, more...)
		case open:
			block = append(block, line)
		}
	}
	if len(found) == 0 {
		return nil, unread
	}
	return found, nil
}

// findFrom is find for a part of a text, which begins on a line of it.
func findFrom(text string, first int, o *Options) ([]start, error) {
	if form(text) == shellScript {
		return readShell(text, first, o, newVariables(o), container{})
	}
	return find(strings.Repeat("\n", first-1)+text, o) // blank lines mean nothing to the other forms, and are counted
}
