package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Presence says whether a release has something, as far as the releases that were read can tell.
type Presence uint8

// What is known of a release. The zero Presence is no answer: the release was not read, and those around it differ.
const (
	NotKnown Presence = iota
	Present
	Absent
)

// releases are the releases of an engine whose source was read, oldest first, with what each of them has.
type releases struct {
	read []string          // 0.9.0, 0.10.0
	has  map[string][]bool // name to one answer for each release
}

// readReleases reads a table: a line that lists the releases, then a line for each name with the spans of releases that have it, as 0.6.0-0.9.0 or, up to the last, 0.11.0-. It
// panics on a bad table, which is part of the program.
func readReleases(table string) releases {
	r := releases{has: map[string][]bool{}}
	for n, line := range strings.Split(strings.TrimRight(table, "\n"), "\n") {
		name, rest, ok := strings.Cut(line, "\t")
		if !ok {
			panic(fmt.Sprintf("table of releases, line %d: %q", n+1, line))
		}
		if n == 0 {
			r.read = strings.Fields(rest)
			continue
		}
		has := make([]bool, len(r.read))
		for _, span := range strings.Fields(rest) {
			from, to, _ := strings.Cut(span, "-")
			i, j := slices.Index(r.read, from), len(r.read)-1
			if to != "" {
				j = slices.Index(r.read, to)
			}
			if i < 0 || j < i {
				panic(fmt.Sprintf("table of releases, line %d: span %q", n+1, span))
			}
			for ; i <= j; i++ {
				has[i] = true
			}
		}
		r.has[name] = has
	}
	return r
}

// in tells whether a release has a name. A release between two that were read is like both where they agree.
func (r releases) in(name, version string) Presence {
	v, ok := versionNumbers(version)
	has, known := r.has[name]
	if !ok || !known || len(r.read) == 0 {
		return NotKnown
	}
	before, after := -1, -1
	for i, other := range r.read {
		w, _ := versionNumbers(other)
		if slices.Compare(w, v) <= 0 {
			before = i
		}
		if slices.Compare(w, v) >= 0 && after < 0 {
			after = i
		}
	}
	switch {
	case before < 0 && !has[after]:
		return Absent // it came later still
	case before < 0 || after < 0 || has[before] != has[after]:
		return NotKnown
	case has[before]:
		return Present
	}
	return Absent
}

// span says in words which of the releases have a name; empty where all have it, or nothing is known.
func (r releases) span(name string) string {
	has, known := r.has[name]
	if !known || !slices.Contains(has, false) {
		return ""
	}
	var parts []string
	for i := 0; i < len(has); i++ {
		if !has[i] {
			continue
		}
		from := i
		for i+1 < len(has) && has[i+1] {
			i++
		}
		switch {
		case i == len(has)-1:
			parts = append(parts, fmt.Sprintf("since %s (%s lacks it)", r.read[from], r.read[from-1]))
		case from == 0:
			parts = append(parts, fmt.Sprintf("up to %s, gone in %s", r.read[i], r.read[i+1]))
		default:
			parts = append(parts, fmt.Sprintf("from %s to %s, gone in %s", r.read[from], r.read[i], r.read[i+1]))
		}
	}
	return strings.Join(parts, "; ")
}

// since adds what releases have: their flags, and the architectures of models that they serve.
func (d *Definition) since(flags, architectures string) *Definition {
	d.history, d.served = readReleases(flags), readReleases(architectures)
	for i := range d.flags {
		d.flags[i].Since = d.history.span(d.flags[i].Name)
	}
	return d
}

// ReleasesRead are the releases whose source was read for flags and architectures, oldest first.
func (d *Definition) ReleasesRead() []string { return slices.Clone(d.history.read) }

// InRelease tells whether a release has a flag; of a key of a JSON flag, whether it has that flag. version is the engine's, as 0.17.1.
func (d *Definition) InRelease(flag, version string) Presence {
	name, _, _ := strings.Cut(d.canonical(flag), ".")
	return d.history.in(name, version)
}

// FlagReleases says in words which of the releases that were read have a flag, also one that the catalog does not have any more; empty for a flag of which
// nothing is known.
func (d *Definition) FlagReleases(flag string) string {
	name, _, _ := strings.Cut(d.canonical(flag), ".")
	_, known := d.history.has[name]
	_, listed := d.Flag(flag)
	first, last := d.history.read[0], d.history.read[len(d.history.read)-1]
	switch span := d.history.span(name); {
	case span != "":
		return span
	case known:
		return fmt.Sprintf("all that were read, %s to %s", first, last)
	case listed:
		return fmt.Sprintf("none of those that were read, %s to %s", first, last)
	}
	return ""
}

// versionNumbers are the numbers that a release's name begins with: 0.5.15 of v0.5.15.post1+cu130. The second result is false where there are none.
func versionNumbers(version string) ([]int, bool) {
	var numbers []int
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".") {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		numbers = append(numbers, n)
		if digits != part {
			break
		}
	}
	known := len(numbers) > 1
	for known && len(numbers) < 3 {
		numbers = append(numbers, 0)
	}
	return numbers, known
}
