package engine

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"autotune/space"
)

// UsageError is a command line that an engine's argument parser refuses; the engine exits with status 2.
type UsageError struct {
	Program string // vllm serve
	Problem string // unrecognized arguments: --x
	Flag    string // the long name of the flag that is at fault; empty when none is
	Usage   string // what the parser prints in front of the error; may have several lines
	At      int    // which of the arguments is at fault, from 0; -1 when something is missing
}

func (e *UsageError) Error() string { return e.Program + ": error: " + e.Problem }

// Parse reads arguments (what follows the executable) as the engine's own parser would, and returns settings under long names, each once:
// of a flag that is given twice the last one counts. A dotted key stays a setting of its own. The error, a *UsageError, reads as the engine's.
func (d *Definition) Parse(args []string) (model string, settings []Setting, err error) {
	model, settings, rest, err := d.ParseKnown(args)
	if err == nil && len(rest) > 0 {
		first, _, _ := strings.Cut(rest[0], "=")
		err = &UsageError{Program: d.Entry, Problem: "unrecognized arguments: " + strings.Join(rest, " "), Flag: bare(first), Usage: d.EntryUsage}
	}
	if err != nil {
		return "", nil, err
	}
	return model, settings, nil
}

// ParseKnown is Parse for a command line that may hold flags which the catalog does not know: they are returned as they stand, in order,
// and a word that follows one of them may be its value.
func (d *Definition) ParseKnown(args []string) (model string, settings []Setting, rest []string, err error) {
	r, err := d.read(args, false)
	if err != nil {
		return "", nil, nil, err
	}
	if r.Model.Text == "" && !d.PositionalModel {
		return "", nil, nil, &UsageError{d.Program, "the following arguments are required: --model-path/--model", d.ModelFlag, d.Usage, -1}
	}
	for _, o := range r.Given {
		i := slices.IndexFunc(settings, func(s Setting) bool { return s.Flag == o.Flag })
		if i < 0 {
			settings = append(settings, o.Setting)
		} else {
			settings[i].Value = o.Value
		}
	}
	for _, w := range r.Rest {
		rest = append(rest, w.Text)
	}
	return r.Model.Text, settings, rest, nil
}

// Reading is a command line with what stands where in it.
type Reading struct {
	Model Argument // the last that is named; its Text is empty where none is
	Given []Given  // each flag as often as it is given, in order
	Rest  []Argument
}

// Argument is a word of a command line.
type Argument struct {
	At   int // from 0
	Text string
}

// Given is a flag that was given: At is the place of its word, Spelling how it was written.
type Given struct {
	Setting
	At       int
	Spelling string
}

// Read is ParseKnown for those who must say where each flag stands. A command line without a model is no error here, and a flag that could be short for
// several of the catalog's is one that the catalog does not know: an older release may have had it.
func (d *Definition) Read(args []string) (Reading, error) { return d.read(args, true) }

func (d *Definition) read(args []string, tolerant bool) (Reading, error) {
	p := &parser{d: d, args: args, all: len(args), tolerant: tolerant}
	if len(args) > 0 && slices.Contains(d.Subcommands, args[0]) {
		p.args = args[1:]
	}
	err := p.run()
	return p.read, err
}

type parser struct {
	d        *Definition
	args     []string // what is still to be read
	all      int      // how many there were
	at       int      // of the word that is being read
	spelling string
	tolerant bool // of abbreviations that could mean several flags
	read     Reading
}

// set records a setting.
func (p *parser) set(flag string, v space.Value) {
	if flag == p.d.ModelFlag {
		p.read.Model = Argument{p.at, v.String()}
		return
	}
	p.read.Given = append(p.read.Given, Given{Setting{flag, v}, p.at, p.spelling})
}

func (p *parser) run() error {
	positionalOnly := false
	for len(p.args) > 0 {
		word := p.args[0]
		p.at, p.args = p.all-len(p.args), p.args[1:]
		switch {
		case word == "--" && !positionalOnly:
			positionalOnly = true
		case positionalOnly || !p.looksLikeFlag(word):
			if p.d.PositionalModel && p.read.Model.Text == "" {
				p.read.Model = Argument{p.at, word}
			} else {
				p.read.Rest = append(p.read.Rest, Argument{p.at, word})
			}
		default:
			if err := p.flag(word); err != nil {
				return err
			}
		}
	}
	return nil
}

// negative is what argparse takes for a number rather than a flag.
var negative = regexp.MustCompile(`^-(\d+|\d*\.\d+)$`)

// looksLikeFlag is argparse's rule: a dash in front, but neither a negative number nor, unless it is a flag that is known, a word with a blank in it.
func (p *parser) looksLikeFlag(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	head, _, _ := strings.Cut(word, "=")
	if f, _, err := p.find(head, word); f != nil || err != nil {
		return true
	}
	return !negative.MatchString(word) && !strings.Contains(word, " ")
}

