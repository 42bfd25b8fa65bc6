package deploy

import (
	"strings"

	"autotune/space"
	"autotune/tuner/secret"
)

// Export is a command to deploy: what was measured, without what autotune added for itself.
type Export struct {
	Env  []string `json:"env,omitempty"` // NAME=VALUE, only the user's own
	Argv []string `json:"argv"`
	// Secrets are variables that the engine takes from the environment of whoever starts it: named, never shown.
	// A variable in Env whose name or value is that of a secret counts among them.
	Secrets []string `json:"secrets,omitempty"`

	Engine        string                 `json:"engine,omitempty"` // vllm, sglang
	EngineVersion string                 `json:"engine_version,omitempty"`
	Model         string                 `json:"model,omitempty"`
	Flags         map[string]space.Value `json:"flags,omitempty"` // what is set, by long name
	Measured      *Measured              `json:"measured,omitempty"`
}

// Measured says where a command comes from and what it was measured to do.
type Measured struct {
	Study    string  `json:"study"`
	Trial    int     `json:"trial"`
	Metric   string  `json:"metric"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit,omitempty"`
	Gain     string  `json:"gain,omitempty"`     // over the reference, as a sentence's end: 219.7 % more than the baseline
	Hardware string  `json:"hardware,omitempty"` // 8 x H200
	Autotune string  `json:"autotune,omitempty"` // the version that measured
	Note     string  `json:"note,omitempty"`     // what a reader must know of the figure: a rehearsal
}

// open splits the environment into what may be shown and the names of what may not, each name once.
func (e Export) open() (env, secrets []string) {
	seen := map[string]bool{}
	hide := func(name string) {
		if !seen[name] {
			seen[name] = true
			secrets = append(secrets, name)
		}
	}
	for _, name := range e.Secrets {
		hide(name)
	}
	for _, v := range e.Env {
		name, value, _ := strings.Cut(v, "=")
		if seen[name] || secret.Variable(name, value) {
			hide(name)
			continue
		}
		env = append(env, v)
	}
	return env, secrets
}
