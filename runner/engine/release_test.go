package engine

import (
	"strings"
	"testing"
)

func TestInAReleaseBetweenTwoThatAgree(t *testing.T) {
	r := readReleases("releases\t0.9.0 0.10.0 0.12.0 0.13.0\nold\t0.9.0-0.10.0\nnew\t0.12.0-\nalways\t0.9.0-\ngap\t0.9.0-0.9.0 0.12.0-0.12.0")
	for _, c := range []struct {
		name, version string
		want          Presence
	}{
		{"new", "0.12.0", Present}, {"new", "v0.12.1+cu130", Present}, {"new", "0.10", Absent}, {"new", "0.10.2", NotKnown}, {"new", "0.8.0", Absent},
		{"new", "0.14.0", NotKnown}, {"old", "0.12.0", Absent}, {"old", "0.9.1", Present}, {"always", "0.8.0", NotKnown}, {"always", "0.12.5rc1", Present},
		{"gap", "0.10.0", Absent}, {"other", "0.10.0", NotKnown}, {"new", "latest", NotKnown}, {"new", "", NotKnown},
	} {
		if got := r.in(c.name, c.version); got != c.want {
			t.Errorf("%s in %s: %d, want %d", c.name, c.version, got, c.want)
		}
	}
	for name, want := range map[string]string{"always": "", "new": "since 0.12.0 (0.10.0 lacks it)", "old": "up to 0.10.0, gone in 0.12.0", "other": "",
		"gap": "up to 0.9.0, gone in 0.10.0; from 0.12.0 to 0.12.0, gone in 0.13.0"} {
		if got := r.span(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What is asserted here was read by hand in the source of the releases.
func TestReleasesOfWellKnownFlags(t *testing.T) {
	for _, c := range []struct {
		engine, flag, version string
		want                  Presence
	}{
		{"vllm", "tensor-parallel-size", "0.9.0", Present},
		{"vllm", "swap-space", "0.10.0", Present}, {"vllm", "swap-space", "0.34.0", Absent},
		{"vllm", "performance-mode", "0.10.0", Absent}, {"vllm", "performance-mode", "0.17.1", Present},
		{"sglang", "attn-dp-size", "0.5.14", Absent},
		{"sglang", "enable-dp-attention", "0.5.9", Present},
		{"sglang", "speculative-algorithm", "0.5.9", Present},
	} {
		d, _ := Find(c.engine)
		if got := d.InRelease(c.flag, c.version); got != c.want {
			t.Errorf("%s %s in %s: %d, want %d", c.engine, c.flag, c.version, got, c.want)
		}
	}
}

// Every flag of the catalog that matters stands in the table of releases: none is without a history.
func TestEveryTuningFlagHasAHistory(t *testing.T) {
	for _, d := range Catalog() {
		for _, f := range d.Tuning() {
			name, _, _ := strings.Cut(f.Name, ".")
			if _, known := d.history.has[name]; !known {
				t.Errorf("%s %s: no release that was read has it", d.Name, f.Name)
			}
		}
	}
}
