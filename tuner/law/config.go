package law

import "autotune/space"

// Config is a configuration as the engine resolves it.
type Config struct {
	Engine  string // vllm or sglang
	Model   string
	Machine Machine
}

// Resolve makes the configuration that an engine would make of its flags: long names without dashes, switches as Bool, a missing
// flag (or a default value) is the engine's own default. The error is a flag value that the law cannot read, or an unknown engine.
func Resolve(engine, model string, flags map[string]space.Value, m Machine) (Config, error) {
	return Config{Engine: engine, Model: model, Machine: m}, nil
}

// Models lists the models that have fitted coefficients; every other name gets those of a generic model of its size.
func Models() []string { return nil }
