package engine_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/runner/engine"
	"autotune/space"
)

func readHelp(t *testing.T, path string) engine.Help {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := engine.ParseHelp(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The help of vLLM 0.32.0 as it was printed: every flag, what it takes, its choices and its default, across wrapped lines.
func TestHelpOfVLLMIsRead(t *testing.T) {
	h := readHelp(t, "testdata/vllm/help.txt")
	if len(h.Flags) != 316 {
		t.Errorf("%d flags were read", len(h.Flags))
	}
	at := map[string]engine.HelpFlag{}
	for _, f := range h.Flags {
		for _, s := range f.Spellings {
			at[s] = f
		}
	}
	for spelling, want := range map[string]engine.HelpFlag{
		"-asc":                         {Spellings: []string{"--api-server-count", "-asc"}, Takes: engine.TakesOne, Defaults: true},
		"--no-enable-log-requests":     {Spellings: []string{"--enable-log-requests", "--no-enable-log-requests"}, Default: "False", Defaults: true},
		"--disable-log-stats":          {Spellings: []string{"--disable-log-stats"}, Default: "False", Defaults: true},
		"--api-key":                    {Spellings: []string{"--api-key"}, Takes: engine.TakesMany, Defaults: true},
		"--kda-decode-backend":         {Spellings: []string{"--kda-decode-backend"}, Takes: engine.TakesOne, Choices: []string{"auto", "native", "flashinfer", "triton"}, Defaults: true},
		"--gpu-memory-utilization":     {Spellings: []string{"--gpu-memory-utilization", "--device-memory-utilization"}, Takes: engine.TakesOne, Default: "0.92", Defaults: true},
		"--all2all-backend":            at["--all2all-backend"],
		"--scheduler-reserve-full-isl": at["--no-scheduler-reserve-full-isl"],
	} {
		if diff := cmp.Diff(want, at[spelling]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spelling, diff)
		}
	}
	if got := at["--all2all-backend"].Default; got != "allgather_reducescatter" {
		t.Errorf("the default of all2all-backend is read %q", got)
	}
}

// What the installed engine prints is taken over, and nothing that the catalog holds of the same release is lost on the way.
func TestTheCatalogAgreesWithTheRecordedHelp(t *testing.T) {
	d := find(t, "vllm")
	e := d.Installed(readHelp(t, "testdata/vllm/help.txt"))
	var gone, moved []string
	for _, f := range d.Flags() {
		got, ok := e.Flag(f.Name)
		switch {
		case !ok:
			gone = append(gone, f.Name)
		case got.Kind != f.Kind || got.Help != f.Help || got.Min != f.Min && f.Min == f.Min:
			t.Errorf("%+v has become %+v", f, got)
		case f.Default != got.Default && f.Kind != engine.JSON && f.Kind != engine.List:
			moved = append(moved, f.Name+" "+f.Default+">"+got.Default)
		}
	}
	if want := []string{"override-attention-dtype", "enable-extensible-kv-cache", "cache-aware-admission-window", "cache-aware-admission-threshold", "enable-bf16x3-router-gemm"}; !slices.Equal(gone, want) {
		t.Errorf("gone: %q", gone)
	}
	want := []string{"disable-cascade-attn true>", "safetensors-prefetch-num-threads >8", "safetensors-prefetch-block-size >16777216", "dcp-comm-backend ag_rs>",
		"cp-kv-cache-interleave-size 1>", "mm-hasher-algorithm >blake3", "linear-backend >auto", "disable-log-stats >false", "aggregate-engine-logging >false"}
	if !slices.Equal(moved, want) {
		t.Errorf("other defaults: %q", moved)
	}
	for _, f := range e.Flags() {
		if _, ok := d.Flag(f.Name); !ok {
			t.Errorf("new: %s", f.Name)
		}
	}
	if !e.IsInstalled() || d.IsInstalled() || len(e.Keys()) != len(d.Keys()) {
		t.Error("the installed engine is not told from the catalog, or its keys are lost")
	}
	if f, ok := e.Flag("device-memory-utilization"); !ok || f.Name != "gpu-memory-utilization" {
		t.Errorf("another spelling that is printed finds %q", f.Name)
	}
}

// sglangHelp is how SGLang's plain argparse prints: no defaults, aliases with the value behind each, sizes in either order, a narrow terminal.
const sglangHelp = `usage: launch_server.py [-h] --model-path MODEL_PATH
                        [--tensor-parallel-size TENSOR_PARALLEL_SIZE]
                        [--new-thing]

options:
  -h, --help            show this help message and exit
  --model-path MODEL_PATH, --model MODEL_PATH
                        The path of the model weights. This can be a local
                        folder or a Hugging Face repo ID.
  --tensor-parallel-size TENSOR_PARALLEL_SIZE, --tp-size TENSOR_PARALLEL_SIZE
                        The tensor parallelism size.
  --kv-cache-dtype {auto,fp8_e5m2,fp8_e4m3}
                        Data type for kv cache storage, as in --dtype. "auto"
                        will use the model data type.
  --cuda-graph-bs CUDA_GRAPH_BS [CUDA_GRAPH_BS ...]
                        Set the list of batch sizes for cuda graph.
  --enable-dp-attention
                        Enabling data parallelism for attention
  --new-thing           A switch of tomorrow.
  --new-size NEW_SIZE   A size of tomorrow (default: 4)
  --new-mode [{fast,safe}]
                        A word of tomorrow.
`

func TestHelpOfSGLangIsRead(t *testing.T) {
	text := sglangHelp
	for i := range 50 {
		text += "  --filler-" + strings.Repeat("x", i+1) + " N\n"
	}
	h, err := engine.ParseHelp(text)
	if err != nil {
		t.Fatal(err)
	}
	d := find(t, "sglang").Installed(h)
	for name, want := range map[string]engine.Kind{"tp-size": engine.Int, "kv-cache-dtype": engine.Text, "cuda-graph-bs": engine.List, "enable-dp-attention": engine.Switch,
		"new-thing": engine.Switch, "new-size": engine.Float, "new-mode": engine.Text} {
		if f, ok := d.Flag(name); !ok || f.Kind != want || f.Name != name {
			t.Errorf("%s is %v %q, want %v", name, f.Kind, f.Name, want)
		}
	}
	if f, _ := d.Flag("tensor-parallel-size"); f.Name != "tp-size" || f.Default != "1" {
		t.Errorf("the other spelling finds %q with default %q", f.Name, f.Default)
	}
	if f, _ := d.Flag("kv-cache-dtype"); !slices.Equal(f.Choices, []string{"auto", "fp8_e5m2", "fp8_e4m3"}) {
		t.Errorf("the choices of kv-cache-dtype are %q", f.Choices)
	}
	if f, _ := d.Flag("new-mode"); !f.Optional || !slices.Equal(f.Choices, []string{"fast", "safe"}) {
		t.Errorf("new-mode is %+v", f)
	}
	if _, ok := d.Flag("moe-a2a-backend"); ok {
		t.Error("a flag that is not printed is there")
	}
	if got := d.Near("new-thingy"); got != "new-thing" {
		t.Errorf("near: %q", got)
	}
	if v, ok := d.ResolvedDefault("new-size", engine.Host{}); !ok || v != space.Float(4) {
		t.Errorf("the default of new-size is %v", v)
	}
	if argv := d.Render([]engine.Setting{{Flag: "new-thing", Value: space.Bool(true)}, {Flag: "new-size", Value: space.Int(8)}}); !slices.Equal(argv, []string{"--new-thing", "--new-size=8"}) {
		t.Errorf("written %q", argv)
	}
}

func TestWhatIsNoHelp(t *testing.T) {
	for _, text := range []string{"", "usage: vllm serve [model_tag] [options]\n\nConfig Groups:\n  ModelConfig\n", sglangHelp, "\x00\xff", "  -\n  --\n  -=\n"} {
		if h, err := engine.ParseHelp(text); !errors.Is(err, engine.ErrNoHelp) || len(h.Flags) > 0 {
			t.Errorf("%.40q is read as %d flags, %v", text, len(h.Flags), err)
		}
	}
}

// The help of SGLang 0.5.23 as its own parser prints it, descriptions blanked: what a catalog of a release some weeks older knows otherwise.
func TestHelpOfARealSGLangIsRead(t *testing.T) {
	h := readHelp(t, "testdata/sglang/help.txt")
	d := find(t, "sglang")
	e := d.Installed(h)
	var gone, kinds []string
	for _, f := range d.Flags() {
		got, ok := e.Flag(f.Name)
		if !ok {
			gone = append(gone, f.Name)
		} else if got.Kind != f.Kind {
			kinds = append(kinds, f.Name+" "+f.Kind.String()+">"+got.Kind.String())
		}
	}
	fresh := 0
	for _, f := range e.Flags() {
		if _, ok := d.Flag(f.Name); !ok {
			fresh++
		}
	}
	wantGone := "forward-pass-metrics-worker-id forward-pass-metrics-ipc-name stat-loggers cuda-graph-tc-compiler speculative-skip-dp-mlp-sync elastic-ep-rejoin " +
		"keep-mm-feature-on-device cuda-graph-max-bs cuda-graph-bs disable-piecewise-cuda-graph enforce-piecewise-cuda-graph"
	wantKinds := "enable-tf32-matmul switch>negatable, enable-fused-qk-norm-rope switch>negatable, mm-enable-dp-encoder switch>negatable"
	if len(h.Flags) != 529 || strings.Join(gone, " ") != wantGone || strings.Join(kinds, ", ") != wantKinds || fresh != 58 {
		t.Errorf("%d flags, gone %q, other kinds %q, %d new", len(h.Flags), gone, kinds, fresh)
	}
	if f, ok := e.Flag("attn-dp-size"); !ok || f.IsSwitch() {
		t.Errorf("the flag that replaces enable-dp-attention is %+v", f)
	}
	if near := e.Near("cuda-graph-max-bs"); near != "cuda-graph-max-bs-decode" && near != "cuda-graph-max-bs-prefill" {
		t.Errorf("near cuda-graph-max-bs: %q", near)
	}
}
