package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"autotune/runner/engine"
)

func newVersion(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of autotune and of its engine catalog",
		Long:    "Print the version of autotune, of its engine catalog, and of the Go that built it." + exitStatuses(statusDone, statusUsage),
		Example: "  autotune version", Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return printVersion(w) },
	}
}

func printVersion(w *world) error {
	_, err := io.WriteString(w.out, versionText())
	return err
}

// versionText is what version and --version print.
func versionText() string {
	return fmt.Sprintf("autotune %s\nengine catalog %s\n%s %s/%s\n", version, engine.CatalogVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
