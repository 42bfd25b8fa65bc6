package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"autotune/runner"
	"autotune/runner/engine"
	"autotune/runner/place"
	"autotune/tuner"
)

// askEngines asks the installed engines for their flags, which takes a real one a while, and gives the assembly that goes by them. Errors are the
// spec's, where it names a flag or a value that an engine lacks, or the machine's.
func (w *world) askEngines(ctx context.Context, a *assembly) (*assembly, error) {
	ctx, stop := w.untilSignal(ctx)
	defer stop()
	here, err := place.NewLocal(place.LocalConfig{Guard: []string{w.exe, guardCommand}})
	if err != nil {
		return nil, err
	}
	in := a.inputs
	in.Help = map[string]engine.Help{}
	for _, e := range a.spec.Engines {
		d, _ := engine.Find(e.Name)
		plan := runner.Plan{Engine: d, Command: e.Command, Env: environment(e)}
		began := w.now()
		fmt.Fprintf(w.err, "Asking %s for its flags: this takes a real engine 15 to 40 s, and is done once a study.\n", d.Title)
		h, err := runner.ReadHelp(ctx, here, plan, w.environ, w.exe, runner.HelpLimit)
		var machine *tuner.MachineError
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, &machine):
			return nil, &exitError{code: machineCode(machine), err: errors.New(machine.Outcome.Evidence), try: machine.Outcome.Hint}
		case errors.Is(err, runner.ErrNoHelp):
			fmt.Fprintf(w.out, "Warning: %s: %v: the flags of the spec are held against the catalog alone.\n", e.Name, err)
		case err != nil:
			return nil, err
		default:
			in.Help[e.Name] = h
			fmt.Fprintf(w.err, "%s has %d flags (%s).\n", d.Title, len(h.Flags), w.now().Sub(began).Round(time.Second))
		}
	}
	b, err := assemble(a.spec, in)
	if err != nil {
		err = trying(err, "a flag that its help hides can stand in the engine's command: [...], where autotune does not look at it")
	}
	return b, err
}

// installed is an engine's definition: as the installed one says of itself where it was asked, else the catalog's.
func (in inputs) installed(d *engine.Definition) *engine.Definition {
	if h, ok := in.Help[d.Name]; ok {
		return d.Installed(h)
	}
	return d
}
