package studyfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"autotune/tuner/secret"
	"autotune/tuner/workload"
)

// secretField is a field of a body that holds a secret, whatever stands in it.
var secretField = regexp.MustCompile(`(?i)(api_?key|secret|passw|credential|authorization|access_token)`)

// extraBody reads further fields of each request's body.
func (r *reader) extraBody(to *string) func(*node, path) {
	return func(n *node, p path) {
		if n.kind != mapNode {
			r.fail(n, p, "wrong type", "fields of a request's body: {FIELD: VALUE}")
			return
		}
		before := len(r.errs)
		for _, e := range n.entries {
			if slices.Contains(workload.OwnFields, e.key) {
				r.failAt(e.at, p.child(e.key), FieldError{Problem: "the workload sets this field itself"})
			}
		}
		r.noSecrets(n, p)
		if len(r.errs) > before {
			return
		}
		var b strings.Builder
		if bad, problem := n.json(&b); bad != nil {
			r.fail(bad, p, problem, "a value as JSON has it")
			return
		}
		*to = b.String()
	}
}

// noSecrets refuses whatever looks like a secret, however deep.
func (r *reader) noSecrets(n *node, p path) {
	for _, item := range n.items {
		r.noSecrets(item, p)
	}
	for _, e := range n.entries {
		child := p.child(e.key)
		if secretField.MatchString(e.key) && e.value.kind == scalarNode && !e.value.isNull() {
			r.failAt(e.at, child, FieldError{Problem: noSecret, Allowed: "api_key_env: NAME, or a header whose value is $NAME"})
			continue
		}
		r.noSecrets(e.value, child)
	}
	if n.kind == scalarNode && secret.Value(n.text) {
		r.failAt(n.at, p, FieldError{Problem: noSecret, Allowed: "api_key_env: NAME, or a header whose value is $NAME"})
	}
}

var (
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	headerValue = regexp.MustCompile(`^[\t\x20-\x7e]+$`)
	secretName  = regexp.MustCompile(`(?i)^((proxy-)?authorization|cookie)$`)
	// ownHeaders are set by the load generator or by HTTP itself.
	ownHeaders = []string{"host", "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "accept-encoding", "user-agent", "te", "trailer", "upgrade"}
)

// headers reads headers of each request. A secret is named by the variable that holds it.
func (r *reader) headers(to *[]workload.Header) func(*node, path) {
	return func(n *node, p path) {
		if n.kind != mapNode {
			r.fail(n, p, "wrong type", "headers by their names: {NAME: VALUE}")
			return
		}
		for _, e := range n.entries {
			child := p.child(e.key)
			lower := strings.ToLower(e.key)
			switch {
			case !headerName.MatchString(e.key):
				r.failAt(e.at, child, FieldError{Problem: "not a header's name", Allowed: "letters, digits and dashes"})
			case slices.Contains(ownHeaders, lower) || strings.HasPrefix(lower, "x-law-"):
				r.failAt(e.at, child, FieldError{Problem: "the load generator sets this header itself"})
			case slices.ContainsFunc(*to, func(h workload.Header) bool { return strings.EqualFold(h.Name, e.key) }):
				r.failAt(e.at, child, FieldError{Problem: "the header is given twice"})
			case !r.plain(e.value, child, "a value; an empty one is none"):
			case !headerValue.MatchString(e.value.text):
				r.fail(e.value, child, "not a header's value", "one line of plain characters")
			case exposes(e.key, e.value.text):
				r.failAt(e.at, child, FieldError{Problem: noSecret, Allowed: fmt.Sprintf("a variable of the environment that holds it, such as $%s", variableOf(e.key))})
			default:
				*to = append(*to, workload.Header{Name: e.key, Value: e.value.text})
			}
		}
	}
}

// exposes tells whether a header holds a secret in plain text.
func exposes(name, value string) bool {
	rest := workload.HeaderVariable.ReplaceAllString(value, "")
	if secret.Value(rest) {
		return true
	}
	secretive := secretName.MatchString(name) || secret.Variable(strings.ReplaceAll(name, "-", "_"), "secret")
	return secretive && rest == value
}

func variableOf(header string) string {
	return strings.ToUpper(strings.ReplaceAll(header, "-", "_"))
}

// keyVariable reads the name of the variable that holds an API key. It has to look like one, so that its value is kept out of every record.
func (r *reader) keyVariable(to *string) func(*node, path) {
	const allowed = "the name of a variable of the environment that says that it is a secret, such as OPENAI_API_KEY"
	return func(n *node, p path) {
		name, ok := r.word(n, p, allowed)
		switch {
		case !ok:
		case secret.Value(name):
			r.failAt(n.at, p, FieldError{Problem: noSecret, Allowed: allowed})
		case !envName.MatchString(name) || !secret.Variable(name, "secret"):
			r.fail(n, p, "not the name of a secret", allowed)
		default:
			*to = name
		}
	}
}
