package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autotune/runner/engine"
	"autotune/space"
)

// flags is a short way to write settings.
func flags(pairs ...any) []engine.Setting {
	var out []engine.Setting
	for i := 0; i < len(pairs); i += 2 {
		s := engine.Setting{Flag: pairs[i].(string)}
		switch v := pairs[i+1].(type) {
		case space.Value:
			s.Value = v
		case bool:
			s.Value = space.Bool(v)
		case int:
			s.Value = space.Int(int64(v))
		case float64:
			s.Value = space.Float(v)
		case string:
			s.Value = space.String(v)
		}
		out = append(out, s)
	}
	return out
}

func TestParseReadsEverySpelling(t *testing.T) {
	for _, c := range []struct {
		engine, args, model string
		want                []engine.Setting
	}{
		{"vllm", "serve|org/m|--max-num-seqs|16", "org/m", flags("max-num-seqs", 16)},
		{"vllm", "org/m|--max_num_seqs=16", "org/m", flags("max-num-seqs", 16)},
		{"vllm", "--max-num-se=16|org/m", "org/m", flags("max-num-seqs", 16)},
		{"vllm", "-tp|8|-ep|-pp=2|m", "m", flags("tensor-parallel-size", 8, "enable-expert-parallel", true, "pipeline-parallel-size", 2)},
		{"vllm", "m|-O3", "m", flags("optimization-level", 3)}, {"vllm", "m|-O|3", "m", flags("optimization-level", 3)}, {"vllm", "m|-O=3", "m", flags("optimization-level", 3)},
		{"vllm", "m|--optimization-level=3", "m", flags("optimization-level", 3)},
		{"vllm", "m|-qfp8|-n2", "m", flags("quantization", "fp8", "nnodes", 2)},
		{"vllm", "m|--no-enable-prefix-caching|--no_enforce_eager", "m", flags("enable-prefix-caching", false, "enforce-eager", false)},
		{"vllm", "m|--enforce-eager|--no-enforce-eager", "m", flags("enforce-eager", false)},
		{"vllm", "m|--max-num-seqs=1|--seed=3|--max-num-seqs=2", "m", flags("max-num-seqs", 2, "seed", 3)},
		{"vllm", "m|--max-num-batched-tokens|16K|--max-model-len|25.6k", "m", flags("max-num-batched-tokens", 16384, "max-model-len", 25600)},
		{"vllm", "m|--max-model-len|-1", "m", flags("max-model-len", -1)}, {"vllm", "m|--max-model-len=auto", "m", flags("max-model-len", -1)},
		{"vllm", "m|--served-model-name|a|b|--seed|1", "m", flags("served-model-name", "a b", "seed", 1)},
		{"vllm", "--served-model-name|a|b|--|m", "m", flags("served-model-name", "a b")},
		{"vllm", `m|-cc.cudagraph_mode|FULL|--compilation_config.pass_config.fuse_x|true`, "m", flags("compilation-config.cudagraph_mode", "FULL", "compilation-config.pass_config.fuse_x", true)},
		{"vllm", `m|-sc|{"a": 4.0}`, "m", flags("speculative-config", `{"a": 4.0}`)},
		{"vllm", "m|--gpu-memory-utilization|.9", "m", flags("gpu-memory-utilization", 0.9)},
		{"vllm", "m|--chat-template|two words", "m", flags("chat-template", "two words")},
		{"vllm", "m|--hf-token", "m", flags("hf-token", "")},
		{"vllm", "--model|m|--seed|5", "m", flags("seed", 5)},
		{"sglang", "--model|m|--tp|8|--tensor-parallel-size|4", "m", flags("tp-size", 4)},
		{"sglang", "serve|--model-path=m|--max-total-tokens|16Ki|--context-length|16K", "m", flags("max-total-tokens", 16384, "context-length", 16000)},
		{"sglang", "--model-path|m|--cuda-graph-bs|1|2|4|--chunked-prefill-size|-1", "m", flags("cuda-graph-bs", "1 2 4", "chunked-prefill-size", -1)},
		{"sglang", "--model-path|m|--no-lora-strict-loading", "m", flags("lora-strict-loading", false)},
	} {
		model, got, err := find(t, c.engine).Parse(strings.Split(c.args, "|"))
		if err != nil || model != c.model || !cmp.Equal(c.want, got, byValue) {
			t.Errorf("%s %s: model %q, %v, %v", c.engine, c.args, model, got, err)
		}
	}
}

