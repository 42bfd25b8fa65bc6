package deploy

import (
	"fmt"
	"slices"
	"strings"

	"autotune/runner/engine"
	"autotune/space"
)

// Options say how a command is read.
type Options struct {
	Source string                            // what the text is called in messages
	Set    map[string]string                 // values of variables that the text uses and does not set
	Path   string                            // of the file that the text is, absolute: what $0 is; empty: not known
	Home   string                            // what ~ and $HOME stand for; empty leaves them unknown
	Model  string                            // instead of the one that the command names; empty: that one
	Open   func(path string) ([]byte, error) // reads a file that the command names with --config; nil: none can be read
	Which  int                               // of several commands that serve, from 1; 0: there is only one
}

// Import is a serving command as it was found: what is read of it is what Export writes.
type Import struct {
	Engine *engine.Definition
	Line   int      // where the command begins, from 1
	Launch []string // the words in front of the model and the flags: vllm serve, numactl included
	Image  string   // of the container that it runs in; empty: none
	Model  string
	Env    []Variable // in the order of the text, without secrets
	Flags  []Flag     // each once, in the order in which they are first given
	// Secrets are the names of variables that hold secrets or get their values elsewhere, SecretFlags flags that hold some: their values are nowhere kept.
	Secrets, SecretFlags []string
	Notes                []Note // in the order of the lines
}

// Variable is one of a command's environment.
type Variable struct {
	Name, Value string
	Line        int
	Deployment  bool // it says where the server runs, not how it serves: which GPUs
}

// Flag is a flag with its value.
type Flag struct {
	engine.Setting
	Line       int
	Unknown    bool // the catalog does not know it
	Deployment bool // it says where the server is reached, not how it serves: host, port, name
}

// Note is what a reader has to be told of a line.
type Note struct {
	Line int
	Text string
}

// Error is why a text cannot be read as a serving command, on one line of it.
type Error struct {
	Source  string
	Line    int // 0: of the text as a whole
	Problem string
	Try     string // what a person may do
	unset   string // the variable that is not set
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0 && e.Source == "":
		return e.Problem
	case e.Line == 0:
		return e.Source + ": " + e.Problem
	case e.Source == "":
		return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
	default:
		return fmt.Sprintf("%s:%d: %s", e.Source, e.Line, e.Problem)
	}
}

// Read finds the command that serves in a text: a shell command or script, a docker run command, a Dockerfile, a compose file, a Kubernetes
// manifest, the values of a chart, a systemd unit, a Makefile, a script for Windows, or Markdown around any of them. Nothing is run. The error is an *Error.
func Read(text string, o Options) (im Import, err error) {
	defer func() {
		if recover() != nil { // the shell's reader does so on some rare expansions
			im, err = Import{}, &Error{Source: o.Source, Problem: "something in the text is more than can be read here", Try: "the command alone, without the script around it"}
		}
	}()
	found, err := find(strings.TrimPrefix(text, "\ufeff"), &o)
	var one start
	if err == nil {
		one, err = choose(found, &o)
	}
	if err == nil {
		im, err = one.read(&o)
	}
	if e, ok := err.(*Error); ok {
		e.Source = o.Source
		if e.Problem == noCommand {
			e.mention(text)
		}
	}
	return im, err
}

// mention points at the first line that has to do with a server, where no command is found.
func (e *Error) mention(text string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if name := serverIn(line); name != "" && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			e.Line, e.Problem = n, e.Problem+": this line mentions "+name+", and starts no server that autotune knows"
			return
		}
	}
}

// servers are the words without which no text serves.
var servers = []string{"vllm", "sglang"}

func mentionsServer(text string) bool { return serverIn(text) != "" }

// serverIn is the first of them that a text holds.
func serverIn(text string) string {
	for _, s := range servers {
		if strings.Contains(text, s) {
			return s
		}
	}
	return ""
}

// find looks for commands that serve, by the form of the text.
func find(text string, o *Options) ([]start, error) {
	switch form(text) {
	case dockerfile:
		return readDockerfile(text, o)
	case manifest:
		return readManifest(text, o)
	case prose:
		return readProse(text, o)
	case unit:
		return readUnit(text, o)
	case makefile:
		return readMakefile(text, o)
	case pythonProgram:
		return nil, &Error{Problem: "this is a Python program: which command it starts shows only when it runs", Try: "the command that it starts (print it there, or ps -o args), in quotes or in a file"}
	default:
		return readShell(text, 1, o, newVariables(o), container{})
	}
}

