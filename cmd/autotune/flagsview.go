package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"autotune/runner/engine"
)

// flagView is a flag for scripts. Its JSON keys are documented and stay.
type flagView struct {
	Name     string        `json:"name"`
	Aliases  []string      `json:"aliases,omitempty"`
	Kind     string        `json:"kind"`
	Items    string        `json:"items,omitempty"` // of a list
	Default  string        `json:"default,omitempty"`
	Choices  []string      `json:"choices,omitempty"`
	Open     bool          `json:"open,omitempty"` // the parser lets others than the choices pass
	Min      *float64      `json:"min,omitempty"`
	Max      *float64      `json:"max,omitempty"`
	Optional bool          `json:"optional,omitempty"`
	Hint     string        `json:"hint,omitempty"`
	Memory   *memoryView   `json:"memory,omitempty"`
	Since    string        `json:"since,omitempty"`
	Rules    []engine.Rule `json:"rules,omitempty"`
}

type memoryView struct {
	Takes float64 `json:"takes,omitempty"`
	Frees bool    `json:"frees,omitempty"`
}

func viewFlag(d *engine.Definition, f engine.Flag) flagView {
	v := flagView{Name: f.Name, Aliases: f.Aliases, Kind: f.Kind.String(), Default: f.Default, Choices: f.Choices, Open: f.Open, Optional: f.Optional, Hint: f.Help, Since: f.Since}
	if f.Kind == engine.NegatableSwitch {
		v.Aliases = append(v.Aliases[:len(v.Aliases):len(v.Aliases)], "--no-"+f.Name)
	}
	if f.Attached != "" {
		v.Aliases = append(v.Aliases, "-"+f.Attached)
	}
	if f.Kind == engine.List {
		v.Items = f.Items.String()
	}
	if !math.IsInf(f.Min, -1) {
		v.Min = &f.Min
	}
	if !math.IsInf(f.Max, 1) {
		v.Max = &f.Max
	}
	if f.Frees || f.Hungry > 0 {
		v.Memory = &memoryView{Takes: f.Hungry, Frees: f.Frees}
	}
	for _, r := range d.RuleBook() {
		if r.Touches(f.Name) {
			v.Rules = append(v.Rules, r)
		}
	}
	return v
}

// takes says in a few words what values a flag has.
func takes(f engine.Flag) string {
	switch {
	case f.IsSwitch():
		return "switch"
	case len(f.Choices) > 0:
		return strings.Join(f.Choices, "|") + map[bool]string{true: "|..."}[f.Open]
	case f.Kind == engine.List:
		return "list of " + map[engine.Kind]string{engine.Int: "whole numbers", engine.Float: "numbers"}[f.Items] + map[bool]string{true: "words"}[f.Items == engine.Text]
	case f.Kind == engine.Int, f.Kind == engine.HumanInt:
		return "whole number" + f.Interval()
	case f.Kind == engine.Float:
		return "number" + f.Interval()
	case f.Kind == engine.JSON:
		return "JSON"
	}
	return "word"
}

// shownDefault is a flag's default for people: what it is, or that the engine finds it out or leaves it unset.
func shownDefault(f engine.Flag) string {
	switch {
	case f.Default == "":
		return "-"
	case f.Default == "false" && f.IsSwitch():
		return "off"
	case f.Default == "true" && f.IsSwitch():
		return "on"
	}
	return f.Default
}

// Widths of the columns of the list, in characters; the hint has the rest of the line, and goes on in the next one.
const (
	takesWidth   = 26
	defaultWidth = 10
	hintLeast    = 40
)

// printFlags lists flags in columns. few says that flags without a hint are left out.
func printFlags(out io.Writer, d *engine.Definition, flags []engine.Flag, width int, few bool) error {
	names := len("flag")
	for _, f := range flags {
		names = max(names, min(len(f.Name), 40))
	}
	hint := max(hintLeast, width-names-takesWidth-defaultWidth-6)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%-*s  %-*s  %-*s  %s\n", d.Title, d.Version, names, "flag", takesWidth, "takes", defaultWidth, "default", "what it trades")
	for _, f := range flags {
		line := fmt.Sprintf("%-*s  %-*s  %-*s", names, f.Name, takesWidth, clip(takes(f), takesWidth), defaultWidth, clip(shownDefault(f), defaultWidth))
		for i, part := range wrap(f.Help, hint) {
			if i > 0 {
				line = strings.Repeat(" ", names+takesWidth+defaultWidth+4)
			}
			fmt.Fprintln(&b, strings.TrimRight(line+"  "+part, " "))
		}
	}
	fmt.Fprintf(&b, "\n%d flags; default -: unset, or found out by the engine when it starts. autotune flags %s FLAG shows one with its rules", len(flags), d.Name)
	if few {
		fmt.Fprintf(&b, ", --all the rest")
	}
	fmt.Fprintln(&b, ".")
	_, err := io.WriteString(out, b.String())
	return err
}

// wrap breaks a text into lines of so many characters, at blanks; always one line at least.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

func describeFlag(d *engine.Definition, f engine.Flag, v flagView) string {
	var b strings.Builder
	row := func(name, text string) {
		for i, line := range wrap(text, 110) {
			if line == "" {
				return
			}
			fmt.Fprintf(&b, "%-9s %s\n", map[bool]string{true: name}[i == 0], line)
		}
	}
	row("Flag", "--"+f.Name+" of "+d.Title+" "+d.Version)
	row("Spelled", strings.Join(v.Aliases, ", "))
	row("Takes", strings.ReplaceAll(takes(f), "|", " | "))
	if f.Default == "" {
		row("Default", "unset, or found out by the engine when it starts")
	} else {
		row("Default", shownDefault(f))
	}
	row("Trades", f.Help)
	switch {
	case f.Frees:
		row("Memory", "set, or raised, it leaves GPU memory free")
	case f.Hungry > 0:
		row("Memory", fmt.Sprintf("set, or raised, it takes GPU memory (weight %g of 1)", f.Hungry))
	}
	row("Releases", d.FlagReleases(f.Name))
	for _, r := range v.Rules {
		fmt.Fprintln(&b)
		row("Rule", r.ID+": "+r.Kind)
		row("", d.Title+" "+r.Reason)
		row("", "touches "+strings.Join(r.Flags, ", "))
		row("", "known from: "+r.Source)
	}
	return b.String()
}
