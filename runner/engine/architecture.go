package engine

import (
	"fmt"
	"slices"
)

// Serves tells whether a release of the engine has code of its own for an architecture of models (the first of config.json's architectures). An empty version is the
// newest release that was read. Of a release newer than those, what the newest has is taken to be still there.
func (d *Definition) Serves(architecture, version string) Presence {
	newest := d.served.read[len(d.served.read)-1]
	if version == "" {
		version = newest
	}
	v, ok := versionNumbers(version)
	if architecture == "" || !ok {
		return NotKnown
	}
	last, _ := versionNumbers(newest)
	has, known := d.served.has[architecture]
	switch later := slices.Compare(v, last) > 0; {
	case !known && later, later && !has[len(has)-1]:
		return NotKnown
	case !known:
		return Absent
	case later:
		return Present
	}
	return d.served.in(architecture, version)
}

// LacksArchitecture is what to tell of a release that has no code for an architecture, as a sentence; empty where it has, or where that is not known.
func (d *Definition) LacksArchitecture(architecture, version string) string {
	if d.Serves(architecture, version) != Absent {
		return ""
	}
	if version == "" {
		version = "up to " + d.served.read[len(d.served.read)-1]
	}
	which := "no release that was read has any"
	if span := d.served.span(architecture); span != "" {
		which = "releases that have it: " + span
	}
	return fmt.Sprintf("%s %s has no code of its own for %s (%s): it runs the model through the Transformers library where that can, else refuses it", d.Title, version, architecture, which)
}
