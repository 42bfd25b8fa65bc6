package engine

import (
	"autotune/space"
	"autotune/tuner"
)

// CatalogVersion names what the catalog was made from; it is stored with a study.
const CatalogVersion = "2026-12 (vLLM main 6adad0876 and 0.32.0, SGLang main d315eb7250)"

// Definition is what is known of one engine: everything that differs between engines, as data.
type Definition struct {
	Name    string // vllm, sglang
	Title   string // vLLM, SGLang
	Version string // of the engine that the flags were read from
	// Program and Usage are what its argument parser prints in front of an error.
	Program, Usage string

	flags []Flag
}

// Host is the machine as far as rules and defaults need it.
type Host struct {
	GPUs      int     // 0: none, or unknown
	GPU       string  // H200; empty: unknown
	MemoryGiB float64 // of one GPU; 0: unknown
}

// Model is a checkpoint's geometry as far as rules need it; 0 is unknown.
type Model struct {
	Heads, KVHeads, Hidden, Experts, ContextLen int
	Dense                                       bool // known to have no experts
}

// Catalog returns every engine, in the order in which they are shown.
func Catalog() []*Definition { return nil }

// Find returns the engine of that name.
func Find(name string) (*Definition, bool) { return nil, false }

// Flags returns the flags in the order of the engine's help.
func (d *Definition) Flags() []Flag { return d.flags }

// Flag finds a flag by any spelling: with or without dashes, an alias, underscores where the engine allows them, a dotted key under a JSON flag.
func (d *Definition) Flag(name string) (Flag, bool) { return Flag{}, false }

// Near is the known flag whose name is nearest to name, or "" when none is near.
func (d *Definition) Near(name string) string { return "" }

// Render writes settings as arguments: long names, --name=value, plain integers, no shell quoting.
func (d *Definition) Render(settings []Setting) []string { return nil }

// Parse reads arguments (what follows the executable) as the engine's own parser would. The error, a *UsageError, reads as the engine's.
func (d *Definition) Parse(args []string) (model string, settings []Setting, err error) {
	return "", nil, nil
}

// UsageError is a command line that an engine's argument parser refuses; the engine exits with status 2.
type UsageError struct {
	Program string // vllm serve
	Problem string // unrecognized arguments: --x
}

func (e *UsageError) Error() string { return e.Program + ": error: " + e.Problem }

// Launch is one start of a server.
type Launch struct {
	Executable   []string // nil: the engine's own
	Model        string
	ServedName   string // empty: none is set
	Port         int    // 0: none is set
	InternalPort int    // base of the ports that the engine chooses for itself; 0 leaves them to it
	Settings     []Setting
}

// Executable is how the engine is started when nothing else is said.
func (d *Definition) Executable() []string { return nil }

// Command is the argv of a launch, and the part of it that we added to what was asked.
func (d *Definition) Command(l Launch) (argv, additions []string) { return nil, nil }

// Env is the environment (NAME=VALUE) that a launch needs besides the user's own; it never belongs in an export.
func (d *Definition) Env(l Launch) []string { return nil }

// HealthPath answers 200 when the engine believes that it is well.
func (d *Definition) HealthPath() string { return "/health" }

// ModelsPath lists the models that are served.
func (d *Definition) ModelsPath() string { return "/v1/models" }

// InfoPaths are where the effective configuration may be read, newest first.
func (d *Definition) InfoPaths() []string { return nil }

// FlushPath is posted to between repeats to empty the prefix cache.
func (d *Definition) FlushPath() string { return "" }

// Marker recognises a start-up milestone: the phase that begins (or goes on) with this line.
func (d *Definition) Marker(line string) (tuner.Phase, bool) { return "", false }

// Facts reads sizes from a start-up line: kv_tokens, kv_gib, weights_gib, graphs_gib, ...
func (d *Definition) Facts(line string) map[string]string { return nil }

// Rules are the engine's rules between flags for a machine, a model and the longest request (input + output; 0: unknown), over full names ENGINE.flag.
func (d *Definition) Rules(h Host, m Model, longest int) ([]space.Constraint, []space.Rewrite) {
	return nil, nil
}

// Hungry maps each memory-hungry flag to the weight of its effect on running out of memory.
func (d *Definition) Hungry() map[string]float64 { return nil }

// ResolvedDefault is what the engine makes of a flag that is left out, where it is known.
func (d *Definition) ResolvedDefault(flag string, h Host) (space.Value, bool) {
	return space.Value{}, false
}
