package fake

import (
	"fmt"
	"io"
	"strings"

	"autotune/runner/engine"
)

// printHelp lists the engine's flags as its argument parser does: vLLM's with defaults, SGLang's without. The flag of the fault reject-flag is not
// among them: this engine does not have it.
func (s *server) printHelp(stdout io.Writer) {
	fmt.Fprintf(stdout, "%s\n\noptions:\n  -h, --help            show this help message and exit\n", s.engine.Usage)
	lacks := strings.TrimLeft(s.faults["reject-flag"], "-")
	for _, f := range s.engine.Flags() {
		if f.Name == lacks || f.Name == s.engine.ModelFlag && s.engine.PositionalModel {
			continue
		}
		fmt.Fprintf(stdout, "  %s\n", invocation(f))
		const indent = "                        "
		switch {
		case s.sglang():
			fmt.Fprintf(stdout, "%s%s\n", indent, "No words about it.")
		case f.Default == "":
			fmt.Fprintf(stdout, "%s%s\n", indent, "No words about it. (default: None)")
		case f.IsSwitch():
			fmt.Fprintf(stdout, "%sNo words about it. (default: %s)\n", indent, strings.ToUpper(f.Default[:1])+f.Default[1:])
		default:
			fmt.Fprintf(stdout, "%sNo words about it. (default:\n%s%s)\n", indent, indent, f.Default)
		}
	}
}

// invocation is a flag with what it takes, each spelling in turn.
func invocation(f engine.Flag) string {
	value := " " + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	if len(f.Choices) > 0 {
		value = " {" + strings.Join(f.Choices, ",") + "}"
	}
	switch {
	case f.IsSwitch():
		value = ""
	case f.Kind == engine.List:
		value += " [" + value[1:] + " ...]"
	case f.Optional:
		value = " [" + value[1:] + "]"
	}
	words := []string{"--" + f.Name + value}
	for _, alias := range f.Aliases {
		words = append(words, alias+value)
	}
	if f.Attached != "" {
		words = append(words, "-"+f.Attached+value)
	}
	if f.Kind == engine.NegatableSwitch {
		words = append(words, "--no-"+f.Name)
	}
	return strings.Join(words, ", ")
}
