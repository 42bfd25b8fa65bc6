package deploy

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

// instructionLine is one instruction of a Dockerfile, continuation lines joined, comments between them left out.
type instructionLine struct {
	name, rest string
	line       int
}

var heredoc = regexp.MustCompile(`<<-?["']?([A-Za-z_][A-Za-z0-9_]*)["']?`)

// instructions splits a Dockerfile. A comment between continued lines does not end an instruction; blanks behind the backslash do not matter.
func instructions(text string) []instructionLine {
	var list []instructionLine
	open, until := false, ""
	for n, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case until != "":
			if trimmed == until {
				until = ""
			}
			continue
		case strings.HasPrefix(trimmed, "#"), trimmed == "" && open:
			if open {
				list[len(list)-1].rest += "\n\\" // the line stays counted
			}
			continue
		case trimmed == "":
			continue
		}
		body, more := strings.CutSuffix(strings.TrimRight(line, " \t"), `\`)
		if more {
			body += `\`
		}
		if open {
			list[len(list)-1].rest += "\n" + body
		} else {
			name, rest, _ := strings.Cut(strings.TrimLeft(body, " \t"), " ")
			list = append(list, instructionLine{strings.ToUpper(name), rest, n + 1})
			if m := heredoc.FindStringSubmatch(rest); m != nil && (strings.EqualFold(name, "RUN") || strings.EqualFold(name, "COPY")) {
				until = m[1]
			}
		}
		open = more
	}
	return list
}

// readDockerfile finds what the image of a Dockerfile's last stage starts.
func readDockerfile(text string, o *Options) ([]start, error) {
	vars := newVariables(o)
	in := container{}
	var entry, command instructionLine
	for _, i := range instructions(text) {
		switch i.name {
		case "FROM":
			in = container{image: firstField(substitute(i.rest, vars))}
			entry, command = instructionLine{}, instructionLine{}
		case "ARG", "ENV":
			assignments, err := dockerAssignments(i, vars)
			if err != nil {
				return nil, err
			}
			for _, v := range assignments {
				_, given := o.Set[v.Name]
				if i.name == "ARG" && given {
					continue
				}
				vars[v.Name] = variable{Variable: expand.Variable{Set: true, Kind: expand.String, Str: v.Value}, line: v.Line}
				if i.name == "ENV" {
					in.env = append(in.env, v)
				}
			}
		case "ENTRYPOINT":
			entry, command = i, instructionLine{}
		case "CMD":
			command = i
		}
	}
	for _, v := range in.env {
		vars[v.Name] = exportedVariable(v)
	}
	return in.starts(entry, command, o, vars)
}

func firstField(text string) string {
	fields := strings.Fields(text)
	for len(fields) > 1 && strings.HasPrefix(fields[0], "--") {
		fields = fields[1:]
	}
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

// starts joins ENTRYPOINT and CMD as Docker does: in exec form one follows the other, an entry point in shell form stands alone.
func (c container) starts(entry, command instructionLine, o *Options, vars variables) ([]start, error) {
	words, exec := execForm(entry)
	if entry.name != "" && !exec {
		outer := c
		outer.env = nil
		return readShell(entry.rest, entry.line, o, vars, outer)
	}
	more, exec := execForm(command)
	switch {
	case command.name == "":
	case exec:
		words = append(words, more...)
	case len(words) == 0:
		outer := c
		outer.env = nil
		return readShell(command.rest, command.line, o, vars, outer)
	default: // an entry point that is given /bin/sh -c COMMAND
		words = append(words, word{text: "/bin/sh", line: command.line}, word{text: "-c", line: command.line}, word{text: command.rest, line: command.line})
	}
	if len(words) == 0 {
		return nil, nil
	}
	return inContainer(words, o, c)
}

// execForm reads ["word", "word"]; false when the instruction is in shell form.
func execForm(i instructionLine) ([]word, bool) {
	text := strings.TrimSpace(strings.ReplaceAll(i.rest, "\\\n", "\n"))
	var texts []string
	if !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &texts) != nil {
		return nil, false
	}
	var words []word
	line, at := i.line, 0
	for _, t := range texts {
		quoted, _ := json.Marshal(t)
		if n := strings.Index(text[at:], string(quoted)); n >= 0 {
			line += strings.Count(text[at:at+n], "\n")
			at += n
		}
		words = append(words, word{text: t, line: line})
	}
	return words, true
}

// dockerAssignments reads NAME=VALUE ..., and the old NAME VALUE.
func dockerAssignments(i instructionLine, vars variables) ([]Variable, error) {
	if name, value, _ := strings.Cut(strings.TrimSpace(i.rest), " "); i.name == "ENV" && !strings.Contains(name, "=") {
		return []Variable{{Name: name, Value: substitute(strings.TrimSpace(value), vars), Line: i.line}}, nil
	}
	s, err := readScript("export "+i.rest, i.line, &Options{}, maps.Clone(vars))
	if err != nil {
		return nil, err
	}
	var out []Variable
	for _, v := range s.vars.exported() {
		if v.Line >= i.line {
			out = append(out, v)
		}
	}
	return out, nil
}
