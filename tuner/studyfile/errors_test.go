package studyfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/tuner/studyfile"
)

// good is a valid spec, one key a line: the cases below break it line by line.
const good = `name: good
model: org/model
gpus: 8
objective: {maximize: total_token_throughput}
gate: {success_rate: 0.99}
workloads:
  w: {dataset: random, input_tokens: 128, output_tokens: 32, requests: 10, rate: 5, max_concurrency: 4}
engines:
  sglang:
    fixed: {tp-size: 8}
    space:
      enable-dp-attention: bool
      dp-size: {choices: [2, 4, 8], when: enable-dp-attention}
      fraction: [default, {floats: [0.7, 0.9]}]
budget: {trials: 5}
`

// broken is the good spec with each line that begins like one of these in its place.
func broken(t *testing.T, lines ...string) string {
	t.Helper()
	text := good
	for _, line := range lines {
		key, _, _ := strings.Cut(line, ":")
		at := strings.Index("\n"+text, "\n"+key+":")
		if at < 0 { // a new key
			text += line + "\n"
			continue
		}
		end := at + strings.Index(text[at:], "\n")
		if key == "engines" {
			end = strings.Index(text, "\nbudget:")
		}
		text = text[:at] + line + text[end:]
	}
	return text
}

// known are the names that the mistakes are checked against.
var known = studyfile.Known{Engines: studyfile.Names.Engines, Tools: studyfile.Names.Tools, Samplers: []string{"random", "tpe", "one-at-a-time"}}

func parseErrors(t *testing.T, text string) []string {
	t.Helper()
	_, err := known.Parse("s.yaml", []byte(text))
	if err == nil {
		return nil
	}
	var all studyfile.Errors
	if !errors.As(err, &all) {
		t.Fatalf("%v is no studyfile.Errors", err)
	}
	var out []string
	for _, e := range all {
		out = append(out, strings.TrimPrefix(e.Error(), "s.yaml:"))
	}
	return out
}

func TestGoodSpecParses(t *testing.T) {
	if got := parseErrors(t, good); got != nil {
		t.Fatal(got)
	}
}

func TestErrorsHavePlaceKeyAndCure(t *testing.T) {
	for _, c := range errorCases {
		got := parseErrors(t, broken(t, c.lines...))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s\n%s", strings.Join(c.lines, "\n"), diff)
		}
	}
}
