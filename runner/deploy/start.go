package deploy

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"autotune/runner/engine"
)

// container is what a command inherits from the image and the file that it stands in.
type container struct {
	image  string
	env    []Variable
	names  []string // of variables that hold secrets, or come from elsewhere
	notes  []Note
	mounts []mount
}

// mount is a folder of the host inside a container.
type mount struct {
	from, to string
	line     int
}

// start is a command that serves, found and not yet read.
type start struct {
	engine *engine.Definition
	launch []string
	words  []word // all of it; args follow the launch
	args   []word
	env    []Variable
	names  []string
	image  string
	mounts []mount
	notes  []Note
	fault  []*Error
}

// short is the command as it begins.
func (s start) short() string {
	var texts []string
	for _, w := range s.args {
		texts = append(texts, w.text)
	}
	text := strings.Join(s.launch, " ")
	if reading, err := s.engine.Read(texts); err == nil && reading.Model.Text != "" {
		return text + " " + reading.Model.Text
	}
	for i, t := range texts[:max(len(texts)-1, 0)] { // a value may be missing
		if t == "--model" || t == "--model-path" {
			return text + " " + texts[i+1]
		}
	}
	return text
}

var python = regexp.MustCompile(`^python([0-9.]*)$`)

// modules are what python -m serves with, and scripts the files of the same.
var modules = map[string]string{
	"vllm.entrypoints.openai.api_server": "vllm", "vllm.entrypoints.cli.main": "vllm", "vllm": "vllm", "sglang.launch_server": "sglang", "sglang": "sglang",
}

// engineAt tells which engine the words start, and how many of them say so.
func engineAt(words []word) (d *engine.Definition, n int) {
	name := path.Base(words[0].text)
	next := func(i int) string {
		if i < len(words) {
			return words[i].text
		}
		return ""
	}
	switch {
	case (name == "vllm" || name == "sglang") && next(1) == "serve":
		n = 2
	case python.MatchString(name):
		i := 1
		for next(i) != "-m" && strings.HasPrefix(next(i), "-") {
			i++
		}
		if next(i) != "-m" || modules[next(i+1)] == "" {
			return nil, 0
		}
		name, n = modules[next(i+1)], i+2
		if module := next(i + 1); (module == "vllm" || module == "sglang" || module == "vllm.entrypoints.cli.main") && next(n) != "serve" {
			return nil, 0
		}
		if next(n) == "serve" {
			n++
		}
	default:
		return nil, 0
	}
	d, _ = engine.Find(name)
	return d, n
}

// startsOf finds the commands that serve in one command of a script: itself, what a wrapper starts, what a container or another shell runs.
func startsOf(c call, o *Options, vars variables, in container) ([]start, error) {
	words := c.words
	in.env = slices.Concat(in.env, vars.exported(), c.env)
	in.notes = slices.Concat(in.notes, c.notes)
	words, env, notes := unwrap(words)
	in.env, in.notes = append(in.env, env...), append(in.notes, notes...)
	if len(words) == 0 {
		return nil, nil
	}
	if nested, ok := shellText(words); ok {
		return readNested(nested, o, in)
	}
	if words[0].text == "eval" {
		text := joined(words[1:])
		in.env = nil
		return readShell(text.text, text.line, o, maps.Clone(vars), in)
	}
	if rest, more, ok := dockerRun(words, vars); ok {
		more.notes = slices.Concat(in.notes, more.notes)
		return inContainer(rest, o, more)
	}
	if at, d, n := engineIn(words); d != nil {
		s := start{engine: d, words: words, args: words[at+n:], env: in.env, names: in.names, image: in.image, mounts: in.mounts, notes: in.notes, fault: c.fault}
		for _, w := range words[:at+n] {
			s.launch, s.fault = append(s.launch, w.text), append(s.fault, w.fault...)
		}
		for _, w := range s.args {
			s.fault = append(s.fault, w.fault...)
		}
		return []start{s}, nil
	}
	rest, text, note := launched(words)
	in.notes = append(in.notes, note)
	switch {
	case text.line > 0 && mentionsServer(text.text):
		return readNested(text, o, in)
	case len(rest) > 0:
		return startsOf(call{words: rest, fault: c.fault}, o, vars, in)
	}
	return nil, nil
}

// readNested reads a text that a command gives to another shell, which sees what is exported.
func readNested(text word, o *Options, in container) ([]start, error) {
	if faults := text.fault; len(faults) > 0 && faults[0].unset == "" && mentionsServer(text.text) {
		return nil, faults[0]
	}
	inner := variables{}
	for _, v := range in.env {
		inner[v.Name] = exportedVariable(v)
	}
	for name, v := range newVariables(o) {
		if _, there := inner[name]; !there {
			inner[name] = v
		}
	}
	in.env = nil
	found, err := readShell(text.text, text.line, o, inner, in)
	for i := range found {
		found[i].fault = append(found[i].fault, text.fault...)
	}
	return found, err
}

// engineIn looks for the engine at the beginning, or behind a wrapper that belongs to the command.
func engineIn(words []word) (at int, d *engine.Definition, n int) {
	if d, n = engineAt(words); d != nil || !slices.Contains(keptWrappers, path.Base(words[0].text)) {
		return 0, d, n
	}
	for at = range words {
		if d, n = engineAt(words[at:]); d != nil {
			return at, d, n
		}
	}
	return 0, nil, 0
}

// inContainer is a command given to an image: what stands there, or only flags for what the image starts by itself.
func inContainer(words []word, o *Options, in container) ([]start, error) {
	if len(words) > 0 {
		found, err := startsOf(call{words: words}, o, variables{}, in)
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	name := engineOfImage(in.image)
	d, ok := engine.Find(name)
	if !ok || len(words) == 0 {
		return nil, nil
	}
	first := words[0].text
	if !strings.HasPrefix(first, "-") && first != "serve" && (name == "sglang" || slices.Contains(shells, path.Base(first)) || strings.Contains(first, "/entrypoint") || python.MatchString(path.Base(first))) {
		return nil, nil
	}
	s := start{engine: d, launch: d.Executable(), words: words, args: words, env: in.env, names: in.names, image: in.image, mounts: in.mounts, notes: in.notes}
	for _, w := range words {
		s.fault = append(s.fault, w.fault...)
	}
	if first == "serve" {
		s.args = words[1:]
	}
	s.notes = append(s.notes, Note{words[0].line, "the image " + in.image + " is taken to start " + strings.Join(s.launch, " ")})
	return []start{s}, nil
}

// engineOfImage guesses an engine from an image's name.
func engineOfImage(image string) string {
	lower := strings.ToLower(image)
	for _, name := range engine.Names() {
		if strings.Contains(lower, name) {
			return name
		}
	}
	return ""
}

var shells = []string{"sh", "bash", "zsh", "dash", "ash"}

// shellText is the script in sh -c SCRIPT.
func shellText(words []word) (word, bool) {
	if !slices.Contains(shells, path.Base(words[0].text)) {
		return word{}, false
	}
	isText := false
	for i := 1; i < len(words); i++ {
		switch text := words[i].text; {
		case !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "+"):
			return words[i], isText
		case text == "--rcfile" || text == "--init-file":
			i++ // a file
		case !strings.HasPrefix(text, "--"): // options may follow: bash -c -i SCRIPT
			isText = isText || strings.Contains(text, "c")
			if strings.ContainsAny(text[len(text)-1:], "oO") { // -euo pipefail: the name of an option
				i++
			}
		}
	}
	return word{}, false
}
