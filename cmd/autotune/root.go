package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// exitStatuses ends every command's help.
func exitStatuses(lines ...string) string {
	return "\n\nEXIT STATUS\n  " + strings.Join(lines, "\n  ")
}

const (
	statusDone        = "0    done"
	statusFailed      = "1    autotune or the machine failed"
	statusUsage       = "2    the spec or the command line is wrong"
	statusNone        = "3    no feasible configuration"
	statusInterrupted = "130  interrupted, the study is intact (143 for SIGTERM, 129 for SIGHUP)"
)

// commands lists every command: a constructor each.
var commands = []func(*world) *cobra.Command{
	newInit, newCheck, newRun, newResume, newStatus, newShow, newExport, newBench, newDiagnose, newLoad, newFakeEngine, newLaw, newFlags, newSamplers, newVersion,
}

func newRoot(w *world) *cobra.Command {
	root := &cobra.Command{
		Use:   "autotune",
		Short: "Find the serving command that gets the most out of a language model on these GPUs",
		Long: `autotune finds, overnight and unattended, the serving command that gets the most out of a language model on the GPUs at hand.
It launches the real server once per trial, drives load at it, learns from numbers and from crashes, keeps everything in one study file,
and prints the command to deploy.` + exitStatuses(statusDone, statusFailed, statusUsage, statusNone, statusInterrupted),
		Version:       versionText(),
		SilenceErrors: true, SilenceUsage: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return trying(usage("unknown command %q", args[0]), "autotune --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return trying(usage("%s: %v", cmd.Name(), err), "%s --help", cmd.CommandPath())
	})
	for _, make := range commands {
		root.AddCommand(make(w))
	}
	root.AddCommand(newGuard(w))
	return root
}

// execute runs the command line and gives the exit status.
func execute(ctx context.Context, w *world) int {
	root := newRoot(w)
	root.SetArgs(w.args)
	root.SetOut(w.out)
	root.SetErr(w.err)
	return complain(w.err, root.ExecuteContext(ctx))
}

// exactArgs refuses another number of arguments, in words.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return trying(usage("%s takes %s, got %d arguments", cmd.Name(), what, len(args)), "%s --help", cmd.CommandPath())
		}
		return nil
	}
}
