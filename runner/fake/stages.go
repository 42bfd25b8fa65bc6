package fake

import (
	"context"
	"fmt"
	"maps"
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

// before tells whether a phase of the start comes before another.
func before(phase, other string) bool {
	return slices.Index(phases, phase) < slices.Index(phases, other)
}

// loadingTime is how long the start takes in real time, apart from the fault slow-start.
func (s *server) loadingTime() time.Duration {
	switch {
	case s.startTime >= 0:
		return s.startTime
	case s.law():
		return 0
	}
	return wallStart
}

// reach goes through the stages of the start up to, and not into, a phase, and gives each its share of the start's time. False: ctx ended first.
func (s *server) reach(ctx context.Context, phase string, stages []law.Stage) bool {
	var sum time.Duration
	for _, stage := range stages {
		if before(stage.Phase, "serve") {
			sum += stage.Took
		}
	}
	loading := false
	for _, stage := range stages {
		if !before(stage.Phase, phase) {
			break
		}
		if stage.Phase == "load" && !loading {
			loading = true
			s.log.print(s.loadLines()...)
			if !s.delay(ctx) {
				return false
			}
		}
		if sum > 0 && !wait(ctx, time.Duration(float64(s.loadingTime())*float64(stage.Took)/float64(sum))) {
			return false
		}
		if !strings.Contains(stage.Line, "vLLM API server version") { // the greeting has it already, with the version that was ordered
			s.log.print(s.log.framed("INFO", []string{stage.Line})...)
		}
	}
	switch {
	case phase == "load":
		s.log.print(s.loadLines()...)
	case phase == "capture" && s.sglang():
		s.log.print(s.log.ranked("", "", "Capture cuda graph begin. This can take up to several minutes.")...)
	}
	return true
}

// fail is the end of a start that the law does not let end well; its lines are those of the whole start.
func (s *server) fail(ctx context.Context, f *law.Failure) (code int) {
	if !s.delay(ctx) || !wait(ctx, s.loadingTime()/2) {
		return 0
	}
	s.log.print(s.log.framed("ERROR", f.Lines)...)
	return s.exitCode(f.Exit)
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

// loadLines is what vLLM says before it reads weights.
func (s *server) loadLines() []string {
	if s.sglang() {
		return nil
	}
	return append(s.log.ranked("INFO", "core.py:133", fmt.Sprintf("Initializing a V1 LLM engine (v%s) with config: model='%s', max_seq_len=%d, served_model_name=%s", s.version, s.model, s.context, s.served)),
		s.log.ranked("INFO", "gpu_model_runner.py:4772", "Starting to load model "+s.model+"...")...)
}

// greeting is what the server says before it does anything.
func (s *server) greeting() []string {
	if s.sglang() {
		resolved := s.sglangArguments()
		args := []string{"model_path='" + s.model + "'"}
		for _, name := range slices.Sorted(maps.Keys(resolved)) {
			if name != "model_path" {
				args = append(args, name+"="+pythonWord(resolved[name]))
			}
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
