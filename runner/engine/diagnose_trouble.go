package engine

import (
	"regexp"
	"slices"
	"strings"
)

// span is a range of lines.
type span struct{ from, to int }

// livesOf parts a log where a server starts anew after one that had become ready or failed.
func livesOf(lines []string, engine string) []span {
	spans := []span{{0, len(lines)}}
	past, failed := false, false // something has started; it has come to something
	for i, text := range lines {
		switch {
		case begins(text):
			if past && failed {
				spans[len(spans)-1].to = i
				spans = append(spans, span{i, len(lines)})
			}
			past, failed = true, false
		case slices.ContainsFunc(lifeWords, func(w string) bool { return strings.Contains(text, w) }):
			failed = true
		}
	}
	return spans
}

// begins tells the first line that a server writes of itself.
func begins(text string) bool {
	return strings.Contains(text, "vLLM API server version") || strings.Contains(text, "server_args=ServerArgs(")
}

// lifeWords show that a server has become ready, has failed or was stopped.
var lifeWords = []string{tracebackHead, "Application startup complete", "ready to roll", "hit an exception", "failed to start", "initialization failed", "sigquit", "Finished server process",
	"Shutting down", "Segmentation fault", "Killed", "core dumped", "rror: "}

// Guess names the engine that wrote a log; empty: it cannot be told. SGLang may use parts of vLLM, not the other way.
func Guess(lines []string) string {
	guess := ""
	for _, raw := range lines {
		l := readLine(raw)
		lower := strings.ToLower(l.text)
		if strings.Contains(lower, "sglang") || strings.HasPrefix(l.source, "sglang ") || strings.Contains(l.text, "server_args=ServerArgs(") ||
			strings.Contains(l.text, "Received sigquit") || strings.Contains(l.text, "Scheduler hit an exception") {
			return "sglang"
		}
		if strings.Contains(lower, "vllm") || strings.Contains(raw, "EngineCore") || strings.Contains(raw, "(APIServer pid=") {
			guess = "vllm"
		}
	}
	return guess
}

// stopWords are said by a server that was asked to stop.
var stopWords = []string{"SIGTERM received", "Received SIGTERM", "received SIGTERM", "Received signal 15", "KeyboardInterrupt", "Shutting down", "Gracefully exiting", "Received exit signal", "got signal", "received signal",
	"Received SIGINT", "Initiating graceful shutdown"}

// interrupted is a terminal's echo of Ctrl-C, alone or before what the server says next.
var interrupted = regexp.MustCompile(`^\^C(?:$|[A-Z(\[ ])`)

// stoppedAt is the line with which a server that had not failed began to stop; -1: none.
func (log *engineLog) stoppedAt() int {
	for i, raw := range log.evidence.Lines {
		if interrupted.MatchString(raw) || slices.ContainsFunc(stopWords, func(w string) bool { return strings.Contains(raw, w) }) {
			if log.brokenBefore(i) {
				return -1
			}
			return i
		}
	}
	return -1
}

// brokenBefore tells whether something had failed before a line: a cause by its form, or a wrapper of one.
func (log *engineLog) brokenBefore(at int) bool {
	return slices.ContainsFunc(log.hits, func(h hit) bool {
		return h.at < at && h.at >= log.readyAt && (h.strong && h.signature.cause() || h.signature.Class == "wrapper") && (h.signature.Fatal || h.at > log.lastLife() || log.readyAt < 0)
	}) || log.dyingException(at) >= 0
}

// dyingException is the first traceback before a line that nobody survived; -1: none.
func (log *engineLog) dyingException(before int) int {
	alive := log.lastLife()
	for i := max(0, log.readyAt); i < min(before, len(log.evidence.Lines)); i++ {
		if !strings.Contains(log.evidence.Lines[i], tracebackHead) || i < alive {
			continue
		}
		end, ok := log.tracebackEnd(i)
		if ok && !log.ofRequest(i) && !passed(end.text) {
			return i
		}
	}
	return -1
}

