package deploy_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"autotune/runner/deploy"
	"autotune/runner/engine"
	"autotune/space"
)

var update = flag.Bool("update", false, "write the .want files of testdata/import again")

// given are values for variables that a file uses and does not set.
var given = map[string]map[string]string{
	"multiline-json-literal-dollar-duplicate-switch.sh": {"MODEL_LOCATION": "/models/my model"},
	"sglang-arithmetic.sh":                              {"model_path": "/models/r1", "node_ip": "192.0.2.7", "num_prefill": "2"},
	"compose-bash-c-variables.yaml": {"MODEL_PATH": "/storage/m", "MODEL_NAME": "m", "HOST": "0.0.0.0", "PORT": "8000", "MAX_MODEL_LEN": "4096",
		"GPU_MEMORY_UTILIZATION": "0.9", "VLLM_API_KEY": "an-example"},
	"positional-arguments.sh":                   {"1": "Qwen/Qwen3-8B", "2": "2"},
	"optional-arguments-array.sh":               {"MODEL": "Qwen/Qwen3-8B", "MAX_MODEL_LEN": "8192"},
	"dotenv-tabs.sh":                            {"HOST": "0.0.0.0", "MODEL": "Qwen/Qwen3-8B", "PORT": "8000", "TENSOR_PARALLEL_SIZE": "2"},
	"sglang-serve-deepep-json.sh":               {"MODEL": "deepseek-ai/DeepSeek-V4-Pro", "EVAL_CONTEXT_ARGS": "", "SERVER_LOG": "server.log"},
	"benchmark-sglang.sh":                       {"MODEL": "zai-org/GLM-5-FP8", "TP": "8"},
	"benchmark-vllm-conditions.sh":              {"MODEL": "deepseek-ai/DeepSeek-V4-Pro"},
	"ray-head-hostname.sh":                      {"USER": "user", "NNODES": "2"},
	"lora-jq-default-positional.sh":             {"BASE_MODEL": "Qwen/Qwen3-8B"},
	"compose-entrypoint-and-extra-args.yaml":    {"HARBOR_SGLANG_MODEL": "Qwen/Qwen3-8B", "HARBOR_SGLANG_EXTRA_ARGS": "--tp 2 --schedule-policy lpm"},
	"rolebased-group-string.yaml":               {"LWS_LEADER_ADDRESS": "leader.example", "LWS_GROUP_SIZE": "2", "LWS_WORKER_INDEX": "0"},
	"llmisvc-folded-args.yaml":                  {"VLLM_ADDITIONAL_ARGS": ""},
	"env-old-form-and-args-variable.Dockerfile": {"VLLM_ARGS": "--max-model-len 4096"},
}

func imported(t *testing.T, name string) (string, deploy.Import, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "import", name))
	if err != nil {
		t.Fatal(err)
	}
	im, err := deploy.Read(string(text), deploy.Options{Source: name, Set: given[name], Home: "/home/user"})
	return string(text), im, err
}

func importFiles(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("testdata", "import"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if ext := path.Ext(e.Name()); ext != ".want" && ext != ".md" {
			names = append(names, e.Name())
		}
	}
	if len(names) < 36 {
		t.Fatalf("only %d files", len(names))
	}
	return names
}

