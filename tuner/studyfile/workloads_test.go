package studyfile_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/tuner/studyfile"
	"autotune/tuner/workload"
)

// with is the good spec with these workloads.
func with(workloads string) string {
	from := strings.Index(good, "workloads:\n") + len("workloads:\n")
	return good[:from] + workloads + "\n" + good[strings.Index(good, "engines:"):]
}

// Every example of the page is a workload, there is one of each dataset and arrival, and those without a file expand.
func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for line := range strings.SplitSeq(strings.TrimSpace(block[1]), "\n") {
			spec, err := studyfile.Parse("s.yaml", []byte(with("  "+line)))
			if err != nil {
				t.Errorf("%s\n%v", line, err)
				continue
			}
			w := spec.Workload()
			seen[w.Dataset] = true
			for _, word := range []string{"poisson", "closed_loop", "all_at_once", "gamma", "ramp", "file", "constant"} {
				seen[word] = seen[word] || strings.Contains(line, "arrival: "+word) || strings.Contains(line, word+":")
			}
			if !workload.HasFile(w.Dataset) {
				if requests, err := w.Expand(nil); err != nil || len(requests) != w.Requests {
					t.Errorf("%s: %d requests, %v", line, len(requests), err)
				}
			}
		}
	}
	for _, word := range append(workload.Datasets(), "poisson", "closed_loop", "all_at_once", "gamma", "ramp", "file", "constant") {
		if !seen[word] {
			t.Errorf("the page has no example of %s", word)
		}
	}
}

func TestWorkloadKeys(t *testing.T) {
	read := func(keys string) workload.Spec {
		t.Helper()
		return parse(t, with("  w: {"+keys+"}")).Workload()
	}
	base := workload.Spec{Name: "w", Seed: 42, Endpoint: workload.Completions, WallLimit: time.Hour}
	for keys, change := range map[string]func(*workload.Spec){
		"dataset: random, input_tokens: {uniform: [5, 9]}, output_tokens: {normal: {mean: 7.5, sd: 2, max: 20}}, requests: 4, rate: 2, arrival: {gamma: 0.5}": func(s *workload.Spec) {
			s.Dataset, s.Requests, s.Warmup, s.Rate, s.Burstiness = workload.Random, 4, 4, 2, 0.5
			s.InputLengths = workload.Lengths{Kind: workload.Uniform, Min: 5, Max: 9}
			s.OutputLengths = workload.Lengths{Kind: workload.Normal, Mean: 7.5, SD: 2, Min: 1, Max: 20}
		},
		"dataset: conversation, conversations: 3, turns: 4, input_tokens: 5, output_tokens: 6, think_time: 1500ms, arrival: closed_loop, max_concurrency: 2": func(s *workload.Spec) {
			s.Dataset, s.Requests, s.Turns, s.InputTokens, s.OutputTokens, s.ThinkTime = workload.Conversation, 12, 4, 5, 6, 1500*time.Millisecond
			s.AtOnce, s.MaxConcurrency, s.Warmup = true, 2, 2
		},
		"dataset: azure, path: a.csv, from: 0s, to: 1h, speed: 2.5": func(s *workload.Spec) {
			s.Dataset, s.Path, s.To, s.Speed, s.Warmup = workload.Azure, "a.csv", time.Hour, 2.5, 16
		},
		"dataset: prefix, prefixes: 2, prefix_tokens: 64, input_tokens: 5, output_tokens: 6, requests: 4, arrival: {ramp: {from: 0, to: 2, over: 1m}}": func(s *workload.Spec) {
			s.Dataset, s.Prefixes, s.PrefixTokens, s.InputTokens, s.OutputTokens, s.Requests, s.Warmup = workload.Prefix, 2, 64, 5, 6, 4, 4
			s.Ramp = workload.Ramp{To: 2, Over: time.Minute}
		},
		`dataset: jsonl, path: p.jsonl, endpoint: chat, extra_body: {top_p: 0.9, chat_template_kwargs: {enable_thinking: false}}, headers: {X-Route: a b, Authorization: "Bearer $MY_TOKEN"}, api_key_env: SOME_KEY`: func(s *workload.Spec) {
			s.Dataset, s.Path, s.Endpoint, s.Warmup = workload.JSONL, "p.jsonl", workload.Chat, 16
			s.ExtraBody = `{"top_p":0.9,"chat_template_kwargs":{"enable_thinking":false}}`
			s.Headers = []workload.Header{{Name: "X-Route", Value: "a b"}, {Name: "Authorization", Value: "Bearer $MY_TOKEN"}}
			s.APIKeyEnv = "SOME_KEY"
		},
	} {
		want := base
		change(&want)
		if diff := cmp.Diff(want, read(keys)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", keys, diff)
		}
	}
}

