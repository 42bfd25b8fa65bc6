package space

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind is the type of a Value. The zero Kind belongs to the zero Value, which is no value at all.
type Kind uint8

// The kinds of values.
const (
	KindNone    Kind = iota // absent: an inactive parameter
	KindDefault             // the flag is left out and the engine decides
	KindBool
	KindInt
	KindFloat
	KindString
)

// Value is one setting of a parameter: immutable and comparable with ==.
// Integers are exact over the whole of int64; they never pass through a float.
type Value struct {
	kind Kind
	i    int64
	f    float64
	s    string
}

// Default is the value that leaves the flag out.
func Default() Value { return Value{kind: KindDefault} }

// Bool makes a boolean value.
func Bool(b bool) Value {
	v := Value{kind: KindBool}
	if b {
		v.i = 1
	}
	return v
}

// Int makes an integer value.
func Int(i int64) Value { return Value{kind: KindInt, i: i} }

// Float makes a floating-point value; f is finite.
func Float(f float64) Value {
	if f == 0 {
		f = 0 // one zero: -0 and 0 are one configuration
	}
	return Value{kind: KindFloat, f: f}
}

// String makes a string value.
func String(s string) Value { return Value{kind: KindString, s: s} }

// Kind returns the type of the value.
func (v Value) Kind() Kind { return v.kind }

// IsDefault tells whether the flag is left out.
func (v Value) IsDefault() bool { return v.kind == KindDefault }

// IsNumber tells whether the value is an int or a float.
func (v Value) IsNumber() bool { return v.kind == KindInt || v.kind == KindFloat }

// AsBool returns the boolean; false for every other kind.
func (v Value) AsBool() bool { return v.kind == KindBool && v.i == 1 }

// AsInt returns the integer; 0 for every other kind.
func (v Value) AsInt() int64 { return v.i * int64(b2i(v.kind == KindInt)) }

// AsFloat returns a number as a float (an int beyond 2^53 is rounded); NaN for what is not a number.
func (v Value) AsFloat() float64 {
	switch v.kind {
	case KindInt:
		return float64(v.i)
	case KindFloat:
		return v.f
	default:
		return math.NaN()
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// String is the value as it is written after a flag: default, true, 128, 0.85, fp8.
func (v Value) String() string {
	switch v.kind {
	case KindDefault:
		return "default"
	case KindBool:
		return strconv.FormatBool(v.i == 1)
	case KindInt:
		return strconv.FormatInt(v.i, 10)
	case KindFloat:
		return formatFloat(v.f)
	case KindString:
		return v.s
	default:
		return ""
	}
}

// formatFloat keeps a float recognisable as one: 4 is written 4.0.
func formatFloat(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eIN") {
		s += ".0"
	}
	return s
}

// MarshalJSON writes default as null, and every other value as the JSON of its kind; a float always has a point or an exponent.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case KindDefault:
		return []byte("null"), nil
	case KindString:
		return marshalText(v.s)
	case KindNone:
		return nil, fmt.Errorf("an absent value has no JSON")
	default:
		return []byte(v.String()), nil
	}
}

func marshalText(s string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// UnmarshalJSON reads what MarshalJSON wrote, digits exactly.
func (v *Value) UnmarshalJSON(data []byte) error {
	text := string(bytes.TrimSpace(data))
	switch {
	case text == "null":
		*v = Default()
	case text == "true" || text == "false":
		*v = Bool(text == "true")
	case strings.HasPrefix(text, `"`):
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*v = String(s)
	case strings.ContainsAny(text, ".eE"):
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("value %s: %w", text, err)
		}
		*v = Float(f)
	default:
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("value %s: %w", text, err)
		}
		*v = Int(i)
	}
	return nil
}
