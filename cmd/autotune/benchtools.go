package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"autotune/runner/bench"
	"autotune/tuner/studyfile"
)

type benchToolsOptions struct{ json bool }

func newBenchTools(w *world) *cobra.Command {
	var o benchToolsOptions
	cmd := &cobra.Command{
		Use: "tools SPEC...", Short: "Print which tool can send which workload of specs, and why not",
		Long: `Print a table in Markdown: for each workload of the specs and each benchmark tool whether it can send it, and below what a tool cannot do, what it can, and
in what it sends a workload otherwise than the built-in load generator. It needs no server, no tool and no dataset's file.

With --json: a list of spec, workload, tool, sends (a truth value), lacks (key, problem, allowed) and notes.` + exitStatuses(statusDone, statusUsage),
		Example: "  autotune bench tools glm.yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return trying(usage("no spec is given"), "autotune bench tools SPEC; autotune init writes one")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return runBenchTools(w, args, o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print it as JSON")
	return cmd
}

// sendable says whether a tool can send a workload.
type sendable struct {
	Spec     string     `json:"spec"`
	Workload string     `json:"workload"`
	Tool     string     `json:"tool"`
	Sends    bool       `json:"sends"`
	Lacks    []lackView `json:"lacks"`
	Notes    []string   `json:"notes,omitempty"`
}

func runBenchTools(w *world, paths []string, o benchToolsOptions) error {
	var all []sendable
	for _, path := range paths {
		spec, err := readSpec(path, "")
		if err != nil {
			return err
		}
		all = append(all, sendables(filepath.Base(path), spec)...)
	}
	if o.json {
		return printJSON(w.out, all)
	}
	_, err := io.WriteString(w.out, toolTable(all)+toolLacks(all))
	return err
}

// sendables asks every tool for every workload of a spec, the built-in load generator first: it sends whatever a spec can say.
func sendables(source string, spec *studyfile.Spec) []sendable {
	var all []sendable
	for _, t := range spec.Traffic {
		all = append(all, sendable{Spec: source, Workload: t.Name, Tool: studyfile.Builtin, Sends: true, Lacks: viewLacks(nil)})
		for _, tool := range bench.Tools() {
			lacks := tool.Lacks(t.Spec)
			s := sendable{Spec: source, Workload: t.Name, Tool: tool.Name, Sends: len(lacks) == 0, Lacks: viewLacks(lacks)}
			if s.Sends {
				s.Notes = tool.Notes(t.Spec)
			}
			all = append(all, s)
		}
	}
	return all
}

// toolTable is a row a workload, a column a tool.
func toolTable(all []sendable) string {
	tools := append([]string{studyfile.Builtin}, bench.Names()...)
	var b strings.Builder
	fmt.Fprintf(&b, "| workload | %s |\n|---%s|\n", strings.Join(tools, " | "), strings.Repeat("|---", len(tools)))
	for row := range slices.Chunk(all, len(tools)) {
		fmt.Fprintf(&b, "| %s of %s |", row[0].Workload, row[0].Spec)
		for _, s := range row {
			fmt.Fprintf(&b, " %s |", s.verdict())
		}
		b.WriteString("\n")
	}
	return b.String()
}

// verdict is a cell: what it cannot do is named by the workload's key.
func (s sendable) verdict() string {
	if s.Sends {
		return "runs"
	}
	var keys []string
	for _, l := range s.Lacks {
		keys = append(keys, l.Key)
	}
	return "no: " + strings.Join(keys, ", ")
}

// toolLacks lists each thing that a tool cannot do, or does otherwise, once, with the workloads that it is about.
func toolLacks(all []sendable) string {
	var order []string
	about := map[string][]string{}
	add := func(text, workload string) {
		if about[text] == nil {
			order = append(order, text)
		}
		if !slices.Contains(about[text], workload) {
			about[text] = append(about[text], workload)
		}
	}
	for _, s := range all {
		for _, l := range s.Lacks {
			add(fmt.Sprintf("%s: %s (allowed: %s)", l.Key, l.Problem, l.Allowed), s.Workload)
		}
	}
	for _, s := range all {
		for _, note := range s.Notes {
			add(note, s.Workload)
		}
	}
	var b strings.Builder
	for i, text := range order {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "- %s: %s.\n", strings.Join(about[text], ", "), text)
	}
	return b.String()
}
