package bench

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"autotune/tuner/studyfile"
	"autotune/tuner/workload"
)

var update = flag.Bool("update", false, "write the files of testdata/command again")

func random(name string, in, out, requests int, rate float64) workload.Spec {
	return workload.Spec{Name: name, Dataset: workload.Random, InputTokens: in, OutputTokens: out, Requests: requests, Rate: rate, MaxConcurrency: 512, Seed: 42, Endpoint: workload.Completions}
}

// published are the five workloads of two published studies, and what else the tools are told differently.
func published() []workload.Spec {
	share := workload.Spec{Name: "sharegpt", Dataset: workload.ShareGPT, Path: "sharegpt.json", Requests: 1000, Rate: 1000, MaxConcurrency: 512, Seed: 42, Endpoint: workload.Completions}
	atOnce, chat := share, share
	atOnce.Name, atOnce.Rate, atOnce.OutputTokens, chat.Name, chat.Rate, chat.Endpoint = "sharegpt-at-once", 0, 128, "chat-at-once", 0, workload.Chat
	uncapped, limited := random("uncapped", 128, 64, 32, 0), random("limited", 128, 64, 32, 2.5)
	poisson, bursty := random("poisson", 128, 64, 32, 2.5), random("bursty", 128, 64, 32, 2.5)
	poisson.Burstiness, bursty.Burstiness = 1, 0.5
	uncapped.MaxConcurrency, limited.RequestLimit = 0, 90*time.Second
	return []workload.Spec{
		random("balanced", 8192, 1024, 1000, 1000), random("short", 1024, 128, 1000, 1000), random("long", 32000, 100, 100, 1), random("generation", 1000, 2000, 200, 1), share,
		random("balanced-at-once", 8192, 1024, 1000, 0), atOnce, chat, uncapped, limited, poisson, bursty,
	}
}

// TestCommand holds the command lines against those that were looked through: see testdata/command.
func TestCommand(t *testing.T) {
	var specs []workload.Spec
	specs = append(specs, published()...)
	examples, err := filepath.Glob("../../examples/*.yaml")
	more, _ := filepath.Glob("../../examples/*/study.yaml")
	if examples = append(examples, more...); err != nil || len(examples) < 4 {
		t.Fatal(examples, err)
	}
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		study, err := studyfile.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range study.Traffic {
			w.Name = filepath.ToSlash(strings.TrimPrefix(path, "../../")) + " " + w.Name
			specs = append(specs, w.Spec)
		}
	}
	for _, tool := range Tools() {
		var b strings.Builder
		for _, s := range specs {
			fmt.Fprintf(&b, "%s\n", s.Name)
			argv, err := tool.Command(Job{Spec: s, Path: "/data/" + s.Path, URL: "http://127.0.0.1:8100", Model: "served", Tokenizer: "org/model", Folder: "/study.db.d/0001-1", Seed: s.Seed})
			if err != nil {
				fmt.Fprintf(&b, "  no: %v\n", err)
				continue
			}
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(strings.Join(argv, " "), " --", " \\\n    --"))
		}
		golden(t, filepath.Join("testdata", "command", tool.Name+".txt"), b.String())
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it again):\n%s", path, got)
	}
}

func TestLacks(t *testing.T) {
	for _, c := range []struct {
		tool, key, says string
		change          func(*workload.Spec)
	}{
		{"sglang-bench", "rate", "Poisson", func(s *workload.Spec) { s.Rate = 3 }},
		{"guidellm", "dataset", "guidellm cannot send mooncake", func(s *workload.Spec) { s.Dataset = workload.Mooncake }},
		{"aiperf", "dataset", "aiperf cannot send jsonl", func(s *workload.Spec) { s.Dataset = workload.JSONL }},
		{"vllm-bench", "dataset", "cannot send another", func(s *workload.Spec) { s.Dataset = "another" }},
		{"guidellm", "arrival", "no gaps of this kind", func(s *workload.Spec) { s.Rate, s.Burstiness = 3, 0.5 }},
		{"vllm-bench", "arrival", "not with a ramp", func(s *workload.Spec) { s.Ramp = workload.Ramp{From: 1, To: 2, Over: time.Second} }},
		{"aiperf", "input_tokens", "one length for all prompts", func(s *workload.Spec) { s.InputLengths.Kind = workload.Uniform }},
		{"sglang-bench", "dataset", "cannot send conversation", func(s *workload.Spec) { s.Dataset, s.Turns, s.ThinkTime = workload.Conversation, 3, time.Second }},
		{"vllm-bench", "think_time", "is not told of think_time", func(s *workload.Spec) { s.ThinkTime = time.Second }},
		{"aiperf", "extra_body", "without further fields", func(s *workload.Spec) { s.ExtraBody = "{}" }},
		{"vllm-bench", "request_limit", "no limit on one request", func(s *workload.Spec) { s.RequestLimit = time.Second }},
	} {
		tool, _ := Find(c.tool)
		s := random("w", 128, 64, 32, 0)
		if lacks := tool.Lacks(s); len(lacks) > 0 {
			t.Errorf("%s: %v", c.tool, lacks)
		}
		c.change(&s)
		lacks := tool.Lacks(s)
		if len(lacks) != 1 || lacks[0].Key != c.key || !strings.Contains(lacks[0].Problem, c.says) || lacks[0].Allowed == "" {
			t.Errorf("%s: %+v, want one of %s", c.tool, lacks, c.key)
		}
		if _, err := tool.Command(Job{Spec: s}); err == nil {
			t.Errorf("%s made a command of what it lacks", c.tool)
		}
	}
}

