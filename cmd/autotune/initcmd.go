package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"autotune/tuner/studyfile"
)

type initOptions struct {
	engines []string
	model   string
	gpus    int
	out     string
	force   bool
}

func newInit(w *world) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use: "init --model MODEL --gpus N", Short: "Write a commented spec to start from",
		Long: `Write a commented spec for a model, an engine (or both) and a number of GPUs. It passes check as it is; every line says what it is for.
An existing file is not overwritten without --force.` + exitStatuses(statusDone, statusFailed, statusUsage),
		Example: "  autotune init --model zai-org/GLM-5.2-FP8 --gpus 8 -o glm.yaml\n  autotune init --engine vllm --model ./tiny --gpus 1",
		Args:    exactArgs(0, "no arguments, only flags"),
		RunE:    func(*cobra.Command, []string) error { return runInit(w, o) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.engines, "engine", []string{"vllm", "sglang"}, "engines to search over")
	f.StringVar(&o.model, "model", "", "the checkpoint: a name on the hub, or a folder")
	f.IntVar(&o.gpus, "gpus", 1, "GPUs that a trial may use")
	f.StringVarP(&o.out, "output", "o", "", "the file to write (default: standard output)")
	f.BoolVar(&o.force, "force", false, "overwrite the file")
	return cmd
}

func runInit(w *world, o initOptions) error {
	switch {
	case o.model == "":
		return trying(usage("--model is missing"), "autotune init --model NAME --gpus N")
	case o.gpus < 0 || o.gpus > 4096:
		return usage("--gpus %d: allowed is 0 (no GPU) to 4096", o.gpus)
	case len(o.engines) == 0:
		return usage("--engine is empty: allowed are %s", engineNames())
	}
	for i, name := range o.engines {
		if !slices.Contains(strings.Split(engineNames(), ", "), name) {
			return usage("--engine %q: allowed are %s", name, engineNames())
		}
		if slices.Contains(o.engines[:i], name) {
			return usage("--engine %s is given twice", name)
		}
	}
	text := studyfile.Template(studyfile.TemplateInput{Engines: o.engines, Model: o.model, GPUs: o.gpus})
	if o.out == "" {
		_, err := w.out.Write(text)
		return err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if o.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(o.out, mode, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return trying(usage("%s exists", o.out), "another name, or --force")
	}
	if err != nil {
		return usage("writing the spec: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the spec: %w", err)
	}
	fmt.Fprintf(w.out, "Wrote %s. Next: autotune check %s\n", o.out, o.out)
	return nil
}