// flag reads one flag, and takes the words that are its value.
func (p *parser) flag(word string) error {
	head, inline, hasInline := strings.Cut(word, "=")
	f, off, err := p.find(head, word)
	if err != nil {
		return err
	}
	p.spelling = head
	switch {
	case f == nil:
		p.read.Rest = append(p.read.Rest, Argument{p.at, word})
		return nil
	case f.short(word) != "":
		stem := len(f.short(word))
		p.spelling = word[:stem]
		inline, hasInline = strings.TrimPrefix(word[stem:], "="), len(word) > stem
	case f.IsSwitch() && hasInline:
		return p.fail(f, fmt.Sprintf("ignored explicit argument %s", quote(inline)))
	}
	if f.IsSwitch() {
		p.set(f.Name, space.Bool(!off))
		return nil
	}
	words := []string{inline}
	if !hasInline {
		words = p.take(f)
	}
	if len(words) == 0 && f.Optional {
		p.set(f.Name, space.String(""))
		return nil
	}
	if len(words) == 0 {
		expected := "expected one argument"
		if f.Kind == List {
			expected = "expected at least one argument"
		}
		return p.fail(f, expected)
	}
	if f.Kind == List {
		return p.list(f, words)
	}
	v, problem := p.d.value(*f, words[0])
	if problem != "" {
		return p.fail(f, problem)
	}
	p.set(f.Name, v)
	return nil
}

// list reads the words of a list, each by the kind of its items.
func (p *parser) list(f *Flag, words []string) error {
	for _, word := range words {
		if _, problem := p.d.value(Flag{Name: f.Name, Kind: f.Items, Choices: f.Choices}, word); problem != "" {
			return p.fail(f, problem)
		}
	}
	p.set(f.Name, space.String(joinWords(words)))
	return nil
}

// take removes the words that belong to a flag: one, or for a list all up to the next flag.
func (p *parser) take(f *Flag) []string {
	n := 0
	for n < len(p.args) && p.args[n] != "--" && !p.looksLikeFlag(p.args[n]) && (n == 0 || f.Kind == List) {
		n++
	}
	words := p.args[:n:n]
	p.args = p.args[n:]
	return words
}

// find looks a spelling up as argparse does: exactly, as a dotted key, as an attached short form, then as a prefix of one long name only.
func (p *parser) find(head, word string) (f *Flag, off bool, err error) {
	d := p.d
	name := head
	if d.Underscores && strings.HasPrefix(head, "--") {
		stem, tail, dotted := strings.Cut(head[2:], ".")
		name = "--" + strings.ReplaceAll(stem, "_", "-")
		if dotted {
			name += "." + tail
		}
	}
	if i, ok := d.bySpelling[name]; ok {
		return &d.flags[i], strings.HasPrefix(name, "--no-") && name != "--"+d.flags[i].Name, nil
	}
	if strings.Contains(name, ".") {
		if dotted, ok := d.Flag(name); ok {
			return &dotted, false, nil
		}
	}
	if !strings.HasPrefix(name, "--") {
		for i := range d.flags {
			if d.flags[i].short(word) != "" {
				return &d.flags[i], false, nil
			}
		}
		return nil, false, nil
	}
	return p.byPrefix(name, word)
}

// short is the one-letter form of the flag in front of a word that has its value attached: -O in -O3; empty when it is not written so.
func (f *Flag) short(word string) string {
	if strings.HasPrefix(word, "--") {
		return ""
	}
	if f.Attached != "" && strings.HasPrefix(word, "-"+f.Attached) {
		return "-" + f.Attached
	}
	for _, a := range f.Aliases {
		if len(a) == 2 && strings.HasPrefix(word, a) {
			return a
		}
	}
	return ""
}

func (p *parser) byPrefix(name, word string) (*Flag, bool, error) {
	var matches []string
	for spelling := range p.d.bySpelling {
		if strings.HasPrefix(spelling, name) {
			matches = append(matches, spelling)
		}
	}
	sort.Strings(matches)
	switch {
	case len(matches) == 0 || len(matches) > 1 && p.tolerant:
		return nil, false, nil
	case len(matches) == 1:
		i := p.d.bySpelling[matches[0]]
		return &p.d.flags[i], matches[0] == "--no-"+p.d.flags[i].Name, nil
	default:
		return nil, false, &UsageError{p.d.Program, fmt.Sprintf("ambiguous option: %s could match %s", word, strings.Join(matches, ", ")), bare(name), p.d.Usage, p.at}
	}
}

func (p *parser) fail(f *Flag, problem string) error {
	spellings := "--" + f.Name
	for _, a := range f.Aliases {
		spellings += "/" + a
	}
	return &UsageError{p.d.Program, fmt.Sprintf("argument %s: %s", spellings, problem), f.Name, p.d.Usage, p.at}
}
