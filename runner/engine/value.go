package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autotune/space"
)

// value reads the text of a flag. problem is what argparse would say, or "".
func (d *Definition) value(f Flag, text string) (v space.Value, problem string) {
	if strings.Contains(f.Name, ".") {
		return dottedValue(text), ""
	}
	switch f.Kind {
	case Switch, NegatableSwitch:
		return space.Bool(text == "true"), ""
	case Int, HumanInt:
		return d.intValue(f, text)
	case Float:
		x, err := readFloat(text)
		if err != nil {
			return v, fmt.Sprintf("invalid float value: %s", quote(text))
		}
		return space.Float(x), ""
	case JSON:
		if !json.Valid([]byte(text)) && d.StrictJSON {
			return v, fmt.Sprintf("Value %s cannot be converted to <function loads>.", text)
		}
		return space.String(text), ""
	default:
		return space.String(text), d.choiceProblem(f, text)
	}
}

func (d *Definition) intValue(f Flag, text string) (v space.Value, problem string) {
	if f.Name == "max-model-len" && text == "auto" {
		return space.Int(-1), ""
	}
	read := readInt
	if f.Kind == HumanInt {
		read = d.readNumber
	}
	digits := text
	if f.Attached != "" {
		digits = strings.TrimPrefix(text, f.Attached)
	}
	i, err := read(digits)
	switch {
	case errors.Is(err, errNotInt) && f.Name == "max-model-len":
		return v, fmt.Sprintf("invalid human_readable_int_or_auto value: %s", quote(text))
	case errors.Is(err, errNotInt) && f.Kind == HumanInt:
		return v, fmt.Sprintf("invalid human_readable_int value: %s", quote(text))
	case errors.Is(err, errNotInt):
		return v, fmt.Sprintf("invalid int value: %s", quote(text))
	case err != nil:
		return v, err.Error()
	}
	return space.Int(i), d.choiceProblem(f, strconv.FormatInt(i, 10))
}

// choiceProblem refuses a word that is not among the choices, which vLLM's parser lists in order and SGLang's as they were declared.
func (d *Definition) choiceProblem(f Flag, text string) string {
	if len(f.Choices) == 0 || f.Open || slices.Contains(f.Choices, text) {
		return ""
	}
	listed := slices.Clone(f.Choices)
	if f.Kind == Int {
		return fmt.Sprintf("invalid choice: %s (choose from %s)", text, strings.Join(listed, ", "))
	}
	if d.SortsChoices {
		slices.Sort(listed)
	}
	for i := range listed {
		listed[i] = quote(listed[i])
	}
	return fmt.Sprintf("invalid choice: %s (choose from %s)", quote(text), strings.Join(listed, ", "))
}

// dottedValue is the value of a dotted key: JSON where it reads as such, else a word. Numbers that are not written as we write them stay words.
func dottedValue(text string) space.Value {
	switch text {
	case "true", "false":
		return space.Bool(text == "true")
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(i, 10) == text {
		return space.Int(i)
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && space.Float(x).String() == text {
		return space.Float(x)
	}
	return space.String(text)
}

// quote writes a word as Python's repr does.
func quote(s string) string {
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", `\'`) + "'"
}