// The first three are what a real vLLM 0.32.0 printed.
func TestParseRefusesInTheEnginesWords(t *testing.T) {
	const serve, whole = "usage: vllm serve [model_tag] [options]", `usage: vllm [-h] [-v]
            {chat,complete,serve,launch,bench,collect-env,download-kernels,preload,run-batch,snapshot}
            ...`
	const sgl = "usage: launch_server.py [-h] --model-path MODEL_PATH [options]"
	for _, c := range []struct{ engine, args, usage, want, flag string }{
		{"vllm", "serve|./tiny|--no-such-flag|3", whole, "vllm: error: unrecognized arguments: --no-such-flag 3", "no-such-flag"},
		{"vllm", "serve|./tiny|--max-num-seqs|abc", serve, "vllm serve: error: argument --max-num-seqs: invalid int value: 'abc'", "max-num-seqs"},
		{"vllm", "serve|./tiny|--kv-cache-dtype|fp3", serve, "vllm serve: error: argument --kv-cache-dtype: invalid choice: 'fp3' (choose from 'auto', 'bfloat16', 'float16', 'fp8', 'fp8_ds_mla', 'fp8_e4m3', 'fp8_e5m2', 'fp8_inc', 'fp8_per_token_head', 'int4_per_token_head', 'int8_per_token_head', 'nvfp4', 'nvfp4_4over6', 'nvfp4_ds_mla', 'turboquant_3bit_nc', 'turboquant_4bit_nc', 'turboquant_k3v4_nc', 'turboquant_k8v4', 'ultraquant_4bit')", "kv-cache-dtype"},
		{"vllm", "m|extra", whole, "vllm: error: unrecognized arguments: extra", "extra"},
		{"vllm", "m|--seed", serve, "vllm serve: error: argument --seed: expected one argument", "seed"},
		{"vllm", "m|--seed|--enforce-eager", serve, "vllm serve: error: argument --seed: expected one argument", "seed"},
		{"vllm", "m|--served-model-name", serve, "vllm serve: error: argument --served-model-name: expected at least one argument", "served-model-name"},
		{"vllm", "m|--enforce-eager=1", serve, "vllm serve: error: argument --enforce-eager: ignored explicit argument '1'", "enforce-eager"},
		{"vllm", "m|--max-num", serve, "vllm serve: error: ambiguous option: --max-num could match --max-num-active-seqs, --max-num-batched-tokens, --max-num-queued-reqs, --max-num-queued-tokens, --max-num-scheduled-tokens, --max-num-seqs", "max-num"},
		{"vllm", "m|--cudagraph-capture-sizes|1|x", serve, "vllm serve: error: argument --cudagraph-capture-sizes: invalid int value: 'x'", "cudagraph-capture-sizes"},
		{"vllm", "m|-tp|2.5", serve, "vllm serve: error: argument --tensor-parallel-size/-tp: invalid int value: '2.5'", "tensor-parallel-size"},
		{"vllm", `m|-sc|{bad`, serve, "vllm serve: error: argument --speculative-config/-sc: Value {bad cannot be converted to <function loads>.", "speculative-config"},
		{"vllm", "m|--unknown-with blank=1", whole, "vllm: error: unrecognized arguments: --unknown-with blank=1", "unknown-with blank"},
		{"sglang", "--model-path|m|--tp_size|8", sgl, "launch_server.py: error: unrecognized arguments: --tp_size 8", "tp_size"},
		{"sglang", "--tp|8", sgl, "launch_server.py: error: the following arguments are required: --model-path/--model", "model-path"},
		{"sglang", "--model-path|m|--mem-fraction-static|high", sgl, "launch_server.py: error: argument --mem-fraction-static: invalid float value: 'high'", "mem-fraction-static"},
		{"sglang", "--model-path|m|--deepep-mode|fast", sgl, "launch_server.py: error: argument --deepep-mode: invalid choice: 'fast' (choose from 'auto', 'normal', 'low_latency')", "deepep-mode"},
	} {
		_, _, err := find(t, c.engine).Parse(strings.Split(c.args, "|"))
		var usage *engine.UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if usage.Error() != c.want || usage.Usage != c.usage || usage.Flag != c.flag {
			t.Errorf("%s: flag %q\n%s\n%s\nwant %s", c.args, usage.Flag, usage.Usage, usage, c.want)
		}
	}
}

