package engine

import (
	"math"
	"strconv"

	"autotune/space"
	"autotune/tuner"
)

func newSGLang(flags []Flag) *Definition {
	d := &Definition{
		Name: "sglang", Title: "SGLang", Version: "main d315eb7250 (2026-08, after 0.5.17)",
		Program: "launch_server.py", Entry: "launch_server.py",
		Usage:       "usage: launch_server.py [-h] --model-path MODEL_PATH [options]",
		EntryUsage:  "usage: launch_server.py [-h] --model-path MODEL_PATH [options]",
		Subcommands: []string{"serve"}, ModelFlag: "model-path",
		executable:    []string{"python", "-m", "sglang.launch_server"},
		infoPaths:     []string{"/server_info", "/get_server_info"},
		flushPath:     "/flush_cache",
		helpArguments: [][]string{{"--help"}},
		configLine:    "server_args=ServerArgs(",
		undivide:      sglangUndivide,
		infoFacts:     sglangInfoFacts,
		flags:         flags,
		readNumber:    readSGLang,
		env:           func(Launch) []string { return nil },
		additions:     sglangAdditions,
		rules:         sglangRules,
		warnings:      sglangWarnings,
		propose:       proposeSGLang,
		resolved:      sglangResolved,
		markers: []marker{
			{"server_args=ServerArgs(", tuner.PhaseFlags},
			{"Init torch distributed begin", tuner.PhaseInit},
			{"Init torch distributed ends", tuner.PhaseInit},
			{"Load weight begin", tuner.PhaseLoad},
			{"Loading safetensors checkpoint shards", tuner.PhaseLoad},
			{"Multi-thread loading shards", tuner.PhaseLoad},
			{"Load weight end", tuner.PhaseProfile},
			{"KV Cache is allocated", tuner.PhaseProfile},
			{"Memory pool end", tuner.PhaseProfile},
			{"Capture cuda graph begin", tuner.PhaseCapture},
			{"Capturing batches", tuner.PhaseCapture},
			{"Capture cuda graph end", tuner.PhaseCapture},
			{"Entering DeepGEMM JIT Pre-Compile session", tuner.PhaseCapture},
			{"DeepGEMM warmup", tuner.PhaseCapture},
			{"max_total_num_tokens=", tuner.PhaseCapture},
			{"Uvicorn running", tuner.PhaseCapture}, // the warm-up request is still to come
			{"The server is fired up and ready to roll", tuner.PhaseServe},
		},
		facts: []fact{
			figure("weights_gib", `Load weight end\..*mem usage=([0-9.]+) GB`),
			figure("kv_k_gib", `KV Cache is allocated\..* K size: ([0-9.]+) GB`),
			figure("kv_v_gib", `KV Cache is allocated\..* V size: ([0-9.]+) GB`),
			figure("attention_backend", `(?:Use ([a-z0-9_]+) backend by default|[Aa]ttention backend: ?([a-z0-9_]+))`),
			figure("kv_tokens", `max_total_num_tokens=([0-9]+)`),
			figure("kv_tokens_allocated", `KV Cache is allocated\..*#tokens: ([0-9]+)`),
			figure("graphs_gib", `Capture cuda graph end\..*mem usage=(-?[0-9.]+) GB`),
			figure("chunked_prefill_size", `[ ,]chunked_prefill_size=(-?[0-9]+)`),
			figure("max_running_requests", `[ ,]max_running_requests=([0-9]+)`),
			figure("max_model_len", `[ ,]context_len=([0-9]+)`),
			figure("free_gib", `available_gpu_mem=([0-9.]+) GB`),
		},
	}
	return d.index()
}

// sglangAdditions turn the metrics on, which are off by default, and keep the port of its process group out of the way when asked.
func sglangAdditions(l Launch) []string {
	additions := []string{"--enable-metrics"}
	if l.InternalPort > 0 {
		additions = append(additions, "--nccl-port="+strconv.Itoa(l.InternalPort))
	}
	return additions
}

// sglangUndivide takes back what SGLang does to two limits under data-parallel attention: the chunk is divided by dp-size, which leaves a remainder
// out, and the conservativeness multiplied by 0.3 (server_args.py, _handle_data_parallelism).
func sglangUndivide(effective map[string]space.Value) {
	dp := effective["dp-size"]
	if ranks, ok := effective["attn-dp-size"]; ok && ranks.Kind() == space.KindInt && ranks.AsInt() > 1 {
		dp = ranks
	} else if effective["enable-dp-attention"] != space.Bool(true) {
		return
	}
	if dp.Kind() != space.KindInt || dp.AsInt() < 2 {
		return
	}
	if chunk, ok := effective["chunked-prefill-size"]; ok && chunk.IsNumber() && chunk.AsInt() > 0 {
		effective["chunked-prefill-size"] = space.Int(chunk.AsInt() * dp.AsInt())
	}
	if _, ok := effective["attn-dp-size"]; ok { // one layout, in the spelling of 0.5.22 and later: what it says of the older one is no answer to what was asked
		delete(effective, "dp-size")
		delete(effective, "enable-dp-attention")
	}
	if c, ok := effective["schedule-conservativeness"]; ok && c.IsNumber() {
		effective["schedule-conservativeness"] = space.Float(math.Round(c.AsFloat()/0.3*1e9) / 1e9)
	}
}

// sglangResolved holds what unset flags become, from SGLang's server_args.py. The static memory fraction is a formula of several flags and is left out.
var sglangResolved = map[string]func(Host) (space.Value, bool){
	"chunked-prefill-size": func(h Host) (space.Value, bool) {
		return bySize(Host{MemoryGiB: h.MemoryGiB}, space.Int(2048), step{20, space.Int(4096)}, step{60, space.Int(8192)}, step{160, space.Int(16384)})
	},
	"kv-cache-dtype": func(Host) (space.Value, bool) { return space.String("auto"), true },
}
