package engine

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"autotune/space"
)

// Effective is what a running engine says that it goes by, flag by flag: read from the answer of an info path, or from what Line made of its log.
// Flags that are unset, or that the answer does not tell of, are left out. What SGLang divides between data-parallel ranks is given as it is asked for:
// for the whole server.
func (d *Definition) Effective(resolved json.RawMessage) map[string]space.Value {
	var info map[string]any
	if json.Unmarshal(resolved, &info) != nil {
		return nil
	}
	leaves := map[string]any{}
	if config, ok := info["vllm_config"].(map[string]any); ok {
		info = config
	}
	if logged, ok := info[loggedConfig].(map[string]any); ok {
		info = logged
	}
	collect(leaves, info)
	out := map[string]space.Value{}
	for _, f := range append(d.Flags(), d.keys...) {
		raw, ok := leaves[d.attribute(f.Name)]
		if !ok {
			raw, ok = leaves[strings.ReplaceAll(f.Name, "-", "_")]
		}
		if v, known := f.read(raw); ok && known {
			out[f.Name] = v
		}
	}
	if d.undivide != nil {
		d.undivide(out)
	}
	return out
}

// loggedConfig is the key under which a configuration that was read from the log is stored.
const loggedConfig = "log"

// collect lists every leaf by its path, and by its name alone where that says enough: in the configuration itself and one level below.
func collect(leaves map[string]any, info map[string]any) {
	for name, v := range info {
		below, nested := v.(map[string]any)
		if !nested {
			leaves[name] = v
			continue
		}
		for key, leaf := range below {
			leaves[name+"."+key] = leaf
			if _, taken := leaves[key]; !taken && strings.HasSuffix(name, "_config") {
				leaves[key] = leaf
			}
			if deeper, ok := leaf.(map[string]any); ok {
				for k, x := range deeper {
					leaves[key+"."+k] = x
				}
			}
		}
	}
}

// attribute is where the engine keeps a flag's value, if not under the flag's own name.
func (d *Definition) attribute(flag string) string {
	if a, ok := d.attributes[flag]; ok {
		return a
	}
	head, tail, dotted := strings.Cut(flag, ".")
	name := strings.ReplaceAll(head, "-", "_")
	if dotted {
		name += "." + tail
	}
	return name
}

// read makes a value of the flag of what JSON holds; ok is false where it tells nothing.
func (f Flag) read(raw any) (v space.Value, ok bool) {
	switch x := raw.(type) {
	case bool:
		return space.Bool(x), true
	case float64:
		if f.Name == graphMode {
			return space.String(graphModes[strconv.Itoa(int(x))]), true
		}
		if f.Kind != Float && x == math.Trunc(x) {
			return space.Int(int64(x)), true
		}
		return space.Float(x), true
	case string:
		return readText(f, x)
	case []any:
		if f.Name == graphMode && len(x) == 2 {
			text, _ := json.Marshal(x)
			mode, known := graphModes[string(text)]
			return space.String(mode), known
		}
	}
	return v, false
}

const graphMode = "compilation-config.cudagraph_mode"

// graphModes are vLLM's CUDAGraphMode as JSON has it: a number, or the pair of decode's and the rest's.
var graphModes = map[string]string{"0": "NONE", "1": "PIECEWISE", "2": "FULL", "[2,0]": "FULL_DECODE_ONLY", "[2,1]": "FULL_AND_PIECEWISE"}

// readText reads a word: Python's None is unset, and a type's name may have its module in front.
func readText(f Flag, text string) (space.Value, bool) {
	text = strings.TrimPrefix(text, "torch.")
	switch {
	case text == "" || text == "None":
		return space.Value{}, false
	case text == "True" || text == "False":
		return space.Bool(text == "True"), true
	case f.Kind == Int || f.Kind == HumanInt:
		n, err := strconv.ParseInt(text, 10, 64)
		return space.Int(n), err == nil
	case f.Kind == Float:
		x, err := strconv.ParseFloat(text, 64)
		return space.Float(x), err == nil
	case f.Kind == JSON || f.Kind == List:
		return space.Value{}, false
	}
	return space.String(text), true
}

// Difference is a flag that was asked for and came out otherwise.
type Difference struct {
	Flag  string      `json:"flag"`
	Asked space.Value `json:"asked"`
	Runs  space.Value `json:"runs"` // what the engine goes by
}

// String says it in a few words.
func (x Difference) String() string {
	if x.Runs == space.Bool(false) && x.Asked == space.Bool(true) {
		return "asked " + x.Flag + ", engine runs without"
	}
	return "asked " + x.Flag + "=" + x.Asked.String() + ", engine runs " + x.Runs.String()
}

// Differences compares what was asked with what the engine goes by, in the order of the settings. Flags left at their default, and values that leave
// the choice to the engine (auto, -1 for what fits), ask for nothing.
func (d *Definition) Differences(asked []Setting, effective map[string]space.Value) []Difference {
	var out []Difference
	for _, s := range asked {
		runs, known := effective[d.canonical(s.Flag)]
		if !known || s.Value.IsDefault() || s.Value == space.String("auto") || s.Value == space.Int(-1) || sameValue(s.Value, runs) {
			continue
		}
		out = append(out, Difference{Flag: d.canonical(s.Flag), Asked: s.Value, Runs: runs})
	}
	return out
}

// sameValue compares values as an engine does: 1 and 1.0 are one, and so are words in either case.
func sameValue(a, b space.Value) bool {
	if a.IsNumber() && b.IsNumber() {
		return math.Abs(a.AsFloat()-b.AsFloat()) <= 1e-9*max(1, math.Abs(a.AsFloat()))
	}
	return a == b || strings.EqualFold(a.String(), b.String())
}