// Mistakes in a workload, and all that is said about each, from the key on.
func TestWorkloadMistakes(t *testing.T) {
	const random, trace = "dataset: random, input_tokens: 5, output_tokens: 6, requests: 4, ", "dataset: mooncake, path: t.jsonl, "
	for _, c := range []struct {
		keys string
		want []string
	}{
		{random + "arival: poisson", []string{`arival: unknown key; did you mean "arrival"?`}},
		{random + "arrival: poison, rate: 1", []string{`arrival: unknown word: found poison; allowed: constant, poisson, closed_loop, all_at_once, file; did you mean "poisson"?`}},
		{random + "arrival: poisson", []string{`arrival: needs a rate; allowed: rate: REQUESTS A SECOND beside it`}},
		{random + "arrival: {gama: 1}, rate: 1", []string{`arrival.gama: unknown key; did you mean "gamma"?`}},
		{random + "arrival: {gamma: 0}, rate: 1", []string{`arrival.gamma: out of range: found 0; allowed: the shape of the distribution of gaps, 0.0001 to 10000: 1 is Poisson, less is burstier`}},
		{random + "arrival: {ramp: {from: 1, to: 2, over: 1m}}, rate: 1", []string{`arrival: clashes with rate: a ramp has rates of its own; allowed: no rate`}},
		{random + "arrival: {ramp: {from: 1, over: 1m}}", []string{`arrival.ramp.to: is missing; allowed: requests a second, at most 1000000`}},
		{random + "arrival: closed_loop", []string{`arrival: needs max_concurrency: so many are in flight, and as one ends the next is sent; allowed: max_concurrency: 1 or more beside it`}},
		{random + "arrival: closed_loop, rate: 5, max_concurrency: 2", []string{`arrival: clashes with rate: nothing is paced; allowed: no rate`}},
		{random + "arrival: file", []string{`arrival: the dataset random has no arrivals; allowed: another arrival, or one of the datasets [jsonl mooncake azure]`}},
		{random + "speed: 2", []string{`speed: has no meaning here: only a file with arrivals has a pace`}},
		{random + "prefixes: 2", []string{`prefixes: has no meaning here: only dataset: prefix shares them`}},
		{random + "endpoint: chat", []string{`endpoint: clashes with dataset: random, whose prompts are token ids; allowed: completions`}},
		{random + "extra_body: {max_tokens: 5}", []string{`extra_body.max_tokens: the workload sets this field itself`}},
		{random + "extra_body: {api_key: abc}", []string{`extra_body.api_key: looks like a secret, and a spec is stored in the study file; allowed: api_key_env: NAME, or a header whose value is $NAME`}},
		{random + "extra_body: {stop_token_ids: [5], skip_special_tokens: true}", nil},
		{random + "headers: {Authorization: Bearer abc}", []string{`headers.Authorization: looks like a secret, and a spec is stored in the study file; allowed: a variable of the environment that holds it, such as $AUTHORIZATION`}},
		{random + "headers: {X-Api-Key: abc}", []string{`headers.X-Api-Key: looks like a secret, and a spec is stored in the study file; allowed: a variable of the environment that holds it, such as $X_API_KEY`}},
		{random + "headers: {X-Trace: hf_abcdefghijklmnopqrstuvwxyz}", []string{`headers.X-Trace: looks like a secret, and a spec is stored in the study file; allowed: a variable of the environment that holds it, such as $X_TRACE`}},
		{random + "headers: {Content-Type: text}", []string{`headers.Content-Type: the load generator sets this header itself`}},
		{random + "api_key_env: sk-abcdefghijklmnopqrstuvwxyz", []string{`api_key_env: looks like a secret, and a spec is stored in the study file; allowed: the name of a variable of the environment that says that it is a secret, such as OPENAI_API_KEY`}},
		{random + "api_key_env: HOME", []string{`api_key_env: not the name of a secret: found HOME; allowed: the name of a variable of the environment that says that it is a secret, such as OPENAI_API_KEY`}},
		{trace + "rate: 5, speed: 2", []string{`speed: clashes with rate, which replaces the file's arrivals; allowed: one of the two`}},
		{trace + "rate: 5, arrival: file", []string{`arrival: clashes with rate, which replaces the file's arrivals; allowed: one of the two`}},
		{trace + "from: 10m, to: 5m", []string{`to: ends the window before it begins; allowed: a time after from`}},
		{trace + "input_tokens: 5", []string{`input_tokens: has no meaning here: a file's prompts are as long as they are`}},
		{trace + "output_tokens: {uniform: [1, 2]}", []string{`output_tokens: a distribution does not go with a file; allowed: a number for every answer; left out: each row's own length`}},
		{"dataset: azure", []string{`path: is missing; allowed: the dataset's file`}},
		{"dataset: prefix, input_tokens: 5, output_tokens: 5, requests: 5, prefixes: 2", []string{`prefix_tokens: is missing; allowed: tokens of a shared system prompt`}},
		{"dataset: conversation, input_tokens: 5, output_tokens: 5, requests: 5, turns: 2", []string{
			`conversations: is missing; allowed: how many conversations a measurement has`, `requests: has no meaning here: conversations times turns are sent`}},
		{"dataset: random, input_tokens: {unifrom: [1, 2]}, output_tokens: 5, requests: 5", []string{`input_tokens.unifrom: unknown key; did you mean "uniform"?`}},
		{"dataset: random, input_tokens: {uniform: [9, 2]}, output_tokens: 5, requests: 5", []string{`input_tokens: the upper bound is 2 tokens; it is 9 or more`}},
		{"dataset: random, input_tokens: {normal: {mean: 9}}, output_tokens: 5, requests: 5", []string{`input_tokens.normal.sd: is missing; allowed: the standard deviation in tokens`}},
	} {
		got := parseErrors(t, with("  w: {"+c.keys+"}"))
		for i := range got {
			at, text, _ := strings.Cut(got[i], " workloads.w.")
			if !strings.HasPrefix(at, "7:") {
				t.Errorf("%s: the place is %s", c.keys, at)
			}
			got[i] = text
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.keys, diff)
		}
	}
}

// A resume is told of every key that changed.
func TestDiffOfWorkloads(t *testing.T) {
	was := "  w: {dataset: mooncake, path: t.jsonl, speed: 2, to: 10m, headers: {X-Route: a}}"
	is := "  w: {dataset: mooncake, path: t.jsonl, rate: 3, arrival: {gamma: 0.5}, from: 1m, to: 10m, extra_body: {top_p: 0.9}, api_key_env: A_KEY}"
	got := studyfile.DiffText(parse(t, with(was)), parse(t, with(is)))
	want := []string{"workloads.w.rate: was 0, is 3", "workloads.w.arrival: added gamma 0.5", "workloads.w.speed: removed (was 2)", "workloads.w.from: added 1m0s",
		`workloads.w.extra_body: added {"top_p":0.9}`, "workloads.w.headers: removed (was X-Route: a)", "workloads.w.api_key_env: added A_KEY"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