// TestImportReadsWhatTeamsRun holds what is made of each file, notes with their lines, and the command that comes out.
func TestImportReadsWhatTeamsRun(t *testing.T) {
	for _, name := range importFiles(t) {
		_, im, err := imported(t, name)
		got := ""
		var wrong *deploy.Error
		switch {
		case errors.As(err, &wrong):
			got = fmt.Sprintf("error: %s\ntry: %s\n", wrong, wrong.Try)
		case err != nil:
			t.Fatal(err)
		default:
			for _, n := range im.Notes {
				got += fmt.Sprintf("line %d: %s\n", n.Line, n.Text)
			}
			got += deploy.Shell(im.Export())
		}
		file := filepath.Join("testdata", "import", name+".want")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestImportRefusesWithTheLine(t *testing.T) {
	for _, c := range []struct{ text, want, try string }{
		{"", "s: no command that serves is found", "vllm serve MODEL"},
		{"echo vllm serve m", "s:1: no command that serves is found: this line mentions vllm, and starts no server that autotune knows", ""},
		{"pip install vllm\ncurl localhost", "s:1: no command that serves is found: this line mentions vllm, and starts no server that autotune knows", ""},
		{"vllm serve m --max-num-seqs abc", "s:1: vLLM refuses it: argument --max-num-seqs: invalid int value: 'abc'", ""},
		{"vllm serve m \\\n --max-num-seqs \\\n 16.5", "s:2: vLLM refuses it: argument --max-num-seqs: invalid int value: '16.5'", ""},
		{"python -m sglang.launch_server --model-path m \\\n --tp_size 8", "s:2: SGLang takes no underscores in a flag: --tp_size", "--tp-size"},
		{"python -m sglang.launch_server --model-path m --such_flag 8", "s:1: SGLang takes no underscores in a flag, and knows none called --such_flag", ""},
		{"vllm serve m \\\n  \u2013\u2013max-num-seqs 8", "s:2: \u2013\u2013max-num-seqs begins with an en dash, which no engine takes for a flag", "--max-num-seqs"},
		{"vllm serve m --trust-remote-code True", "s:1: the word True belongs to no flag: vLLM would refuse it", "--trust-remote-code alone"},
		{"vllm serve m 'unclosed", "s:1: not what a shell reads: reached EOF without closing quote `'`", ""},
		{"vllm serve $MODEL", "s:1: $MODEL is not set here: a shell would put nothing in its place", "--set MODEL=VALUE"},
		{"vllm serve $MODEL --port ${PORT}", "s:1: $MODEL, $PORT are not set here: a shell would put nothing in their place", "--set MODEL=VALUE --set PORT=VALUE"},
		{"M=$1 P=$2\nvllm serve $M --port $P", "s:2: $1, $2 are not set here: a shell would put nothing in their place", "--set 1=VALUE --set 2=VALUE"},
		{"M=$(ls /models)\nvllm serve $M", "s:2: $M is set on line 1 to what is not known here: $(ls /models) is what another command prints: nothing is run here to find out", "--set M=VALUE"},
		{"vllm serve m `date`", "s:1: $(date) is what another command prints: nothing is run here to find out", "what it prints"},
		{"vllm serve m --tp 8", "s:1: vLLM knows no flag --tp", "--tensor-parallel-size"},
		{"TP=$(x)\nCMD=\"vllm serve m -tp $TP\"\n$CMD --seed 1", "s:3: $CMD is set on line 2 to what is not known here: $TP is set on line 1 to what is not known here: $(x) is what another command prints: nothing is run here to find out", "--set CMD=VALUE"},
		{"kind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai\n    args: [--model, m, --nnodes, $(SIZE), --port, $(PORT)]", "s:5: $SIZE, $PORT are not set here: a shell would put nothing in their place", "--set SIZE=VALUE --set PORT=VALUE"},
		{"vllm serve m -xyz", "s:1: vLLM knows no flag -xyz", ""},
		{"vllm serve a\nvllm serve b", "s:2: 2 commands serve: 1 on line 1 (vllm serve a), 2 on line 2 (vllm serve b)", "--which N"},
		{"services:\n  a: {image: nginx}", "s: no command that serves is found", ""},
		{"services:\n  a: [", "s:2: not valid YAML: sequence end token ']' not found", ""},
		{"vllm serve", "s:1: the command names no model", "--model"},
		{"kind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai\n    args: [--model, '{{ .Values.model }}']", "s:5: {{ .Values.model }} is filled in by a template", "helm template"},
		{"kind: Pod\nspec:\n  {{- if .Values.x }}\n  containers: []\n", "s:3: not valid YAML: could not find flow map content", "helm template"},
		{"import subprocess\nsubprocess.run(['vllm', 'serve', 'm'])", "s: this is a Python program: which command it starts shows only when it runs", "ps -o args"},
		{"docker run -it vllm/vllm-openai:latest /bin/bash", "s:1: no command that serves is found: this line mentions vllm, and starts no server that autotune knows", "vllm serve"},
		{"vllm serve \u201cm\u201d", "s:1: \u201cm\u201d holds typographic quotes, which a shell takes for letters", `"m"`},
		{`vllm serve m -cc {"mode":3, "x":1}`, "s:1: vLLM refuses it: argument --compilation-config/-cc: Value {mode:3, cannot be converted to <function loads>.", "single quotes"},
		{"services:\n  a:\n    image: vllm/vllm-openai\n    command: --config /c/m.yaml\n", "s:4: the command names no model, and the file of its --config, /c/m.yaml, cannot be read here", "beside this one"},
		{"cmd=\"vllm serve m --seed $(date +%s)\"\neval $cmd", "s:2: $cmd is set on line 1 to what is not known here: $(date +%s) is what another command prints: nothing is run here to find out", "--set cmd"},
	} {
		_, err := deploy.Read(c.text, deploy.Options{Source: "s", Open: files{}.open})
		var e *deploy.Error
		if !errors.As(err, &e) || e.Error() != c.want || !strings.Contains(e.Try, c.try) {
			t.Errorf("%q:\n got %v (%v)\nwant %s", c.text, err, e, c.want)
		}
	}
}

func TestImportReadsEveryForm(t *testing.T) {
	for _, c := range []struct {
		text, launch, model, flags string
		o                          deploy.Options
	}{
		{text: "vllm serve m", launch: "vllm serve", model: "m"},
		{text: "$ vllm serve m -O2", launch: "vllm serve", model: "m", flags: "-O2"},
		{text: "/opt/venv/bin/python3.12 -u -m vllm.entrypoints.openai.api_server --model=m", launch: "/opt/venv/bin/python3.12 -u -m vllm.entrypoints.openai.api_server", model: "m"},
		{text: "sglang serve --model-path m --tp 2", launch: "sglang serve", model: "m", flags: "--tp-size=2"},
		{text: "python -m sglang.launch_server --model m --max-total-tokens 1Ki --context-length 16k", launch: "python -m sglang.launch_server", model: "m", flags: "--max-total-tokens=1024 --context-length=16000"},
		{text: "uv run --with vllm vllm serve --model m", launch: "uv run --with vllm vllm serve", model: "m"},
		{text: "sudo -E env -u X A=1 nice -n 5 vllm serve m", launch: "nice -n 5 vllm serve", model: "m"},
		{text: "timeout -s KILL 5h vllm serve m && echo done", launch: "vllm serve", model: "m"},
		{text: "bash -lc 'cd /x && exec vllm serve m --seed 1'", launch: "vllm serve", model: "m", flags: "--seed=1"},
		{text: "time vllm serve m | tee log", launch: "vllm serve", model: "m"},
		{text: "vllm serve m --max_model_len=1_000", launch: "vllm serve", model: "m", flags: "--max-model-len=1000"},
		{text: "vllm serve m --no-enable-prefix-caching --enable-prefix-caching", launch: "vllm serve", model: "m", flags: "--enable-prefix-caching"},
		{text: `vllm serve m --compilation-config '{"mode":3}' -cc.mode 2`, launch: "vllm serve", model: "m", flags: "--compilation-config.mode=2"},
		{text: "vllm serve a; vllm serve b", launch: "vllm serve", model: "b", o: deploy.Options{Which: 2}},
		{text: "vllm serve ~/m --seed ${S:-8}", launch: "vllm serve", model: "/root/m", flags: "--seed=8", o: deploy.Options{Home: "/root"}},
		{text: "vllm serve ${M:?needed} --seed $((2*S))", launch: "vllm serve", model: "x", flags: "--seed=6", o: deploy.Options{Set: map[string]string{"M": "x", "S": "3"}}},
		{text: "vllm serve m --new-flag=1 --newer 2 --newest --seed 3", launch: "vllm serve", model: "m", flags: "--seed=3 --new-flag=1 --newer=2 --newest"},
		{text: "TP=$(x)\nCMD=\"vllm serve m -tp $TP\"\n$CMD --seed 1", launch: "vllm serve", model: "m", flags: "--tensor-parallel-size=2 --seed=1", o: deploy.Options{Set: map[string]string{"TP": "2"}}},
		{text: "kind: Pod\nspec:\n  containers:\n  - image: x\n    command: [sh, -c, 'vllm serve $(M) --seed $(S)']\n    env: [{name: M, value: m}]", launch: "vllm serve", model: "m", flags: "--seed=5", o: deploy.Options{Set: map[string]string{"S": "5"}}},
		{text: "vllm serve m \\\r\n  --seed 3\r\n", launch: "vllm serve", model: "m", flags: "--seed=3"},
		{text: "if true; then\n  vllm serve m\nfi", launch: "vllm serve", model: "m"},
		{text: "podman run --rm -it -v /a:/b registry/sglang:1 sglang serve --model-path m", launch: "sglang serve", model: "m"},
		{text: "FROM x\nCMD vllm serve m --seed 1 \\\n # why\n --port 3", launch: "vllm serve", model: "m", flags: "--seed=1 --port=3"},
		{text: "FROM vllm/vllm-openai\nCMD [\"m\", \"--seed=1\"]", launch: "vllm serve", model: "m", flags: "--seed=1"},
		{text: "services:\n  a:\n    image: vllm/vllm-openai\n    command: 'm --hf-overrides ''{\"a\": 4.0}'''\n", launch: "vllm serve", model: "m", flags: `--hf-overrides={"a": 4.0}`},
		{text: "vllm serve m --device cuda --dtype half", launch: "vllm serve", model: "m", flags: "--dtype=half --device=cuda"},
		{text: "Run it:\n\n```bash\n$ vllm serve m --seed 1\n```\n\nand ask:\n```python\nx = 'vllm'\n```\n", launch: "vllm serve", model: "m", flags: "--seed=1"},
		{text: "resources:\n  accelerators: H100:8\nenvs:\n  MODEL: a/b\nsetup: pip install vllm\nrun: |\n  echo start\n  vllm serve $MODEL --seed 2\n", launch: "vllm serve", model: "a/b", flags: "--seed=2"},
		{text: "{\"kind\": \"Pod\", \"spec\": {\"containers\": [{\"image\": \"vllm/vllm-openai\", \"args\": [\"--model\", \"m\"]}]}}", launch: "vllm serve", model: "m"},
		{text: "serve() {\n  vllm serve m --seed 4\n}\nserve", launch: "vllm serve", model: "m", flags: "--seed=4"},
		{text: "sudo docker run --rm vllm/vllm-openai bash -c 'vllm serve m'", launch: "vllm serve", model: "m"},
		{text: "docker run -e A=1 img sh -c \"vllm serve m --seed \\$A\"", launch: "vllm serve", model: "m", flags: "--seed=1"},
		{text: "[Unit]\nDescription=vllm\n[Service]\nEnvironment=\"A=1 2\" M=m\nExecStart=/opt/bin/vllm serve ${M} \\\n  # why\n  --seed 7 \\\n  --hf-overrides '{\"a\": 4.0}'\nRestart=always\n", launch: "/opt/bin/vllm serve", model: "m", flags: `--seed=7 --hf-overrides={"a": 4.0}`},
		{text: "[Service]\nExecStart=/bin/bash -c 'exec vllm serve m --seed 3'\n", launch: "vllm serve", model: "m", flags: "--seed=3"},
		{text: "vllm serve m --config c.yaml --seed 9", launch: "vllm serve", model: "m", flags: `--seed=9 --max-num-seqs=8 --enforce-eager --hf-overrides={"a": {"f": 4.0, "s": "4.0"}} --cudagraph-capture-sizes 1 2`,
			o: deploy.Options{Open: files{"c.yaml": "seed: 1\nmax-num-seqs: 8\nenforce-eager: true\nenable-eplb: false\nhf-overrides: {a: {f: 4.0, s: '4.0'}}\ncudagraph-capture-sizes: [1, 2]\n"}.open}},
		{text: "services:\n  a:\n    image: vllm/vllm-openai\n    volumes: ['./conf:/c:ro']\n    command: --config /c/m.yaml\n", launch: "vllm serve", model: "from/file", o: deploy.Options{Open: files{"./conf/m.yaml": "model: from/file"}.open}},
		{text: "for m in a b; do\n  vllm serve $m --seed ${S:-7}\ndone", launch: "vllm serve", model: "x", flags: "--seed=7", o: deploy.Options{Set: map[string]string{"m": "x"}}},
		{text: "serve() { vllm serve $1 --seed ${2:-4} \"${@:3}\"; }\nserve m 5", launch: "vllm serve", model: "m", flags: "--seed=5"},
		{text: "case $K in a) S=1 ;; *) S=2 ;; esac\nvllm serve m --seed $S", launch: "vllm serve", model: "m", flags: "--seed=1", o: deploy.Options{Set: map[string]string{"K": "a"}}},
		{text: "S=1\n[ -n \"$X\" ] && S=2\n[[ -z $X ]] || S=3\nif [ \"$X\" = big ]; then S=4; else S=5; fi\nvllm serve m --seed $S", launch: "vllm serve", model: "m", flags: "--seed=5"},
		{text: "D=$(cd \"$(dirname \"$0\")/..\" && pwd)\n$D/bin/vllm serve $(basename /a/m)", launch: "/srv/bin/vllm serve", model: "m", o: deploy.Options{Path: "/srv/scripts/go.sh"}},
		{text: "MODEL ?= m\nTP = 2\nserve:\n\t@vllm serve $(MODEL) -tp ${TP} \\\n\t  --seed $$((1+1))\n", launch: "vllm serve", model: "m", flags: "--tensor-parallel-size=2 --seed=2"},
		{text: "su - svc -c 'vllm serve m --seed 1'", launch: "vllm serve", model: "m", flags: "--seed=1"},
		{text: "sbatch --wrap=\"vllm serve m --seed 1\"", launch: "vllm serve", model: "m", flags: "--seed=1"},
		{text: "ssh -p 22 host 'cd /x; vllm serve m --seed 1'", launch: "vllm serve", model: "m", flags: "--seed=1"},
		{text: "docker exec -it c bash -euo pipefail -c 'vllm serve m'", launch: "vllm serve", model: "m"},
		{text: "kubectl run v --image=vllm/vllm-openai -- vllm serve m --seed 1", launch: "vllm serve", model: "m", flags: "--seed=1"},
		{text: "vllm serve --config c.yaml", launch: "vllm serve", model: "from/file", o: deploy.Options{Open: files{"c.yaml": "model: from/file"}.open}},
	} {
		c.o.Source = "s"
		im, err := deploy.Read(c.text, c.o)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var set []engine.Setting
		for _, f := range im.Flags {
			set = append(set, f.Setting)
		}
		if got := strings.Join(im.Launch, " "); got != c.launch || im.Model != c.model || strings.Join(im.Engine.Render(set), " ") != c.flags {
			t.Errorf("%q: %s, %s, %s", c.text, got, im.Model, im.Engine.Render(set))
		}
	}
}

// files are what a command may name with --config.
type files map[string]string

func (f files) open(path string) ([]byte, error) {
	text, ok := f[path]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(text), nil
}

// TestImportSaysWhatItDoes: what is done to a command beyond reading it is said, with its line.
func TestImportSaysWhatItDoes(t *testing.T) {
	for _, c := range []struct {
		text, want string
		line       int
	}{
		{"vllm serve m \\\n --max-num-batched-tokens 16K", "--max-num-batched-tokens 16K is 16384", 2},
		{"vllm serve m \\\n -ep \\\n -ep", "--enable-expert-parallel is given twice, first on line 2: it is one setting", 3},
		{"vllm serve m -tp 2 \\\n -tp 4", "--tensor-parallel-size is given twice: the later value, 4, counts, not 2 of line 1", 2},
		{"vllm serve m --enforce-eager\\\n --no-enforce-eager", "--enforce-eager is switched off here, after line 1 said otherwise: the later one counts", 2},
		{"vllm serve m --max-num-se 4", "--max-num-se is short for --max-num-seqs", 1},
		{"vllm serve m --swap-space 4", "the catalog does not know --swap-space: it is passed through as written, the word behind it as its value", 1},
		{"vllm serve m \\\t\n --seed 1", "a blank follows the backslash: a shell ends the command there; it is read as if the line went on", 1},
		{"vllm serve m \\ # why\n --seed 1", "a blank follows the backslash: a shell ends the command there; it is read as if the line went on", 1},
		{"vllm serve m\n --seed 1", "line 1 does not end in a backslash: a shell would run --seed as a command of its own; it is read as if the line before went on", 2},
		{"vllm serve m \\\n # --seed 2 \\\n --seed 1", "the comment on line 2 ends the command: a shell would run --seed as a command of its own; it is read as if the line before went on", 3},
		{"TP=2\n[ -n \"$X\" ] && TP=4\nif x; then TP=8; fi\nvllm serve m -tp $TP", "$TP may be changed by the condition or loop on line 3: that is left out", 4},
		{"vllm serve m --config nowhere.yaml", "the file of --config cannot be read (file does not exist): what it sets is not known here", 1},
		{`vllm serve m --compilation-config '{"a":1}' --compilation-config.b 2`, "the keys --compilation-config.* become one value, which replaces --compilation-config as a whole: that one is left out", 1},
		{"docker run -e \"HF_TOKEN=$T\" vllm/vllm-openai m", "HF_TOKEN comes from the shell that starts the container: export it in the shell that starts autotune, if the server needs it", 1},
		{"vllm serve m \\\r\n --seed 1", "the lines end as on Windows, which a shell takes for a part of the last word: they are read without that", 1},
		{"sudo vllm serve m", "sudo is left out: start autotune as the user that serves", 1},
		{"docker run --env-file .env vllm/vllm-openai m", "what the file .env sets is not read: add it to the spec's env, but for secrets", 1},
		{"docker run -v /data:/m vllm/vllm-openai --model /m/x --chat-template /m/t", "--chat-template names a path in the container: the server that autotune starts must find it too", 1},
		{"export A=$(date)\nvllm serve m", "A comes from $(date): export it in the shell that starts autotune, if the server needs it", 1},
	} {
		im, err := deploy.Read(c.text, deploy.Options{Source: "s", Open: files{}.open})
		if err != nil || !slices.Contains(im.Notes, deploy.Note{Line: c.line, Text: c.want}) {
			t.Errorf("%q: %v, %+v", c.text, err, im.Notes)
		}
	}
}

// FuzzRead: whatever is given, there is a command whose export reads back the same, or an error that says where.
func FuzzRead(f *testing.F) {
	entries, err := os.ReadDir(filepath.Join("testdata", "import"))
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join("testdata", "import", e.Name()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		im, err := deploy.Read(text, deploy.Options{Source: "s"})
		var wrong *deploy.Error
		if err != nil {
			if !errors.As(err, &wrong) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		again, err := deploy.Read(deploy.Shell(im.Export()), deploy.Options{Source: "s", Set: map[string]string{"HF_TOKEN": "x"}})
		if strings.ContainsAny(text, "\x00\r") || len(im.Secrets) > 0 || !utf8.ValidString(text) {
			return
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, deploy.Shell(im.Export()))
		}
		if diff := cmp.Diff(im.Export(), again.Export(), cmp.Comparer(func(a, b space.Value) bool { return a == b })); diff != "" {
			t.Errorf("%s\n%s", diff, deploy.Shell(im.Export()))
		}
	})
}

// TestImportNamesSecretsAndKeepsNone: whatever the form, a secret's value is nowhere in what comes out.
func TestImportNamesSecretsAndKeepsNone(t *testing.T) {
	const token = "hf_abcdefghijklmnopqrstuvwx"
	for _, text := range []string{
		"HF_TOKEN=" + token + " vllm serve m", "export HF_TOKEN='" + token + "' # mine\nvllm serve m", "env HF_TOKEN=" + token + " vllm serve m",
		"docker run -e HF_TOKEN=" + token + " vllm/vllm-openai --model m", "docker run --env=HF_TOKEN=" + token + " vllm/vllm-openai --model m",
		"vllm serve m --hf-token " + token, "vllm serve m --api-key=" + token, "vllm serve m --my-token " + token, "vllm serve m --download-dir " + token,
		"FROM vllm/vllm-openai\nENV HF_TOKEN=" + token + "\nCMD [\"m\"]",
		"services: {a: {image: vllm/vllm-openai, command: m, environment: {HF_TOKEN: " + token + "}}}",
		"kind: Pod\nspec: {containers: [{image: vllm/vllm-openai, args: [m], env: [{name: HF_TOKEN, value: " + token + "}]}]}",
	} {
		im, err := deploy.Read(text, deploy.Options{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		whole := fmt.Sprintf("%+v %s", im.Notes, deploy.Shell(im.Export()))
		if strings.Contains(whole, token) || len(im.Secrets)+len(im.SecretFlags) != 1 || len(im.Notes) == 0 || im.Model != "m" {
			t.Errorf("%q: %s", text, whole)
		}
	}
}
