package deploy_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"autotune/runner/deploy"
	"autotune/space"
)

// runsElsewhere are scripts that hand the command to what is not here, another machine, a cluster or a folder, that are called with arguments, or never end.
var runsElsewhere = []string{"ssh-heredoc.sh", "heredoc-kubectl.sh", "while-retry.sh", "bom-crlf.sh", "if-not-running-docker.sh", "docker-bash-c-positional.sh", "ray-head-hostname.sh"}

// replicated are scripts that start several servers, of which any may be seen: they differ in their port and GPU.
var replicated = []string{"c-style-loop.sh", "nested-loop-literal-word.sh", "eight-replicas.sh"}

// programs are what scripts call beside the server: those that start it, and those that must not do anything here.
var programs = map[string]string{
	"docker": `while [ $# -gt 0 ] && [ "$1" != "$DEPLOY_TEST_IMAGE" ]; do
  case $1 in -e | --env) export "${2?}"; shift ;; esac
  shift
done
shift || exit 0
case $1 in vllm | python* | bash | sh) exec "$@" ;; esac
exec vllm serve "$@"`,
	"srun": launcher, "apptainer": launcher, "screen": launcher,
	"tmux":  `[ "$1" = send-keys ] && bash -c "$4"; true`,
	"sleep": "", "pip": "", "hf": "", "ray": "", "nvidia-smi": "", "ts": "cat", "jq": "echo Qwen/Qwen3-8B",
}

const launcher = `while [ $# -gt 0 ]; do
  case "$1 $2" in "vllm serve" | python* | bash*) exec "$@" ;; esac
  shift
done`

// moreThanAShell are files whose command a shell ends too early: the import says so, and reads on.
var moreThanAShell = map[string]int{"blank-after-backslash.sh": 12, "comment-ends-command.sh": 3} // flags that the shell would lose

// TestExportRunsWhatTheOriginalRuns runs each script, and what its export is, in a real bash with programs that write down their arguments.
func TestExportRunsWhatTheOriginalRuns(t *testing.T) {
	compared := 0
	for _, name := range importFiles(t) {
		text, im, err := imported(t, name)
		if err != nil || path.Ext(name) != ".sh" || slices.Contains(runsElsewhere, name) {
			continue
		}
		compared++
		set := []string{"HOME=/home/user", "DEPLOY_TEST_IMAGE=" + im.Image}
		for k, v := range given[name] {
			set = append(set, k+"="+v)
		}
		for _, secret := range im.Secrets {
			set = append(set, secret+"=hf_secret")
		}
		program := path.Base(im.Launch[0])
		original, again := stub(t, program, text+"\nwait\n", set), stub(t, program, deploy.Shell(im.Export()), set)
		for _, v := range im.Env {
			if line := v.Name + "=" + v.Value; (!v.Deployment || !slices.Contains(replicated, name)) && !slices.Contains(original.Env, line) || !slices.Contains(again.Env, line) {
				t.Errorf("%s: %s is in the environment of the original: %v, of the export: %v", name, line, slices.Contains(original.Env, line), slices.Contains(again.Env, line))
			}
		}
		lost := moreThanAShell[name]
		was, is := settings(t, im, original.Argv), settings(t, im, again.Argv)
		for flag, value := range was {
			if f, _ := im.Value(flag); slices.Contains(im.SecretFlags, flag) || slices.Contains(replicated, name) && (flag == "port" && f.AsInt() > 0 || flag == "served-model-name") {
				continue
			}
			if is[flag] != value {
				t.Errorf("%s: --%s is %v, was %v", name, flag, is[flag], value)
			}
		}
		if more := len(is) + len(im.SecretFlags) - len(was); more != lost {
			t.Errorf("%s: %d flags more than the shell's own, want %d: %v and %v", name, more, lost, is, was)
		}
	}
	if compared < 56 {
		t.Errorf("only %d commands were run", compared)
	}
}

// stub runs a script in a folder of its own, where program writes down what it is given.
func stub(t *testing.T, program, text string, environ []string) seen {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, work := t.TempDir(), t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, program)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(work, "seen.json")
	for _, folder := range []string{"logs", ".venv/bin"} {
		if err := os.MkdirAll(filepath.Join(work, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(work, ".venv/bin/activate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, body := range programs {
		if name == program {
			continue
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/bash\n"+body), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	args := []string{"-c", text, "script"}
	for n := 1; ; n++ {
		i := slices.IndexFunc(environ, func(v string) bool { return strings.HasPrefix(v, strconv.Itoa(n)+"=") })
		if i < 0 {
			break
		}
		args = append(args, environ[i][2:])
	}
	cmd := exec.CommandContext(t.Context(), "bash", args...)
	cmd.Dir = work
	cmd.Env = append([]string{"DEPLOY_TEST_PRINT=1", "DEPLOY_TEST_FILE=" + file, "GORACE=atexit_sleep_ms=0", "PATH=" + bin + ":" + os.Getenv("PATH")}, environ...)
	output, runErr := cmd.CombinedOutput() // a script that a shell ends too early fails behind the command
	found, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%s was not run: %v %s\n%s", program, runErr, output, text)
	}
	var got seen
	if err := json.Unmarshal(found, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// settings are the flags of an argv as the engine reads them, the words in front of the engine and the model too.
func settings(t *testing.T, im deploy.Import, argv []string) map[string]space.Value {
	t.Helper()
	launch := len(im.Launch)
	if len(argv) < launch || !slices.Equal(argv[:launch], im.Launch) {
		t.Fatalf("%q does not begin with %q", argv, im.Launch)
	}
	reading, err := im.Engine.Read(argv[launch:])
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]space.Value{"(model)": space.String(strings.TrimSpace(reading.Model.Text))}
	for _, g := range reading.Given {
		out[g.Flag] = g.Value
	}
	last := ""
	for _, w := range reading.Rest { // what the catalog does not know: flags, each with its value in the same word or the next
		name, value, inline := strings.Cut(w.Text, "=")
		switch {
		case w.Text == " ": // an escaped blank
		case inline:
			out[name] = space.String(value)
		case strings.HasPrefix(w.Text, "-") || last == "":
			out[w.Text], last = space.Bool(true), w.Text
		default:
			out[last], last = space.String(w.Text), ""
		}
	}
	return out
}
