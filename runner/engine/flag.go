package engine

import (
	"math"
	"strings"

	"autotune/space"
)

// Kind is how a flag is written on the command line and what it takes.
type Kind uint8

// The kinds of flags. The zero Kind belongs to a flag that the catalog does not know.
const (
	Unknown         Kind = iota
	Switch               // --x, or left out
	NegatableSwitch      // --x, --no-x, or left out
	Int                  // a plain integer
	HumanInt             // an integer that may carry a suffix: 16k, 16K, 1Ki
	Float                // a number
	Text                 // one word
	JSON                 // one word of JSON; vLLM also takes --x.key=value
	List                 // one word or several
)

// String names the kind.
func (k Kind) String() string {
	return [...]string{"unknown", "switch", "negatable", "int", "humanint", "float", "text", "json", "list"}[k]
}

// Flag is one flag of an engine.
type Flag struct {
	// Name is the long name, without dashes in front.
	Name string
	// Aliases are other spellings as they are typed, dashes included: -tp, --tensor-parallel-size.
	Aliases []string
	Kind    Kind
	// Items is the kind of a list's words: Int, Float, or Text.
	Items Kind
	// Default is the engine's own default as text; empty when it is unset or found out at start.
	Default string
	// Choices are the values that the engine takes; none means any. Open says that its parser lets others pass, to be judged later.
	Choices []string
	Open    bool
	// Min and Max bound a number; infinite without a bound. The Open marks say that the bound itself is not allowed.
	Min, Max         float64
	MinOpen, MaxOpen bool
	// Help says in a sentence what turning it trades for what; only for flags that matter for speed or memory.
	Help string
	// Hungry is how much a larger (or set) value asks for memory: the weight of its effect on running out of it, 0 to 1; 0 is none.
	Hungry float64
	// Frees says that setting it, or a larger value, leaves GPU memory free.
	Frees bool
	// Since says which releases have the flag, in words; empty for all whose source was read, and for a flag that none of them has.
	Since string
	// Optional says that the value may be left out.
	Optional bool
	// Attached is the short form that the value is written right behind: O makes -O3.
	Attached string

	note int // its line in the notes; 0 for none
}

// Bounded tells whether the flag has a bound at either end.
func (f Flag) Bounded() bool { return !math.IsInf(f.Min, -1) || !math.IsInf(f.Max, 1) }

// IsSwitch tells whether the flag is set by its presence alone.
func (f Flag) IsSwitch() bool { return f.Kind == Switch || f.Kind == NegatableSwitch }

// Setting is a flag with its value. Flag is any spelling that the engine knows, or one that the catalog does not; a dotted key
// (compilation-config.cudagraph_mode) is a flag of its own. A list is a string of words parted by blanks, or a JSON array of strings.
type Setting struct {
	Flag  string      `json:"flag"`
	Value space.Value `json:"value"`
}

// bare strips the dashes in front of a flag.
func bare(name string) string { return strings.TrimLeft(name, "-") }
