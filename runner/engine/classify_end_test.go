package engine

import (
	"strings"
	"testing"

	"autotune/tuner"

	"github.com/google/go-cmp/cmp"
)

// loading puts a traceback that ends with an exception after the line with which an engine begins to load.
func loading(engineName, exception string) []string {
	if engineName == "sglang" {
		return []string{"[2025-12-22 11:36:30 TP0] Load weight begin. avail mem=78.00 GB", "[2025-12-22 11:36:31 TP0] Scheduler hit an exception: Traceback (most recent call last):",
			`  File "/x/scheduler.py", line 3, in run_scheduler_process`, exception, "", "[2025-12-22 11:36:31] Received sigquit from a child process. It usually means the child failed."}
	}
	const by = "(EngineCore_DP0 pid=1) ERROR 12-02 06:37:16 [core.py:708] "
	return []string{"(EngineCore_DP0 pid=1) INFO 12-02 06:37:15 [gpu_model_runner.py:2602] Starting to load model demo...", by + tracebackHead + ":",
		by + `  File "/x/core.py", line 3, in run_engine_core`, by + exception}
}

// TestRefusalsDuringAStart: an engine that refuses while it starts would refuse again; what may pass is tried again, and what a signature knows keeps its name.
func TestRefusalsDuringAStart(t *testing.T) {
	inf, tra := tuner.ReasonInfeasible, tuner.ReasonTransient
	for _, c := range []struct {
		engine, exception string
		want              verdict
	}{
		{"vllm", "NotImplementedError: FlashMLA with FP8 KV cache not yet supported", verdict{"attn_backend_invalid", inf, tuner.PhaseLoad, false}},
		{"vllm", "ValueError: Block size 16 is not supported for CUTLASS_MLA", verdict{"attn_backend_invalid", inf, tuner.PhaseLoad, false}},
		{"sglang", "RuntimeError: Failed: Assertion error (/sgl-workspace/DeepEP/csrc/deep_ep.cpp:1105): x.size(0) <= num_max_dispatch_tokens_per_rank", verdict{"kernel_assertion", inf, tuner.PhaseLoad, false}},
		{"sglang", "RuntimeError: Assertion error (csrc/jit_kernels/heuristics/common.hpp:150): best_config.block_m > 0", verdict{"kernel_assertion", inf, tuner.PhaseLoad, false}},
		{"vllm", "NotImplementedError: this layer is not written for that format", verdict{"rejected", inf, tuner.PhaseLoad, false}},
		{"sglang", "AssertionError: the cache wants pages", verdict{"rejected", inf, tuner.PhaseLoad, false}},
		{"vllm", "RuntimeError: the connection to the store broke", verdict{"died_loading", tra, tuner.PhaseLoad, true}},
		{"vllm", "SomethingNewError: nobody knows", verdict{"died_loading", tra, tuner.PhaseLoad, true}},
		{"sglang", "RuntimeError: DeepEP error: CPU recv timeout", verdict{"deepep_timeout", tra, tuner.PhaseLoad, true}},
	} {
		f := Classify(Evidence{Engine: c.engine, ExitCode: map[string]int{"vllm": 1, "sglang": 137}[c.engine], Lines: loading(c.engine, c.exception)})
		if diff := cmp.Diff(c.want, verdictOf(f)); diff != "" || !strings.Contains(c.exception, f.Evidence) {
			t.Errorf("%s\n%s evidence %s", c.exception, diff, f.Evidence)
		}
	}
}

// TestABareExceptionIsTheCause: a server that says an exception without its traceback has said why it ends, also if it then kills itself.
func TestABareExceptionIsTheCause(t *testing.T) {
	start := "[2025-12-22 11:36:31 TP0] Load weight begin. avail mem=78.00 GB"
	f := Classify(Evidence{Engine: "sglang", ExitCode: 137, Lines: []string{start, "ValueError: these settings do not go together"}})
	if diff := cmp.Diff(verdict{"rejected", tuner.ReasonInfeasible, tuner.PhaseLoad, false}, verdictOf(f)); diff != "" || strings.Contains(f.Hint, "outside") {
		t.Errorf("%s %s", diff, f.Hint)
	}
	f = Classify(Evidence{Engine: "sglang", ExitCode: 137, Lines: []string{start}})
	if f.Signature != "killed" || !strings.Contains(f.Hint, "outside") {
		t.Errorf("without an exception: %+v", f)
	}
	for line, silent := range map[string]bool{"SomethingNewError: nobody knows": false, "the end": true} {
		f = Classify(Evidence{Engine: "vllm", ExitCode: 1, Lines: []string{line}})
		if f.Signature != "exited" || f.Evidence != line || strings.Contains(f.Hint, "without saying why") != silent {
			t.Errorf("%+v", f)
		}
	}
}

