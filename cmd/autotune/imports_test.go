package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// importRules is the house's one rule as a table: which packages of ours a folder may import. The longest matching folder counts.
var importRules = []struct {
	folder string
	may    []string // folders; a package may always import its own children
	rule   string
}{
	{"space", nil, "space is the floor: it imports nothing of ours"},
	{"tuner", []string{"space", "tuner/workload", "tuner/stat", "tuner/memory", "tuner/law", "tuner/metric", "tuner/secret"}, "tuner imports space and its own leaves"},
	{"tuner/memory", nil, "tuner/memory is a leaf"},
	{"tuner/metric", nil, "tuner/metric is a leaf"},
	{"tuner/secret", nil, "tuner/secret is a leaf"},
	{"tuner/workload", []string{"tuner/metric"}, "tuner/workload is a leaf"},
	{"tuner/law", []string{"space", "tuner/metric", "tuner/workload"}, "tuner/law is a leaf"},
	{"tuner/studyfile", []string{"space", "tuner"}, "tuner/studyfile sees the domain, no adapter"},
	{"tuner/report", []string{"space", "tuner"}, "tuner/report sees the domain, no adapter"},
	{"search", []string{"space", "tuner"}, "search is an adapter: it never imports runner or store"},
	{"search/searchbench", []string{"space", "tuner", "search"}, "search/searchbench measures samplers: it sees the domain and search, no other adapter"},
	{"runner", []string{"space", "tuner", "runner"}, "runner is an adapter: it never imports search or store"},
	{"store", []string{"space", "tuner", "store"}, "store is an adapter: it never imports search or runner"},
	{"cmd", []string{""}, "cmd sees everything"},
}

// doors says through which folders alone an outside module may enter.
var doors = map[string][]string{
	"github.com/spf13/cobra":          {"cmd"},
	"github.com/mattn/go-sqlite3":     {"store"},
	"github.com/goccy/go-yaml":        {"tuner/studyfile", "runner/deploy"},
	"github.com/c-bata/goptuna":       {"search"},
	"mvdan.cc/sh/v3":                  {"runner/deploy"},
	"gonum.org/v1/gonum":              {"search", "tuner/stat"},
	"github.com/klauspost/compress":   {"tuner/metric"},
	"golang.org/x/term":               {"cmd"},
	"github.com/google/go-cmp":        {}, // tests only
	"github.com/rogpeppe/go-internal": {},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "autotune/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func under(path, folder string) bool {
	return folder == "" || path == folder || strings.HasPrefix(path, folder+"/")
}

// breaks names the rule that an import breaks, or "".
func breaks(from, to string) string {
	if to == from || under(to, from) && from != "tuner" {
		return ""
	}
	best := -1
	for i, r := range importRules {
		if under(from, r.folder) && (best < 0 || len(r.folder) > len(importRules[best].folder)) {
			best = i
		}
	}
	if best < 0 {
		return "every folder has a row in the import table"
	}
	r := importRules[best]
	if slices.ContainsFunc(r.may, func(folder string) bool {
		return to == folder || under(to, folder) && folder != "tuner" || folder == "tuner" && leaf(to)
	}) {
		return ""
	}
	return r.rule
}

func leaf(path string) bool {
	return slices.Contains([]string{"tuner/metric", "tuner/workload", "tuner/law", "tuner/stat", "tuner/memory", "tuner/secret"}, path)
}

func TestImports(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < 10 {
		t.Fatalf("only %d packages listed", len(packages))
	}
	for _, p := range packages {
		from := strings.TrimPrefix(p.ImportPath, "autotune/")
		for _, imported := range p.Imports {
			if to, ours := strings.CutPrefix(imported, "autotune/"); ours {
				if rule := breaks(from, to); rule != "" {
					t.Errorf("%s imports %s: %s", from, to, rule)
				}
				continue
			}
			for module, folders := range doors {
				if under(imported, module) && !slices.ContainsFunc(folders, func(f string) bool { return under(from, f) }) {
					t.Errorf("%s imports %s: that module enters only through %v", from, imported, folders)
				}
			}
		}
	}
}

func TestImportRulesBite(t *testing.T) {
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"space", "tuner", false},
		{"search", "tuner", true},
		{"search", "store", false},
		{"runner/load", "search", false},
		{"runner/load", "tuner/metric", true},
		{"runner/load", "tuner/studyfile", false},
		{"tuner", "runner", false},
		{"tuner/metric", "tuner", false},
		{"tuner", "tuner/studyfile", false},
		{"cmd/autotune", "store", true},
		{"elsewhere", "space", false},
	} {
		if got := breaks(c.from, c.to) == ""; got != c.allowed {
			t.Errorf("%s imports %s: allowed %v, want %v", c.from, c.to, got, c.allowed)
		}
	}
}
