package deploy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// readManifest finds the containers of a compose file, or of a Kubernetes manifest of any kind, that serve.
func readManifest(text string, o *Options) ([]start, error) {
	documents, err := readYAML(text)
	if wrong, ok := err.(*Error); ok && strings.Contains(text, "{{") {
		wrong.Try = fillIn
	}
	if err != nil {
		return nil, err
	}
	var found []start
	for _, doc := range documents {
		services, compose := doc.get("services")
		if compose && services.mapping {
			for _, e := range services.entries {
				more, err := composeService(e.value, o)
				if err != nil {
					return nil, err
				}
				found = append(found, more...)
			}
			continue
		}
		for _, read := range []func(tree, *Options) ([]start, error){kubernetes, chartValues} {
			more, err := read(doc, o)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	for _, doc := range documents {
		envs, _ := doc.get("envs")
		vars := newVariables(o)
		for _, e := range envs.entries {
			if _, given := o.Set[e.key]; !given && e.value.text != "" {
				vars[e.key] = exportedVariable(Variable{Name: e.key, Value: e.value.text, Line: e.value.line})
			}
		}
		more, err := scripts(doc, o, vars)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// scripts reads the texts of a file of any other kind (a cluster task, a pipeline) that are scripts which serve.
func scripts(t tree, o *Options, vars variables) ([]start, error) {
	var found []start
	if mentionsServer(t.text) && strings.Contains(t.text, " ") {
		more, err := readShell(t.text, textLine(t), o, maps.Clone(vars), container{})
		if err != nil && t.block { // a sentence is no script
			return nil, err
		}
		return more, nil
	}
	for _, e := range t.entries {
		more, err := scripts(e.value, o, vars)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	for _, item := range t.items {
		more, err := scripts(item, o, vars)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// kubernetes looks for containers wherever they stand: the kinds of resources are many, a container has one form.
func kubernetes(t tree, o *Options) ([]start, error) {
	var found []start
	_, image := t.get("image")
	_, command := t.get("command")
	_, args := t.get("args")
	if image || command || args {
		more, err := kubernetesContainer(t, o)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	for _, e := range t.entries {
		if e.key == "initContainers" || e.key == "lifecycle" || strings.HasSuffix(e.key, "Probe") {
			continue
		}
		more, err := kubernetes(e.value, o)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	for _, item := range t.items {
		more, err := kubernetes(item, o)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// kubernetesContainer reads command, args and env of a container.
func kubernetesContainer(t tree, o *Options) ([]start, error) {
	image, _ := t.get("image")
	in := container{image: image.text}
	env, _ := t.get("env")
	in.kubernetesEnv(env, o)
	if from, ok := t.get("envFrom"); ok {
		in.notes = append(in.notes, Note{from.line, "envFrom takes variables from elsewhere: they are not known here"})
	}
	var words []word
	for _, key := range []string{"command", "args"} {
		list, _ := t.get(key)
		for _, item := range list.items {
			text, faults := kubernetesText(item, in.env, o, false)
			words = append(words, word{text, textLine(item), faults})
		}
	}
	return inContainer(words, o, in)
}

// kubernetesEnv takes a container's list of variables.
func (c *container) kubernetesEnv(env tree, o *Options) {
	for _, item := range env.items {
		name, _ := item.get("name")
		value, given := item.get("value")
		if !given || name.text == "" {
			if from, ok := item.get("valueFrom"); ok {
				c.elsewhere(name.text, name.line, firstKey(from))
			}
			continue
		}
		text, _ := kubernetesText(value, c.env, o, true)
		c.env = append(c.env, Variable{Name: name.text, Value: text, Line: name.line})
	}
}

func firstKey(t tree) string {
	if len(t.entries) > 0 {
		return t.entries[0].key
	}
	return "elsewhere"
}

// textLine is where the text itself begins.
func textLine(t tree) int {
	if t.block {
		return t.line + 1
	}
	return t.line
}

// kubernetesVariable is $(NAME), or $$(NAME) for the text $(NAME).
var kubernetesVariable = regexp.MustCompile(`\$?\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// kubernetesText replaces $(NAME) by what env says, or the person. A name that is not known stays as it is, as Kubernetes has it where there is no such
// variable; most such names get their values in the cluster, so that it is a fault of a word.
func kubernetesText(t tree, env []Variable, o *Options, isEnv bool) (text string, faults []*Error) {
	text = kubernetesVariable.ReplaceAllStringFunc(t.text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found[1:]
		}
		name := kubernetesVariable.FindStringSubmatch(found)[1]
		for _, v := range slices.Backward(env) {
			if v.Name == name {
				return v.Value
			}
		}
		if value, ok := o.Set[name]; ok {
			return value
		}
		if !t.block && !strings.Contains(t.text, " ") || name == strings.ToUpper(name) { // else, in a script, it is what a command prints
			faults = append(faults, &Error{Line: t.line, Problem: "$(" + name + ") is not set here", Try: "--set " + name + "=VALUE", unset: name})
			if !isEnv { // to a shell that the text is given to, it is a variable too
				return "${" + name + "}"
			}
		}
		return found
	})
	return text, faults
}

// composeService reads entrypoint, command and environment of a service.
func composeService(t tree, o *Options) ([]start, error) {
	vars := newVariables(o)
	delete(vars, "HOME")
	image, _ := t.get("image")
	c := composer{vars: vars, in: container{image: substitute(image.text, vars)}}
	c.environment(t)
	if volumes, ok := t.get("volumes"); ok {
		for _, v := range volumes.items {
			c.in.mount(substitute(v.text, vars), v.line)
		}
	}
	entry, _ := t.get("entrypoint")
	command, _ := t.get("command")
	words := append(c.words(entry), c.words(command)...)
	if c.err != nil {
		return nil, c.err
	}
	return inContainer(words, o, c.in)
}

// composer reads what stands in one service.
type composer struct {
	vars variables
	in   container
	err  error
}

// environment is a mapping, or a list of NAME=VALUE.
func (c *composer) environment(t tree) {
	env, _ := t.get("environment")
	for _, e := range env.entries {
		if e.value.text == "" {
			c.in.variable(e.key, e.value.line, variables{})
			continue
		}
		c.variable(e.key, e.value)
	}
	for _, item := range env.items {
		name, value, assigned := strings.Cut(item.text, "=")
		if assigned {
			c.variable(name, tree{text: value, line: item.line})
			continue
		}
		c.in.variable(name, item.line, variables{})
	}
	if file, ok := t.get("env_file"); ok {
		c.in.notes = append(c.in.notes, Note{file.line, "what env_file sets is not read: add it to the spec's env, but for secrets"})
	}
}

// variable takes NAME=VALUE; one that comes from the shell is noted, not asked for.
func (c *composer) variable(name string, value tree) {
	missing := false
	text := interpolate(value.text, c.vars, func(string) { missing = true }, func(string, string) {})
	if missing {
		c.in.elsewhere(name, value.line, "the shell that runs compose")
		return
	}
	c.in.env = append(c.in.env, Variable{Name: name, Value: text, Line: value.line})
}

// text puts values in the place of variables.
func (c *composer) text(t tree) (text string, faults []*Error) {
	text = interpolate(t.text, c.vars,
		func(name string) {
			faults = append(faults, &Error{Line: t.line, Problem: "$" + name + " is not set here", Try: "--set " + name + "=VALUE", unset: name})
		},
		func(name, value string) {
			c.in.notes = append(c.in.notes, Note{t.line, fmt.Sprintf("%s is not set: its default %s is used (--set %s=VALUE says otherwise)", name, quote(value), name)})
		})
	return text, faults
}

// words are those of a list, or of a text that compose splits as a shell would, without what a shell puts in the place of variables.
func (c *composer) words(t tree) []word {
	var words []word
	for _, item := range t.items {
		text, faults := c.text(item)
		words = append(words, word{text, textLine(item), faults})
	}
	if t.list || t.text == "" {
		return words
	}
	text, faults := c.text(t)
	more, open := splitWords(text, textLine(t))
	for i := range more {
		more[i].fault = faults
	}
	if open {
		c.err = &Error{Line: t.line, Problem: "a quote is not closed"}
	}
	return append(words, more...)
}

// splitWords parts a text as compose does: quotes and backslashes mean what they mean to a shell, nothing else does. open says that a quote is
// not closed.
func splitWords(text string, line int) (words []word, open bool) {
	var b strings.Builder
	var quoted byte // the quote that is open
	begun := 0      // line on which the word began; 0: none has
	end := func() {
		if begun > 0 {
			words = append(words, word{text: b.String(), line: begun})
		}
		begun = 0
		b.Reset()
	}
	for i := 0; i < len(text); i++ {
		ch := text[i]
		if quoted == 0 && strings.IndexByte(" \t\n", ch) >= 0 {
			end()
		} else if begun == 0 {
			begun = line
		}
		if ch == '\n' {
			line++
		}
		switch {
		case quoted == 0 && strings.IndexByte(" \t\n", ch) >= 0:
		case ch == quoted:
			quoted = 0
		case quoted == 0 && (ch == '"' || ch == '\''):
			quoted = ch
		case ch == '\\' && i+1 < len(text) && (quoted == 0 || quoted == '"' && strings.IndexByte("\"\\$`\n", text[i+1]) >= 0):
			i++
			if text[i] == '\n' {
				line++
				if b.Len() == 0 {
					begun = 0
				}
				continue
			}
			b.WriteByte(text[i])
		default:
			b.WriteByte(ch)
		}
	}
	end()
	return words, quoted != 0
}
