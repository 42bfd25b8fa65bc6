package engine

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Help is what an installed engine's argument parser prints of its flags. It is stored with a study.
type Help struct {
	// Version is the engine's, once a server of it has run; the parser does not print it.
	Version string     `json:"version,omitempty"`
	Flags   []HelpFlag `json:"flags"`
}

// HelpFlag is a flag as argparse prints it.
type HelpFlag struct {
	Spellings []string `json:"names"`              // dashes included
	Takes     Takes    `json:"takes,omitempty"`    // values
	Choices   []string `json:"choices,omitempty"`  // as printed
	Default   string   `json:"default,omitempty"`  // as printed, where Defaults
	Defaults  bool     `json:"defaults,omitempty"` // a default is printed
}

// Takes is how many words a flag takes as its value. These words are stored and never change.
type Takes string

// How many words.
const (
	TakesNone  Takes = ""      // a switch
	TakesOne   Takes = "one"   // --x X
	TakesMaybe Takes = "maybe" // --x [X]
	TakesMany  Takes = "many"  // --x X [X ...]
)

// helpLeast is how many flags a serving engine has at least: what prints fewer is no engine's help, or only a part of one.
const helpLeast = 50

// ErrNoHelp says that a text is not the help of a serving engine.
var ErrNoHelp = errors.New("this is not the help of a serving engine: it lists too few flags")

// optionLine begins a flag in argparse's format: two blanks, then its spellings.
var optionLine = regexp.MustCompile(`^ {2}-{1,2}[A-Za-z0-9]`)

// ParseHelp reads what an engine prints when it is asked for help: Python's argparse, in whatever width, with or without defaults.
func ParseHelp(text string) (Help, error) {
	var h Help
	var description []string
	end := func() {
		if n := len(h.Flags); n > 0 {
			h.Flags[n-1].readDefault(joinWrapped(description))
		}
		description = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case optionLine.MatchString(line):
			end()
			invocation, rest, _ := strings.Cut(line[2:], "  ")
			h.Flags = append(h.Flags, readInvocation(invocation))
			description = append(description, strings.TrimSpace(rest))
		case line != "" && !strings.HasPrefix(line, "   "):
			end() // a group's title or description
			h.Flags = append(h.Flags, HelpFlag{})
		case line != "":
			description = append(description, strings.TrimSpace(line))
		}
	}
	end()
	kept := h.Flags[:0]
	for _, f := range h.Flags {
		if len(f.Spellings) > 0 && f.Spellings[0] != "-h" && f.Spellings[0] != "--help" {
			kept = append(kept, f)
		}
	}
	if h.Flags = kept; len(kept) < helpLeast {
		return Help{}, ErrNoHelp
	}
	return h, nil
}

// joinWrapped puts a wrapped description together again: argparse breaks lines at blanks and behind hyphens.
func joinWrapped(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte(' ')
		}
		b.WriteString(line)
	}
	return b.String()
}

// readInvocation reads the spellings of a flag and its value: -tp N, --tensor-parallel-size N; or --x, --no-x.
func readInvocation(text string) HelpFlag {
	var f HelpFlag
	for _, part := range splitOutside(text) {
		spelling, value, _ := strings.Cut(part, " ")
		if !strings.HasPrefix(spelling, "-") {
			continue
		}
		f.Spellings = append(f.Spellings, spelling)
		switch value = strings.TrimSpace(value); {
		case value == "":
		case strings.HasSuffix(value, "...]") || strings.HasSuffix(value, "..."):
			f.Takes = TakesMany
		case strings.HasPrefix(value, "["):
			f.Takes = TakesMaybe
		case f.Takes == TakesNone:
			f.Takes = TakesOne
		}
		if _, list, found := strings.Cut(value, "{"); found && len(f.Choices) == 0 {
			list, _, _ = strings.Cut(list, "}")
			f.Choices = strings.Split(list, ",")
		}
	}
	return f
}

// splitOutside splits at commas that stand outside of braces and brackets.
func splitOutside(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case r == '{' || r == '[':
			depth++
		case r == '}' || r == ']':
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return append(parts, strings.TrimSpace(text[from:]))
}

// readDefault takes the default off the end of a description: (default: 0.92). None is a flag that is unset.
func (f *HelpFlag) readDefault(description string) {
	i := strings.LastIndex(description, "(default:")
	if i < 0 || !strings.HasSuffix(description, ")") || len(f.Spellings) == 0 {
		return
	}
	f.Defaults = true
	f.Default = strings.TrimSpace(strings.TrimSuffix(description[i+len("(default:"):], ")"))
	if f.Default == "None" {
		f.Default = ""
	}
}

// negates tells whether the flag has a --no- form.
func (f HelpFlag) negates() bool {
	for _, s := range f.Spellings {
		if name, found := strings.CutPrefix(s, "--no-"); found && f.has("--"+name) {
			return true
		}
	}
	return false
}

func (f HelpFlag) has(spelling string) bool {
	for _, s := range f.Spellings {
		if s == spelling {
			return true
		}
	}
	return false
}

// name is the first long spelling that is no negation, without dashes.
func (f HelpFlag) name() string {
	for _, s := range f.Spellings {
		if strings.HasPrefix(s, "--") && !(strings.HasPrefix(s, "--no-") && f.negates()) {
			return bare(s)
		}
	}
	return bare(f.Spellings[0])
}

// HelpArguments are the words that make the engine print all of its flags, the newest way first: where a parser refuses one, the next may do.
func (d *Definition) HelpArguments() [][]string { return slices.Clone(d.helpArguments) }
