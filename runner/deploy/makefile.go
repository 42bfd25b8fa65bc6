package deploy

import (
	"regexp"
	"strings"
)

var (
	makeTarget   = regexp.MustCompile(`^[A-Za-z0-9_.%$()/ -]+:([^=]|$)`)
	makeVariable = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*(\?=|:=|::=|\+=|=)\s*(.*)$`)
	makeUse      = regexp.MustCompile(`\$(\$|\(([A-Za-z_][A-Za-z0-9_]*)\)|\{([A-Za-z_][A-Za-z0-9_]*)\}|[A-Za-z])`)
)

// isMakefile tells a Makefile by a target with a recipe, which a tab begins.
func isMakefile(text string) bool {
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		if n+1 < len(lines) && makeTarget.MatchString(line) && strings.HasPrefix(lines[n+1], "\t") {
			return true
		}
	}
	return false
}

// readMakefile finds the commands in a Makefile's recipes: make puts its variables in their places and gives each line to a shell.
func readMakefile(text string, o *Options) ([]start, error) {
	vars := map[string]string{}
	var found []start
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for n := 0; n < len(lines); n++ {
		first := n
		whole := lines[n]
		for strings.HasSuffix(whole, `\`) && n+1 < len(lines) {
			n++
			whole += "\n" + lines[n]
		}
		recipe, isRecipe := strings.CutPrefix(whole, "\t")
		if m := makeVariable.FindStringSubmatch(strings.ReplaceAll(whole, "\\\n", " ")); !isRecipe && m != nil {
			assignMake(vars, m[1], m[2], m[3], o)
			continue
		}
		if !isRecipe {
			continue
		}
		recipe = strings.ReplaceAll(strings.TrimLeft(recipe, "@-+ \t"), "\n\t", "\n")
		more, err := readShell(expandMake(recipe, vars, o), first+1, o, newVariables(o), container{})
		if err != nil && mentionsServer(recipe) {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

func assignMake(vars map[string]string, name, op, value string, o *Options) {
	value, _, _ = strings.Cut(value, " #")
	value = strings.TrimSpace(value)
	if given, ok := o.Set[name]; ok {
		value = given
	} else if old, set := vars[name]; set && op == "+=" {
		value = old + " " + value
	} else if set && op == "?=" {
		return
	}
	if len(value) <= longestValue {
		vars[name] = value
	}
}

// expandMake puts make's variables in their places: what is not one is a variable of the shell, or of whoever calls make.
func expandMake(text string, vars map[string]string, o *Options) string {
	for range 8 { // values may name others
		again := false
		text = makeUse.ReplaceAllStringFunc(text, func(found string) string {
			m := makeUse.FindStringSubmatch(found)
			name := m[2] + m[3]
			value, ok := vars[name]
			switch {
			case m[1] == "$":
				return "$$"
			case ok:
				again = again || strings.Contains(value, "$")
				return value
			case name != "":
				return "$${" + name + "}"
			}
			return found
		})
		if !again || len(text) > longestValue {
			break
		}
	}
	return strings.ReplaceAll(text, "$$", "$")
}
