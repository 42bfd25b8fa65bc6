package fake

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

const torchOOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %.2f GiB. GPU 0 has a total capacity of %.2f GiB of which %.2f MiB is free. Including non-PyTorch memory, this process has %.2f GiB memory in use."

// outOfMemory is PyTorch's message for a GPU that is as good as full.
func (s *server) outOfMemory(wanted float64) string {
	total := s.machine.MemoryGiB
	return fmt.Sprintf(torchOOM, wanted, total, 412.5, total-0.42)
}

// oomLines is what the engine logs when a phase runs out of GPU memory: the cause on the rank, then the wrappers.
func (s *server) oomLines(phase string) []string {
	frames := map[string][]string{
		"load":    {`  File "vllm/model_executor/model_loader/base_loader.py", line 71, in load_model`, `  File "vllm/model_executor/layers/linear.py", line 186, in create_weights`},
		"profile": {`  File "vllm/v1/worker/gpu_worker.py", line 340, in determine_available_memory`, `  File "vllm/v1/worker/gpu_model_runner.py", line 4502, in profile_run`},
		"capture": {`  File "vllm/v1/worker/gpu_worker.py", line 402, in compile_or_warm_up_model`, `  File "vllm/v1/worker/gpu_model_runner.py", line 4691, in capture_model`},
		"serve":   {`  File "vllm/v1/engine/core.py", line 402, in step_with_batch_queue`, `  File "vllm/v1/worker/gpu_model_runner.py", line 3100, in execute_model`},
	}[phase]
	if s.sglang() {
		return s.sglangOOM(phase)
	}
	lines := []string{"EngineCore failed to start."}
	if phase == "serve" {
		lines[0] = "EngineCore encountered a fatal error."
	}
	lines = append(lines, "Traceback (most recent call last):")
	lines = append(lines, frames...)
	lines = append(lines, s.outOfMemory(2))
	out := s.log.ranked("ERROR", "core.py:1510", lines...)
	if phase == "serve" {
		return append(out, s.deadLines()...)
	}
	return append(out, "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}")
}

// deadLines is what vLLM's front says when its engine is gone.
func (s *server) deadLines() []string {
	return []string{
		s.log.prefix("ERROR", "async_llm.py:708") + "AsyncLLM output_handler failed.",
		s.log.prefix("ERROR", "async_llm.py:708") + "vllm.v1.engine.exceptions.EngineDeadError: " + deadMessage,
	}
}

func (s *server) sglangOOM(phase string) []string {
	cause := s.outOfMemory(2)
	if phase == "capture" {
		cause = "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 448.00 MiB. GPU 0"
	}
	frame := map[string]string{
		"load":    `  File "sglang/srt/model_loader/loader.py", line 612, in load_model`,
		"profile": `  File "sglang/srt/model_executor/model_runner.py", line 1501, in init_memory_pool`,
		"capture": `  File "sglang/srt/model_executor/cuda_graph_runner.py", line 390, in __init__`,
		"serve":   `  File "sglang/srt/managers/scheduler.py", line 812, in event_loop_overlap`,
	}[phase]
	out := s.log.ranked("", "", "Scheduler hit an exception: Traceback (most recent call last):")
	out = append(out, frame, cause)
	return append(out, s.sigquit())
}

func (s *server) sigquit() string {
	return s.log.prefix("", "") + "Received sigquit from a child proces. It usually means the child failed."
}

// crashLines is what the engine logs when its child dies without a word.
func (s *server) crashLines() []string {
	if s.sglang() {
		return []string{s.sigquit()}
	}
	return append(s.log.ranked("ERROR", "multiproc_executor.py:315", "Worker proc VllmWorker-0 died unexpectedly (exit code: None), shutting down executor."), s.deadLines()...)
}

// busyLines is what a GPU gives whose memory another process holds.
func (s *server) busyLines(gpu string) []string {
	if s.sglang() {
		return append(s.log.ranked("", "", "Scheduler hit an exception: Traceback (most recent call last):"), s.outOfMemory(s.machine.MemoryGiB/2), s.sigquit())
	}
	const free, share = 0.42, 0.92
	text := fmt.Sprintf("ValueError: Free memory on device cuda:%s (%.2f/%.2f GiB) on startup is less than desired GPU memory utilization (%g, %.2f GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
		gpu, free, s.machine.MemoryGiB, share, share*s.machine.MemoryGiB)
	return s.log.ranked("ERROR", "core.py:1510", "EngineCore failed to start.", "Traceback (most recent call last):", text)
}

// brokenLines is what an engine says to a configuration that the law refuses.
func (s *server) brokenLines() []string {
	text := "ValueError: " + s.broken.Error()
	if world := s.config.TP * s.config.PP * s.config.Replicas; world > s.machine.GPUs {
		text = fmt.Sprintf("ValueError: World size (%d) is larger than the number of available GPUs (%d) in this node.", world, s.machine.GPUs)
	}
	return []string{"Traceback (most recent call last):", text}
}

// addressLines is what a port gives that cannot be had.
func (s *server) addressLines(err error) []string {
	host, port, _ := net.SplitHostPort(s.address) // joined by us
	text := fmt.Sprintf("[Errno 98] error while attempting to bind on address ('%s', %s): address already in use", host, port)
	if !errors.Is(err, syscall.EADDRINUSE) {
		text = fmt.Sprintf("[Errno 99] error while attempting to bind on address ('%s', %s): %v", host, port, err)
	}
	if s.sglang() {
		return []string{"ERROR:    " + text}
	}
	return []string{"Traceback (most recent call last):", "OSError: " + text}
}
