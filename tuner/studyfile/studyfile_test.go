package studyfile_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/studyfile"
	"autotune/tuner/workload"
)

func parse(t *testing.T, text string) *studyfile.Spec {
	t.Helper()
	spec, err := studyfile.Parse("dir/s.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\nof\n%s", err, text)
	}
	return spec
}

func problem(t *testing.T, text string) tuner.Problem {
	t.Helper()
	p, err := parse(t, text).Problem(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const full = `name: full
model: [org/a, org/b]
gpus: 8
objective: {minimize: median_e2e_latency, subject_to: ["p95_ttft <= 1m30s", "w.success_rate >= 99.5%", "total_token_throughput >= 100"]}
gate: {success_rate: 0.95}
workloads:
  w: {dataset: sharegpt, path: data.json, output_tokens: 64, requests: 10, rate: 2.5, max_concurrency: 4, seed: 7, warmup: 0, endpoint: chat, request_limit: 30s, wall_limit: 0s}
engines:
  vllm:
    command: [python, -m, server]
    env: {A: "", B: 2}
    fixed: {tensor-parallel-size: 8, compilation-config: {level: 3, deep: [1, 2.0, true, null]}}
    baseline: {max-num-seqs: 7, other: x}
    space:
      max-num-seqs: [default, {ints: [8, 1024], log: true}]
      a.b: [fast, 0.5, 16K, "8", true]
      chunk: {ints: [1024, 8192], step: 1024, when: "max-num-seqs > 100 || a.b in [fast, 0.5]"}
    require: ["max-num-seqs != 9", {that: "!(chunk < 2048)", reason: too small}]
  sglang: {space: {x: bool}}
require: ["engine == sglang || checkpoint == org/a"]
recipes: [{engine: vllm, checkpoint: org/a, flags: {max-num-seqs: 16, chunk: 4096, a.b: fast}}]
reference: sglang
search: {sampler: random, seed: 18446744073709551615, start_from: [a.db, ../b.db], stoppers: report, stop: 2.5%}
budget: {trials: 5, wall_clock: 1d, failures_in_a_row: 3}
timeouts: {start: 5m, silence: 1m, stop: 3s, hang: 10s}
records: requests
bench: {tool: builtin}
`

func TestEveryKeyArrives(t *testing.T) {
	s := parse(t, full)
	type plain struct {
		Name, Sampler, Reference, Records, Dataset string
		Models, StartFrom                          []string
		Stoppers                                   string
		StopGain                                   float64
		GPUs                                       int
		Goal                                       tuner.Goal
		Gate                                       float64
		Seed                                       uint64
		Budget                                     tuner.Budget
		Timeouts                                   studyfile.Timeouts
		Workload                                   workload.Spec
	}
	got := plain{s.Name, s.Sampler, s.Reference, s.Records, s.Workload().Path, s.Models, s.StartFrom, s.Stoppers, s.StopGain, s.GPUs, s.Goal, s.Gate, s.Seed, s.Budget, s.Timeouts, s.Workload()}
	want := plain{"full", "random", "sglang", studyfile.RecordsRequests, "data.json", []string{"org/a", "org/b"}, []string{"a.db", "../b.db"}, studyfile.StoppersReport, 0.025, 8,
		tuner.Goal{Metric: "p50_latency", Direction: tuner.Minimize, SubjectTo: []tuner.Bound{
			{Metric: "p95_ttft", Op: "<=", Limit: 90},
			{Workload: "w", Metric: "success_rate", Op: ">=", Limit: 0.995},
			{Metric: "total_token_throughput", Op: ">=", Limit: 100},
		}},
		0.95, 1<<64 - 1, tuner.Budget{Trials: 5, WallClock: 24 * time.Hour, FailureRow: 3},
		studyfile.Timeouts{Start: 5 * time.Minute, Silence: time.Minute, Stop: 3 * time.Second, Hang: 10 * time.Second},
		workload.Spec{Name: "w", Dataset: "sharegpt", Path: "data.json", OutputTokens: 64, Requests: 10, Rate: 2.5, MaxConcurrency: 4, Seed: 7,
			Endpoint: "chat", RequestLimit: 30 * time.Second}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	v := s.Engines[0]
	if diff := cmp.Diff([]string{"python", "-m", "server"}, v.Command); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]studyfile.EnvVar{{Name: "A"}, {Name: "B", Value: "2"}}, v.Env); diff != "" {
		t.Error(diff)
	}
	if got, want := v.Fixed[1].Value, space.String(`{"level":3,"deep":[1,2.0,true,null]}`); got != want {
		t.Errorf("JSON arrived as %v", got)
	}
	values := v.Params[3].Domain.Listed()
	if want := []space.Value{space.String("fast"), space.Float(0.5), space.String("16K"), space.String("8"), space.Bool(true)}; !cmp.Equal(values, want, cmp.Comparer(func(a, b space.Value) bool { return a == b })) {
		t.Errorf("the values arrived as %v", values)
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	s := parse(t, strings.Replace(good, "budget: {trials: 5}\n", "", 1))
	if s.Sampler != studyfile.DefaultSampler || s.Seed != 42 || s.Gate != 0.99 || s.Reference != "sglang" || s.Records != studyfile.RecordsFull {
		t.Errorf("%+v", s)
	}
	if s.Stoppers != studyfile.StoppersOn || s.StopGain != 0.01 || len(s.StartFrom) > 0 {
		t.Errorf("search %q, %v, %v", s.Stoppers, s.StopGain, s.StartFrom)
	}
	if want := (tuner.Budget{Trials: 60, FailureRow: 20}); s.Budget != want {
		t.Errorf("budget %+v, want %+v", s.Budget, want)
	}
	if w := s.Workload(); w.Warmup != 4 || w.WallLimit != time.Hour || w.Endpoint != workload.Completions || w.Seed != 42 {
		t.Errorf("workload %+v", w)
	}
	named := parse(t, strings.Replace(good, "name: good\nmodel: org/model", "model: zai-org/GLM-5.2-FP8", 1))
	if named.Name != "glm-5.2-fp8" {
		t.Errorf("the study is called %s", named.Name)
	}
}

// TestBaselineIsAPoint: the fixed flags, what baseline says, default for all else, listed or not; the first checkpoint.
func TestBaselineIsAPoint(t *testing.T) {
	p := problem(t, full)
	want := []string{
		`{"checkpoint":"org/a","engine":"vllm","vllm.a.b":null,"vllm.compilation-config":"{\"level\":3,\"deep\":[1,2.0,true,null]}",` +
			`"vllm.max-num-seqs":7,"vllm.other":"x","vllm.tensor-parallel-size":8}`,
		`{"checkpoint":"org/a","engine":"sglang","sglang.x":null}`,
	}
	for i, b := range p.Baselines {
		if b.Key() != want[i] {
			t.Errorf("baseline %d is %s", i, b.Key())
		}
	}
	if len(p.Recipes) != 1 {
		t.Fatalf("%d recipes", len(p.Recipes))
	}
	if v, _ := p.Recipes[0].Get("vllm.chunk"); v != space.Int(4096) {
		t.Errorf("the recipe is %s", p.Recipes[0].Key())
	}
}

func TestRulesOfTheSpecHold(t *testing.T) {
	p := problem(t, full)
	r := rand.New(rand.NewPCG(1, 1))
	broken := map[string]bool{}
	for range 3000 {
		point := p.Space.Random(r)
		chunk, has := point.Get("vllm.chunk")
		seqs, _ := point.Get("vllm.max-num-seqs")
		other, _ := point.Get("checkpoint")
		c, bad := p.Space.Broken(point)
		broken[c.ID] = true
		want := has && chunk.AsInt() < 2048 || seqs == space.Int(9) || point.Engine() == "vllm" && other == space.String("org/b")
		if bad != want {
			t.Fatalf("%s: broken %v by %s %s", point.Key(), bad, c.ID, c.Reason)
		}
		if v, ok := point.Get("vllm.other"); ok && !v.IsDefault() {
			t.Fatalf("a baseline's value is proposed: %s", point.Key())
		}
	}
	for _, id := range []string{"require.1", "vllm.require.1", "vllm.require.2"} {
		if !broken[id] {
			t.Errorf("rule %s was never broken in 3000 points", id)
		}
	}
}

func TestResolveKeepsTheSpec(t *testing.T) {
	s := parse(t, good)
	resolved := s.Resolve(func(engine, flag string) (space.Value, bool) {
		return space.Float(0.8), flag == "fraction" && engine == "sglang"
	})
	find := func(s *studyfile.Spec) space.Value {
		for _, p := range s.Engines[0].Params {
			if p.Flag == "fraction" {
				return p.Resolved
			}
		}
		return space.Value{}
	}
	if got := find(resolved); got != space.Float(0.8) {
		t.Errorf("resolved to %v", got)
	}
	if got := find(s); got.Kind() != space.KindNone {
		t.Errorf("the spec itself changed: %v", got)
	}
}

// Specs of before had the sampler and the seed at the top: they mean the same there, and mixed with what stands under search.
func TestSearchKeysOfBefore(t *testing.T) {
	want := parse(t, good+"search: {sampler: random, seed: 7, stop: off}\n")
	for _, text := range []string{"sampler: random\nseed: 7\nsearch: {stop: off}\n", "search: {sampler: random, stop: 0}\nseed: 7\n", "seed: 7\nsearch: {stop: 0%, sampler: random}\n"} {
		if diff := studyfile.DiffText(want, parse(t, good+text)); len(diff) > 0 {
			t.Errorf("%q means something else: %q", text, diff)
		}
	}
}

// A study keeps the sampler that it began with, whatever a later version's default is.
func TestTheSamplerOfASpecThatNamesNone(t *testing.T) {
	for spec, want := range map[string]string{good: "random", good + "search: {seed: 1}\n": "random", good + "search: {sampler: tpe}\n": "tpe", good + "sampler: tpe\n": "tpe"} {
		s, err := studyfile.Known{Engines: studyfile.Names.Engines, Sampler: "random"}.Parse("s.yaml", []byte(spec))
		if err != nil || s.Sampler != want {
			t.Errorf("sampler %v, %v; want %s", s, err, want)
		}
	}
}

func TestStopIsAShare(t *testing.T) {
	for text, want := range map[string]float64{"1%": 0.01, "0.02": 0.02, `"0.5 %"`: 0.005, "off": 0, "0": 0, ".5%": 0.005, "99.9%": 0.999} {
		if got := parse(t, good+"search: {stop: "+text+"}\n").StopGain; math.Abs(got-want) > 1e-12 {
			t.Errorf("stop: %s is %v, want %v", text, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	s := parse(t, good)
	for key, want := range map[string][2]int{"gpus": {3, 1}, "engines sglang space dp-size": {13, 7}, "engines sglang fixed tp-size": {10, 13}, "workloads w": {7, 3}, "nowhere": {0, 0}} {
		line, column := s.Place(strings.Fields(key)...)
		if line != want[0] || column != want[1] {
			t.Errorf("%s stands at %d:%d, want %v", key, line, column, want)
		}
	}
	fault := s.Fault("is odd", "engines", "sglang", "space", "dp-size")
	if want := "dir/s.yaml:13:7: engines.sglang.space.dp-size: is odd"; fault.Error() != want {
		t.Errorf("got %s", fault.Error())
	}
}

// nastyTexts are what a model, a variable or a flag may be, and what some reader of YAML takes for something else.
var nastyTexts = []string{"zai-org/GLM-5.2-FP8", "./tiny", "org/true", "x/null", `we"ird: 'name' # {x`, "org/123", "~", "0x10", "Über/modell", "true", "off", "8", "0.90", "16K", "default",
	"a\nb", "\ttab", " ", "'", "''", `\`, "{a: 1}", `{"factor": 4.0, "n": 10000000}`, "[1, 2]", "&a", "*a", "!x", "%", "@", "`", "- x", "#x", "a: b", "$HOME", "1e3", "0o7", "\u2028", "\u00a0", ".inf", "=", "<<"}

func TestTemplateIsValidWhateverItIsGiven(t *testing.T) {
	for _, gpus := range []int{0, 1, 6, 16} {
		for i, text := range nastyTexts {
			model := text
			if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "-") {
				model = "m"
			}
			in := studyfile.TemplateInput{Model: model, GPUs: gpus, Comments: []string{"Made from\na file"}, Longest: []int{0, 16, 2000}[i%3],
				Engines: []studyfile.TemplateEngine{{
					Name: "vllm", Comments: []string{"a\nb"}, Command: []string{"numactl", text, "vllm"}, Env: []studyfile.EnvVar{{Name: "A", Value: text}},
					Fixed:    []studyfile.TemplateLine{{Flag: "chat-template", Value: studyfile.ValueText(space.String(text)), Why: "w\nx"}, {Flag: "x", Value: studyfile.ValueText(space.Float(2))}},
					Baseline: []studyfile.TemplateLine{{Flag: "seed", Value: "8"}},
					Space:    []studyfile.TemplateLine{{Flag: "seed", Value: "[default, {ints: [1, 9], log: true}]", Why: "why"}, {Flag: "y", Value: "bool", Off: true}},
					Require:  []studyfile.TemplateLine{{Value: "seed != 3", Why: "r" + text}},
				}, {Name: "sglang", Space: []studyfile.TemplateLine{{Flag: "z", Value: "[1, 2]"}}}},
				Recipes: []studyfile.TemplateRecipe{{Engine: "vllm", Flags: []studyfile.TemplateLine{{Flag: "seed", Value: "5"}}, Why: "b\u2028c"}}}
			written := string(studyfile.Template(in))
			for _, version := range []string{written, regexp.MustCompile(`(?m)^#: `).ReplaceAllString(written, "")} { // and every commented key switched on
				s := parse(t, version)
				e := s.Engines[0]
				if s.GPUs != gpus || s.Models[0] != model || e.Command[1] != text || e.Env[0].Value != text || e.Fixed[0].Value != space.String(text) || e.Fixed[1].Value != space.Float(2) || len(s.Recipes) != 1 {
					t.Fatalf("%q became %+v\n%s", text, s, version)
				}
				if w := s.Traffic[0].Spec; in.Longest > 0 && w.InputTokens+w.OutputTokens > in.Longest {
					t.Errorf("%d and %d tokens do not fit %d", w.InputTokens, w.OutputTokens, in.Longest)
				}
				checkSpec(t, s)
			}
		}
	}
}

func TestDiffText(t *testing.T) {
	change := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(full) }
	for _, c := range []struct {
		now  string
		want []string
	}{
		{"# a comment\n" + strings.ReplaceAll(full, "{trials: 5, ", "{trials: 5,   "), nil},
		{change("name: full", "name: other"), []string{"name: was full, is other"}},
		{change("[8, 1024], log: true", "[8, 2048], log: true"), []string{
			"engines.vllm.space.max-num-seqs: added 8 to 2048 (by the logarithm); removed 8 to 1024 (by the logarithm)"}},
		{change(`[fast, 0.5, 16K, "8", true]`, `[0.5, fast, "8", false, 16K]`), []string{"engines.vllm.space.a.b: added false; removed true"}},
		{change("max-num-seqs > 100 ||", "max-num-seqs>100||"), nil},
		{change("x: bool", "y: bool"), []string{"engines.sglang.space.x: removed (was false, true)", "engines.sglang.space.y: added, false, true"}},
		{change("{trials: 5, wall_clock: 1d", "{wall_clock: 2h"), []string{"budget.trials: was 5, is no limit", "budget.wall_clock: was 24h0m0s, is 2h0m0s"}},
		{change("sampler: random", "sampler: tpe", "[a.db, ../b.db]", "[../b.db, c.db]", "stoppers: report, stop: 2.5%", "stop: off"), []string{
			"search.sampler: was random, is tpe", "search.start_from: added c.db; removed a.db", "search.stoppers: was report, is on", "search.stop: was 2.5%, is off"}},
		{change("max-num-seqs > 100", "max-num-seqs > 50"), []string{
			`engines.vllm.space.chunk.when: was max-num-seqs > 100 || a.b in [fast, 0.5], is max-num-seqs > 50 || a.b in [fast, 0.5]`}},
		{change("env: {A: \"\", B: 2}", "env: {B: 3, C: 1}"), []string{`engines.vllm.env.A: removed (was "")`, "engines.vllm.env.B: was 2, is 3", "engines.vllm.env.C: added 1"}},
		{change("tensor-parallel-size: 8", "tensor-parallel-size: 4", "seed: 7", "seed: 8"), []string{
			"workloads.w.seed: was 7, is 8", "engines.vllm.fixed.tensor-parallel-size: was 8, is 4"}},
		{change("{tool: builtin}", "{tool: vllm-bench, command: [/v/bin/vllm], args: [--num-warmups, 8]}"), []string{
			"bench.tool: was builtin, is vllm-bench", "bench.command: added /v/bin/vllm", "bench.args: added --num-warmups 8"}},
		{change("[org/a, org/b]", "[org/b, org/a]"), []string{"model: the order changed: org/b, org/a"}},
		{change("99.5%", "99%", "\"max-num-seqs != 9\", ", ""), []string{
			"objective.subject_to: added w.success_rate >= 99 %; removed w.success_rate >= 99.5 %", "engines.vllm.require: removed max-num-seqs != 9"}},
		{change("  sglang: {space: {x: bool}}\n", "", "engine == sglang || ", "", "reference: sglang", "reference: vllm"), []string{
			"engines: removed sglang", "require: added checkpoint == org/a; removed engine == sglang || checkpoint == org/a", "reference: was sglang, is vllm"}},
	} {
		if diff := cmp.Diff(c.want, studyfile.DiffText(parse(t, full), parse(t, c.now))); diff != "" {
			t.Errorf("%s", diff)
		}
	}
}
