package main

import (
	"errors"

	"github.com/spf13/cobra"

	"autotune/runner/fake"
)

func newFakeEngine(w *world) *cobra.Command {
	return &cobra.Command{
		Use: fake.Command + " [--clock wall|law] [--fault NAME] ... vllm|sglang ENGINE-FLAGS...", Short: "Serve as a fake vLLM or SGLang: a real HTTP server without a GPU",
		Long:               fake.Help + exitStatuses(statusDone, "2    the engine's command line is refused, as the engine would", "else as the engine that is played"),
		Example:            "  autotune fake-engine vllm serve demo/tiny --port 8000 --max-num-seqs 64\n  autotune fake-engine --fault oom-load=20 sglang --model-path demo/tiny --port 8000",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "-h" || args[0] == "--help" {
				return cmd.Help()
			}
			ctx, stop := w.untilSignal(cmd.Context())
			defer stop()
			if code := fake.Main(ctx, args, w.out, w.err, w.exe, w.getenv); code != 0 {
				return &exitError{code: code, err: errors.New("")}
			}
			return nil
		},
	}
}
