package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"autotune/tuner/law"
)

func newLaw(w *world) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "law", Short: "Compare the fake engine's performance law with the published measurements that it is fitted to",
		Long: `Run every published configuration under the law that the fake engine obeys, and print both figures, (input + output tokens) / duration, and how far they are apart.
A row is marked ! where it is outside its bar: 10 % on a study's target workload, 25 % elsewhere.` + exitStatuses(statusDone, statusFailed, statusUsage),
		Example: "  autotune law\n  autotune law --json", Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(w.out, law.Residuals())
			}
			return printResiduals(w.out, law.Residuals())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func printResiduals(out io.Writer, residuals []law.Residual) error {
	var b strings.Builder
	study := ""
	for _, r := range residuals {
		if r.Study != study {
			study = r.Study
			fmt.Fprintf(&b, "%s\n  %9s %9s %8s    workload, engine, flags\n", study, "published", "law", "error")
		}
		mark := map[bool]string{true: " ", false: "!"}[r.OK]
		fmt.Fprintf(&b, "  %9s %9s %8s %s  %s, %s %s\n", figure(r.Published, r.Status), figure(r.Law, r.LawStatus), errorText(r), mark, r.Workload, r.Engine, strings.Join(r.Args, " "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func figure(v float64, status string) string {
	if status != "ok" {
		return status
	}
	return fmt.Sprintf("%.0f", v)
}

func errorText(r law.Residual) string {
	if r.Status != "ok" || r.LawStatus != "ok" {
		return ""
	}
	return percent(r.Error)
}
