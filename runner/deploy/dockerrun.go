package deploy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"autotune/tuner/secret"
)

// dockerSwitches are the options of docker run that take no value (docker run --help).
var dockerSwitches = []string{"--detach", "--disable-content-trust", "--init", "--interactive", "--no-healthcheck", "--oom-kill-disable", "--privileged",
	"--publish-all", "--quiet", "--read-only", "--rm", "--sig-proxy", "--tty", "--use-api-socket", "--replace", "--no-hosts"}

// dockerRun reads docker run OPTIONS IMAGE ARGUMENTS: what the image is given, and what the options give its container.
func dockerRun(words []word, vars variables) (rest []word, in container, ok bool) {
	if !slices.Contains([]string{"docker", "podman", "nerdctl"}, path.Base(words[0].text)) {
		return nil, in, false
	}
	at := slices.IndexFunc(words, func(w word) bool { return w.text == "run" })
	if at < 0 || at > 2 {
		return nil, in, false
	}
	words = words[at+1:]
	var entry []word
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		w := words[0]
		words = words[1:]
		name, value, assigned := strings.Cut(w.text, "=")
		short := !strings.HasPrefix(name, "--")
		switch {
		case slices.Contains(dockerSwitches, name):
			continue
		case short && strings.Trim(w.text[1:], "ditPq") == "":
			continue // -it
		case short && !assigned && len(name) > 2:
			name, value, assigned = name[:2], name[2:], true // -p8000:8000
		case short && assigned && len(name) > 2:
			name, value = w.text[:2], w.text[2:] // -eNAME=VALUE
		}
		if !assigned && len(words) > 0 {
			w, value, words = words[0], words[0].text, words[1:]
		}
		switch variable, _, _ := strings.Cut(value, "="); name {
		case "-e", "--env":
			if len(w.fault) > 0 {
				in.elsewhere(strings.Trim(variable, `"'`), w.line, "the shell that starts the container")
				continue
			}
			in.variable(value, w.line, vars)
		case "--env-file":
			in.notes = append(in.notes, Note{w.line, "what the file " + value + " sets is not read: add it to the spec's env, but for secrets"})
		case "--entrypoint":
			entry = []word{{text: value, line: w.line}}
		case "-v", "--volume", "--mount":
			in.mount(value, w.line)
		}
	}
	if len(words) == 0 {
		return nil, in, false
	}
	in.image = words[0].text
	return append(entry, words[1:]...), in, true
}

// variable takes NAME=VALUE, or NAME alone: then the value is that of whoever starts the container.
func (c *container) variable(text string, line int, vars variables) {
	name, value, assigned := strings.Cut(text, "=")
	switch v := vars.Get(name); {
	case assigned:
		c.env = append(c.env, Variable{Name: name, Value: value, Line: line})
	case v.IsSet():
		c.env = append(c.env, Variable{Name: name, Value: v.String(), Line: line})
	default:
		c.elsewhere(name, line, "the shell that starts the container")
	}
}

// elsewhere notes a variable whose value stands in another place.
func (c *container) elsewhere(name string, line int, where string) {
	if secret.Variable(name, "a value") {
		c.names = append(c.names, name)
	}
	c.notes = append(c.notes, Note{line, fmt.Sprintf("%s comes from %s: export it in the shell that starts autotune, if the server needs it", name, where)})
}

// mount remembers which folder of the host lies where in the container.
func (c *container) mount(text string, line int) {
	from, to := "", ""
	for part := range strings.SplitSeq(text, ",") {
		switch key, value, _ := strings.Cut(part, "="); key {
		case "source", "src":
			from = value
		case "target", "destination", "dst":
			to = value
		}
	}
	if parts := strings.Split(text, ":"); to == "" && len(parts) > 1 {
		from, to = parts[0], parts[1]
	}
	if from != "" && to != "" {
		c.mounts = append(c.mounts, mount{from, to, line})
	}
}
