package engine

import (
	"regexp"
	"strings"

	"autotune/tuner"
)

// marker is a start-up line that tells the phase which begins, or goes on, with it.
type marker struct {
	text  string // part of the line
	phase tuner.Phase
}

// fact is a figure in a start-up line, by name.
type fact struct {
	name    string
	pattern *regexp.Regexp // its groups are the figure, one of them matching
}

func phaseOf(markers []marker, line string) (tuner.Phase, bool) {
	for _, m := range markers {
		if strings.Contains(line, m.text) {
			return m.phase, true
		}
	}
	return "", false
}

// Facts reads sizes from a start-up line: weights_gib, kv_gib, kv_tokens, graphs_gib, attention_backend, ... Digits are without separators.
func (d *Definition) Facts(line string) map[string]string {
	var facts map[string]string
	for _, f := range d.facts {
		if m := f.pattern.FindStringSubmatch(line); m != nil {
			if facts == nil {
				facts = map[string]string{}
			}
			facts[f.name] = strings.ReplaceAll(strings.Join(m[1:], ""), ",", "")
		}
	}
	return facts
}

func figure(name, pattern string) fact { return fact{name, regexp.MustCompile(pattern)} }
