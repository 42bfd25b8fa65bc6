package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/runner/deploy"
	"autotune/space"
)

// TestMain lets the test program stand for a server: it prints its arguments, and the environment that the test asks about.
func TestMain(m *testing.M) {
	if os.Getenv("DEPLOY_TEST_PRINT") == "" {
		os.Exit(m.Run())
	}
	got := seen{Argv: os.Args}
	if file := os.Getenv("DEPLOY_TEST_FILE"); file != "" { // what it prints may go to a log
		text, err := json.Marshal(seen{Argv: os.Args, Env: os.Environ()})
		if err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			os.Exit(1)
		}
		return
	}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "T_") || strings.HasPrefix(v, "HF_") || strings.HasPrefix(v, "t-") {
			got.Env = append(got.Env, v)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
		os.Exit(1)
	}
}

type seen struct{ Argv, Env []string }

// paste runs a text in a shell as a person would.
func paste(t *testing.T, shell, text string, environ ...string) (seen, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, shell, "-c", text)
	cmd.Env = append([]string{"DEPLOY_TEST_PRINT=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH")}, environ...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	var got seen
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &got)
	}
	return got, stderr.String(), err
}

var nasty = []string{
	"plain", "", " ", "two words", "it's", `say "hi"`, `'`, `''`, `\`, `a\`, `\n`, "line\nbreak", "\n", "tab\there", "$HOME", "${HOME}", "$(echo no)", "`echo no`", "!!", "~", "~/x", "*", "?", "[a]", "{a,b}",
	"#comment", "a#b", "a;b", "a&b", "a|b", "a>b", "a<b", "(a)", "=ls", "A=b", "é", "日本", "\u2028", "--x=", "-", "--", "-O3", "%s", "a,b", "@file",
	`--speculative-config={"method": "mtp", "num_speculative_tokens": 3}`,
	"--kv-transfer-config={\"kv_connector\": \"Mooncake\",\n  \"engine_id\": \"$MOONCAKE_ENGINE_ID\"}",
	`--hf-overrides={"a": {"b": [11, 11, 10], "factor": 4.0, "theta": 10000000, "s": "it's \"q\""}}`,
	"export", "\x01", "\xff",
}

func TestPastedCommandRunsTheMeasuredArguments(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]deploy.Export{
		"all together": {Argv: append([]string{self}, nasty...)},
		"with environment": {Argv: []string{self, "serve", "org/model", "--max-num-seqs=256", "--served-model-name", "a b", "c"},
			Env: []string{"T_EMPTY=", "T_QUOTE=it's $HOME\nand `more`", "T_EQUALS=a=b"}},
		"odd names": {Argv: []string{self, "--x"}, Env: []string{"t-dash=1 2", "T_OK=3"}},
		"measured":  {Argv: []string{self, "--x=1"}, Model: "m\nexit 3", Measured: &deploy.Measured{Study: "a\nexit 4\rx", Metric: "tps", Value: 1}},
	}
	for _, word := range []string{"", "-", "--", "=ls", "\n", "#x", "-O3"} { // right behind the executable
		exports["word "+word] = deploy.Export{Argv: []string{self, word, word}}
	}
	for name, e := range exports {
		t.Run(name, func(t *testing.T) {
			for _, shell := range []string{"bash", "sh"} {
				got, stderr, err := paste(t, shell, deploy.Shell(e))
				if err != nil {
					t.Fatalf("%s: %v: %s\n%s", shell, err, stderr, deploy.Shell(e))
				}
				want := seen{Argv: valid(e.Argv), Env: e.Env}
				if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
					t.Errorf("%s: -want +got:\n%s\n%s", shell, diff, deploy.Shell(e))
				}
			}
		})
	}
}

// valid makes words what JSON can carry, on both sides of a comparison.
func valid(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, strings.ToValidUTF8(w, "\ufffd"))
	}
	return out
}

// sorted puts the environment in order; a shell may hand the same variable on twice.
func sorted(s seen) seen {
	s.Env = slices.Clone(s.Env)
	slices.Sort(s.Env)
	s.Env = slices.Compact(s.Env)
	return s
}

func TestArgv0IsNeverAnAssignmentOrAKeyword(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"if", "a=b", "my vllm", "it's"} {
		dir := t.TempDir()
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		for _, e := range []deploy.Export{{Argv: []string{name, "--x"}}, {Argv: []string{name, "--x"}, Env: []string{"T_A=1"}}} {
			got, stderr, err := paste(t, "bash", deploy.Shell(e), "PATH="+dir+":"+os.Getenv("PATH"))
			if err != nil || !cmp.Equal(got.Argv, e.Argv) {
				t.Errorf("%q: %v %v %s", name, got.Argv, err, stderr)
			}
		}
	}
}

func TestSecretsAreNamedAndComeFromTheShell(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := deploy.Export{Argv: []string{self, "--x"}, Env: []string{"HF_TOKEN=hf_very", "T_MAX_TOKENS=5"}, Secrets: []string{"HF_TOKEN", "T_API_KEY"}}
	text, block := deploy.Shell(e), deploy.EnvBlock(e)
	object, err := deploy.JSON(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{text, block, string(object)} {
		if strings.Contains(out, "hf_very") || !strings.Contains(out, "HF_TOKEN") || !strings.Contains(out, "T_MAX_TOKENS=5") {
			t.Errorf("a secret is named, never shown:\n%s", out)
		}
	}
	if _, stderr, err := paste(t, "bash", text); err == nil || !strings.Contains(stderr, "HF_TOKEN") {
		t.Errorf("without the secret the command must not start: %v %s", err, stderr)
	}
	got, stderr, err := paste(t, "bash", text, "HF_TOKEN=mine", "T_API_KEY=k")
	if err != nil {
		t.Fatal(err, stderr)
	}
	want := seen{Argv: e.Argv, Env: []string{"HF_TOKEN=mine", "T_API_KEY=k", "T_MAX_TOKENS=5"}}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Error(diff)
	}
}

func TestEnvBlockIsSourced(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := deploy.Export{Argv: []string{self}, Env: []string{"T_A=it's\n$HOME", "T_B=", "t-dash=\nexit 9"}}
	got, stderr, err := paste(t, "bash", deploy.EnvBlock(e)+deploy.Shell(deploy.Export{Argv: e.Argv}))
	if err != nil {
		t.Fatal(err, stderr)
	}
	if diff := cmp.Diff(sorted(seen{Argv: e.Argv, Env: e.Env[:2]}), sorted(got)); diff != "" {
		t.Error(diff)
	}
}

func glm() deploy.Export {
	return deploy.Export{
		Env: []string{"HF_HUB_OFFLINE=1"}, Engine: "sglang", EngineVersion: "0.5.14", Model: "zai-org/GLM-5.2-FP8",
		Argv:  []string{"python", "-m", "sglang.launch_server", "--model-path=zai-org/GLM-5.2-FP8", "--tp-size=8", "--enable-dp-attention", "--cuda-graph-bs", "1", "2", "--mem-fraction-static=0.85", `--json-model-override-args={"a": 4.0}`},
		Flags: map[string]space.Value{"tp-size": space.Int(8), "enable-dp-attention": space.Bool(true), "mem-fraction-static": space.Float(0.85), "json-model-override-args": space.String(`{"a": 4.0}`)},
		Measured: &deploy.Measured{Study: "glm-5.2-fp8-8xh200", Trial: 41, Metric: "total_token_throughput", Value: 17526.3, Unit: "tokens/s",
			Gain: "219.7 % more than the baseline", Hardware: "8 x H200", Autotune: "0.1.0"},
	}
}

func TestShellReadsWell(t *testing.T) {
	want := `# glm-5.2-fp8-8xh200, trial 41: total_token_throughput 17526 tokens/s, 219.7 % more than the baseline
# Model: zai-org/GLM-5.2-FP8
# Measured with sglang 0.5.14 on 8 x H200 by autotune 0.1.0
HF_HUB_OFFLINE=1 \
python -m sglang.launch_server \
  --model-path=zai-org/GLM-5.2-FP8 \
  --tp-size=8 \
  --enable-dp-attention \
  --cuda-graph-bs 1 2 \
  --mem-fraction-static=0.85 \
  '--json-model-override-args={"a": 4.0}'
`
	if diff := cmp.Diff(want, deploy.Shell(glm())); diff != "" {
		t.Error(diff)
	}
	if got := deploy.Shell(deploy.Export{Env: []string{"A=1"}}); got != "" {
		t.Errorf("no arguments: %q", got)
	}
}

func TestJSONHoldsWordsAndTypes(t *testing.T) {
	text, err := deploy.JSON(glm())
	if err != nil {
		t.Fatal(err)
	}
	var got deploy.Export
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(glm(), got, cmp.Comparer(func(a, b space.Value) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if text, err := deploy.JSON(deploy.Export{Argv: []string{"a<b>&"}}); err != nil || !strings.Contains(string(text), `"a<b>&"`) {
		t.Errorf("%s %v", text, err)
	}
	if text, err := deploy.JSON(deploy.Export{}); err != nil || !strings.Contains(string(text), `"argv": []`) {
		t.Errorf("%s %v", text, err)
	}
}