// TestTheMachinesFaultDuringAStart: what the machine or the installation does wrong is not the configuration's fault, and no try more helps.
func TestTheMachinesFaultDuringAStart(t *testing.T) {
	for exception, signature := range map[string]string{
		"RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method": "cuda_fork",
		"OSError: [Errno 5] Input/output error: '/mnt/nfs/model-00001.safetensors'":                                                             "file_io",
		"OSError: [Errno 116] Stale file handle":                                           "file_io",
		"OSError: [Errno 107] Transport endpoint is not connected: '/mnt/x'":               "file_io",
		"AttributeError: module 'torch' has no attribute 'float8_e8m0fnu'":                 "library_version",
		"AttributeError: module 'transformers.utils' has no attribute 'x'":                 "library_version",
		"RuntimeError: CUDA error: peer access is not supported between these two devices": "peer_access",
		"RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED":                          "cuda_library",
		"RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable":       "no_gpu",
		"RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable":      "no_gpu",
	} {
		for engineName, code := range map[string]int{"vllm": 1, "sglang": 137} {
			f := Classify(Evidence{Engine: engineName, ExitCode: code, Lines: loading(engineName, exception)})
			if f.Signature != signature || f.Reason != tuner.ReasonEnvironment || f.Retry || f.Hint == "" {
				t.Errorf("%s, %s: %+v", engineName, exception, f)
			}
		}
	}
	f := Classify(Evidence{Engine: "sglang", ExitCode: 137, Lines: loading("sglang", "RuntimeError: Failed to allocate memory for batch_prefill_tmp_v with size 450887680 and alignment 16 in AlignedAllocator")})
	if f.Signature != "workspace_small" || f.Reason != tuner.ReasonMemory || len(f.Moves) == 0 {
		t.Errorf("%+v", f)
	}
}

// TestHintsSayNoMoreThanTheLine: graphs that cannot be captured are no broken memory, and exit codes are explained where there are any.
func TestHintsSayNoMoreThanTheLine(t *testing.T) {
	for _, line := range []string{"RuntimeError: CUDA error: operation not permitted when stream is capturing", "torch.AcceleratorError: CUDA error: operation failed due to a previous error during capture"} {
		f := Classify(Evidence{Engine: "vllm", ExitCode: 1, Lines: loading("vllm", line)})
		if diff := cmp.Diff(verdict{"graph_capture", tuner.ReasonInfeasible, tuner.PhaseCapture, false}, verdictOf(f)); diff != "" || !strings.Contains(f.Hint, "--enforce-eager") || len(f.Moves) == 0 {
			t.Errorf("%s: %s %s %v", line, diff, f.Hint, f.Moves)
		}
	}
	full := append(loading("vllm", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."), loading("vllm", "RuntimeError: CUDA error: operation failed due to a previous error during capture")...)
	if f := Classify(Evidence{Engine: "vllm", ExitCode: 1, Lines: full}); f.Signature != "cuda_oom_torch" {
		t.Errorf("what the capture broke on is lost: %+v", f)
	}
	const died = "ERROR 12-02 06:37:16 [multiproc_executor.py:708] Worker proc VllmWorker-1 died unexpectedly, exit code: "
	for code, words := range map[string]string{"None": "", "1": "", "-9": "killed", "137": "killed", "-7": "/dev/shm", "-11": "crashed"} {
		f := Classify(Evidence{Engine: "vllm", ExitCode: 1, Lines: []string{died + code + ", shutting down executor."}})
		if f.Signature != "vllm_worker_died" || !strings.Contains(f.Hint, words) {
			t.Errorf("%s: %+v", code, f)
		}
		for _, other := range []string{"killed", "/dev/shm", "crashed"} {
			if other != words && strings.Contains(f.Hint, other) {
				t.Errorf("exit code %s: %s", code, f.Hint)
			}
		}
	}
}
