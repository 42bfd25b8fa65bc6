package engine_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/runner/engine"
	"autotune/space"
)

var byValue = cmp.Comparer(func(a, b space.Value) bool { return a == b })

func find(t *testing.T, name string) *engine.Definition {
	t.Helper()
	d, ok := engine.Find(name)
	if !ok {
		t.Fatalf("no engine %s", name)
	}
	return d
}

// samples are values of a flag: the ends and middle of its range, its choices, words that a shell or a parser might spoil.
func samples(f engine.Flag) []space.Value {
	var values []space.Value
	switch f.Kind {
	case engine.Switch:
		return []space.Value{space.Bool(true)}
	case engine.NegatableSwitch:
		return []space.Value{space.Bool(true), space.Bool(false)}
	case engine.Int, engine.HumanInt:
		for _, i := range []int64{0, 1, 2, 3, 7, 16, 64, 16384, math.MaxInt32, math.MaxInt64, -1} {
			if float64(i) >= f.Min && float64(i) <= f.Max && !(f.MinOpen && float64(i) == f.Min) && (len(f.Choices) == 0 || slices.Contains(f.Choices, space.Int(i).String())) {
				values = append(values, space.Int(i))
			}
		}
	case engine.Float:
		for _, x := range []float64{0.5, 0.85, 0.9000000001, 1e-7, 2.5, 1e20} {
			if x > f.Min && x < f.Max {
				values = append(values, space.Float(x))
			}
		}
	case engine.JSON:
		for _, s := range []string{`{"method": "mtp", "n": 4.0, "list": [10000000, true]}`, "{\n \"a\": \"it's $HOME\"}", "{}", "[1, 2]"} {
			values = append(values, space.String(s))
		}
	case engine.List:
		words := map[engine.Kind][]string{engine.Int: {"1", "1 2 4"}, engine.Float: {"0.5", "0.5 1e-3 2"}, engine.Text: {"a", "a b c", `["two words","x"]`}}[f.Items]
		if len(f.Choices) > 0 {
			words = []string{f.Choices[0], strings.Join(f.Choices, " ")}
		}
		for _, w := range words {
			values = append(values, space.String(w))
		}
	default:
		for _, c := range f.Choices {
			values = append(values, space.String(c))
		}
		if len(f.Choices) == 0 {
			values = append(values, space.String("word"), space.String("two words"), space.String("a=b"), space.String("-dash"), space.String("--x=y"), space.String("/path/x,y"))
		}
	}
	return values
}

func TestEveryFlagRendersAndParsesBack(t *testing.T) {
	for _, d := range engine.Catalog() {
		for _, f := range d.Flags() {
			values := samples(f)
			if len(values) == 0 {
				t.Errorf("%s %s: no value to try", d.Name, f.Name)
			}
			for _, v := range values {
				checkRoundTrip(t, d, engine.Setting{Flag: f.Name, Value: v})
			}
		}
	}
}

func checkRoundTrip(t *testing.T, d *engine.Definition, s engine.Setting) {
	t.Helper()
	argv, _ := d.Command(engine.Launch{Executable: []string{d.Name}, Model: "m", Settings: []engine.Setting{s, {Flag: "not-in-any-catalog"}}})
	for _, leading := range d.Subcommands[:1] {
		model, got, err := d.Parse(append([]string{leading}, argv[1:]...))
		if s.Flag == d.ModelFlag {
			continue // it is the model, given twice
		}
		kept := slices.DeleteFunc(got, func(x engine.Setting) bool { return x.Flag == "enable-metrics" && s.Flag != x.Flag })
		if err != nil || model != "m" || !cmp.Equal([]engine.Setting{s}, kept, byValue) {
			t.Errorf("%s: %s=%v is written %q and read as %v (model %q, error %v)", d.Name, s.Flag, s.Value, argv, got, model, err)
		}
	}
}

func TestDefaultsLeaveFlagsOutAndAreReadable(t *testing.T) {
	for _, d := range engine.Catalog() {
		for _, f := range d.Flags() {
			if args := d.Render([]engine.Setting{{Flag: f.Name, Value: space.Default()}, {Flag: f.Name}}); len(args) > 0 {
				t.Errorf("%s: default of %s is written %q", d.Name, f.Name, args)
			}
			if _, ok := d.ResolvedDefault(f.Name, engine.Host{GPU: "H200", MemoryGiB: 140}); f.Default != "" && !ok {
				t.Errorf("%s: the default %q of %s cannot be read", d.Name, f.Default, f.Name)
			}
		}
	}
}

