package engine

import (
	"strconv"
	"strings"

	"autotune/space"
	"autotune/tuner"
)

func newVLLM(flags []Flag) *Definition {
	d := &Definition{
		Name: "vllm", Title: "vLLM", Version: "main 6adad0876 (2026-08, about 0.27), with what 0.32.0 added",
		Program: "vllm serve", Usage: "usage: vllm serve [model_tag] [options]", Entry: "vllm",
		EntryUsage: `usage: vllm [-h] [-v]
            {chat,complete,serve,launch,bench,collect-env,download-kernels,preload,run-batch,snapshot}
            ...`,
		Subcommands: []string{"serve"}, ModelFlag: "model", PositionalModel: true, Underscores: true, DottedKeys: true, StrictJSON: true, SortsChoices: true,
		executable: []string{"vllm", "serve"},
		infoPaths:  []string{"/server_info?config_format=json", "/version"},
		flushPath:  "/reset_prefix_cache",
		// Older releases print all with --help, and refuse a word behind it.
		helpArguments: [][]string{{"--help=all"}, {"--help"}},
		configLine:    " with config: ",
		attributes: map[string]string{"kv-cache-dtype": "cache_config.cache_dtype", "attention-backend": "attention_config.backend", "scheduling-policy": "scheduler_config.policy",
			"moe-backend": "kernel_config.moe_backend", "linear-backend": "kernel_config.linear_backend", "quantization": "model_config.quantization", "dtype": "model_config.dtype"},
		infoFacts:  vllmInfoFacts,
		flags:      flags,
		readNumber: readVLLM,
		env:        vllmEnv,
		additions:  func(Launch) []string { return nil },
		rules:      vllmRules,
		warnings:   vllmWarnings,
		propose:    proposeVLLM,
		resolved:   vllmResolved,
		markers: []marker{
			{"vLLM API server version", tuner.PhaseFlags},
			{"non-default args:", tuner.PhaseFlags},
			{"Initializing a V1 LLM engine", tuner.PhaseInit},
			{"Initializing an LLM engine", tuner.PhaseInit},
			{"Starting to load model", tuner.PhaseLoad},
			{"Loading safetensors checkpoint shards", tuner.PhaseLoad},
			{"Loading pt checkpoint shards", tuner.PhaseLoad},
			{"Loading weights took", tuner.PhaseLoad},
			{"Model loading took", tuner.PhaseProfile},
			{"Loading model weights took", tuner.PhaseProfile},
			{"for vLLM's torch.compile", tuner.PhaseProfile},
			{"Warming up model for the compilation", tuner.PhaseProfile}, // on the CPU
			{"Dynamo bytecode transform time", tuner.PhaseProfile},
			{"torch.compile takes", tuner.PhaseProfile},
			{"Available KV cache memory", tuner.PhaseCapture},
			{"KV cache size:", tuner.PhaseCapture},
			{"Maximum concurrency for", tuner.PhaseCapture},
			{"Capturing CUDA graph", tuner.PhaseCapture},
			{"Graph capturing finished", tuner.PhaseCapture},
			{"init engine (profile", tuner.PhaseCapture},
			{"Application startup complete", tuner.PhaseServe},
			{"API server: HTTP server started", tuner.PhaseServe},
		},
		facts: []fact{
			figure("weights_gib", `Model loading took ([0-9.]+) GiB`),
			figure("kv_gib", `Available KV cache memory: ([0-9.]+) GiB`),
			figure("kv_tokens", `KV cache size: ([0-9,]+) tokens`),
			figure("max_concurrency", `Maximum concurrency for [0-9,]+ tokens per request: ([0-9.]+)x`),
			figure("graphs_gib", `Graph capturing finished in .*took (-?[0-9.]+) GiB`),
			figure("compile_seconds", `torch\.compile takes ([0-9.]+) s`),
			figure("init_seconds", `init engine \(.*\) took ([0-9.]+) s`),
			figure("attention_backend", `Using (?:AttentionBackendEnum\.([A-Z0-9_]+) backend|([A-Za-z0-9_]+) [Aa]ttention backend)`),
			figure("kv_blocks", `# GPU blocks: ([0-9,]+)`),
			figure("max_model_len", `Using max model len ([0-9]+)`),
			figure("version", `(?:vLLM API server version|LLM engine \(v)\s*([0-9][0-9A-Za-z.+]*)`),
		},
	}
	return d.index()
}

// vllmEnv opens what we read the effective configuration from and flush the prefix cache with, and puts the engine's own start limit
// (600 s, too short for hundreds of GB) out of the way of ours. VLLM_PORT is where it starts to look for ports of its own.
func vllmEnv(l Launch) []string {
	env := []string{"VLLM_SERVER_DEV_MODE=1", "VLLM_ENGINE_READY_TIMEOUT_S=86400"}
	if l.InternalPort > 0 {
		env = append(env, "VLLM_PORT="+strconv.Itoa(l.InternalPort))
	}
	return env
}

// vllmResolved holds what unset flags become, from vLLM's engine/arg_utils.py: by the GPU's memory, the A100 being counted with the small ones.
var vllmResolved = map[string]func(Host) (space.Value, bool){
	"max-num-seqs": func(h Host) (space.Value, bool) {
		return bySize(h, space.Int(256), step{70, space.Int(1024)})
	},
	"max-num-batched-tokens": func(h Host) (space.Value, bool) {
		return bySize(h, space.Int(2048), step{70, space.Int(8192)}, step{160, space.Int(16384)})
	},
	"enable-chunked-prefill": func(Host) (space.Value, bool) { return space.Bool(true), true },
	"enable-prefix-caching":  func(Host) (space.Value, bool) { return space.Bool(true), true },
}

type step struct {
	fromGiB float64
	value   space.Value
}

// bySize picks the value of the highest step that the GPU's memory reaches. An A100 stays at the lowest in vLLM whatever its memory.
func bySize(h Host, small space.Value, steps ...step) (space.Value, bool) {
	if h.MemoryGiB <= 0 {
		return space.Value{}, false
	}
	v := small
	for _, s := range steps {
		if h.MemoryGiB >= s.fromGiB && !strings.Contains(strings.ToUpper(h.GPU), "A100") {
			v = s.value
		}
	}
	return v, true
}
