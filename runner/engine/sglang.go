package engine

import (
	"strconv"

	"autotune/space"
	"autotune/tuner"
)

func newSGLang(table string) *Definition {
	d := &Definition{
		Name: "sglang", Title: "SGLang", Version: "main d315eb7250 (2026-08, after 0.5.17)",
		Program: "launch_server.py", Entry: "launch_server.py",
		Usage:       "usage: launch_server.py [-h] --model-path MODEL_PATH [options]",
		EntryUsage:  "usage: launch_server.py [-h] --model-path MODEL_PATH [options]",
		Subcommands: []string{"serve"}, ModelFlag: "model-path",
		executable: []string{"python", "-m", "sglang.launch_server"},
		infoPaths:  []string{"/server_info", "/get_server_info"},
		flushPath:  "/flush_cache",
		flags:      readFlags(table),
		readNumber: readSGLang,
		env:        func(Launch) []string { return nil },
		additions:  sglangAdditions,
		rules:      sglangRules,
		warnings:   sglangWarnings,
		propose:    proposeSGLang,
		resolved:   sglangResolved,
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
			figure("kv_tokens", `max_total_num_tokens=([0-9]+)`),
			figure("kv_tokens_allocated", `KV Cache is allocated\..*#tokens: ([0-9]+)`),
			figure("graphs_gib", `Capture cuda graph end\..*mem usage=(-?[0-9.]+) GB`),
			figure("chunked_prefill_size", `[ ,]chunked_prefill_size=(-?[0-9]+)`),
			figure("max_running_requests", `[ ,]max_running_requests=([0-9]+)`),
			figure("max_model_len", `[ ,]context_len=([0-9]+)`),
			figure("free_gib", `available_gpu_mem=([0-9.]+) GB`),
		},
	}
	return d.index(sglangEnrich())
}

// sglangAdditions turn the metrics on, which are off by default, and keep the port of its process group out of the way when asked.
func sglangAdditions(l Launch) []string {
	additions := []string{"--enable-metrics"}
	if l.InternalPort > 0 {
		additions = append(additions, "--nccl-port="+strconv.Itoa(l.InternalPort))
	}
	return additions
}

// sglangResolved holds what unset flags become, from SGLang's server_args.py. The static memory fraction is a formula of several flags and is left out.
var sglangResolved = map[string]func(Host) (space.Value, bool){
	"chunked-prefill-size": func(h Host) (space.Value, bool) {
		return bySize(Host{MemoryGiB: h.MemoryGiB}, space.Int(2048), step{35, space.Int(4096)}, step{60, space.Int(8192)}, step{160, space.Int(16384)})
	},
	"kv-cache-dtype": func(Host) (space.Value, bool) { return space.String("auto"), true },
}

func sglangEnrich() map[string]func(*Flag) {
	return map[string]func(*Flag){
		"tp-size":                   say("GPUs that share each layer; with data-parallel attention dp-size lies inside it.", 0),
		"pp-size":                   say("Stages of layers, one after the other.", 0),
		"dp-size":                   say("Copies of attention and KV cache: inside tp-size with data-parallel attention, else whole replicas.", 0.3),
		"ep-size":                   say("GPUs that share the experts.", 0),
		"enable-dp-attention":       say("Attention and KV cache by data-parallel rank.", 0.3),
		"mem-fraction-static":       say("Share of the GPU for weights and KV cache; the rest must hold activations, graphs and buffers.", 1),
		"chunked-prefill-size":      say("Tokens of a piece of prefill; -1 reads prompts whole.", 1),
		"max-prefill-tokens":        say("Tokens of a prefill batch.", 0.4),
		"max-running-requests":      say("Requests that run at once in the whole server; divided by dp-size under data-parallel attention.", 0.5),
		"kv-cache-dtype":            say("Type of the KV cache: a narrower one holds more tokens.", 0),
		"moe-a2a-backend":           say("How tokens travel to experts; any but none makes ep-size equal to tp-size.", 0.4),
		"deepep-mode":               say("DeepEP's kernels: auto is normal for prefill and low_latency for decode.", 0.2),
		"moe-runner-backend":        say("Kernels of the experts.", 0),
		"attention-backend":         say("Attention kernels.", 0),
		"page-size":                 say("Tokens of a KV page.", 0),
		"schedule-policy":           say("Order in which waiting requests are taken.", 0),
		"schedule-conservativeness": say("Lower admits more requests and takes more back.", 0),
		"cuda-graph-max-bs-decode":  say("Largest batch that is captured as a graph.", 0.4),
		"cuda-graph-max-bs":         say("Largest batch that is captured as a graph (older name).", 0.4),
		"disable-cuda-graph":        say("No graphs: starts faster, decodes slower.", 0),
		"enable-mixed-chunk":        say("Prefill and decode in one batch.", 0.2),
		"disable-radix-cache":       say("No reuse of common beginnings of prompts.", 0),
		"disable-overlap-schedule":  say("The next step is not planned while this one runs.", 0),
		"enable-two-batch-overlap":  say("Two half batches overlap compute and communication.", 0.3),
		"enable-torch-compile":      say("Compiles the model for small batches.", 0.2),
		"speculative-algorithm":     say("A draft guesses tokens ahead.", 0.4),
		"context-length":            say("Longest input + output.", 0.2),
		"stream-interval":           say("Tokens in a streamed event; above 1 inter-token latency means nothing.", 0),
		"hicache-size":              say("GB of host memory for the second level of the KV cache, for each rank.", 0),
	}
}
