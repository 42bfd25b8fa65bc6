package engine

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Installed is the engine as the one that is installed says of itself: flags that it lacks are gone, new ones are there with what its help shows
// of them, and defaults and choices are its own. What help cannot tell (ranges, rules, hints) stays the catalog's.
func (d *Definition) Installed(h Help) *Definition {
	at := map[string]HelpFlag{}
	for _, f := range h.Flags {
		for _, s := range f.Spellings {
			at[s] = f
		}
	}
	e := *d
	e.installed, e.flags = true, nil
	if h.Version != "" {
		e.Version = h.Version + ", as installed"
	}
	seen := map[string]bool{}
	for _, f := range d.flags {
		if printed, ok := at["--"+f.Name]; ok {
			f = d.asPrinted(f, printed)
			seen[printed.name()] = true
		} else if f.Name != d.ModelFlag && !onlyPrefix("--"+f.Name, at) {
			continue
		}
		e.flags = append(e.flags, f)
	}
	for _, printed := range h.Flags {
		if name := printed.name(); !seen[name] && strings.HasPrefix(printed.Spellings[0], "-") {
			seen[name] = true
			e.flags = append(e.flags, d.asPrinted(newFlag(name, printed), printed))
		}
	}
	for _, k := range d.keys {
		head, _, _ := strings.Cut(k.Name, ".")
		if _, ok := at["--"+head]; ok {
			e.flags = append(e.flags, k)
		}
	}
	return e.index()
}

// IsInstalled tells whether the flags are those of an installed engine: one that is not among them does not exist.
func (d *Definition) IsInstalled() bool { return d.installed }

// onlyPrefix tells whether argparse would take a spelling for the beginning of one flag: an older name, mostly.
func onlyPrefix(spelling string, at map[string]HelpFlag) bool {
	names := map[string]bool{}
	for s, f := range at {
		if strings.HasPrefix(s, spelling) {
			names[f.name()] = true
		}
	}
	return len(names) == 1
}

// newFlag is what help shows of a flag that the catalog does not know.
func newFlag(name string, printed HelpFlag) Flag {
	f := Flag{Name: name, Kind: Text, Items: Text, Min: math.Inf(-1), Max: math.Inf(1)}
	switch {
	case printed.Takes == TakesNone && printed.negates():
		f.Kind = NegatableSwitch
	case printed.Takes == TakesNone:
		f.Kind = Switch
	case printed.Takes == TakesMany:
		f.Kind = List
	case isNumber(printed.Default):
		f.Kind = Float // whether it must be whole is not printed
	}
	f.Optional = printed.Takes == TakesMaybe
	return f
}

func isNumber(text string) bool { _, err := strconv.ParseFloat(text, 64); return err == nil }

// asPrinted gives a flag the spellings, choices and default that the installed engine prints.
func (d *Definition) asPrinted(f Flag, printed HelpFlag) Flag {
	fresh := newFlag(f.Name, printed)
	if f.IsSwitch() != fresh.IsSwitch() || f.IsSwitch() {
		f.Kind = fresh.Kind
	}
	spellings := map[string]bool{}
	for _, s := range slices.Concat(f.Aliases, printed.Spellings) {
		if s != "--"+f.Name && s != "--no-"+f.Name && bare(s) != f.Attached {
			spellings[s] = slices.Contains(printed.Spellings, s)
		}
	}
	maps.DeleteFunc(spellings, func(_ string, printed bool) bool { return !printed })
	f.Aliases = slices.Sorted(maps.Keys(spellings))
	if len(printed.Choices) > 0 && !f.Open {
		f.Choices = slices.Clone(printed.Choices)
	}
	if printed.Defaults {
		f.Default = d.printedDefault(f, printed.Default)
	}
	return f
}

// enumPrefix is how Python prints a member of an enumeration: MambaBackendEnum.TRITON.
var enumPrefix = regexp.MustCompile(`^[A-Z][A-Za-z]*\.`)

// printedDefault is a default as the catalog writes it; what cannot be read as a value of the flag is left to the engine.
func (d *Definition) printedDefault(f Flag, text string) string {
	switch {
	case f.Kind == JSON || f.Kind == List || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{"):
		return ""
	case f.IsSwitch():
		return strings.ToLower(text)
	}
	text = enumPrefix.ReplaceAllString(text, "")
	if v, problem := d.value(f, text); problem != "" || v.String() == "" {
		return ""
	}
	return text
}
