package studyfile

import (
	"autotune/space"
	"autotune/tuner"
)

// Parse reads a spec. source is its file's name, for messages. The error is Errors: everything that is wrong, by position.
func Parse(source string, text []byte) (*Spec, error) {
	return nil, Errors{{File: source, Problem: "the spec cannot be read yet"}}
}

// Problem makes what a sampler sees of the spec, under the rules of the spec and these further ones, the engines'.
// Hungry is left to the caller.
func (s *Spec) Problem(constraints []space.Constraint, rewrites []space.Rewrite) (tuner.Problem, error) {
	return tuner.Problem{}, nil
}

// Resolve returns the spec with each parameter's Resolved set to what lookup says that default stands for.
func (s *Spec) Resolve(lookup func(engine, flag string) (space.Value, bool)) *Spec { return s }

// Place returns where a key stands in the spec, as path elements: "engines", "vllm", "space", "max-num-seqs". 0, 0 when it is not there.
func (s *Spec) Place(path ...string) (line, column int) { return 0, 0 }

// places maps the path of each key to its position.
type places map[string][2]int

// DiffText says in words what a changed spec changes; nothing when both ask for the same.
func DiffText(old, now *Spec) []string { return nil }

// TemplateInput is what `init` knows of the machine and the wish.
type TemplateInput struct {
	Engines []string // vllm, sglang or both
	Model   string
	GPUs    int
}

// Template writes a commented spec that parses.
func Template(in TemplateInput) []byte { return nil }

// DatasetPath is the path of the workload's dataset file as seen from the working directory; empty when it has none.
func (s *Spec) DatasetPath() string { return "" }
