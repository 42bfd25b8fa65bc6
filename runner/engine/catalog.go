package engine

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// CatalogVersion names what the catalog was made from; it is stored with a study.
const CatalogVersion = "2026-12 (vLLM main 6adad0876 and 0.32.0, SGLang main d315eb7250)"

//go:embed flags_vllm.tsv
var flagsVLLM string

// keysVLLM are keys inside JSON flags, by their dotted names. A key that is true or false is a word of two choices.
//
//go:embed keys_vllm.tsv
var keysVLLM string

//go:embed notes_vllm.tsv
var notesVLLM string

// Which releases have which flags, and which architectures of models: read_releases.py reads it from the engines' source packages.
var (
	//go:embed releases_vllm.tsv
	releasesVLLM string
	//go:embed releases_sglang.tsv
	releasesSGLang string
	//go:embed architectures_vllm.tsv
	architecturesVLLM string
	//go:embed architectures_sglang.tsv
	architecturesSGLang string
)

//go:embed flags_sglang.tsv
var flagsSGLang string

//go:embed notes_sglang.tsv
var notesSGLang string

// catalog is the explicit list: a new engine is a file and a line here.
var catalog = sync.OnceValue(func() []*Definition {
	vllm := newVLLM(readNotes(append(readFlags(flagsVLLM), readFlags(keysVLLM)...), notesVLLM))
	sglang := newSGLang(readNotes(readFlags(flagsSGLang), notesSGLang))
	return []*Definition{vllm.since(releasesVLLM, architecturesVLLM), sglang.since(releasesSGLang, architecturesSGLang)}
})

// Catalog returns every engine, in the order in which they are shown.
func Catalog() []*Definition { return slices.Clone(catalog()) }

// Find returns the engine of that name.
func Find(name string) (*Definition, bool) {
	for _, d := range catalog() {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// Names lists the engines' names.
func Names() []string {
	var names []string
	for _, d := range catalog() {
		names = append(names, d.Name)
	}
	return names
}

var kinds = map[string]Kind{"switch": Switch, "negatable": NegatableSwitch, "int": Int, "humanint": HumanInt, "float": Float, "text": Text, "json": JSON, "list": List}

// readFlags reads a flag table: name, aliases, kind, default, range, choices, marks. It panics on a bad one: the table is part of the program.
func readFlags(table string) []Flag {
	var flags []Flag
	for n, line := range strings.Split(strings.TrimRight(table, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if n == 0 {
			continue
		}
		if len(cells) != 7 || kinds[cells[2]] == Unknown {
			panic(fmt.Sprintf("flag table, line %d: %q", n+1, line))
		}
		f := Flag{Name: cells[0], Aliases: strings.Fields(cells[1]), Kind: kinds[cells[2]], Default: cells[3],
			Optional: strings.Contains(cells[6], "optional"), Open: strings.Contains(cells[6], "open")}
		if strings.Contains(cells[6], "attached") {
			f.Attached, f.Aliases = bare(cells[1]), nil
		}
		if f.Kind == List {
			f.Items = Text
			switch {
			case strings.Contains(cells[6], "ints"):
				f.Items = Int
			case strings.Contains(cells[6], "floats"):
				f.Items = Float
			}
		}
		if cells[5] != "" {
			f.Choices = strings.Split(cells[5], "|")
		}
		f.Min, f.Max, f.MinOpen, f.MaxOpen = readRange(cells[4])
		flags = append(flags, f)
	}
	return flags
}

// readRange reads an interval in the usual notation: (0, 1], [1, inf); no text is no bound.
func readRange(text string) (lo, hi float64, loOpen, hiOpen bool) {
	if text == "" {
		return math.Inf(-1), math.Inf(1), false, false
	}
	a, b, _ := strings.Cut(strings.Trim(text, "[]()"), ",")
	lo, errLo := strconv.ParseFloat(strings.TrimSpace(a), 64)
	hi, errHi := strconv.ParseFloat(strings.TrimSpace(b), 64)
	if errLo != nil || errHi != nil {
		panic("flag table: range " + text)
	}
	return lo, hi, strings.HasPrefix(text, "("), strings.HasSuffix(text, ")") && !math.IsInf(hi, 1)
}
