package deploy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// configFile puts the flags of the file that --config names in front of the command's own, where the engines read them too: the command line wins.
func (r *reader) configFile(o *Options) error {
	at := slices.IndexFunc(r.args, func(w word) bool { return w.text == "--config" || strings.HasPrefix(w.text, "--config=") })
	if at < 0 {
		return nil
	}
	_, path, inline := strings.Cut(r.args[at].text, "=")
	end, line := at+1, r.args[at].line
	if !inline {
		if end == len(r.args) {
			return nil // the engine's own parser says so
		}
		path, end = r.args[at+1].text, at+2
	}
	if o.Open == nil {
		return nil
	}
	text, err := o.Open(r.outside(path))
	if err != nil {
		r.unread = path
		r.note(line, "the file of --config cannot be read (%v): what it sets is not known here", err)
		return nil
	}
	words, err := r.configWords(string(text), line)
	if err != nil {
		return &Error{Line: line, Problem: fmt.Sprintf("--config %s: %v", path, err)}
	}
	r.note(line, "what %s sets stands in the command now, in place of --config", path)
	model := 0 // in front of all flags it stays there
	if !strings.HasPrefix(r.args[0].text, "-") {
		model = 1
	}
	r.args = slices.Concat(r.args[:model], words, r.args[model:at], r.args[end:])
	return nil
}

// outside is where a path in the container is found on the host: below the mount that holds it, if there is one.
func (r *reader) outside(path string) string {
	for _, m := range r.mounts {
		if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(m.to, "/")); ok && (rest == "" || rest[0] == '/') {
			return strings.TrimSuffix(m.from, "/") + rest
		}
	}
	return path
}

// configWords turns flag: value into words, as the engines do: true is the flag alone, false nothing, a mapping JSON.
func (r *reader) configWords(text string, line int) ([]word, error) {
	documents, err := readYAML(text)
	if err != nil {
		return nil, err
	}
	var words []word
	add := func(text string) { words = append(words, word{text: text, line: line}) }
	for _, doc := range documents {
		for _, e := range doc.entries {
			flag := "--" + e.key
			switch {
			case e.value.mapping:
				object, err := jsonOf(e.value)
				if err != nil {
					return nil, err
				}
				add(flag + "=" + object)
			case e.value.list:
				add(flag)
				for _, item := range e.value.items {
					add(item.text)
				}
			case e.value.text == "true":
				add(flag)
			case e.value.text == "false", e.value.text == "":
			default:
				add(flag + "=" + e.value.text)
			}
		}
	}
	return words, nil
}

// jsonOf writes a YAML value as JSON, numbers as they were written.
func jsonOf(t tree) (string, error) {
	var parts []string
	switch {
	case t.mapping:
		for _, e := range t.entries {
			key, err := json.Marshal(e.key)
			if err != nil {
				return "", err
			}
			value, err := jsonOf(e.value)
			if err != nil {
				return "", err
			}
			parts = append(parts, string(key)+": "+value)
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	case t.list:
		for _, item := range t.items {
			value, err := jsonOf(item)
			if err != nil {
				return "", err
			}
			parts = append(parts, value)
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case !t.quoted && json.Valid([]byte(t.text)):
		return t.text, nil
	}
	text, err := json.Marshal(t.text)
	return string(text), err
}
