package fake

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"autotune/runner/engine"
	"autotune/space"
	"autotune/tuner/law"
	"autotune/tuner/metric"
)

// SeedVariable is the environment variable that seeds the noise of a server started without --seed, so that a trial has noise of its own.
const SeedVariable = "AUTOTUNE_TRIAL_SEED"

// options are what the words before the engine's name say, and what the engine makes of the rest.
type options struct {
	clock     metric.Clock
	noise     float64
	seed      uint64
	machine   law.Machine
	startTime time.Duration // negative: the clock's own
	version   string        // of the engine
	faults    faults
	when      string
	ledger    string
	gpuDir    string
	idle      time.Duration

	child   string // the part that this process plays below a server; empty: it is the server
	ignores bool   // SIGTERM, as a child

	engine *engine.Definition
	args   []string // the engine's own
}

// flagSet defines fake-engine's own flags; they end at the engine's name.
func (o *options) flagSet() *flag.FlagSet {
	set := flag.NewFlagSet(Command, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Func("clock", "wall or law", func(s string) error {
		o.clock = metric.Clock(s)
		if o.clock != metric.Wall && o.clock != metric.Law {
			return errors.New("allowed are wall and law")
		}
		return nil
	})
	set.Func("seed", "seed of the noise", func(s string) (err error) { o.seed, err = parseSeed(s); return err })
	set.Func("fault", "NAME[=ARG]", func(s string) error { return o.faults.add(s) })
	set.Float64Var(&o.noise, "noise", 0.05, "standard deviation of the log of the run's speed")
	set.IntVar(&o.machine.GPUs, "gpus", 8, "GPUs of the machine")
	set.StringVar(&o.version, "engine-version", "", "version that the engine says it has")
	set.StringVar(&o.machine.GPU, "gpu", "H200", "name of a GPU")
	set.Float64Var(&o.machine.MemoryGiB, "memory", 140.4, "GiB of one GPU") // an H200 has 143771 MiB
	set.DurationVar(&o.startTime, "start-time", -1, "how long a start takes on the wall clock")
	set.StringVar(&o.when, "fault-when", "", "condition over the engine's flags under which the faults happen")
	set.StringVar(&o.ledger, "ledger", "", "file to which every served request is written")
	set.StringVar(&o.gpuDir, "gpu-dir", "", "folder with one lock file a GPU, held while the engine's child lives")
	set.DurationVar(&o.idle, "idle-limit", 30*time.Minute, "end after this long without a request")
	set.StringVar(&o.child, "child", "", "internal: the part to play below a server")
	set.BoolVar(&o.ignores, "ignore-sigterm", false, "internal: of a child")
	return set
}

// parseOptions reads the words after fake-engine.
func parseOptions(args []string, getenv func(string) string) (options, error) {
	o := options{clock: metric.Wall}
	set := o.flagSet()
	if err := set.Parse(args); err != nil || o.child != "" {
		return o, err
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if text := getenv(SeedVariable); !given["seed"] && text != "" {
		var err error
		if o.seed, err = parseSeed(text); err != nil {
			return o, fmt.Errorf("%s: %w", SeedVariable, err)
		}
	}
	if n, ok := visibleGPUs(getenv("CUDA_VISIBLE_DEVICES")); ok && !given["gpus"] {
		o.machine.GPUs = n
	}
	if err := o.check(); err != nil {
		return o, err
	}
	return o, o.chooseEngine(set.Args())
}

// visibleGPUs is how many GPUs CUDA_VISIBLE_DEVICES names; false when it is not set.
func visibleGPUs(text string) (int, bool) {
	if text == "" {
		return 0, false
	}
	return strings.Count(text, ",") + 1, true
}

func parseSeed(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no seed: a whole number from 0 to 2^64-1 is needed", s)
	}
	return n, nil
}

func (o *options) check() error {
	switch {
	case !(o.noise >= 0 && o.noise <= 1):
		return fmt.Errorf("--noise %g: 0 to 1 is allowed", o.noise)
	case o.machine.GPUs < 1 || o.machine.GPUs > 1024:
		return fmt.Errorf("--gpus %d: 1 to 1024 is allowed", o.machine.GPUs)
	case !(o.machine.MemoryGiB > 0):
		return fmt.Errorf("--memory %g: more than 0 GiB is needed", o.machine.MemoryGiB)
	case o.idle <= 0:
		return fmt.Errorf("--idle-limit %v: more than 0 is needed", o.idle)
	}
	return nil
}

// chooseEngine takes the engine's name and the ways of calling it: vllm serve, sglang serve, python -m sglang.launch_server.
func (o *options) chooseEngine(words []string) error {
	if len(words) == 0 {
		return errors.New("the engine's name is missing: vllm or sglang")
	}
	def, ok := engine.Find(words[0])
	if !ok {
		return fmt.Errorf("unknown engine %q: allowed are vllm and sglang", words[0])
	}
	o.engine, o.args = def, words[1:]
	if o.version == "" {
		o.version = map[string]string{"vllm": "0.32.0", "sglang": "0.5.17"}[def.Name]
	}
	for len(o.args) > 0 && slices.Contains([]string{"serve", "-m", "sglang.launch_server"}, o.args[0]) {
		o.args = o.args[1:]
	}
	return nil
}

// holds tells whether the condition of --fault-when is true for the engine's settings. A flag that is left out is default.
func (o *options) holds(settings map[string]space.Value) (bool, error) {
	if o.when == "" {
		return true, nil
	}
	expr, err := space.ParseExpr(o.when)
	if err == nil {
		expr, err = expr.Bind(func(name string) (string, bool) {
			if name == space.EngineParam {
				return name, true
			}
			f, ok := o.engine.Flag(name)
			return f.Name, ok
		})
	}
	if err != nil {
		return false, fmt.Errorf("--fault-when %q: %w", o.when, err)
	}
	return expr.Holds(func(name string) (space.Value, bool) {
		if name == space.EngineParam {
			return space.String(o.engine.Name), true
		}
		if v, ok := settings[name]; ok {
			return v, true
		}
		return space.Default(), true
	}), nil
}
