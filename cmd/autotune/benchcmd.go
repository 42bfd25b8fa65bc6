package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"autotune/runner/bench"
	"autotune/tuner/metric"
	"autotune/tuner/studyfile"
)

func newBench(w *world) *cobra.Command {
	cmd := &cobra.Command{
		Use: "bench", Short: "Other benchmark tools: read what they have measured, print their command lines and which workloads they can send",
		Long: `The commands below bench have to do with the benchmark tools that people quote: ` + strings.Join(bench.Names(), ", ") + `.` +
			exitStatuses(statusDone, statusUsage),
		Example: "  autotune bench read vllm-bench result.json --requests 1000 --output-tokens 128",
		Args:    exactArgs(0, "one of its commands: read, command, tools"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchRead(w), newBenchCommand(w), newBenchTools(w))
	return cmd
}

type benchReadOptions struct {
	asked bench.Asked
	json  bool
}

func newBenchRead(w *world) *cobra.Command {
	var o benchReadOptions
	cmd := &cobra.Command{
		Use: "read TOOL FILE", Short: "Read a tool's result file: its metrics, or why it is no measurement",
		Long: `Read a benchmark tool's result file and hold it against what the tool was asked for: counts, lengths, percentiles, rates. Print its metrics under this
program's names, with the tool's name beside, or the rule that it breaks. What the tool was asked for is said here: a tool that lost requests does not know.
A figure that a tool does not give, or that has no meaning in this run, is left out: it is never 0.

TOOL is ` + strings.Join(bench.Names(), ", ") + `. With --json: tool, version, requests, succeeded, metrics, theirs (by metric: name, differs), warnings; or refused
(rule, evidence).` + exitStatuses("0    a measurement", "1    no measurement: the reason is printed", statusUsage),
		Example: "  autotune bench read vllm-bench result.json --requests 1000\n  autotune bench read guidellm benchmarks.json --requests 1000 --output-tokens 128 --json",
		Args:    exactArgs(2, "a tool and its result file"),
		RunE:    func(_ *cobra.Command, args []string) error { return runBenchRead(w, args[0], args[1], o) },
	}
	f := cmd.Flags()
	f.IntVar(&o.asked.Requests, "requests", 0, "how many requests the tool was asked to send (needed)")
	f.IntVar(&o.asked.OutputTokens, "output-tokens", 0, "tokens that were forced on each answer; 0: none were")
	f.Float64Var(&o.asked.Gate, "success-rate", studyfile.DefaultGate, "share of the requests that has to succeed")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

func runBenchRead(w *world, name, path string, o benchReadOptions) error {
	tool, err := findTool(name)
	switch {
	case err != nil:
		return err
	case o.asked.Requests < 1:
		return trying(usage("how many requests was the tool asked to send?"), "--requests N, the number on its command line")
	case o.asked.OutputTokens < 0:
		return usage("--output-tokens is %d; it is 0 or more", o.asked.OutputTokens)
	case !(o.asked.Gate > 0 && o.asked.Gate <= 1):
		return usage("--success-rate is %g; it is above 0 and at most 1", o.asked.Gate)
	}
	text, err := readResult(path)
	if err != nil {
		return err
	}
	result, err := tool.Read(text, o.asked)
	var refusal *bench.Refusal
	if errors.As(err, &refusal) {
		if o.json {
			if err := printJSON(w.out, map[string]any{"tool": tool.Name, "requests": o.asked.Requests, "refused": map[string]string{"rule": refusal.Rule, "evidence": refusal.Evidence}}); err != nil {
				return err
			}
		}
		return &exitError{code: exitFailed, err: fmt.Errorf("%s is no measurement (%s): %w", path, refusal.Rule, refusal)}
	}
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(w.out, result)
	}
	return printBench(w.out, tool, result)
}

func findTool(name string) (bench.Tool, error) {
	tool, ok := bench.Find(name)
	if !ok {
		return tool, trying(usage("no benchmark tool is called %q", name), "one of %s", strings.Join(bench.Names(), ", "))
	}
	return tool, nil
}

// readResult reads a result file; what is wrong with it is said in a person's words.
func readResult(path string) ([]byte, error) {
	text, err := bench.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, trying(usage("%s does not exist", path), "the path of the tool's result file; what it prints on the screen is none")
	case errors.Is(err, bench.ErrFolder):
		return nil, trying(usage("%s is a folder", path), "the result file in it")
	case errors.Is(err, bench.ErrNoFile):
		return nil, usage("%s is no file that a tool has written: a regular one of at most %d GiB is needed", path, bench.MostBytes>>30)
	case err != nil:
		return nil, usage("the result file cannot be read: %v", err)
	}
	return text, nil
}

func printBench(out io.Writer, tool bench.Tool, r bench.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %d requests succeeded\n\n", strings.TrimSpace(tool.Title+" "+r.Version), r.Succeeded, r.Requests)
	differs := false
	for _, name := range metric.Names() {
		v, ok := r.Metrics[name]
		if !ok {
			continue
		}
		theirs := r.Theirs[name]
		mark := ""
		if theirs.Differs != "" && theirs.Name != "" {
			mark, differs = "*", true
		}
		if theirs.Name == "" {
			theirs.Name = "(" + theirs.Differs + ")"
		}
		fmt.Fprintf(&b, "  %-31s %-18s %s%s\n", name, metric.Format(name, v), theirs.Name, mark)
	}
	if differs {
		b.WriteString("\n* otherwise defined than ours:\n")
		writeDiffers(&b, r)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "\nWarning: %s\n", warning)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeDiffers lists the definitions of the tool that are not ours, each once.
func writeDiffers(b *strings.Builder, r bench.Result) {
	said := map[string]bool{}
	for _, name := range metric.Names() {
		theirs, ok := r.Theirs[name]
		family := name
		for _, s := range metric.Statistics {
			family = strings.TrimPrefix(family, s+"_")
		}
		if ok && theirs.Differs != "" && theirs.Name != "" && !said[family] {
			said[family] = true
			fmt.Fprintf(b, "  %-31s %s\n", family, theirs.Differs)
		}
	}
}
