package fake

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"autotune/tuner/law"
)

// wallStart is how long a start takes on the wall clock when nothing is said.
const wallStart = 2 * time.Second

// phases are those of a start, in order.
var phases = []string{"flags", "init", "load", "profile", "capture", "serve"}

// reach goes through the stages of the start up to, and not into, a phase, and takes its share of the start's time for each; without
// stages (the law has none for a server that does not start) it prints the line with which each phase begins. False: ctx ended first.
func (s *server) reach(ctx context.Context, phase string, stages []law.Stage) bool {
	total := s.startTime
	if total < 0 {
		total = wallStart
		if s.law() {
			total = 0
		}
	}
	before := func(p string) bool { return slices.Index(phases, p) < slices.Index(phases, phase) }
	var sum time.Duration
	for _, stage := range stages {
		sum += stage.Took
	}
	delayed := false
	if sum <= 0 && before("init") && !wait(ctx, total) {
		return false
	}
	for _, stage := range stages {
		if !before(stage.Phase) {
			break
		}
		if !delayed && stage.Phase == "load" {
			delayed = true
			if !s.delay(ctx) {
				return false
			}
		}
		if sum > 0 && !wait(ctx, time.Duration(float64(total)*float64(stage.Took)/float64(sum))) {
			return false
		}
		s.log.print(s.log.framed("INFO", []string{stage.Line})...)
	}
	if !delayed && before("load") && !s.delay(ctx) {
		return false
	}
	if len(stages) == 0 {
		for _, p := range phases {
			if before(p) || p == phase {
				s.log.print(s.beginning(p)...)
			}
		}
	}
	return true
}

// delay is the fault slow-start: the weights come slowly, and the log shows it.
func (s *server) delay(ctx context.Context) bool {
	const shards = 10
	d := s.faults.delay()
	for i := range shards {
		if d == 0 {
			break
		}
		if !wait(ctx, d/shards) {
			return false
		}
		s.log.print(fmt.Sprintf("Loading safetensors checkpoint shards: %3d%% Completed | %d/%d", (i+1)*100/shards, i+1, shards))
	}
	return true
}

func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// beginning is the line by which a phase of the start is known.
func (s *server) beginning(phase string) []string {
	if s.sglang() {
		text := map[string]string{
			"init":    "Init torch distributed begin.",
			"load":    "Load weight begin. avail mem=" + s.gib(s.machine.MemoryGiB-1) + " GB",
			"profile": "Load weight end. type=" + s.model + ", dtype=torch.bfloat16.",
			"capture": "Capture cuda graph begin. This can take up to several minutes.",
		}[phase]
		if text == "" {
			return nil
		}
		return s.log.ranked("", "", text)
	}
	switch phase {
	case "init":
		return s.log.ranked("INFO", "core.py:133", "Initializing a V1 LLM engine (v"+s.version+") with config: model='"+s.model+"'")
	case "load":
		return s.log.ranked("INFO", "gpu_model_runner.py:4772", "Starting to load model "+s.model+"...")
	case "profile":
		return s.log.ranked("INFO", "backends.py:1128", "Dynamo bytecode transform time: 3.54 s")
	case "capture":
		return []string{"Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):   0%|          | 0/67 [00:00<?, ?it/s]"}
	}
	return nil
}

func (s *server) gib(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// greeting is what the server says before it does anything.
func (s *server) greeting() []string {
	if s.sglang() {
		args := []string{"model_path='" + s.model + "'"}
		for _, f := range s.settings {
			args = append(args, python(f.Flag)+"="+pythonValue(f.Value))
		}
		return []string{s.log.prefix("", "") + "server_args=ServerArgs(" + strings.Join(args, ", ") + ")"}
	}
	args := []string{"'model_tag': '" + s.model + "'"}
	for _, f := range s.settings {
		args = append(args, "'"+python(f.Flag)+"': "+pythonValue(f.Value))
	}
	out := []string{
		s.log.prefix("INFO", "api_server.py:1839") + "vLLM API server version " + s.version,
		s.log.prefix("INFO", "api_utils.py:286") + "non-default args: {" + strings.Join(args, ", ") + "}",
	}
	if s.context > 0 {
		out = append(out, s.log.prefix("INFO", "model.py:2152")+"Using max model len "+strconv.Itoa(s.context))
	}
	return out
}

// welcome is what the server says once it answers.
func (s *server) welcome() {
	if s.sglang() {
		s.log.print(s.log.prefix("", "") + "INFO:     Uvicorn running on http://" + s.address + " (Press CTRL+C to quit)")
		s.ready.Store(true)
		s.log.print(s.log.prefix("", "") + "The server is fired up and ready to roll!")
		return
	}
	s.ready.Store(true)
	s.log.print(s.log.prefix("INFO", "api_server.py:1634")+"Starting vLLM API server 0 on http://"+s.address,
		fmt.Sprintf("INFO:     Started server process [%d]", s.log.pid), "INFO:     Waiting for application startup.", "INFO:     Application startup complete.")
}

// farewell is what the server says at its end.
func (s *server) farewell(code int) {
	if code != 0 {
		return
	}
	if s.sglang() {
		s.log.print(s.log.prefix("", "") + "Gracefully exiting... Remaining number of requests 0")
		return
	}
	s.log.print(s.log.prefix("INFO", "launcher.py:254")+"[shutdown] API server: shutdown triggered",
		"INFO:     Shutting down", "INFO:     Waiting for application shutdown.", "INFO:     Application shutdown complete.")
}
