package engine

import (
	"regexp"
	"slices"
	"strings"

	"autotune/tuner"
)

// How far up a line's traceback is looked for. Compiled models have deep ones.
const deepTraceback = 250

// above calls yield with the lines over a line, nearest first, without their prefixes, until yield returns false.
func (log *engineLog) above(at, limit int, yield func(logLine) bool) {
	for i := at - 1; i >= max(0, at-limit); i-- {
		parts := clean(log.evidence.Lines[i])
		if !yield(readLine(parts[len(parts)-1])) {
			return
		}
	}
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// isCode tells a line of a program's text, which a traceback quotes, from a message.
func (log *engineLog) isCode(at int, line logLine) bool {
	if strings.HasPrefix(line.text, `  File "`) {
		return true
	}
	if indent(line.text) < 4 {
		return false
	}
	code := false
	log.above(at, 20, func(l logLine) bool {
		code = strings.HasPrefix(l.text, `  File "`)
		return !code && (indent(l.text) >= 4 || l.text == "")
	})
	return code
}

const tracebackHead = "Traceback (most recent call last)"

// isIgnored tells whether the line ends a traceback that Python itself calls ignored: those come at exit, and end nothing.
func (log *engineLog) isIgnored(at int, line logLine) bool {
	if !exceptionLine.MatchString(line.text) {
		return false
	}
	ignored, head := false, false
	log.above(at, deepTraceback, func(l logLine) bool {
		if head {
			ignored = strings.HasPrefix(l.text, "Exception ignored in")
			return false
		}
		head = strings.Contains(l.text, tracebackHead)
		if strings.HasPrefix(l.text, "Exception ignored in") {
			ignored = true
			return false
		}
		return head || indent(l.text) > 0 || l.text == ""
	})
	return ignored
}

// sourceAbove is who says a line without any prefix: the rest of the record above it.
func (log *engineLog) sourceAbove(at int) string {
	source := ""
	log.above(at, nearby, func(l logLine) bool {
		source = l.source
		return l.source == "" && !l.stamped
	})
	return source
}

// frame is a function that is at work in one phase only.
type frame struct {
	name  string
	phase tuner.Phase
}

// frames, the most telling first: the outer ones contain the inner ones.
var frames = []frame{
	{"profile_run", tuner.PhaseProfile},
	{"profile_cudagraph_memory", tuner.PhaseProfile},
	{"capture_model", tuner.PhaseCapture},
	{"_capture_cudagraphs", tuner.PhaseCapture},
	{"compile_or_warm_up_model", tuner.PhaseCapture},
	{"_warm_up_model", tuner.PhaseCapture},
	{"_dummy_sampler_run", tuner.PhaseCapture},
	{"cuda_graph_runner", tuner.PhaseCapture},
	{"init_device_graphs", tuner.PhaseCapture},
	{"init_cuda_graphs", tuner.PhaseCapture},
	{"kernel_warmup", tuner.PhaseCapture},
	{"determine_available_memory", tuner.PhaseProfile},
	{"determine_num_available_blocks", tuner.PhaseProfile},
	{"create_weights", tuner.PhaseLoad},
	{"process_weights_after_loading", tuner.PhaseLoad},
	{"load_model", tuner.PhaseLoad},
	{"load_weights", tuner.PhaseLoad},
	{"init_memory_pool", tuner.PhaseProfile},
	{"initialize_from_config", tuner.PhaseProfile},
	{"initialize_kv_cache", tuner.PhaseProfile},
	{"init_torch_distributed", tuner.PhaseInit},
	{"init_worker_distributed_environment", tuner.PhaseInit},
	{"init_device", tuner.PhaseInit},
}

// framePhase reads the phase from the traceback that the line ends; empty when it does not say.
func (log *engineLog) framePhase(at int) tuner.Phase {
	best := len(frames)
	log.above(at, deepTraceback, func(l logLine) bool {
		if strings.HasPrefix(l.text, `  File "`) {
			for i, f := range frames[:best] {
				if strings.Contains(l.text, f.name) {
					best = i
					break
				}
			}
		}
		return !strings.Contains(l.text, tracebackHead)
	})
	if best == len(frames) {
		return ""
	}
	return frames[best].phase
}

// inFrame tells whether the traceback that the line ends has a frame that a pattern matches.
func (log *engineLog) inFrame(at int, pattern *regexp.Regexp) bool {
	found := false
	log.above(at, deepTraceback, func(l logLine) bool {
		found = strings.HasPrefix(l.text, `  File "`) && pattern.MatchString(l.text)
		return !found && !strings.Contains(l.text, tracebackHead)
	})
	return found
}

// phaseAt is the phase that the log had reached at a line.
func (log *engineLog) phaseAt(at int) tuner.Phase {
	phase := tuner.Phase("")
	for _, c := range log.phases {
		if c.at <= at {
			phase = c.phase
		}
	}
	return phase
}

// phaseOfHit is where the failure that the hit names belongs.
func (log *engineLog) phaseOfHit(h *hit) tuner.Phase {
	e, allowed := log.evidence, h.signature.Phases
	seen := log.phaseAt(h.at)
	serving := e.Ready || e.ServedRequests || seen == tuner.PhaseServe
	if len(allowed) == 1 && !(serving && e.Engine != "" && allowed[0] != tuner.PhaseBench && afterStart(h.signature)) {
		return allowed[0]
	}
	if serving {
		return tuner.PhaseServe
	}
	if p := log.framePhase(h.at); p != "" {
		return p
	}
	if seen == "" {
		seen = e.Phase
	}
	if seen == "" || seen == tuner.PhaseUnknown {
		return allowed[0]
	}
	if !slices.Contains(allowed, seen) && !later(seen, allowed[0]) {
		return allowed[0] // the marker of its phase came late, or not at all
	}
	return seen
}

// afterStart tells whether the failure can come to a server that has started: kernels are compiled, and files opened, whenever they are first needed.
func afterStart(s *signature) bool { return s.Class == "environment" || s.Class == "memory" }
