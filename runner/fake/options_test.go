package fake

import (
	"bytes"
	"context"
	"flag"
	"strings"
	"testing"

	"autotune/runner/engine"
)

// noEnvironment has no variable.
func noEnvironment(string) string { return "" }

// inProcess runs Main on words that end before anything is started.
func inProcess(words string, getenv func(string) string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(context.Background(), strings.Fields(words), &out, &err, "/nonexistent", getenv)
	return code, out.String(), err.String()
}

func TestHelpTellsEveryFlagAndFault(t *testing.T) {
	code, out, _ := inProcess("--help", noEnvironment)
	if code != 0 || out != Help {
		t.Errorf("exit status %d, %q", code, out)
	}
	for _, f := range Faults() {
		if !strings.Contains(Help, "\n  "+f.Name) {
			t.Errorf("fault %s is not in the help", f.Name)
		}
		if f.Default != "" && f.Name != "reject-flag" && !strings.Contains(Help, "("+f.Default) {
			t.Errorf("the help does not tell that %s is %s when nothing is said", f.Name, f.Default)
		}
	}
	new(options).flagSet().VisitAll(func(f *flag.Flag) {
		if internal := strings.HasPrefix(f.Usage, "internal"); internal == strings.Contains(Help, "\n  --"+f.Name+" ") {
			t.Errorf("flag %s: in the help: %v", f.Name, !internal)
		}
	})
}

func TestWrongWordsOfItsOwn(t *testing.T) {
	for words, want := range map[string]string{
		"":                              "the engine's name is missing: vllm or sglang",
		"tgi":                           `unknown engine "tgi": allowed are vllm and sglang`,
		"--clock sun vllm":              "allowed are wall and law",
		"--seed -1 vllm":                "whole number",
		"--noise 2 vllm":                "0 to 1 is allowed",
		"--noise NaN vllm":              "0 to 1 is allowed",
		"--gpus 0 vllm":                 "1 to 1024 is allowed",
		"--memory 0 vllm":               "more than 0 GiB",
		"--idle-limit -1s vllm":         "more than 0 is needed",
		"--fault meteor vllm":           "unknown fault \"meteor\": allowed are address-in-use",
		"--fault refuse=1.5 vllm":       "fault refuse takes a share",
		"--fault refuse vllm":           "fault refuse takes a share",
		"--fault oom-load=-1 vllm":      "a count of requests",
		"--fault oom-start=lunch vllm":  "load, profile or capture",
		"--fault slow-start=fast vllm":  "a duration",
		"--fault hang-start=3 vllm":     "no argument",
		"--fault orphan=planet vllm":    "group or session",
		"--fault exit-code=900 vllm":    "an exit status",
		"--fault-when a>>b vllm":        "--fault-when",
		"--fault-when no-such==1 vllm":  "--fault-when",
		"--no-such-flag vllm":           "no-such-flag",
		"sglang --port 1":               "launch_server.py: error: the following arguments are required: --model-path/--model",
		"vllm serve m --no-such-flag 3": "usage: vllm serve",
		"vllm serve m --nonsense":       "vllm: error: unrecognized arguments: --nonsense",
		"vllm serve m --max-num-seqs x": "invalid int value: 'x'",
		"--fault reject-flag vllm m":    "vllm: error: unrecognized arguments: --no-such-flag",
		"--fault reject-flag=enable-dbo vllm m --enable_dbo":                        "vllm: error: unrecognized arguments: --enable-dbo",
		"--fault reject-flag --fault-when max-num-seqs>64 vllm m --max-num-seqs=65": "unrecognized arguments",
	} {
		if code, _, err := inProcess(words, noEnvironment); code != 2 || !strings.Contains(err, want) {
			t.Errorf("%q: exit status %d, %q; want 2 and %q", words, code, err, want)
		}
	}
	seed := func(name string) string { return map[string]string{SeedVariable: "later"}[name] }
	if code, _, err := inProcess("vllm", seed); code != 2 || !strings.Contains(err, SeedVariable) {
		t.Errorf("a seed that is none in the environment: exit status %d, %q", code, err)
	}
}

func TestSeedAndGPUsOfTheEnvironment(t *testing.T) {
	env := func(name string) string {
		return map[string]string{SeedVariable: "77", "CUDA_VISIBLE_DEVICES": "2,3,5"}[name]
	}
	for words, want := range map[string][2]uint64{
		"vllm": {77, 3}, "--seed 5 vllm": {5, 3}, "--gpus 4 vllm": {77, 4}, "--seed 0x10 --gpus 1 sglang": {16, 1},
	} {
		o, err := parseOptions(strings.Fields(words), env)
		if err != nil || o.seed != want[0] || uint64(o.machine.GPUs) != want[1] {
			t.Errorf("%q: seed %d, %d GPUs, %v; want %v", words, o.seed, o.machine.GPUs, err, want)
		}
	}
	o, err := parseOptions([]string{"vllm"}, noEnvironment)
	if err != nil || o.seed != 0 || o.machine.GPUs != 8 {
		t.Errorf("without a word: %+v, %v", o, err)
	}
}

func TestEngineTellsVersionAndFlags(t *testing.T) {
	for words, want := range map[string]string{
		"vllm --version": "0.32.0\n", "--engine-version 9.9 vllm --version": "9.9\n",
		"vllm serve --help": "--max-num-seqs MAX_NUM_SEQS", "sglang --help": "--mem-fraction-static",
		"vllm serve --help=all": "--enable-prefix-caching",
	} {
		if code, out, _ := inProcess(words, noEnvironment); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%q: exit status %d, %.300q; want %q", words, code, out, want)
		}
	}
}

func TestShareIsExact(t *testing.T) {
	for share, want := range map[string]int{"0.01": 10, "0.1": 100, "0.25": 250, "0.5": 500, "0.99": 990, "1": 1000} {
		f := faults{"refuse": share}
		n := 0
		for i := range 1000 {
			if f.fate(i) == "refuse" {
				n++
			}
		}
		if n != want {
			t.Errorf("a share of %s befell %d of 1000 requests", share, n)
		}
		if f.fate(0) != "" && share != "1" {
			t.Errorf("a share of %s befell the first request", share)
		}
	}
}

// The help is one that a reader of real engines' help understands: nothing of the catalog is lost in it, but the flag that is to be refused.
func TestHelpIsThatOfTheCatalog(t *testing.T) {
	for _, d := range engine.Catalog() {
		code, out, _ := inProcess("--fault reject-flag=stream-interval "+d.Name+" serve --help=all", noEnvironment)
		h, err := engine.ParseHelp(out)
		if code != 0 || err != nil {
			t.Fatalf("%s: exit status %d, %v", d.Name, code, err)
		}
		installed := d.Installed(h)
		for _, f := range d.Flags() {
			got, ok := installed.Flag(f.Name)
			if ok == (f.Name == "stream-interval") || ok && (got.Kind != f.Kind || got.Default != f.Default && f.Kind != engine.JSON && f.Kind != engine.List) {
				t.Errorf("%s %s has become %+v", d.Name, f.Name, got)
			}
		}
		if n := len(installed.Flags()); n != len(d.Flags())-1 {
			t.Errorf("%s: %d flags of %d", d.Name, n, len(d.Flags()))
		}
	}
}