// passed tells exceptions that people and programs use to stop one another.
func passed(exception string) bool {
	for _, w := range []string{"KeyboardInterrupt", "SystemExit", "CancelledError", "GeneratorExit"} {
		if strings.Contains(exception, w) {
			return true
		}
	}
	return exception == ""
}

// ofRequest tells whether a traceback is about one request, after which a server goes on.
func (log *engineLog) ofRequest(at int) bool {
	if log.readyAt < 0 || at < log.readyAt {
		return false
	}
	request := false
	look := func(text string) bool {
		request = strings.Contains(text, "Exception in ASGI application") || strings.Contains(text, "Error in preprocessing prompt") || strings.Contains(text, "[serving_") || strings.Contains(text, "[serving.py") ||
			strings.Contains(text, "/serving_") || strings.Contains(text, "Exception in callback") || strings.Contains(text, "starlette/") || strings.Contains(text, "fastapi/")
		return !request
	}
	log.above(at, 3, func(l logLine) bool { return look(l.text) })
	for i := at; i < min(at+40, len(log.evidence.Lines)) && !request; i++ {
		look(log.evidence.Lines[i])
	}
	return request
}

// lastLife is the last line that only a living engine writes: an answered completion, its throughput, a further milestone of its start; -1: none.
func (log *engineLog) lastLife() int {
	if log.aliveAt != 0 {
		return log.aliveAt - 1
	}
	last := -1
	for _, c := range log.phases {
		last = max(last, c.at)
	}
	for i := len(log.evidence.Lines) - 1; i > last; i-- {
		t := log.evidence.Lines[i]
		if strings.Contains(t, "\"POST /") && strings.Contains(t, " 200") || strings.Contains(t, "Decode batch") || strings.Contains(t, "Prefill batch") || livelyThroughput(t) {
			last = i
			break
		}
	}
	log.aliveAt = last + 1
	return last
}

// livelyThroughput tells vLLM's statistics of an engine that does something.
func livelyThroughput(t string) bool {
	_, rest, ok := strings.Cut(t, "Avg generation throughput: ")
	return ok && !strings.HasPrefix(rest, "0.0 ")
}

// trouble tells whether a log, by itself, shows that its server failed.
func (log *engineLog) trouble(hits []hit, stop int) bool {
	for _, h := range hits {
		if stop >= 0 && h.at > stop || h.at < log.readyAt {
			continue
		}
		s := h.signature
		switch {
		case s.Class == "wrapper" && s.Fatal:
			if log.readyAt < 0 || !log.ofRequest(h.at) {
				return true
			}
		case !s.cause() || !h.strong:
		case s.Engine == "host":
			return true
		case h.at >= log.lastLife():
			if log.readyAt < 0 || s.Fatal || !log.ofRequest(h.at) {
				return true
			}
		}
	}
	end := len(log.evidence.Lines)
	if stop >= 0 {
		end = stop
	}
	return log.dyingException(end) >= 0
}

// killedLine is what a shell says of a process that was killed.
var killedLine = regexp.MustCompile(`^(?:\S+: line \d+: +)?(?:\[\d+\]\S* +)?(?:\d+ )?Killed(?:$|  )`)

// endsKilled tells whether the log's last words are a shell's, that the process was killed.
func (log *engineLog) endsKilled() bool {
	for i := len(log.evidence.Lines) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(log.evidence.Lines[i]); text != "" {
			return killedLine.MatchString(text)
		}
	}
	return false
}

// lastMilestone is the last line that tells a phase; -1: none.
func (log *engineLog) lastMilestone() int {
	if len(log.phases) == 0 {
		return -1
	}
	return log.phases[len(log.phases)-1].at
}

// find is the index of the line that holds a text; -1: none.
func (log *engineLog) find(text string) int {
	text = strings.TrimSuffix(text, "...")
	if text == "" {
		return -1
	}
	return slices.IndexFunc(log.evidence.Lines, func(l string) bool { return strings.Contains(l, text) })
}

func signatureByID(id string) *signature {
	for _, s := range signatures().signatures {
		if s.ID == id {
			return s
		}
	}
	return nil
}
