package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autotune/tuner"

	"github.com/google/go-cmp/cmp"
)

func readLog4(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "logs", path))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(b), "\n"), "\n")
}

// verdict is what the tests compare of a finding.
type verdict struct {
	Signature string
	Reason    tuner.Reason
	Phase     tuner.Phase
	Retry     bool
}

func verdictOf(f Finding) verdict { return verdict{f.Signature, f.Reason, f.Phase, f.Retry} }

type recorded struct {
	file     string
	evidence Evidence
	want     verdict
	words    string // of the hint
	never    string // in the hint
}

// recordings are logs of real failures, with what was right to conclude from them.
func recordings() []recorded {
	mem, inf, env, tra, chk, usr := tuner.ReasonMemory, tuner.ReasonInfeasible, tuner.ReasonEnvironment, tuner.ReasonTransient, tuner.ReasonCheckpoint, tuner.ReasonUser
	vllm := func(code int) Evidence { return Evidence{Engine: "vllm", ExitCode: code} }
	sglang := func(code int) Evidence { return Evidence{Engine: "sglang", ExitCode: code} }
	return []recorded{
		{"failed/01-error-802-fabric-manager.log", vllm(1), verdict{"fabric_manager", env, tuner.PhaseInit, false}, "nvidia-fabricmanager", ""},
		{"failed/02-flashinfer-jit-no-nvcc.log", vllm(1), verdict{"no_nvcc", env, tuner.PhaseCapture, false}, "CUDA_HOME", ""},
		{"failed/03-flashinfer-jit-host-oom-137.log", vllm(1), verdict{"jit_host_oom", env, tuner.PhaseCapture, true}, "MAX_JOBS", "gpu-memory-utilization"},
		{"failed/04-safetensors-incomplete-buffer.log", vllm(1), verdict{"checkpoint_header", chk, tuner.PhaseLoad, false}, "download it again", ""},
		{"failed/05-safetensors-header-too-large-lfs.log", sglang(137), verdict{"checkpoint_header", chk, tuner.PhaseLoad, false}, "Git-LFS", ""},
		{"failed/06-deepep-cpu-recv-timeout-while-jit.log", sglang(137), verdict{"deepep_timeout", tra, tuner.PhaseCapture, true}, "warm cache", "not installed"},
		{"failed/07-zmq-address-in-use-internal-port.log", vllm(1), verdict{"port_in_use", tra, tuner.PhaseInit, true}, "VLLM_PORT", ""},
		{"failed/08-hicache-host-memory.log", sglang(137), verdict{"host_cache_memory", mem, tuner.PhaseProfile, false}, "--hicache-size", "mem-fraction-static"},
		{"failed/09-triton-error-out-of-memory-at-runtime.log", Evidence{Engine: "vllm", ExitCode: 1, Ready: true, ServedRequests: true}, verdict{"cuda_error_oom", mem, tuner.PhaseServe, false}, "lower --gpu-memory-utilization", ""},
		{"failed/10-abi-undefined-symbol.log", vllm(1), verdict{"abi", env, tuner.PhaseInit, false}, "PyTorch", ""},
		{"failed/11-inductor-assertion-torch29-cpu.log", vllm(1), verdict{"compile_failed", inf, tuner.PhaseCapture, false}, "--enforce-eager", ""},
		{"real/kv_too_small_for_max_len.log", vllm(1), verdict{"vllm_kv_too_small", mem, tuner.PhaseProfile, false}, "--max-model-len=768", ""},
		{"real/kvspace_1000.log", vllm(1), verdict{"cpu_mem_low", mem, tuner.PhaseProfile, false}, "1000.0 GiB are asked for where 13.68 of 19.09 GiB are free", ""},
		{"real/kvspace_env_empty.log", vllm(1), verdict{"env_value", usr, tuner.PhaseInit, false}, "", ""},
		{"real/max_model_len_100000.log", vllm(1), verdict{"max_len_too_long", usr, tuner.PhaseFlags, false}, "maximum is 4096", ""},
		{"real/max_num_seqs_0.log", vllm(1), verdict{"vllm_pydantic", inf, tuner.PhaseFlags, false}, "", ""},
		{"real/no_model.log", vllm(1), verdict{"hf_missing", usr, tuner.PhaseInit, false}, "path", ""},
		{"real/tp3.log", vllm(1), verdict{"heads_div", inf, tuner.PhaseFlags, false}, "4 heads, 3 ranks", ""},
		{"real/bad_choice.log", vllm(2), verdict{"unrecognised", usr, tuner.PhaseFlags, false}, "", ""},
		{"real/bad_value.log", vllm(2), verdict{"unrecognised", usr, tuner.PhaseFlags, false}, "", ""},
		{"real/unknown_flag.log", vllm(2), verdict{"unrecognised", usr, tuner.PhaseFlags, false}, "", ""},
		{"real/no_package.log", vllm(1), verdict{"module_missing", env, tuner.PhaseInit, false}, "", ""},
	}
}

