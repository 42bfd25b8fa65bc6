package deploy

import (
	"regexp"
	"strings"
)

// interpolated is a variable in a Dockerfile's instruction or in a compose file: $$, $NAME, ${NAME}, ${NAME:-default} and its kin.
var interpolated = regexp.MustCompile(`\$(\$|[A-Za-z_][A-Za-z0-9_]*|\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?[-+?])([^{}]*))?\})`)

// interpolate puts values in the place of variables; missing is called with those that have none.
func interpolate(text string, vars variables, missing func(name string), usesDefault func(name, value string)) string {
	return interpolated.ReplaceAllStringFunc(text, func(found string) string {
		m := interpolated.FindStringSubmatch(found)
		name, op, word := m[2], m[3], m[4]
		switch {
		case m[1] == "$":
			return "$"
		case name == "":
			name = m[1]
		}
		v := vars.Get(name)
		value := v.String()
		set := v.IsSet() && (value != "" || !strings.HasPrefix(op, ":"))
		switch {
		case strings.HasSuffix(op, "+") && set:
			return word
		case strings.HasSuffix(op, "+"):
			return ""
		case set:
			return value
		case strings.HasSuffix(op, "-"):
			usesDefault(name, word)
			return word
		}
		missing(name)
		return ""
	})
}

// substitute is interpolate where a variable without a value is nothing.
func substitute(text string, vars variables) string {
	return interpolate(text, vars, func(string) {}, func(string, string) {})
}
