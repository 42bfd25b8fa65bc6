package engine

import (
	"slices"
	"strconv"
)

// Launch is one start of a server.
type Launch struct {
	Executable   []string // nil: the engine's own
	Model        string
	ServedName   string // empty: none is set
	Port         int    // 0: none is set
	InternalPort int    // first of the ports that the engine opens for itself; 0 leaves them to it
	Settings     []Setting
}

// Executable is how the engine is started when nothing else is said.
func (d *Definition) Executable() []string { return slices.Clone(d.executable) }

// Command is the argv of a launch, and the part of it that we added to what was asked. A flag that we must set ourselves (port, served name)
// is taken out of the settings: the addition stands for it, and an export, made from the settings, has the user's own again.
func (d *Definition) Command(l Launch) (argv, additions []string) {
	argv = d.prefix(l)
	additions = d.additions(l)
	if l.ServedName != "" {
		additions = append([]string{"--served-model-name=" + l.ServedName}, additions...)
	}
	if l.Port > 0 {
		additions = append([]string{"--port=" + strconv.Itoa(l.Port)}, additions...)
	}
	argv = append(argv, additions...)
	replaced := map[string]bool{}
	for _, a := range additions {
		replaced[d.canonical(headOf(a))] = true
	}
	kept := slices.DeleteFunc(slices.Clone(l.Settings), func(s Setting) bool { return replaced[d.canonical(s.Flag)] })
	return append(argv, d.Render(kept)...), additions
}

// Plain is the argv that a person would deploy: the launch without any addition of ours.
func (d *Definition) Plain(l Launch) []string { return append(d.prefix(l), d.Render(l.Settings)...) }

// modelByFlag is vLLM's server as a module: it takes a model without its flag for no model at all, and serves its default.
const modelByFlag = "vllm.entrypoints.openai.api_server"

// prefix is the executable and the model.
func (d *Definition) prefix(l Launch) []string {
	argv := slices.Clone(l.Executable)
	if len(argv) == 0 {
		argv = d.Executable()
	}
	switch {
	case l.Model == "":
		return argv
	case d.PositionalModel && !slices.Contains(argv, modelByFlag):
		return append(argv, l.Model)
	default:
		return append(argv, "--"+d.ModelFlag+"="+l.Model)
	}
}

func headOf(arg string) string {
	for i := range len(arg) {
		if arg[i] == '=' {
			return arg[:i]
		}
	}
	return arg
}

// Env is the environment (NAME=VALUE) that a launch needs besides the user's own; it never belongs in an export.
func (d *Definition) Env(l Launch) []string {
	// Engines retitle their processes and so overwrite /proc/PID/environ: SPT_NOENV keeps our mark there readable.
	// PYTHONUNBUFFERED keeps the last words of a process that is killed.
	return append([]string{"SPT_NOENV=1", "PYTHONUNBUFFERED=1"}, d.env(l)...)
}