func TestParseKnownKeepsWhatTheCatalogLacks(t *testing.T) {
	model, settings, rest, err := find(t, "vllm").ParseKnown([]string{"m", "--from-the-future=2", "--seed", "1", "--other", "x"})
	if err != nil || model != "m" || !cmp.Equal(flags("seed", 1), settings, byValue) || !cmp.Equal([]string{"--from-the-future=2", "--other", "x"}, rest) {
		t.Errorf("%q %v %q %v", model, settings, rest, err)
	}
}

// words runs a text that people paste in a shell where the engine is a function that prints its arguments.
func words(t *testing.T, text string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", `vllm() { printf '%s\0' "$@"; }; python() { printf '%s\0' "${@:3}"; }; `+"\n"+text)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "MODEL_LOCATION=/models/x"}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00")
}

// Commands that people published, and what they mean.
func TestPublishedCommands(t *testing.T) {
	const kv = "{\"kv_connector\": \"MooncakeConnectorV1\",\n      \"kv_role\": \"kv_consumer\",\n      \"kv_port\": \"9000\",\n      \"engine_id\": \"$MOONCAKE_ENGINE_ID\"}"
	const rope = `{"text_config": {"rope_parameters": {"mrope_interleaved": true, "mrope_section": [11, 11, 10], "rope_type": "yarn", "rope_theta": 10000000, "partial_rotary_factor": 0.25, "factor": 4.0, "original_max_position_embeddings": 262144}}}`
	for _, c := range []struct {
		file, engine, model string
		want                []engine.Setting
	}{
		{"o3-json-many-switches", "vllm", "Qwen/Qwen3.5-27B-FP8", flags("port", 32651, "host", "0.0.0.0", "gpu-memory-utilization", 0.93, "enable-auto-tool-choice", true, "tool-call-parser", "qwen3_coder", "reasoning-parser", "qwen3", "optimization-level", 3,
			"max-num-batched-tokens", 8192, "performance-mode", "throughput", "enable-prefix-caching", true, "trust-remote-code", true, "enable-chunked-prefill", true, "async-scheduling", true, "language-model-only", true,
			"chat-template", "unsloth.jinja", "speculative-config", `{"method":"qwen3_next_mtp","num_speculative_tokens":2}`, "load-format", "fastsafetensors")},
		{"multiline-json-literal-dollar-duplicate-switch", "vllm", "/models/x", flags("data-parallel-size", 4, "enable-expert-parallel", true, "gpu-memory-utilization", 0.88, "quantization", "ascend", "chat-template", "/models/x/chat_template.jinja",
			"speculative-config", `{"num_speculative_tokens": 2, "method":"deepseek_mtp"}`, "compilation-config", `{"cudagraph_mode": "FULL_DECODE_ONLY","cudagraph_capture_sizes":[144]}`,
			"additional-config", `{"enable_cpu_binding": "true", "multistream_overlap_shared_expert": false, "multistream_dsa_preprocess": false}`, "kv-transfer-config", kv)},
		{"short-flags-tp-ep", "vllm", "zai-org/GLM-5-FP8", flags("tensor-parallel-size", 8, "enable-expert-parallel", true, "speculative-config", `{"method": "mtp", "num_speculative_tokens": 3}`, "enable-prefix-caching", false)},
		{"export-with-comment-dotted-underscore-true", "vllm", "nvidia/Kimi-K2.5-NVFP4", flags("tensor-parallel-size", 4, "mm-encoder-tp-mode", "data", "compilation-config.pass_config.fuse_allreduce_rms", true, "tool-call-parser", "kimi_k2", "reasoning-parser", "kimi_k2",
			"enable-auto-tool-choice", true, "trust-remote-code", true)},
		{"hf-overrides-deep-json", "vllm", "Qwen/Qwen3.5-35B-A3B", flags("hf-overrides", rope, "max-model-len", 1010000)},
		{"sglang-comments-and-model-override", "sglang", "/models/Qwen3.5-397B-A17B", flags("served-model-name", "Qwen3.5-397B-A17B", "port", 8070, "trust-remote-code", true, "tp-size", 2, "chunked-prefill-size", 32768, "mem-fraction-static", 0.9, "attention-backend", "triton",
			"kv-cache-dtype", "bf16", "disable-piecewise-cuda-graph", true)},
		{"blank-after-backslash", "vllm", "gittensor-model-hub/Qwen3.8-27B-NVFP4-RTX5090", flags("host", "0.0.0.0", "port", 8000, "quantization", "modelopt", "dtype", "bfloat16", "kv-cache-dtype", "fp8", "gpu-memory-utilization", 0.94, "max-model-len", 131072, "max-num-seqs", 1,
			"speculative-config.method", "mtp", "speculative-config.num_speculative_tokens", 2, "enable-chunked-prefill", true, "max-num-batched-tokens", 2048)},
		{"16K-suffix-and-dotted-mtp", "vllm", "zai-org/GLM-4.7-FP8", flags("tensor-parallel-size", 8, "speculative-config.method", "mtp", "speculative-config.num_speculative_tokens", 1, "tool-call-parser", "glm47", "reasoning-parser", "glm45",
			"enable-auto-tool-choice", true, "async-scheduling", true, "enable-prefix-caching", true, "max-num-batched-tokens", 16384)},
	} {
		t.Run(c.file, func(t *testing.T) {
			d := find(t, c.engine)
			model, got, err := d.Parse(words(t, published(t, c.file)))
			if err != nil || model != c.model {
				t.Fatalf("model %q, %v", model, err)
			}
			if diff := cmp.Diff(c.want, got, byValue); diff != "" {
				t.Error(diff)
			}
			argv := d.Plain(engine.Launch{Executable: []string{}, Model: model, Settings: got})
			again, same, err := d.Parse(argv[len(d.Executable()):])
			if err != nil || again != model || !cmp.Equal(got, same, byValue) {
				t.Errorf("written again: %q: %v %v", argv, same, err)
			}
		})
	}
}

// published is a command as it was pasted, one of those that deploy imports; blanks behind a backslash, which end the command there, are taken away.
func published(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "deploy", "testdata", "import", name+".sh"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func FuzzParseNeverPanics(f *testing.F) {
	f.Add("vllm", "serve|m|--max-num-seqs=1|-O3|--x.y|-tp")
	f.Add("sglang", "--model-path|m|--tp|8|-1|--|")
	f.Fuzz(func(t *testing.T, name, line string) {
		if d, ok := engine.Find(name); ok {
			model, settings, err := d.Parse(strings.Split(line, "|"))
			if err == nil && model != "" {
				d.Plain(engine.Launch{Model: model, Settings: settings})
			}
		}
	})
}