// readShell finds them in a script. A part of it may be a script again.
func readShell(text string, first int, o *Options, vars variables, in container) ([]start, error) {
	s, err := readScript(text, first, o, vars)
	if err != nil {
		return nil, err
	}
	in.names, in.notes = slices.Concat(in.names, s.from.names), slices.Concat(in.notes, s.from.notes)
	var found []start
	for _, c := range s.calls {
		vars := c.vars
		if vars == nil {
			vars = s.vars
		}
		more, err := startsOf(c, o, vars, in)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if len(found) == 0 {
		if found, err = s.readDocuments(o); err != nil {
			return nil, err
		}
	}
	if len(found) > 0 || !mentionsServer(text) {
		return found, nil
	}
	for _, c := range s.calls { // $CMD, eval "$CMD": it may be what serves
		for i, w := range c.words {
			if len(w.fault) > 0 && (i == 0 || i == 1 && c.words[0].text == "eval") {
				return nil, w.fault[0]
			}
		}
	}
	return nil, nil
}

const noCommand = "no command that serves is found"

// choose picks the command that is asked for.
func choose(found []start, o *Options) (start, error) {
	switch which := o.Which; {
	case len(found) == 0:
		return start{}, &Error{Problem: noCommand,
			Try: "vllm serve MODEL ..., python -m sglang.launch_server --model-path MODEL ..., or a file that holds one"}
	case which > len(found):
		return start{}, &Error{Problem: fmt.Sprintf("there is no command %d that serves: there are %d", which, len(found))}
	case which > 0:
		return found[which-1], nil
	case len(found) > 1 && replicas(found, o):
		found[0].notes = append(found[0].notes, Note{found[0].words[0].line, fmt.Sprintf("%d commands serve, which differ only in where they do: this is the first of them", len(found))})
	case len(found) > 1:
		var lines []string
		for i, f := range found {
			lines = append(lines, fmt.Sprintf("%d on line %d (%s)", i+1, f.words[0].line, f.short()))
		}
		list := " " + strings.Join(lines, ", ")
		if len(lines) > 3 {
			list = "\n  " + strings.Join(lines, "\n  ")
		}
		return start{}, &Error{Line: found[1].words[0].line, Problem: fmt.Sprintf("%d commands serve:%s", len(found), list), Try: "--which N"}
	}
	return found[0], nil
}

// replicas tells whether all of them serve the same in the same way.
func replicas(found []start, o *Options) bool {
	var first Import
	for i, f := range found {
		im, err := f.read(o)
		if err != nil {
			return false
		}
		im.Env = slices.DeleteFunc(im.Env, func(v Variable) bool { return v.Deployment })
		im.Flags = slices.DeleteFunc(im.Flags, func(f Flag) bool { return f.Deployment })
		if i == 0 {
			first = im
		}
		same := slices.EqualFunc(first.Env, im.Env, func(a, b Variable) bool { return a.Name == b.Name && a.Value == b.Value }) &&
			slices.EqualFunc(first.Flags, im.Flags, func(a, b Flag) bool { return a.Setting == b.Setting })
		if !same || first.Model != im.Model || !slices.Equal(first.Launch, im.Launch) {
			return false
		}
	}
	return true
}

// Export is the command again: everything that was read of it, each flag under its long name.
func (im Import) Export() Export {
	e := Export{Engine: im.Engine.Name, Model: im.Model, Flags: map[string]space.Value{}, Secrets: slices.Clone(im.Secrets)}
	for _, v := range im.Env {
		e.Env = append(e.Env, v.Name+"="+v.Value)
	}
	l := engine.Launch{Executable: im.Launch, Model: im.Model}
	for _, f := range im.Flags {
		l.Settings = append(l.Settings, f.Setting)
		e.Flags[f.Flag] = f.Value
	}
	e.Argv = im.Engine.Plain(l)
	return e
}

// GPUs is how many GPUs the command needs, by the sizes that it sets; 0 where it runs on the CPU.
func (im Import) GPUs() int {
	if v, ok := im.Value("device"); ok && v.String() == "cpu" {
		return 0
	}
	n := int64(1)
	times := func(flags ...string) {
		for _, f := range flags {
			if v, ok := im.Value(f); ok && v.AsInt() > 0 {
				n *= v.AsInt()
			}
		}
	}
	if im.Engine.Name == "vllm" {
		times("tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size", "prefill-context-parallel-size")
		return int(min(n, mostGPUs))
	}
	times("tp-size", "pp-size")
	if v, ok := im.Value("enable-dp-attention"); !ok || !v.AsBool() { // else dp lies inside tp
		times("dp-size")
	}
	return int(min(n, mostGPUs))
}

// mostGPUs is more than any spec asks for.
const mostGPUs = 4096

// Value is what a flag is set to, by its long name.
func (im Import) Value(flag string) (space.Value, bool) {
	for _, f := range im.Flags {
		if f.Flag == flag {
			return f.Value, true
		}
	}
	return space.Value{}, false
}
