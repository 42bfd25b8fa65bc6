package studyfile

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"autotune/space"
)

// What a plain scalar looks like decides its kind, by these rules alone: 128 is an integer, 4.0 and 1e3 are floats,
// true and false are booleans, default leaves a flag out, and everything else, yes, on and 16K included, is a text.
var (
	integerText = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	floatText   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	// Spellings that one reader of YAML takes for a number and the next does not, or for another number.
	doubtfulText = regexp.MustCompile(`^[-+]?(0[0-9_]+|0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+|[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?)$`)
	notFinite    = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
)

// isNull tells whether nothing stands where a value is wanted.
func (n *node) isNull() bool {
	if n.kind != scalarNode || n.quoted {
		return false
	}
	switch n.text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// describe says what a node is, for messages.
func (n *node) describe() string {
	switch {
	case n.kind == listNode:
		return "a list"
	case n.kind == mapNode:
		return "a mapping"
	case n.isNull():
		return "nothing"
	case n.quoted:
		return "the text " + shorten(strconv.Quote(n.text))
	default:
		return shorten(n.text)
	}
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}

// value reads a scalar as the value of a flag. The problem is empty when it is one.
func (n *node) value() (v space.Value, problem, allowed string) {
	switch s := n.text; {
	case n.quoted:
		return space.String(s), "", ""
	case n.isNull():
		return v, "nothing stands here", "a value; the word default leaves the flag out"
	case s == "default":
		return space.Default(), "", ""
	case s == "true", s == "True", s == "TRUE":
		return space.Bool(true), "", ""
	case s == "false", s == "False", s == "FALSE":
		return space.Bool(false), "", ""
	case integerText.MatchString(s):
		i, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return v, "the integer is beyond 64 bits", fmt.Sprintf("%d to %d", int64(math.MinInt64), int64(math.MaxInt64))
		}
		return space.Int(i), "", ""
	case doubtfulText.MatchString(s):
		return v, "a number in a doubtful spelling", "decimal digits; in quotes if it is a text"
	case notFinite.MatchString(s):
		return v, "not a finite number", "a number; in quotes if it is a text"
	case floatText.MatchString(s):
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return v, "the number is beyond what a float holds", "a number of at most 1.797e308"
		}
		return space.Float(f), "", ""
	default:
		return space.String(s), "", ""
	}
}

// json writes a node as compact JSON, keys in their order, numbers digit by digit as they were written.
func (n *node) json(b *strings.Builder) (bad *node, problem string) {
	switch n.kind {
	case listNode:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if bad, problem := item.json(b); bad != nil {
				return bad, problem
			}
		}
		b.WriteByte(']')
		return nil, ""
	case mapNode:
		b.WriteByte('{')
		for i, e := range n.entries {
			if i > 0 {
				b.WriteByte(',')
			}
			writeJSONText(b, e.key)
			b.WriteByte(':')
			if bad, problem := e.value.json(b); bad != nil {
				return bad, problem
			}
		}
		b.WriteByte('}')
		return nil, ""
	}
	if n.isNull() {
		b.WriteString("null")
		return nil, ""
	}
	if !n.quoted && json.Valid([]byte(n.text)) {
		b.WriteString(n.text) // a number or a boolean
		return nil, ""
	}
	switch v, problem, _ := n.value(); {
	case problem != "":
		return n, problem
	case v.Kind() == space.KindString || v.IsDefault():
		writeJSONText(b, n.text)
	default:
		b.WriteString(v.String())
	}
	return nil, ""
}

func writeJSONText(b *strings.Builder, s string) {
	var line strings.Builder
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always has JSON
	b.WriteString(strings.TrimSuffix(line.String(), "\n"))
}

// durationText is a number of hours, minutes, seconds and so on, units always written.
var durationText = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(d|h|m|min|s|ms|us|µs))+$`)

// parseDuration reads 10h, 1h30m, 45s, 200ms, 2d.
func parseDuration(s string) (time.Duration, bool) {
	if !durationText.MatchString(s) {
		return 0, false
	}
	s = strings.ReplaceAll(s, "min", "m")
	if days, rest, ok := strings.Cut(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || n > 10_000 {
			return 0, false
		}
		left := time.Duration(0)
		if rest != "" {
			if left, ok = parseDuration(rest); !ok {
				return 0, false
			}
		}
		return time.Duration(n*24*float64(time.Hour)) + left, true
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}
