package deploy

import (
	"regexp"
	"slices"
	"strings"
)

// unitVariable is $NAME or ${NAME} in a unit's command; $$ is a dollar sign.
var unitVariable = regexp.MustCompile(`\$(\$|[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})`)

// readUnit finds the commands of a systemd unit: ExecStart, in the environment that Environment sets (systemd.exec(5), systemd.service(5)).
func readUnit(text string, o *Options) ([]start, error) {
	in := container{}
	var commands [][]word
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for n := 0; n < len(lines); n++ {
		key, value, assigned := strings.Cut(strings.TrimSpace(lines[n]), "=")
		first := n + 1
		if !assigned || strings.HasPrefix(key, "#") || strings.HasPrefix(key, ";") {
			continue
		}
		for strings.HasSuffix(value, `\`) && n+1 < len(lines) { // the next line goes on, comments between are left out
			n++
			next := strings.TrimSpace(lines[n])
			if strings.HasPrefix(next, "#") || strings.HasPrefix(next, ";") {
				next = `\`
			}
			value = strings.TrimSuffix(value, `\`) + "\n" + next
		}
		words, open := splitWords(strings.TrimLeft(value, " @-:+!"), first)
		switch {
		case key == "ExecStart" && open:
			return nil, &Error{Line: first, Problem: "a quote is not closed"}
		case key == "ExecStart":
			commands = append(commands, words)
		case key == "Environment":
			for _, w := range words {
				in.variable(w.text, w.line, variables{})
			}
		case key == "EnvironmentFile":
			in.notes = append(in.notes, Note{first, "what the file " + value + " sets is not read: add it to the spec's env, but for secrets"})
		}
	}
	var found []start
	for _, words := range commands {
		for i := range words {
			words[i].text, words[i].fault = in.unitText(words[i], o)
		}
		more, err := inContainer(words, o, in)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// unitText puts the values of the unit's variables in their places.
func (c *container) unitText(w word, o *Options) (text string, faults []*Error) {
	text = unitVariable.ReplaceAllStringFunc(w.text, func(found string) string {
		name := strings.Trim(found[1:], "{}")
		if name == "$" {
			return "$"
		}
		for _, v := range slices.Backward(c.env) {
			if v.Name == name {
				return v.Value
			}
		}
		if value, ok := o.Set[name]; ok {
			return value
		}
		faults = append(faults, &Error{Line: w.line, Problem: "$" + name + " is not set here", Try: "--set " + name + "=VALUE", unset: name})
		return found
	})
	return text, faults
}
