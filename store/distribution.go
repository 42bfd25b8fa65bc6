package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"autotune/space"
)

// distribution is a parameter's domain as Optuna writes it.
type distribution struct {
	Name       string         `json:"name"`
	Attributes map[string]any `json:"attributes"`
}

// exact is the largest integer below which a float, as which Optuna stores a parameter, holds every integer.
const exact = 1 << 53

// distribute gives a value's place in its domain, as Optuna knows both; ok is false when the domain is a range and the value none of its numbers.
func distribute(d space.Domain, v space.Value) (dist distribution, internal float64, ok bool) {
	switch lo, hi, step, isRange := d.Range(); {
	case isRange && -exact <= lo && hi <= exact:
		dist = distribution{"IntDistribution", map[string]any{"log": d.Log(), "step": step, "low": lo, "high": hi}}
		return dist, v.AsFloat(), v.Kind() == space.KindInt && lo <= v.AsInt() && v.AsInt() <= hi
	case isRange: // numbers that a float cannot hold are words: each trial's own, joined with the others'
		return categorical([]string{word(v)}), 0, true
	}
	if d.IsFloatGrid() {
		lo, hi, _ := d.Bounds()
		dist = distribution{"FloatDistribution", map[string]any{"step": nil, "low": lo, "high": hi, "log": d.Log()}}
		return dist, v.AsFloat(), v.Kind() == space.KindFloat && lo <= v.AsFloat() && v.AsFloat() <= hi
	}
	var choices []string
	for _, c := range append(d.Listed(), d.Extra()...) {
		choices = append(choices, word(c))
	}
	i := slices.Index(choices, word(v))
	if i < 0 { // of an earlier space
		choices = append(choices, word(v))
		i = len(choices) - 1
	}
	return categorical(choices), float64(i), true
}

// word is a value as a choice of Optuna's, in JSON.
func word(v space.Value) string {
	switch {
	case v.IsDefault():
		return `"default"`
	case v.Kind() == space.KindInt && (v.AsInt() > exact || v.AsInt() < -exact):
		return fmt.Sprintf("%q", v.String())
	}
	text, err := plainJSON(v)
	if err != nil {
		return fmt.Sprintf("%q", v.String())
	}
	return text
}

// plainJSON leaves < and & as they are, so that what is read back equals what was written.
func plainJSON(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func categorical(choices []string) distribution {
	raw := make([]json.RawMessage, len(choices))
	for i, c := range choices {
		raw[i] = json.RawMessage(c)
	}
	return distribution{"CategoricalDistribution", map[string]any{"choices": raw}}
}

// choices are those of a categorical distribution, each as JSON; nil for another.
func (d distribution) choices() []string {
	raw, ok := d.Attributes["choices"].([]json.RawMessage)
	if !ok {
		return nil
	}
	out := make([]string, len(raw))
	for i, c := range raw {
		out[i] = string(c)
	}
	return out
}

// joinChoices appends what is new to the choices that the file has for a parameter, and never reorders them: an index keeps its meaning. Optuna wants one
// list for all trials, so the others get the longer one too.
func joinChoices(ctx context.Context, tx queries, s scope, name string, choices []string) ([]string, error) {
	lists, err := strs(ctx, tx, `SELECT distribution_json FROM trial_params JOIN trials USING (trial_id)
		WHERE study_id = ? AND param_name = ? GROUP BY distribution_json ORDER BY MAX(param_id) DESC`, s.studyID, name)
	if err != nil {
		return nil, err
	}
	var joined []string
	for i, text := range lists {
		if known := readChoices(text); i == 0 || isPrefix(joined, known) {
			joined = known
		}
	}
	for _, c := range choices {
		if !slices.Contains(joined, c) {
			joined = append(joined, c)
		}
	}
	text, err := plainJSON(categorical(joined))
	if err != nil {
		return nil, err
	}
	for _, shorter := range lists {
		if known := readChoices(shorter); shorter == text || len(known) == 0 || !isPrefix(known, joined) {
			continue
		}
		_, err = tx.ExecContext(ctx, `UPDATE trial_params SET distribution_json = ? WHERE param_name = ? AND distribution_json = ?
			AND trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)`, text, name, shorter, s.studyID)
		if err != nil {
			return nil, err
		}
	}
	return joined, nil
}

// readChoices reads the choices of a stored categorical distribution, ours or one that Optuna wrote, each as JSON in our spelling; nil for another.
func readChoices(text string) []string {
	var known struct {
		Attributes struct {
			Choices []space.Value `json:"choices"`
		} `json:"attributes"`
	}
	if err := json.Unmarshal([]byte(text), &known); err != nil {
		return nil // a list of another program, of things that no flag can be
	}
	var out []string
	for _, c := range known.Attributes.Choices {
		spelt, err := plainJSON(c)
		if err != nil {
			return nil
		}
		out = append(out, spelt)
	}
	return out
}

func isPrefix(short, long []string) bool {
	return len(short) <= len(long) && slices.Equal(short, long[:len(short)])
}
