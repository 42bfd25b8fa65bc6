package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"autotune/runner/bench"
	"autotune/runner/deploy"
	"autotune/runner/load"
)

type benchCommandOptions struct {
	loadOptions
	tokenizer, folder string
	program           []string
}

func newBenchCommand(w *world) *cobra.Command {
	var o benchCommandOptions
	cmd := &cobra.Command{
		Use: "command TOOL URL --workload FILE|{...} --model NAME", Short: "Print the command line with which a tool sends a workload, or what it cannot do of it",
		Long: `Print the command line with which a benchmark tool sends a workload at a server that is already running: the one that a trial with bench: {tool: TOOL} runs.
It is one line for a shell, and is not run. The tool leaves its result in --folder, under the name that "autotune bench read" wants. For guidellm and aiperf, which
do not read the file of ShareGPT, the requests are written into that folder in their format.

TOOL is ` + strings.Join(bench.Names(), ", ") + `. The workload is given as for "autotune load". With --json: tool, argv, result (the file), lacks (key, problem, allowed).` +
			exitStatuses("0    printed", "1    the tool cannot send this workload: what it lacks is printed", statusUsage),
		Example: "  autotune bench command vllm-bench http://localhost:8000 --model Qwen/Qwen3-8B --workload '" + inlineExample + "'",
		Args:    exactArgs(2, "a tool and the server's address"),
		RunE:    func(_ *cobra.Command, args []string) error { return runBenchCommand(w, args[0], args[1], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.workload, "workload", "", "the workload: {...}, or a file with one, or a spec")
	f.StringVar(&o.name, "name", "", "which of a spec's workloads")
	f.StringVar(&o.model, "model", "", "the served name (needed)")
	f.StringVar(&o.tokenizer, "tokenizer", "", "the checkpoint whose tokenizer counts the prompts: a name or a folder (default: the served name)")
	f.StringVar(&o.folder, "folder", ".", "where the tool leaves its result")
	f.StringSliceVar(&o.program, "program", nil, "what starts the tool, as words with commas between (default: its own name)")
	f.Uint64Var(&o.seed, "seed", 0, "of the prompts' content")
	f.BoolVar(&o.json, "json", false, "print it as JSON")
	return cmd
}

// lackView is what a tool cannot do, as JSON.
type lackView struct {
	Key     string `json:"key"`
	Problem string `json:"problem"`
	Allowed string `json:"allowed"`
}

func runBenchCommand(w *world, name, address string, o benchCommandOptions) error {
	tool, err := findTool(name)
	if err != nil {
		return err
	}
	url, err := serverURL(address)
	if err != nil {
		return err
	}
	if o.model == "" {
		return trying(usage("--model is missing"), "--model NAME, as the server lists it")
	}
	if o.tokenizer == "" {
		o.tokenizer = o.model
	}
	var options load.Options
	if err := readWorkload(o.loadOptions, &options); err != nil {
		return err
	}
	job := bench.Job{Spec: options.Spec, Path: datasetPath(o.workload, options.Spec.Path), URL: url, Model: o.model, Tokenizer: o.tokenizer, Folder: o.folder, Seed: o.seed}
	lacks := tool.Lacks(job.Spec)
	var argv []string
	if len(lacks) == 0 {
		if argv, err = tool.Command(job); err != nil {
			return usage("%w", err)
		}
		argv = tool.Replace(argv, o.program)
		if err := prepareTool(w, tool, job, options); err != nil {
			return err
		}
	}
	if o.json {
		err = printJSON(w.out, map[string]any{"tool": tool.Name, "argv": argv, "result": tool.Result(job), "lacks": viewLacks(lacks)})
	} else if len(lacks) == 0 {
		_, err = io.WriteString(w.out, deploy.ShellLine(argv)+"\n")
	}
	if err != nil || len(lacks) == 0 {
		return err
	}
	return trying(&exitError{code: exitFailed, err: lacks[0]}, "%s", lacks[0].Allowed)
}

// prepareTool writes the file of requests that the command line names, where the tool does not read the dataset's own.
func prepareTool(w *world, tool bench.Tool, job bench.Job, options load.Options) error {
	if !tool.Rewrites(job.Spec) {
		return nil
	}
	requests, err := options.Spec.Expand(options.Rows)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if _, err := tool.Prepare(job, requests); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.err, "%s: %d requests are written to it, in the format of %s\n", tool.Rows(job), len(requests), tool.Title)
	return err
}

func viewLacks(lacks []bench.Lack) []lackView {
	views := []lackView{}
	for _, l := range lacks {
		views = append(views, lackView(l))
	}
	return views
}

// datasetPath is where a workload's file lies: it is seen from the file that holds the workload.
func datasetPath(workload, path string) string {
	if path == "" || filepath.IsAbs(path) || strings.HasPrefix(strings.TrimSpace(workload), "{") {
		return path
	}
	return filepath.Join(filepath.Dir(workload), path)
}
