package engine

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed rules.tsv
var rulesTable string

// The kinds of rules between flags. These words appear in JSON and never change.
const (
	RuleForbids  = "forbids"  // the engine refuses it, or cannot live with it: never launched
	RuleResolves = "resolves" // the engine makes something else of it: two spellings of one configuration
	RuleWarns    = "warns"    // it runs, and is not what it seems
)

// Rule is a rule between flags as people read it.
type Rule struct {
	ID     string   `json:"id"`
	Kind   string   `json:"kind"`
	Reason string   `json:"reason"` // the end of a sentence that the engine's name begins
	Flags  []string `json:"flags"`  // that it reads or changes
	Source string   `json:"source"` // what it is known from
}

// ruleNotes are the flags and the source of each rule, by id.
var ruleNotes = sync.OnceValue(func() map[string]Rule {
	notes := map[string]Rule{}
	for n, line := range strings.Split(strings.TrimRight(rulesTable, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != 3 || cells[2] == "" {
			panic(fmt.Sprintf("table of rules, line %d: %q", n+1, line))
		}
		notes[cells[0]] = Rule{ID: cells[0], Flags: strings.Fields(cells[1]), Source: cells[2]}
	}
	return notes
})

// RuleBook lists every rule of the engine: what it refuses, what it makes something else of, what is worth a word.
func (d *Definition) RuleBook() []Rule {
	var book []Rule
	add := func(id, kind, reason string) {
		r := ruleNotes()[id]
		r.ID, r.Kind, r.Reason = id, kind, reason
		book = append(book, r)
	}
	constraints, rewrites := d.Rules(Host{}, Model{}, 0)
	for _, c := range constraints {
		add(c.ID, RuleForbids, c.Reason)
	}
	for _, r := range rewrites {
		add(r.ID, RuleResolves, r.Reason)
	}
	for _, w := range d.warnings {
		add(d.Name+"_"+w.id, RuleWarns, w.text)
	}
	return book
}

// Touches tells whether the rule reads or changes a flag, or a key inside it.
func (r Rule) Touches(flag string) bool {
	for _, f := range r.Flags {
		if f == flag || strings.HasPrefix(flag, f+".") || strings.HasPrefix(f, flag+".") {
			return true
		}
	}
	return false
}
