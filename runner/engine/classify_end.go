package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"autotune/tuner"
)

// signals by the number that an exit code of 128+n, or of -n, stands for.
var signals = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM"}

// endSignal is the signal that ended the process, by name; empty: it ended by itself.
func endSignal(e Evidence) string {
	switch {
	case e.Signal != "":
		if s := strings.ToUpper(e.Signal); strings.HasPrefix(s, "SIG") {
			return s
		}
		return "SIG" + strings.ToUpper(e.Signal)
	case e.ExitCode > 128:
		return signals[e.ExitCode-128]
	case e.ExitCode < 0:
		return signals[-e.ExitCode]
	}
	return ""
}

func killed(e Evidence) bool { return !e.Running && endSignal(e) == "SIGKILL" }

// ending judges by the exit and the phase, when no line names a cause.
func (log *engineLog) ending(hits []hit) Finding {
	e, signal := log.evidence, endSignal(log.evidence)
	raised := log.exception()
	exception, unwrapped := raised.text, raised.own
	wrapped := slices.ContainsFunc(hits, func(h hit) bool { return h.signature.Class == "wrapper" && h.signature.Fatal })
	f := Finding{Phase: log.phase, Evidence: exception}
	if f.Evidence == "" {
		f.Evidence = log.lastWords()
	}
	if p := log.framePhase(raised.at); unwrapped && p != "" && log.phase != tuner.PhaseServe {
		f.Phase = p // its traceback knows more than the milestones
	}
	started := slices.Contains([]tuner.Phase{tuner.PhaseLoad, tuner.PhaseProfile, tuner.PhaseCapture}, f.Phase)
	switch {
	case signal == "SIGKILL" && !wrapped && !unwrapped:
		return f.as("killed", tuner.ReasonTransient, "Something outside killed the server, and nothing proves that it was for lack of memory: see the kernel's log (dmesg), the container's limits, and who else kills processes here.").again()
	case signal == "SIGILL":
		s := signatureByID("cpu_instruction")
		return f.as(s.ID, tuner.Reason(s.Class), s.Hint)
	case signal == "SIGSEGV" || signal == "SIGFPE":
		return f.as("segfault", tuner.ReasonTransient, "The server crashed in compiled code: once more; if it crashes again, this combination of kernels does not work here.").again()
	case signal == "SIGBUS":
		return f.as("bus_error", tuner.ReasonEnvironment, "A bus error mostly means that /dev/shm is too small or full: give the container more (--shm-size=16g or --ipc=host), and remove segments that nobody uses.").again()
	case signal == "SIGABRT" && !unwrapped:
		return f.as("abort", tuner.ReasonTransient, "The server gave up in compiled code, often in NCCL: see the last lines of each rank.").again()
	case (signal == "SIGTERM" || signal == "SIGINT" || signal == "SIGHUP") && !wrapped && !unwrapped:
		return f.as("killed", tuner.ReasonTransient, "Something outside ended the server with "+signal+".").again()
	case e.ExitCode == 0 && signal == "" && !wrapped:
		return f.as("exited", tuner.ReasonUnknown, "The server ended without an error.")
	case e.ExitCode == 2 && !started && log.phase != tuner.PhaseServe:
		f.Phase = tuner.PhaseFlags
		return log.blame(f.as("exit_flags", tuner.ReasonUser, "The command line was refused (exit status 2): see the last line."), nil, f.Evidence)
	case unwrapped && !started && foreignCode(exception, log.origin(raised.at)):
		if log.phase != tuner.PhaseServe {
			f.Phase = tuner.PhaseInit
		}
		return f.as("package_versions", tuner.ReasonEnvironment, "A package beside the engine lacks what the engine calls, so their versions do not belong together: install the version that this engine's release asks for.")
	case unwrapped && log.phase == tuner.PhaseServe && refusedByCode(exception, log.origin(raised.at)):
		return f.as("check_failed", tuner.ReasonInfeasible, "A check in the engine's own code failed under load, as it would again: the frame above names the part; turn the feature off that it belongs to, or take another backend.")
	case log.phase == tuner.PhaseServe || log.phase == tuner.PhaseBench:
		return f.as("died_serving", tuner.ReasonInfeasible, "The server died under load for a reason that is not known: fewer requests at once, or less memory for the KV cache, may keep it alive.")
	case unwrapped && refuses(exception):
		if f.Phase == tuner.PhaseUnknown {
			f.Phase = tuner.PhaseFlags
		}
		return log.blame(f.as("rejected", tuner.ReasonInfeasible, "The engine's own checks refused this configuration: the line says why."), nil, exception)
	case started:
		return f.as("died_loading", tuner.ReasonTransient, "The server died while starting for a reason that is not known: once more, then it counts.").again()
	case e.ExitCode == 126 || e.ExitCode == 127:
		return f.as("exited", tuner.ReasonEnvironment, fmt.Sprintf("The command could not be run (exit status %d): install the engine, or say in command: how it is started.", e.ExitCode))
	}
	why := "without saying why"
	if exception != "" {
		why = "by the exception that the line names"
	}
	return f.as("exited", tuner.ReasonTransient, fmt.Sprintf("The server ended before it began to load (exit status %d) %s: once more, then it counts.", e.ExitCode, why)).again()
}

