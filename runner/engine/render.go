package engine

import (
	"encoding/json"
	"strings"

	"autotune/space"
)

// Render writes settings as arguments: long names, --name=value, plain integers, no shell quoting. A default is left out.
// A flag that the catalog does not know is passed as it was written: set by its name alone for true, left out for false.
func (d *Definition) Render(settings []Setting) []string {
	var args []string
	for _, s := range settings {
		args = append(args, d.render(s)...)
	}
	return args
}

func (d *Definition) render(s Setting) []string {
	if s.Value.IsDefault() || s.Value.Kind() == space.KindNone {
		return nil
	}
	f, known := d.Flag(s.Flag)
	if !known {
		f = Flag{Name: bare(s.Flag)}
	}
	name := "--" + f.Name
	if s.Value.Kind() == space.KindBool && (f.IsSwitch() || !known) {
		switch {
		case s.Value.AsBool():
			return []string{name}
		case f.Kind == NegatableSwitch:
			return []string{"--no-" + f.Name}
		default:
			return nil
		}
	}
	text := s.Value.String()
	switch {
	case f.Attached != "":
		// The short form is the one that every release takes.
		return []string{"-" + f.Attached + strings.TrimPrefix(text, f.Attached)}
	case f.Kind == List:
		words := Words(text)
		if len(words) == 1 && !strings.HasPrefix(words[0], "-") || len(words) == 0 {
			return []string{name + "=" + strings.Join(words, "")}
		}
		return append([]string{name}, words...)
	case f.Optional && text == "":
		return []string{name}
	default:
		return []string{name + "=" + text}
	}
}

// Words splits the value of a list: a JSON array of strings, or words parted by blanks.
func Words(text string) []string {
	var words []string
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &words) == nil {
		return words
	}
	return strings.Fields(text)
}

// joinWords is the inverse of Words.
func joinWords(words []string) string {
	plain := strings.Join(words, " ")
	if again := Words(plain); len(again) == len(words) && strings.Join(again, "\x00") == strings.Join(words, "\x00") {
		return plain
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(words); err != nil {
		return plain
	}
	return strings.TrimSuffix(b.String(), "\n")
}
