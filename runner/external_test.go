package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"autotune/runner"
	"autotune/runner/bench"
	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// toolWord lets the test binary play vLLM's benchmark: WORD MODE, then the flags of `vllm bench serve`.
const toolWord = "bench-tool"

// playTool is a benchmark tool that works, or fails in the way that mode says.
func playTool(mode string, args []string) int {
	flag := func(name string) string {
		if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	if slices.Contains(args, "--version") {
		fmt.Println("loading 2.0 plugins\n7.8.9")
		return 0
	}
	switch mode {
	case "usage":
		fmt.Println("unrecognized arguments: --burstiness")
		return 2
	case "idle", "sleeper":
		time.Sleep(time.Hour)
	case "key":
		fmt.Println("my token is", os.Getenv("HF_TOKEN"), "and my key", os.Getenv("OPENAI_API_KEY"))
	}
	if mode == "patient" {
		awaitQuestion(flag("--base-url"))
	}
	n, _ := strconv.Atoi(flag("--num-prompts"))
	out, _ := strconv.Atoi(flag("--random-output-len"))
	in, _ := strconv.Atoi(flag("--random-input-len"))
	seed, _ := strconv.ParseUint(flag("--seed"), 10, 64)
	spec := workload.Spec{Dataset: workload.Random, InputTokens: in, OutputTokens: out, Requests: n, MaxConcurrency: 8, Endpoint: workload.Completions}
	result, err := load.Run(context.Background(), load.Target{URL: flag("--base-url"), Model: flag("--model"), APIKey: os.Getenv("OPENAI_API_KEY")}, load.Options{Spec: spec, StudySeed: seed})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	switch mode {
	case "none":
		fmt.Println("Traceback: no space left")
		return 0
	case "fork", "hang":
		if mode == "fork" {
			if err := exec.Command(os.Args[0], append([]string{toolWord, "sleeper"}, args...)...).Start(); err != nil {
				return 1
			}
		}
		time.Sleep(time.Hour)
	}
	text := vllmResult(result)
	if mode == "half" {
		text = text[:len(text)/2]
	}
	if err := os.WriteFile(filepath.Join(flag("--result-dir"), flag("--result-filename")), text, 0o644); err != nil {
		return 1
	}
	switch mode {
	case "late":
		time.Sleep(time.Hour)
	case "exit1":
		fmt.Println("Exception ignored in atexit")
		return 1
	}
	return 0
}

// awaitQuestion waits until the server has answered a request of somebody else's.
func awaitQuestion(url string) {
	answered := func() string {
		response, err := http.Get(url + "/metrics")
		if err != nil {
			return ""
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return regexp.MustCompile(`(?m)^vllm:generation_tokens_total.*$`).FindString(string(text))
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for before := answered(); answered() == before; {
		<-tick.C
	}
}

// vllmResult writes a run's records as `vllm bench serve` does.
func vllmResult(r load.Result) []byte {
	m := metric.Compute(r.Records, 0)
	file := map[string]any{"completed": m["successful_requests"], "failed": m["failed_requests"], "duration": m["duration"], "total_input_tokens": m["input_tokens"],
		"total_output_tokens": m["output_tokens"], "request_throughput": m["request_throughput"], "output_throughput": m["output_token_throughput"], "total_token_throughput": m["total_token_throughput"]}
	for theirs, ours := range map[string]string{"ttft": "ttft_sent", "tpot": "tpot", "itl": "itl", "e2el": "latency_sent"} {
		for _, stat := range metric.Statistics {
			if v, ok := m[stat+"_"+ours]; ok {
				file[strings.Replace(stat, "p50", "median", 1)+"_"+theirs+"_ms"] = 1e3 * v
			}
		}
	}
	var errs []string
	for _, record := range r.Records {
		errs = append(errs, record.Detail)
	}
	file["errors"] = errs
	text, err := json.Marshal(file)
	if err != nil {
		panic(err)
	}
	return text
}

// measuredBy prepares a launch of the fake engine that the tool measures.
func measuredBy(t *testing.T, mode string, words ...string) *trial {
	r := newTrial(t, "vllm", append([]string{"--start-time", "0s"}, words...)...)
	tool, _ := bench.Find("vllm-bench")
	r.config.External = &runner.External{Tool: tool, Command: []string{self(), toolWord, mode}, Args: []string{"--label", "x"}}
	w := &r.config.Traffic[0].Workload
	w.Rate, w.RequestLimit, w.WallLimit = 0, 0, 30*time.Second
	return r
}

func TestExternal(t *testing.T) {
	r := measuredBy(t, "good")
	o, err := r.run(t.Context())
	if err != nil || o.Kind != tuner.Measured {
		t.Fatalf("%s %s: %s, %v", o.Kind, o.Rule, o.Evidence, err)
	}
	m := o.Measured
	if m.Metrics["success_rate"] != 1 || m.Metrics["output_tokens"] != 24*8 || m.Metrics["p95_ttft_sent"] <= 0 || m.Metrics["total_token_throughput_per_gpu"] != m.Metrics["total_token_throughput"] {
		t.Errorf("metrics %v", m.Metrics)
	}
	if _, ok := m.Metrics["p95_ttft"]; ok || len(m.Records) > 0 || m.Clock != metric.Wall || m.ServerSide["generation_tokens_total"] != 24*8 {
		t.Errorf("%d records, clock %s, server %v, metrics %v", len(m.Records), m.Clock, m.ServerSide, m.Metrics)
	}
	plain := r.config.Traffic[0].Workload.Identity("")
	if m.Identity != r.config.External.Tool.Identity(plain, []string{"--label", "x"}) || m.Identity == plain || m.Sent == "" {
		t.Errorf("identity %s, sent %q", m.Identity, m.Sent)
	}
	f := o.Run.Facts
	if f["bench_tool"] != "vllm-bench" || f["bench_version"] != "7.8.9" || !strings.Contains(f["bench_command"], "bench serve --backend openai") || !strings.HasSuffix(f["bench_command"], "--label x") {
		t.Errorf("facts %v", f)
	}
	if _, err := os.Stat(filepath.Join(r.config.Logs, "0007-1", "bench-w", "result.json")); err != nil {
		t.Error(err)
	}
	again, err := r.run(t.Context())
	if err != nil || again.Measured.Sent != m.Sent || again.Measured.Identity != m.Identity {
		t.Errorf("the same trial again: %+v, %v", again.Measured, err)
	}
}

// TestExternalFaults: whatever a tool does comes to its own end, and nothing of it is left.
func TestExternalFaults(t *testing.T) {
	short := func(r *trial) { r.config.Traffic[0].Workload.WallLimit = 3 * time.Second }
	for _, c := range []struct {
		mode, words string
		set         func(*trial)
		kind        tuner.Kind
		name        string // signature or rule
		says        string // in the evidence or a warning
	}{
		{"hang", "", short, tuner.Infeasible, "bench_limit", "was not through within the workload's limit of 3s"},
		{"fork", "", short, tuner.Infeasible, "bench_limit", "was not through"},
		{"late", "", short, tuner.Measured, "", "ended with killed by SIGTERM after it had written its result"},
		{"exit1", "", nil, tuner.Measured, "", "ended with exit status 1 after it had written its result; its last line: Exception ignored in atexit"},
		{"patient", "", func(r *trial) { r.config.Timeouts.Hang = time.Second }, tuner.Measured, "", "a 99th percentile of 24 requests"},
		{"none", "", nil, tuner.Invalid, "no_result", "ended with exit status 0 and left no result.json; its last line: Traceback: no space left"},
		{"half", "", nil, tuner.Invalid, "schema", "no whole JSON"},
		{"good", "", func(r *trial) {
			r.config.External.Needs = map[string][]string{"w": {"output_token_throughput", "p99_ttft_sent", "goodput"}}
		}, tuner.Invalid, "missing", "the file has no goodput"},
		{"good", "--fault refuse=0.5", nil, tuner.Infeasible, "low_success", "12 of 24 requests succeeded"},
		{"good", "--fault crash-after=5", nil, tuner.Infeasible, "vllm_worker_died", "died unexpectedly"},
		{"good", "--fault hang-serve=5", func(r *trial) { r.config.Timeouts.Hang = 2 * time.Second }, tuner.Infeasible, "hang", "the server fell silent"},
		{"good", "--fault hang-serve=1", func(r *trial) { r.config.Timeouts.Hang = time.Second }, tuner.Infeasible, "hang", "gives no completion"},
	} {
		t.Run(c.mode+c.words, func(t *testing.T) {
			t.Parallel()
			r := measuredBy(t, c.mode, strings.Fields(c.words)...)
			if c.set != nil {
				c.set(r)
			}
			o, err := r.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if o.Kind != c.kind || o.Signature+o.Rule != c.name || !strings.Contains(o.Evidence+strings.Join(o.Warnings, "\n"), c.says) {
				t.Errorf("%s, %s%s: %s\n%q", o.Kind, o.Signature, o.Rule, o.Evidence, o.Warnings)
			}
			if c.mode == "patient" && o.Measured != nil && o.Measured.ServerSide["generation_tokens_total"] != 24*8 {
				t.Errorf("the question is counted as the tool's: %v", o.Measured.ServerSide)
			}
			if c.kind == tuner.Infeasible && c.name != "low_success" && o.Measured != nil {
				t.Errorf("it has a measurement: %v", o.Measured.Metrics)
			}
		})
	}
}

// TestExternalAtFault: a tool that cannot measure at all stops the study, and says what to do.
func TestExternalAtFault(t *testing.T) {
	for _, c := range []struct {
		name, mode, signature, says string
		words                       []string
		set                         func(*trial)
	}{
		{"a flag that it does not know", "usage", "bench_tool", "exit status 2 and left no result.json; its last line: unrecognized arguments: --burstiness; it has sent nothing", nil, nil},
		{"nothing is ever sent", "idle", "bench_tool", "has sent nothing within the workload's limit", nil, func(r *trial) { r.config.Traffic[0].Workload.WallLimit = time.Second }},
		{"no program", "good", "no_command", "no-such-tool", nil, func(r *trial) { r.config.External.Command = []string{"no-such-tool"} }},
		{"simulated time", "good", "law_time", "simulated time", []string{"--clock", "law"}, nil},
		{"a workload that it cannot send", "good", "bench_tool", "no limit on one request", nil, func(r *trial) { r.config.Traffic[0].Workload.RequestLimit = time.Hour }},
		{"a key that it takes on its command line", "good", "api_key", "only on its command line", nil, func(r *trial) {
			r.config.External.Tool, _ = bench.Find("guidellm")
			r.config.Environ = append(r.config.Environ, "VLLM_API_KEY=sk-0123456789abcdef")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := measuredBy(t, c.mode, c.words...)
			if c.set != nil {
				c.set(r)
			}
			_, err := r.run(t.Context())
			var machine *tuner.MachineError
			if !errors.As(err, &machine) || machine.Outcome.Signature != c.signature || !strings.Contains(machine.Outcome.Evidence, c.says) || machine.Outcome.Hint == "" {
				t.Errorf("%v: %+v", err, machine)
			}
		})
	}
}

// TestExternalSecrets: the server's key and the environment's tokens reach the tool, and nothing that is kept.
func TestExternalSecrets(t *testing.T) {
	const key = "sk-0123456789abcdef"
	r := measuredBy(t, "key")
	r.config.Environ = append(r.config.Environ, "VLLM_API_KEY="+key)
	o, err := r.run(t.Context())
	if err != nil || o.Kind != tuner.Measured {
		t.Fatalf("%s: %s, %v", o.Kind, o.Evidence, err)
	}
	text, err := os.ReadFile(filepath.Join(r.config.Logs, "0007-1", "bench-w", "output.log"))
	if err != nil || !strings.Contains(string(text), "my token is") || strings.Contains(string(text), key) {
		t.Errorf("%s, %v", text, err)
	}
	checkSecret(t, r, o)
}

// TestExternalInterrupted: whoever interrupts a study leaves no tool behind.
func TestExternalInterrupted(t *testing.T) {
	r := measuredBy(t, "fork")
	ctx, cancel := context.WithCancel(t.Context())
	r.observe = func(p tuner.Partial) tuner.Verdict {
		if p.Phase == tuner.PhaseBench && p.Elapsed > 0 {
			cancel()
		}
		return tuner.Verdict{}
	}
	if o, err := r.run(ctx); err != nil || o.Kind != tuner.Interrupted {
		t.Errorf("%s: %s, %v", o.Kind, o.Evidence, err)
	}
}