func TestSpellingsAreUnique(t *testing.T) {
	for _, d := range engine.Catalog() {
		seen := map[string]string{}
		for _, f := range d.Flags() {
			spellings := append([]string{"--" + f.Name}, f.Aliases...)
			if f.Kind == engine.NegatableSwitch {
				spellings = append(spellings, "--no-"+f.Name)
			}
			for _, s := range spellings {
				if other, taken := seen[s]; taken {
					t.Errorf("%s: %s names %s and %s", d.Name, s, other, f.Name)
				}
				seen[s] = f.Name
				if got, ok := d.Flag(s); !strings.HasPrefix(s, "--no-") && (!ok || got.Name != f.Name) {
					t.Errorf("%s: %s finds %q", d.Name, s, got.Name)
				}
			}
		}
	}
}

// The catalog is held against what vllm serve --help=all printed: every option, whether it negates, takes a value, or a choice.
func TestVLLMHelpIsKnown(t *testing.T) {
	text, err := os.ReadFile("testdata/vllm/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	d, n := find(t, "vllm"), 0
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "  -") || strings.Contains(line, "--help") {
			continue
		}
		n++
		invocation, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		checkHelpLine(t, d, invocation)
	}
	if n < 280 {
		t.Errorf("only %d options were read", n)
	}
	if usage, _, _ := strings.Cut(string(text), "\n"); usage != d.Usage {
		t.Errorf("usage: %q, printed %q", d.Usage, usage)
	}
}

func checkHelpLine(t *testing.T, d *engine.Definition, line string) {
	t.Helper()
	first, rest, _ := strings.Cut(line, " ")
	f, ok := d.Flag(strings.TrimSuffix(first, ","))
	if !ok {
		t.Errorf("unknown: %s", line)
		return
	}
	negates, takes := strings.Contains(line, " --no-"), rest != "" && !strings.HasSuffix(first, ",")
	switch {
	case negates != (f.Kind == engine.NegatableSwitch):
		t.Errorf("%s is %v: %s", f.Name, f.Kind, line)
	case takes == f.IsSwitch():
		t.Errorf("%s is %v: %s", f.Name, f.Kind, line)
	case strings.Contains(rest, "...]") != (f.Kind == engine.List):
		t.Errorf("%s is %v: %s", f.Name, f.Kind, line)
	}
	if _, list, found := strings.Cut(rest, "{"); found && f.Kind == engine.Text && !f.Open {
		list, _, _ = strings.Cut(list, "}")
		want, got := strings.Split(list, ","), slices.Clone(f.Choices)
		slices.Sort(want)
		slices.Sort(got)
		for _, c := range want {
			if !slices.Contains(got, c) {
				t.Errorf("%s lacks the choice %s", f.Name, c)
			}
		}
	}
}

func TestNearAndLookups(t *testing.T) {
	v, s := find(t, "vllm"), find(t, "sglang")
	for _, c := range []struct {
		d          *engine.Definition
		name, want string
	}{
		{v, "-tp", "tensor-parallel-size"}, {v, "max_num_seqs", "max-num-seqs"}, {v, "-cc.cudagraph_mode", "compilation-config.cudagraph_mode"},
		{v, "speculative_config.method", "speculative-config.method"}, {v, "max-num-seqs.x", ""}, {v, "nothing-like-it", ""},
		{s, "tensor-parallel-size", "tp-size"}, {s, "--model", "model-path"}, {s, "tp_size", ""}, {s, "json-model-override-args.x", ""},
	} {
		if f, _ := c.d.Flag(c.name); f.Name != c.want {
			t.Errorf("%s finds %q, not %q", c.name, f.Name, c.want)
		}
	}
	if got := v.Near("max-num-seq"); got != "max-num-seqs" {
		t.Errorf("near: %q", got)
	}
	if got := v.Near("qqqqqqqq"); got != "" {
		t.Errorf("near nothing: %q", got)
	}
	if _, ok := engine.Find("other"); ok || len(engine.Catalog()) != 2 || strings.Join(engine.Names(), " ") != "vllm sglang" {
		t.Error("the catalog is vllm and sglang")
	}
}