func (f Finding) as(signature string, reason tuner.Reason, hint string) Finding {
	f.Signature, f.Reason, f.Hint = signature, reason, hint
	return f
}

func (f Finding) again() Finding {
	f.Retry = true
	return f
}

// closingWords end a report of a failure: its cause, if the log has it, stands above them.
var closingWords = []string{"EngineDeadError", "nitialization failed. See", "sigquit", "SIGQUIT", "already dead", "Engine loop is not running"}

// runningWithoutCause judges a server that has said that it is dead and has not ended. A report that has only begun is left to end first.
func (log *engineLog) runningWithoutCause(hits []hit) Finding {
	closed := slices.ContainsFunc(hits, func(h hit) bool {
		return h.signature.Class == "wrapper" && slices.ContainsFunc(closingWords, func(w string) bool { return strings.Contains(h.line.text, w) })
	})
	if !closed {
		return Finding{Phase: log.phase, Reason: tuner.ReasonUnknown}
	}
	f := Finding{Phase: log.phase}
	if f.Evidence = log.exception().text; f.Evidence == "" {
		f.Evidence = log.lastWords()
	}
	if log.phase == tuner.PhaseServe {
		return f.as("died_serving", tuner.ReasonInfeasible, "The engine died under load and left its front end behind: fewer requests at once may keep it alive.")
	}
	return f.as("died_loading", tuner.ReasonTransient, "The engine died while starting and left its front end behind: once more, then it counts.").again()
}

// refusalError is how Python code refuses what it is given.
var refusalError = regexp.MustCompile(`(?:^|\.)(?:ValueError|AssertionError|NotImplementedError|TypeError|KeyError|AttributeError|RuntimeError|ValidationError|ArgumentError|Exception)\b`)

// passing are words of what may go well another time: another process, the network or the device, whatever the exception's type.
var passing = regexp.MustCompile(`(?i)cuda (?:error|failure)|hip error|nccl|gloo|rccl|driver|time?d? ?out|connection|socket|broken pipe|unavailable|\btcpstore\b|c10d|\bto the store\b`)

// refuses tells whether an exception is a check of the engine's that would refuse the same configuration again.
func refuses(exception string) bool {
	return refusalError.MatchString(exception) && !passing.MatchString(exception)
}

// wrapperWords are in exceptions that only pass on that another process failed.
var wrapperWords = []string{"Engine core initialization failed", "EngineCore encountered", "EngineDeadError", "WorkerProc initialization failed", "See root cause above", "RequestValidationError",
	"KeyboardInterrupt", "SystemExit", "CancelledError", "Engine process failed to start", "GeneratorExit", "HTTPException", "ClientDisconnect", "EOFError", "returned non-zero exit status"}

// raised is an exception in a log.
type raised struct {
	text string
	at   int  // the index of its line
	own  bool // it is more than a wrapper
}

// exception finds the exception that began it: the first that nobody outlived, else the last (a served request may fail, and not end the server).
// What only passes on that another process failed comes after all others.
func (log *engineLog) exception() raised {
	if log.raised == nil {
		r := log.findException()
		log.raised = &r
	}
	return *log.raised
}