// TestUntold refuses by name what a command line is not made of, so that a key that a workload gains is never left out in silence.
func TestUntold(t *testing.T) {
	full := workload.Spec{Name: "n", Dataset: workload.Random, Path: "p", InputTokens: 1, OutputTokens: 1, Requests: 1, Rate: 1, MaxConcurrency: 1, Seed: 1, Warmup: 1, Endpoint: "e", RequestLimit: 1, WallLimit: 1}
	before := known
	defer func() { known = before }()
	known = without(known, "rate")
	for _, tool := range Tools() {
		if lacks := tool.Lacks(full); lacks[0].Key != "rate" || !strings.Contains(lacks[0].Problem, "not told of rate") {
			t.Errorf("%s: %+v", tool.Name, lacks)
		}
	}
}

func without(words []string, word string) (out []string) {
	for _, w := range words {
		if w != word {
			out = append(out, w)
		}
	}
	return out
}

func TestReplaceAndVersion(t *testing.T) {
	for _, c := range []struct {
		tool    string
		program []string
		command string
		version string
	}{
		{"vllm-bench", nil, "vllm bench serve --b", "vllm --version"},
		{"vllm-bench", []string{"/v/bin/vllm"}, "/v/bin/vllm bench serve --b", "/v/bin/vllm --version"},
		{"guidellm", []string{"nice", "guidellm"}, "nice guidellm run --b", "nice guidellm --version"},
		{"aiperf", nil, "aiperf profile --m", "aiperf --version"},
		{"sglang-bench", nil, "python3 -m sglang.bench_serving --b", `python3 -c from importlib.metadata import version; print(version("sglang"))`},
		{"sglang-bench", []string{"/p", "-m", "sglang.benchmark.serving"}, "/p -m sglang.benchmark.serving --b", `/p -c from importlib.metadata import version; print(version("sglang"))`},
		{"sglang-bench", []string{"./wrapper"}, "./wrapper --b", ""},
	} {
		tool, _ := Find(c.tool)
		argv, err := tool.Command(Job{Spec: random("w", 8, 8, 8, 0), URL: "u", Model: "m", Tokenizer: "t", Folder: "f"})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(tool.Replace(argv, c.program), " "); !strings.HasPrefix(got, c.command) {
			t.Errorf("%s with %v: %s", c.tool, c.program, got)
		}
		if got := strings.Join(tool.VersionCommand(c.program), " "); got != c.version {
			t.Errorf("%s with %v is asked for its version by %q", c.tool, c.program, got)
		}
	}
}

func TestGuidellmCommas(t *testing.T) {
	_, err := guidellm.Command(Job{Spec: random("w", 8, 8, 8, 0), Tokenizer: "/a,b", Folder: "f"})
	if err == nil || !strings.Contains(err.Error(), "comma") {
		t.Error(err)
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		tool, name string
		gives      bool
		near       string
	}{
		{"vllm-bench", "total_token_throughput_per_gpu", true, ""},
		{"vllm-bench", "p95_ttft_sent", true, ""},
		{"vllm-bench", "p95_ttft_sent_per_gpu", false, ""},
		{"vllm-bench", "p95_ttft", false, "p95_ttft_sent"},
		{"aiperf", "p99_latency", false, "p99_latency_sent"},
		{"guidellm", "p99_itl", false, "p99_request_itl"},
		{"sglang-bench", "mean_request_itl", false, "mean_tpot"},
		{"sglang-bench", "goodput_per_gpu", false, "request_throughput_per_gpu"},
		{"guidellm", "steady_total_token_throughput", false, "total_token_throughput"},
		{"guidellm", "tokens_per_event", false, ""},
	} {
		tool, _ := Find(c.tool)
		gives, near := tool.Gives(c.name), tool.Nearest(c.name)
		if gives {
			near = ""
		}
		if gives != c.gives || near != c.near {
			t.Errorf("%s: %s is given: %v, near %q", c.tool, c.name, gives, near)
		}
	}
}
