package main

import (
	"context"
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
	gpus    string
	from    string
	set     []string
	which   int
	out     string
	force   bool

	enginesGiven bool
}

func newInit(w *world) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use: "init {--model MODEL | --from COMMAND} [--gpus N]", Short: "Write a commented spec to start from",
		Long: `Write a commented spec for a model and a number of GPUs: the layouts that fit, the flags that matter for this kind of model, and configurations
to begin with. It passes check as it is; every line says what it is for. The kind of model is read from config.json where the model is a folder or lies
in the hub's cache on this machine, else told from its name. Engines without code for its architecture are left out, and a note says so. This machine is asked for its GPUs (nvidia-smi) and engines (their own version commands);
--gpus 8xH200 plans for another one and asks nothing.

With --from, what a team runs today becomes the spec's baseline: a command line as it is typed into a shell, or a file with one: a script, a docker run
command, a Dockerfile, a compose file, a Kubernetes manifest, values of a chart, a systemd unit, a Makefile; - reads standard input. Nothing of it is run: loops are
read as in their first round, functions as they are called, conditions on variables as they hold here. Flags that say how the model lies on the GPUs,
and what it is, stay as they are; those that are worth searching are searched around today's values. Notes say, with their lines, what was not taken over:
host, port and name, redirections, secrets. A variable that the text does not set is asked for: --set NAME=VALUE.

An existing file is not overwritten without --force.` + exitStatuses(statusDone, statusFailed, statusUsage),
		Example: "  autotune init --model zai-org/GLM-5.2-FP8 --gpus 8xH200 -o glm.yaml\n  autotune init --engine vllm --model ./tiny --gpus 1\n" +
			"  autotune init --from 'vllm serve zai-org/GLM-5-FP8 -tp 8 -ep' -o glm.yaml\n  autotune init --from compose.yaml --set MODEL=Qwen/Qwen3-8B\n  autotune init --from - < serve.sh",
		Args: exactArgs(0, "no arguments, only flags"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.enginesGiven = cmd.Flags().Changed("engine")
			return runInit(cmd.Context(), w, o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.engines, "engine", []string{"vllm", "sglang"}, "engines to search over; without this flag those that are installed here, if any are, and serve the model's architecture")
	f.StringVar(&o.model, "model", "", "the checkpoint: a name on the hub, or a folder")
	f.StringVar(&o.gpus, "gpus", "", "GPUs that a trial may use: N of this machine's (default all), or NxTYPE of another's, as 8xH200")
	f.StringVar(&o.from, "from", "", "the command that serves today: the command itself, a file that holds it, or - for standard input")
	f.StringArrayVar(&o.set, "set", nil, "NAME=VALUE of a variable that the text of --from uses and does not set")
	f.IntVar(&o.which, "which", 0, "which of several commands in the text of --from, from 1")
	f.StringVarP(&o.out, "output", "o", "", "the file to write (default: standard output)")
	f.BoolVar(&o.force, "force", false, "overwrite the file")
	return cmd
}

func runInit(ctx context.Context, w *world, o initOptions) error {
	if err := checkEngines(o.engines); err != nil {
		return err
	}
	var spec studyfile.TemplateInput
	var notes []string
	var err error
	switch {
	case o.from != "":
		spec, notes, err = w.specFrom(o)
	case o.model == "":
		return trying(usage("--model is missing"), "autotune init --model NAME --gpus N, or --from with the command that serves today")
	default:
		spec, notes, err = w.specFor(ctx, o)
	}
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(w.err, "Note: %s\n", n)
	}
	return w.writeSpec(o, studyfile.Template(spec))
}

func checkEngines(names []string) error {
	if len(names) == 0 {
		return usage("--engine is empty: allowed are %s", engineNames())
	}
	for i, name := range names {
		if !slices.Contains(strings.Split(engineNames(), ", "), name) {
			return usage("--engine %q: allowed are %s", name, engineNames())
		}
		if slices.Contains(names[:i], name) {
			return usage("--engine %s is given twice", name)
		}
	}
	return nil
}

// writeSpec writes the text where it is wanted.
func (w *world) writeSpec(o initOptions, text []byte) error {
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
