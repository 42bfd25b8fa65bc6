package studyfile

import (
	"slices"
	"strings"
)

// Builtin is the load generator of autotune itself.
const Builtin = "builtin"

// Bench is who measures a trial.
type Bench struct {
	// Tool is Builtin or the name of a benchmark tool.
	Tool string
	// Command starts the tool instead of its own program; empty for that.
	Command []string
	// Args are further words at the end of the tool's command line.
	Args []string
}

// External tells whether a tool other than autotune's own load generator measures.
func (b Bench) External() bool { return b.Tool != Builtin }

// bench reads who measures.
func (r *reader) bench(b *Bench) func(*node, path) {
	return func(n *node, p path) {
		r.fields(n, p,
			field{name: "tool", read: r.oneOf(&b.Tool, append([]string{Builtin}, r.known.Tools...)...)},
			field{name: "command", read: r.command(&b.Command, "the words of the command in a list: [/opt/vllm/bin/vllm]")},
			field{name: "args", read: r.benchArgs(&b.Args)},
		)
		for _, key := range []string{"command", "args"} {
			if at, given := r.places[p.child(key).id()]; given && !b.External() {
				r.failAt(at, p.child(key), FieldError{Problem: "has no meaning here: the built-in load generator is no program of its own", Allowed: "tool: " + strings.Join(r.known.Tools, ", ")})
			}
		}
	}
}

// keyFlags are what the tools call a flag, or a part of one, that holds an API key.
var keyFlags = []string{"--api-key", "--api_key", "api_key=", "Authorization"}

func (r *reader) benchArgs(to *[]string) func(*node, path) {
	return func(n *node, p path) {
		r.command(to, "the words in a list: [--num-warmups, 8]")(n, p)
		for i, word := range *to {
			if slices.ContainsFunc(keyFlags, func(flag string) bool { return strings.Contains(word, flag) }) {
				at := n.at
				if i < len(n.items) {
					at = n.items[i].at
				}
				r.failAt(at, p, FieldError{Problem: "an API key on a command line can be read by everybody on the machine", Allowed: "export OPENAI_API_KEY in the shell that runs autotune, and the tool inherits it"})
			}
		}
	}
}
