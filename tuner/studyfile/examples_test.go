package studyfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"autotune/tuner/studyfile"
)

// TestExamplesParse keeps the shipped specs valid, and their problems makeable.
func TestExamplesParse(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, more...)
	if len(files) < 4 {
		t.Fatalf("only %d examples: %v", len(files), files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := studyfile.Parse(file, text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		p, err := spec.Problem(nil, nil)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if len(p.Baselines) != len(spec.Engines) {
			t.Errorf("%s: %d baselines for %d engines", file, len(p.Baselines), len(spec.Engines))
		}
	}
}
