package deploy

import (
	"path"
	"slices"
	"strings"
)

// keptWrappers change how the engine runs, or find its program: they stay in front of it.
var keptWrappers = []string{"numactl", "taskset", "nice", "ionice", "chrt", "uv", "poetry", "pipenv", "pixi", "hatch", "conda", "mamba", "micromamba", "rye", "pdm", "nsys"}

// dropped is a wrapper that has no meaning for a server that autotune starts.
type dropped struct {
	takes []string // options with a value behind them
	words int      // words of its own in front of the command
	note  string
}

var droppedWrappers = map[string]dropped{
	"exec":    {takes: []string{"-a"}},
	"command": {},
	"nohup":   {},
	"setsid":  {},
	"time":    {takes: []string{"-f", "-o"}},
	"stdbuf":  {takes: []string{"-i", "-o", "-e"}},
	"env":     {takes: []string{"-u", "-C"}},
	"sudo":    {takes: []string{"-u", "-g", "-h", "-p", "-C", "-D"}, note: "sudo is left out: start autotune as the user that serves"},
	"timeout": {takes: []string{"-k", "-s"}, words: 1, note: "timeout is left out: autotune has limits of its own"},
}

// unwrap takes away what stands in front of a command and is not part of it, and collects the variables that env sets.
func unwrap(words []word) (rest []word, env []Variable, notes []Note) {
	for len(words) > 0 {
		w, ok := droppedWrappers[path.Base(words[0].text)]
		if !ok {
			break
		}
		name, line := path.Base(words[0].text), words[0].line
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
			skip := 1
			if slices.Contains(w.takes, words[0].text) {
				skip = 2
			}
			words = words[min(skip, len(words)):]
		}
		words = words[min(w.words, len(words)):]
		for (name == "env" || name == "sudo") && len(words) > 0 {
			key, value, assigned := strings.Cut(words[0].text, "=")
			if !assigned || !variableName.MatchString(key) {
				break
			}
			env = append(env, Variable{Name: key, Value: value, Line: words[0].line})
			words = words[1:]
		}
		if w.note != "" {
			notes = append(notes, Note{line, w.note})
		}
	}
	return words, env, notes
}
