package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"autotune/space"
)

// CheckDomain tells whether the engine takes every value of a domain for a flag. The error names the first value that it does not take,
// and what is allowed. A flag that the catalog does not know takes anything, and so does default.
func (d *Definition) CheckDomain(flag string, domain space.Domain) error {
	f, known := d.Flag(flag)
	if !known {
		return nil
	}
	for _, v := range telling(domain, len(f.Choices) > 0) {
		if problem := d.refusal(f, v); problem != "" {
			return fmt.Errorf("%s takes no %s for %s: %s", d.Title, spell(v), f.Name, problem)
		}
	}
	return nil
}

// telling are the values of a domain that decide whether all are allowed: for a wide range its ends.
func telling(domain space.Domain, each bool) []space.Value {
	values := append(domain.Listed(), domain.Extra()...)
	lo, hi, _, ok := domain.Range()
	switch {
	case !ok:
	case each && domain.Size() <= 1024:
		for i := range domain.Size() {
			values = append(values, domain.At(i))
		}
	default:
		values = append(values, space.Int(lo), space.Int(hi))
	}
	return values
}

// refusal says what is allowed where the engine would not take the value, else nothing.
func (d *Definition) refusal(f Flag, v space.Value) string {
	if v.IsDefault() || v.Kind() == space.KindNone {
		return ""
	}
	if f.Kind == JSON && strings.Contains(f.Name, ".") {
		return "" // a key that the catalog does not know may be anything
	}
	switch f.Kind {
	case Switch, NegatableSwitch:
		if v.Kind() != space.KindBool {
			return "it is a switch: true, false or default"
		}
	case Int, HumanInt:
		return d.refusedInt(f, v)
	case Float:
		if !v.IsNumber() {
			return "a number" + f.Interval() + " is needed"
		}
		if !f.within(v.AsFloat()) {
			return "a number" + f.Interval() + " is allowed"
		}
	case JSON:
		if d.StrictJSON && !json.Valid([]byte(v.String())) {
			return "one JSON value is needed"
		}
	case List:
		return d.refusedList(f, v)
	default:
		return refusedWord(f, v)
	}
	return ""
}

func (d *Definition) refusedInt(f Flag, v space.Value) string {
	if v.Kind() != space.KindInt {
		read, problem := d.value(f, v.String())
		if v.Kind() == space.KindString && problem == "" {
			return fmt.Sprintf("write %s, so that one value has one spelling", read)
		}
		return "a whole number" + f.Interval() + " is needed"
	}
	if len(f.Choices) > 0 {
		return refusedWord(f, v)
	}
	if !f.within(v.AsFloat()) {
		return "a whole number" + f.Interval() + " is allowed"
	}
	return ""
}

func (d *Definition) refusedList(f Flag, v space.Value) string {
	for _, word := range Words(v.String()) {
		item := Flag{Name: f.Name, Kind: f.Items, Choices: f.Choices}
		if _, problem := d.value(item, word); problem != "" {
			return "words parted by blanks are needed, and " + problem
		}
	}
	return ""
}

func refusedWord(f Flag, v space.Value) string {
	if len(f.Choices) == 0 || f.Open || slices.Contains(f.Choices, v.String()) {
		return ""
	}
	problem := "allowed are " + strings.Join(f.Choices, ", ")
	if near := nearest(v.String(), f.Choices); near != "" {
		problem += " (did you mean " + near + "?)"
	}
	return problem
}

// within tells whether a number lies between the bounds of the flag.
func (f Flag) within(x float64) bool {
	above := x > f.Min || x == f.Min && !f.MinOpen
	below := x < f.Max || x == f.Max && !f.MaxOpen
	return above && below
}

// Interval says the bounds in words, with a blank in front; nothing without bounds.
func (f Flag) Interval() string {
	var parts []string
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	switch {
	case math.IsInf(f.Min, -1):
	case f.MinOpen:
		parts = append(parts, "above "+number(f.Min))
	default:
		parts = append(parts, "from "+number(f.Min))
	}
	switch {
	case math.IsInf(f.Max, 1):
	case f.MaxOpen:
		parts = append(parts, "below "+number(f.Max))
	default:
		parts = append(parts, "up to "+number(f.Max))
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, " and ")
}

// spell writes a value so that a word is told from a number.
func spell(v space.Value) string {
	if v.Kind() == space.KindString {
		return strconv.Quote(v.String())
	}
	return v.String()
}

// nearest is the word that is most like the one asked for, else the shortest that holds it, or "" when none is near.
func nearest(word string, words []string) string {
	if near := nearestSpelling(word, words); near != "" || len(word) < 4 {
		return near
	}
	best := ""
	for _, w := range words {
		if strings.Contains(w, word) && (best == "" || len(w) < len(best) || len(w) == len(best) && w < best) {
			best = w
		}
	}
	return best
}

// nearestSpelling is the word with the fewest edits, of which a third of the letters is the most.
func nearestSpelling(word string, words []string) string {
	best, bestDistance := "", max(2, len(word)/3)+1
	for _, w := range words {
		distance := editDistance(word, w)
		if distance < bestDistance || distance == bestDistance && best != "" && w < best {
			best, bestDistance = w, distance
		}
	}
	return best
}