func (log *engineLog) findException() raised {
	var found, outlived []raised
	ready, alive := log.readyAt >= 0 || log.evidence.Ready, log.lastLife()
	for i := max(0, log.readyAt); i < len(log.evidence.Lines); i++ {
		if !strings.Contains(log.evidence.Lines[i], tracebackHead) {
			continue
		}
		switch r, ok := log.tracebackEnd(i); {
		case !ok:
		case ready && (i < alive || log.ofRequest(i)):
			outlived = append(outlived, r)
		default:
			found = append(found, r)
		}
	}
	slices.Reverse(outlived)
	found = append(found, outlived...)
	if len(found) == 0 {
		if found = log.bareExceptions(); ready {
			slices.Reverse(found)
		}
	}
	for _, r := range found {
		if !passesOn(r.text) && !log.echoAt(r.at) {
			return raised{shorten(r.text), r.at, true}
		}
	}
	if len(found) > 0 {
		return raised{shorten(found[0].text), found[0].at, false}
	}
	return raised{at: -1}
}

// passesOn tells an exception that only says that another process failed.
func passesOn(exception string) bool {
	return slices.ContainsFunc(wrapperWords, func(w string) bool { return strings.Contains(exception, w) })
}

// echoAt tells whether a line says only what a rank sees of the one that failed.
func (log *engineLog) echoAt(at int) bool {
	if log.echoes == nil {
		log.echoes = map[int]bool{}
		for _, h := range log.hits {
			if before, seen := log.echoes[h.at]; h.signature.cause() && (!seen || before) {
				log.echoes[h.at] = h.echo()
			}
		}
	}
	return log.echoes[at]
}

// bareExceptions are lines near the end that have the form of an exception, and no traceback: some logs keep only those.
func (log *engineLog) bareExceptions() (found []raised) {
	for i := max(0, log.readyAt, len(log.evidence.Lines)-nearby); i < len(log.evidence.Lines); i++ {
		for _, part := range clean(log.evidence.Lines[i]) {
			if l := readLine(part); exceptionLine.MatchString(l.text) && !l.harmless() && !log.isIgnored(i, l) {
				found = append(found, raised{text: strings.TrimSpace(l.text), at: i})
			}
		}
	}
	return found
}

// tracebackEnd is the exception of the traceback that begins at a line; of a chain, the last of the same process.
func (log *engineLog) tracebackEnd(at int) (end raised, ok bool) {
	head := readLine(clean(log.evidence.Lines[at])[0])
	if head.level == levelWarning || head.level == levelInfo {
		return raised{at: -1}, false
	}
	signed := false  // its lines carry their process, so that another's may stand between
	chained := false // a further traceback belongs to it
	for i := at + 1; i < min(len(log.evidence.Lines), at+2*deepTraceback); i++ {
		parts := clean(log.evidence.Lines[i])
		l := readLine(parts[len(parts)-1])
		signed = signed || l.source != "" && l.source == head.source
		chained = chained || strings.HasPrefix(l.text, "During handling of") || strings.HasPrefix(l.text, "The above exception")
		switch {
		case end.text != "" && !signed && l.source != "" && l.source != head.source:
			return end, !log.isIgnored(i-1, logLine{text: end.text})
		case head.source != "" && l.source != "" && l.source != head.source:
			continue // another process speaks between
		case strings.Contains(l.text, tracebackHead):
			if end.text != "" && !chained {
				return end, !log.isIgnored(i-1, logLine{text: end.text})
			}
			chained = false
		case exceptionLine.MatchString(l.text):
			end = raised{text: strings.TrimSpace(l.text), at: i}
		case end.text != "" && l.text == "", chained, indent(l.text) > 0:
		case end.text != "":
			return end, !log.isIgnored(i-1, logLine{text: end.text})
		}
	}
	return end, end.text != ""
}

// lastWords is the last line that says something, an error before others.
func (log *engineLog) lastWords() string {
	last := ""
	for i := len(log.evidence.Lines) - 1; i >= max(0, len(log.evidence.Lines)-200); i-- {
		parts := clean(log.evidence.Lines[i])
		l := readLine(parts[len(parts)-1])
		text := strings.TrimSpace(l.text)
		if text == "" {
			continue
		}
		if l.level == levelError || exceptionLine.MatchString(text) || strings.Contains(text, "error: ") {
			return shorten(text)
		}
		if last == "" {
			last = text
		}
	}
	return shorten(last)
}
