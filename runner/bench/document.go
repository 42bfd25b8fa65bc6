package bench

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// document is a decoded JSON object.
type document map[string]any

// decode reads one JSON object, one a line, or a list of them. Python writes NaN and Infinity, which are no JSON: they arrive as texts.
func decode(text []byte) ([]document, *Refusal) {
	text = bytes.TrimPrefix(bytes.TrimSpace(fromUTF16(text)), []byte("\xef\xbb\xbf"))
	if len(text) == 0 {
		return nil, refuse("schema", "the file is empty: the tool ended before it wrote its result")
	}
	if text[0] == '[' {
		var docs []document
		if err := json.Unmarshal(quoteNumbers(text), &docs); err != nil || len(docs) == 0 {
			return nil, refuse("schema", "the file is a list, and no whole one of results (%v)", err)
		}
		return docs, nil
	}
	if text[0] != '{' {
		return nil, refuse("schema", "the file does not begin with { : it is no result file; the tools write JSON beside what they print")
	}
	d := json.NewDecoder(bytes.NewReader(quoteNumbers(text)))
	var docs []document
	for d.More() {
		var doc document
		if err := d.Decode(&doc); err != nil {
			return nil, refuse("schema", "the file is no whole JSON (%v): the tool may have been ended while it wrote", err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// fromUTF16 turns UTF-16 with its mark, as redirections on Windows write it, into UTF-8; anything else stays as it is.
func fromUTF16(text []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return text
	}
	units := make([]uint16, 0, len(text)/2)
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, order.Uint16(text[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// quoteNumbers puts NaN, Infinity and -Infinity outside of strings into quotes.
func quoteNumbers(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for i := 0; i < len(text); {
		if text[i] == '"' {
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out, i = append(out, text[i:end]...), end
			continue
		}
		word := ""
		for _, w := range []string{"NaN", "-Infinity", "Infinity"} {
			if bytes.HasPrefix(text[i:], []byte(w)) {
				word = w
				break
			}
		}
		if word == "" {
			out, i = append(out, text[i]), i+1
			continue
		}
		out, i = append(out, strconv.Quote(word)...), i+len(word)
	}
	return out
}

// at follows a dotted path; a number is a place in a list.
func (d document) at(path string) (any, bool) {
	var v any = map[string]any(d)
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[name]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func (d document) has(path string) bool {
	_, ok := d.at(path)
	return ok
}

// number reads a number at a path: ok is false where nothing, or null, stands. Something else than a number is NaN.
func (d document) number(path string) (v float64, ok bool) {
	found, ok := d.at(path)
	if !ok || found == nil {
		return 0, false
	}
	return number(found), true
}

func number(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case string:
		switch v {
		case "Infinity", "inf":
			return math.Inf(1)
		case "-Infinity", "-inf":
			return math.Inf(-1)
		}
	}
	return math.NaN()
}

// count reads a whole number of at least 0.
func (d document) count(path string) (n int, ok bool) {
	v, ok := d.number(path)
	if !ok || v != math.Trunc(v) || v < 0 || v > 1e9 {
		return 0, false
	}
	return int(v), true
}

// list reads a list at a path; nil when there is none.
func (d document) list(path string) []any {
	v, _ := d.at(path)
	list, _ := v.([]any)
	return list
}

// text reads a text at a path; empty when there is none.
func (d document) text(path string) string {
	v, _ := d.at(path)
	s, _ := v.(string)
	return s
}
