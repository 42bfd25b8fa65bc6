package engine

import (
	"encoding/json"
	"strings"
)

// LoggedConfig reads the line of a log in which an engine prints its configuration (vLLM's "LLM engine (v...) with config:", SGLang's "server_args="),
// as Effective takes it; nil for any other line. Lines may be cut: what is not whole at their end is left out.
func (d *Definition) LoggedConfig(line string) json.RawMessage {
	_, text, found := strings.Cut(line, d.configLine)
	if !found || d.configLine == "" {
		return nil
	}
	flat := map[string]any{}
	readPairs(flat, "", text, "=")
	if len(flat) == 0 {
		return nil
	}
	raw, err := json.Marshal(map[string]any{loggedConfig: flat})
	if err != nil {
		return nil
	}
	return raw
}

// readPairs reads Python's key=value or 'key': value pairs, parted by commas, into a map; a dictionary's keys get the name in front and a dot.
func readPairs(flat map[string]any, prefix, text, sign string) {
	for len(text) > 0 {
		end, whole := pairEnd(text)
		if !whole {
			return // cut in the middle of a value
		}
		key, value, ok := strings.Cut(text[:end], sign)
		if end < len(text) && text[end] != ',' {
			text = "" // the bracket that closes the whole
		} else {
			text = strings.TrimPrefix(text[end:], ",")
		}
		if !ok {
			continue
		}
		key = prefix + strings.Trim(strings.TrimSpace(key), `'"`)
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(value, "{") && prefix == "":
			readPairs(flat, key+".", strings.Trim(value, "{}"), ":")
		default:
			flat[key] = literal(value)
		}
	}
}

// pairEnd is where the pair at the beginning ends: at the next comma outside of brackets and quotes, or at the bracket that closes the whole. whole is
// false where the text ends inside of brackets or quotes.
func pairEnd(text string) (end int, whole bool) {
	depth, quote := 0, byte(0)
	for i := range len(text) {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote && text[i-1] != '\\' {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case c == '>' && i > 0 && text[i-1] == '-': // an arrow, no bracket
		case strings.IndexByte(")]}>", c) >= 0:
			if depth--; depth < 0 {
				return i, true
			}
		case c == ',' && depth == 0:
			return i, true
		}
	}
	return len(text), depth == 0 && quote == 0
}

// literal is a Python value as a word: quotes off, and of a member of an enumeration (<CUDAGraphMode.NONE: 0>) its name.
func literal(text string) string {
	if inner, found := strings.CutPrefix(text, "<"); found {
		name, _, _ := strings.Cut(strings.TrimSuffix(inner, ">"), ":")
		return name[strings.LastIndexByte(name, '.')+1:]
	}
	return strings.Trim(text, `'"`)
}
