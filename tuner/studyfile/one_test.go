package studyfile_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/tuner/metric"
	"autotune/tuner/studyfile"
	"autotune/tuner/workload"
)

// A workload by itself is read as one of a spec is, defaults and mistakes alike.
func TestParseWorkload(t *testing.T) {
	const inline = `{dataset: random, input_tokens: 128, output_tokens: 32, requests: 10, rate: 5, max_concurrency: 4}`
	spec := parse(t, good).Workload()
	for _, c := range []struct{ text, name string }{{inline, ""}, {good, ""}, {good, "w"}, {strings.ReplaceAll(inline[1:len(inline)-1], ", ", "\n"), ""}} {
		w, err := studyfile.ParseWorkload("x", c.name, []byte(c.text))
		if c.text != good {
			w.Name = spec.Name
		}
		if diff := cmp.Diff(spec, w); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.text, err, diff)
		}
	}
	w, err := studyfile.ParseWorkload("x", "guarded", []byte("workloads:\n"+several))
	if err != nil || w.Name != "guarded" || w.InputTokens != 8 {
		t.Errorf("one of several: %+v, %v", w, err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"", `{dataset: random, input_tokens: 128, requets: 10}`, "x:1:1: requests: is missing; allowed: how many requests a measurement has\nx:1:1: output_tokens: is missing; allowed: tokens of each answer\n" + `x:1:38: requets: unknown key; did you mean "requests"?`},
		{"", `random`, "x:1:1: wrong type: found random; allowed: a mapping with the keys dataset, path"},
		{"", ``, "x:1:1: the spec is empty"},
		{"", `{dataset: random`, "x:1:1: not valid YAML: "},
		{"w", inline, "x:1:1: no workload is called so: one stands here by itself, without a name: found w"},
		{"", "workloads:\n" + several, "x:2:3: workloads: several workloads stand here: which one is not said; allowed: long, guarded, short"},
		{"lnog", "workloads:\n" + several, `x:2:3: workloads: no workload is called so: found lnog; allowed: long, guarded, short; did you mean "long"?`},
		{"", "workloads: {}", "x:1:12: workloads: no workload is given"},
		{"", "name: a\nworkloads:\n  w: {dataset: random, input_tokens: 1, output_tokens: 2, requests: none}", "x:3:69: workloads.w.requests: wrong type: found none"},
	} {
		w, err := studyfile.ParseWorkload("x", c.name, []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !reflect.DeepEqual(w, workload.Spec{}) {
			t.Errorf("%q: %v\nwant %s", c.text, err, c.want)
		}
	}
}

// The SLOs of goodput stand with the traffic; without them there is no goodput to ask for.
func TestGoodput(t *testing.T) {
	slos := func(text string) string {
		return strings.Replace(good, "max_concurrency: 4}", "max_concurrency: 4, goodput: "+text+"}", 1)
	}
	wanted := func(text, goal string) string {
		return strings.Replace(text, "maximize: total_token_throughput", goal, 1)
	}
	s := parse(t, wanted(slos("{ttft: 2s, tpot: 50ms, e2el: 1m}"), "maximize: goodput"))
	if want := (metric.SLOs{TTFT: 2 * time.Second, TPOT: 50 * time.Millisecond, Latency: time.Minute}); s.Workload().Goodput != want {
		t.Errorf("read %+v, want %+v", s.Workload().Goodput, want)
	}
	if plain := parse(t, good); plain.Workload().Identity("") == s.Workload().Identity("") {
		t.Error("goodputs of different SLOs would be compared")
	}
	if got := studyfile.DiffText(parse(t, good), parse(t, slos("{tpot: 50ms}"))); len(got) != 1 || got[0] != "workloads.w.goodput: added tpot <= 50ms" {
		t.Errorf("the difference reads %q", got)
	}
	parse(t, wanted(slos("{ttft_sent: 2s}"), `maximize: total_token_throughput, subject_to: ["slo_attainment >= 95%", "goodput_per_gpu >= 1"]`))
	const none = `undefined: workload w says no SLOs that a request must keep; give it goodput: {ttft: 2s, tpot: 50ms}: found `
	for text, want := range map[string]string{
		wanted(good, "maximize: goodput"):                                      "4:23: objective.maximize: " + none + "goodput",
		wanted(good, "maximize: goodput_per_gpu"):                              "4:23: objective.maximize: " + none + "goodput_per_gpu",
		wanted(good, `maximize: goodput, subject_to: ["slo_attainment >= 1"]`): "4:23: objective.maximize: " + none + "goodput",
		slos("2s"):                      "7:114: workloads.w.goodput: wrong type: found 2s; allowed: a mapping with the keys ttft, ttft_sent, tpot, latency, latency_sent",
		slos("{}"):                      "7:114: workloads.w.goodput: no limit is given; allowed: {ttft: 2s, tpot: 50ms}",
		slos("{ttft: 2}"):               "7:121: workloads.w.goodput.ttft: the unit is missing: found 2; allowed: a time such as 10h, 90m, 1h30m, 45s or 200ms",
		slos("{ttft: 0s}"):              "7:121: workloads.w.goodput.ttft: out of range: found 0s",
		slos("{ttfs: 2s}"):              `7:115: workloads.w.goodput.ttfs: unknown key; did you mean "ttft"?`,
		slos("{latency: 2s, e2el: 2s}"): "7:114: workloads.w.goodput: latency and e2el are one limit; allowed: one of them",
		strings.Replace(slos("{tpot: 2s}"), "output_tokens: 32", "output_tokens: 1", 1):                                                                                                                       "7:114: workloads.w.goodput.tpot: undefined: the workload asks for 1 output token",
		wanted(strings.Replace(slos("{tpot: 2s}"), "engines:", "  g: {dataset: random, input_tokens: 8, output_tokens: 8, requests: 10, role: guard, max_regression: 5%}\nengines:", 1), "maximize: goodput"): "4:23: objective.maximize: undefined: workload g says no SLOs",
	} {
		if got := parseErrors(t, text); len(got) == 0 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s\ngot %q\nwant %q", text, got, want)
		}
	}
}
