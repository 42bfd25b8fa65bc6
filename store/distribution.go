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
	stored, err := strs(ctx, tx, `SELECT p.distribution_json FROM trial_params p JOIN trials t USING (trial_id)
		WHERE t.study_id = ? AND p.param_name = ? ORDER BY p.param_id DESC LIMIT 1`, s.studyID, name)
	if err != nil || len(stored) == 0 {
		return choices, err
	}
	var known struct {
		Attributes struct {
			Choices []json.RawMessage `json:"choices"`
		} `json:"attributes"`
	}
	if err := json.Unmarshal([]byte(stored[0]), &known); err != nil || len(known.Attributes.Choices) == 0 {
		return choices, err
	}
	var joined []string
	for _, c := range known.Attributes.Choices {
		joined = append(joined, string(c))
	}
	before := len(joined)
	for _, c := range choices {
		if !slices.Contains(joined, c) {
			joined = append(joined, c)
		}
	}
	if len(joined) == before {
		return joined, nil
	}
	text, err := plainJSON(categorical(joined))
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE trial_params SET distribution_json = ? WHERE param_name = ? AND distribution_json LIKE '{"name":"CategoricalDistribution"%'
		AND trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)`, text, name, s.studyID)
	return joined, err
}