func TestRecordedFailures(t *testing.T) {
	for _, r := range recordings() {
		t.Run(r.file, func(t *testing.T) {
			r.evidence.Lines = readLog4(t, r.file)
			got := Classify(r.evidence)
			if diff := cmp.Diff(r.want, verdictOf(got)); diff != "" {
				t.Errorf("%s\nevidence: %s", diff, got.Evidence)
			}
			if !strings.Contains(got.Hint, r.words) || r.never != "" && strings.Contains(got.Hint, r.never) {
				t.Errorf("hint: %q", got.Hint)
			}
		})
	}
}

func TestHealthyLogs(t *testing.T) {
	files, _ := filepath.Glob("testdata/logs/healthy/*.log")
	if len(files) < 8 {
		t.Fatalf("%d logs", len(files))
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), "_")
		lines := readLog4(t, "healthy/"+filepath.Base(file))
		for _, e := range []Evidence{{}, {Running: true}, {Running: true, Ready: true, ServedRequests: true}, {Engine: name}, {Engine: name, Running: true}, {Engine: name, Running: true, Ready: true}} {
			e.Lines = lines
			if f := Classify(e); f.Found() {
				t.Errorf("%s, running %v, ready %v: %s: %s", file, e.Running, e.Ready, f.Signature, f.Evidence)
			}
		}
	}
}

func TestSamples(t *testing.T) {
	for _, s := range signatures().signatures {
		if len(s.Samples) == 0 {
			t.Errorf("%s has no sample", s.ID)
		}
		for i, sample := range s.Samples {
			engine := s.Engine
			if engine != "vllm" && engine != "sglang" {
				engine = ""
			}
			for _, lines := range [][]string{strings.Split(sample, "\n"), noisy(engine, sample, i)} {
				f := Classify(Evidence{Engine: engine, ExitCode: 1, Lines: lines})
				if !s.cause() {
					if f.Signature == s.ID {
						t.Errorf("%s is no cause", s.ID)
					}
					continue
				}
				if f.Signature != s.ID {
					t.Errorf("%s, %d lines: got %s by %q\n%s", s.ID, len(lines), f.Signature, f.Evidence, sample)
				}
			}
		}
	}
}

// noisy puts a line into the middle of what engines say around a failure.
func noisy(engine, line string, n int) []string {
	around := [][2]string{
		{"(EngineCore_DP0 pid=733) ERROR 11-19 10:01:12 [core.py:708] ", "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"},
		{"\x1b[1;31m(Worker_TP3 pid=37)\x1b[0;0m ERROR 08-11 04:29:42 [multiproc_executor.py:1020] ", "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."},
		{"[rank2]: ", "Process EngineCore_DP0:"},
		{"2026-03-11T17:57:32.372145579Z stderr F ", "INFO 01-02 10:00:00 [launcher.py:80] Shutting down FastAPI HTTP server."},
		{"vllm-1  | ", ""},
	}[n%5]
	if engine == "sglang" {
		around = [2]string{"", "[2025-12-22 11:36:31] Received sigquit from a child process. It usually means the child failed."}
	}
	if strings.HasPrefix(line, "[") || strings.HasPrefix(line, "(") || strings.HasPrefix(line, "ERROR") || strings.HasPrefix(line, "CRITICAL") || strings.HasPrefix(line, "NCCL") {
		around[0] = ""
	}
	said := strings.Split(line, "\n")
	for i := range said {
		said[i] = around[0] + said[i]
	}
	return slices.Concat([]string{
		"INFO 06-19 23:05:35 [__init__.py:244] Automatically detected platform cuda.",
		"WARNING 12-02 06:37:15 [system_utils.py:255] Found ulimit of 20000 and failed to automatically increase. This can cause fd limit errors like `OSError: [Errno 24] Too many open files`.",
		"/usr/lib/python3/torch/cuda/__init__.py:1170: UserWarning: CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up environment",
		"Fetching 3 files:   0%|          | 0/3 [00:00<?, ?it/s]\rFetching 3 files: 100%|##########| 3/3 [00:00<00:00, 9.2it/s]",
	}, said, []string{
		around[1],
		"[rank0]:[W1122 10:00:00.5 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed before we destruct ProcessGroupNCCL.",
		"/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 1 leaked shared_memory objects to clean up at shutdown",
	})
}

var _ = fmt.Sprint
