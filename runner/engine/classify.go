package engine

import (
	"cmp"
	"slices"
	"strings"

	"autotune/tuner"
)

// Evidence is what is known of a server's end.
type Evidence struct {
	Engine string   // vllm, sglang; empty: any
	Lines  []string // stdout and stderr as they came; the kernel's log may follow
	// Phase is the last one known to the caller; lines may say more.
	Phase    tuner.Phase
	Running  bool   // the process has not ended: judge by the lines alone
	ExitCode int    // 128+n for signal n, or n negative
	Signal   string // SIGKILL, ...; empty when it exited by itself
	Ready    bool   // it answered a completion
	// ServedRequests says that requests of the workload were answered.
	ServedRequests bool
	// Searched are the settings that the study varies, as this trial has them: what is refused because of one of them is that value's
	// fault, and infeasible; what is refused otherwise is the study's or the machine's fault. Nil: unknown.
	Searched []Setting
}

// Move says which way a flag should go to avoid a failure.
type Move struct {
	Flag  string `json:"flag"`
	Move  string `json:"move"` // up, down, smaller, on, leave out, exclude, other, set
	Value string `json:"value,omitempty"`
}

// Finding is the verdict on a server's end.
type Finding struct {
	Phase     tuner.Phase
	Reason    tuner.Reason
	Signature string // id of the signature, or exit_flags, rejected, killed, segfault, bus_error, abort, died_loading, died_serving, exited
	Evidence  string // the line
	Hint      string // what helps, as a sentence
	Retry     bool   // clean up and try once more before it counts
	RetryEnv  []string
	Moves     []Move
}

// Found tells whether something known explains the end.
func (f Finding) Found() bool { return f.Signature != "" && f.Reason != tuner.ReasonUnknown }

// Classify finds the cause of a server's end: by what went wrong, on the rank that failed first, whatever the wrappers around it say.
// A server that still runs is condemned only by a line after which nobody serves on.
func Classify(e Evidence) Finding {
	log := readLog(e)
	hits := log.relevant()
	if e.Running && !condemned(hits) {
		return Finding{Phase: log.phase, Reason: tuner.ReasonUnknown}
	}
	if h := log.cause(hits, killed(e)); h != nil {
		return log.finding(h)
	}
	if e.Running {
		return log.runningWithoutCause(hits)
	}
	return log.ending(hits)
}

// hit is a line that a signature knows.
type hit struct {
	at        int // index of the line
	line      logLine
	signature *signature
	strong    bool
}

// echo tells whether the line only says that another process failed.
func (h hit) echo() bool {
	return h.signature.Echo || h.signature.ID == "sgl_capture_other" && strings.Contains(h.line.text, "gloo")
}

// condemned tells whether the lines say that a running server will not serve on. Words of failure in a log record that is no error do not.
func condemned(hits []hit) bool {
	return slices.ContainsFunc(hits, func(h hit) bool { return h.strong && h.signature.Fatal })
}

// cause picks the line that names the cause; nil: none does, or what the engine's own code refused says it better.
func (log *engineLog) cause(hits []hit, wasKilled bool) *hit {
	h := first(hits, wasKilled)
	if h != nil && h.echo() && log.explainedBefore(h.at) {
		return nil
	}
	return h
}

// Lines of one failure stand this close together.
const nearby = 80

// first picks the cause: the earliest line that names one, or the most telling of those around it. What other ranks say of the one that failed
// counts when nothing else is known, and a log record that is no error when there is no error.
func first(hits []hit, wasKilled bool) *hit {
	rounds := []func(hit) bool{
		func(h hit) bool { return h.strong && !h.echo() },
		func(h hit) bool { return !h.echo() && !h.signature.Fatal },
		func(h hit) bool { return h.strong },
		func(hit) bool { return true },
	}
	for _, round := range rounds {
		var causes []hit
		for _, h := range hits {
			if h.signature.cause() && round(h) {
				causes = append(causes, h)
			}
		}
		if len(causes) > 0 {
			return mostTelling(causes, wasKilled)
		}
	}
	return nil
}

func mostTelling(causes []hit, wasKilled bool) *hit {
	earliest := causes[0]
	best := 0
	for i, h := range causes {
		near := h.at-earliest.at <= nearby && (h.line.source == earliest.line.source || h.line.source == "" || earliest.line.source == "")
		// The kernel's log follows the engine's, and is the only proof that the host ran out of memory.
		proof := wasKilled && h.signature.ID == hostMemory && causes[best].signature.Priority > 1
		if near && h.signature.Priority < causes[best].signature.Priority || proof {
			best = i
		}
	}
	return &causes[best]
}

const hostMemory = "host_oom_kernel"

// engineLog is a log as far as it has been understood.
type engineLog struct {
	evidence Evidence
	hits     []hit
	phases   []phaseChange
	phase    tuner.Phase  // the last one
	readyAt  int          // index of the line that says so, -1: none
	echoes   map[int]bool // lines that name a cause: whether they only echo one; nil: not asked for yet
	raised   *raised      // what exception has found; nil: not asked for yet
	aliveAt  int          // 1 + the last line of a living engine, once it has been asked for
}

type phaseChange struct {
	at    int
	phase tuner.Phase
}

// readLog goes through the lines once.
func readLog(e Evidence) *engineLog {
	log := &engineLog{evidence: e, readyAt: -1, phase: e.Phase}
	var definitions []*Definition
	for _, d := range catalog() {
		if e.Engine == d.Name || e.Engine == "" {
			definitions = append(definitions, d)
		}
	}
	book, seen := signatures(), make([]int, len(signatures().signatures))
	last := tuner.Phase("")
	for i, raw := range e.Lines {
		for _, d := range definitions {
			if p, ok := d.Marker(raw); ok && later(p, last) {
				last = p
				log.phases = append(log.phases, phaseChange{i, p})
				if p == tuner.PhaseServe {
					log.readyAt = i
				}
			}
		}
		var candidates []int
		book.words.find(raw, func(id int) {
			if seen[id] != i+1 {
				seen[id] = i + 1
				candidates = append(candidates, id)
			}
		})
		if strings.IndexByte(raw, 0x1b) >= 0 { // colours may stand within words
			book.words.find(escapes.ReplaceAllString(raw, ""), func(id int) {
				if seen[id] != i+1 {
					seen[id] = i + 1
					candidates = append(candidates, id)
				}
			})
		}
		if len(candidates) > 0 {
			log.match(i, raw, candidates)
		}
	}
	if last != "" && !(e.Ready && last != tuner.PhaseServe) {
		log.phase = last
	}
	if e.Ready || e.ServedRequests {
		log.phase = tuner.PhaseServe
	}
	if log.phase == "" {
		log.phase = tuner.PhaseUnknown
	}
	return log
}

// match adds the signatures that a line really matches.
func (log *engineLog) match(at int, raw string, candidates []int) {
	for _, part := range clean(raw) {
		line := readLine(part)
		if line.harmless() || log.isCode(at, line) || log.isIgnored(at, line) {
			continue
		}
		if line.source == "" && !line.stamped {
			line.source = log.sourceAbove(at)
		}
		for _, id := range candidates {
			s := signatures().signatures[id]
			if s.Engine == "bench" && log.evidence.Engine != "" && log.evidence.Engine != "bench" || !s.matches(line.text) || s.frame != nil && !log.inFrame(at, s.frame) || s.noFrame != nil && log.inFrame(at, s.noFrame) {
				continue
			}
			log.hits = append(log.hits, hit{at: at, line: line, signature: s, strong: line.strong()})
		}
	}
}

// relevant are the hits in order, without those that were survived: what came before the server said that it is ready did not end it.
// Only when nothing came after do they count, since the streams of a server that has ended may have been joined in another order.
func (log *engineLog) relevant() []hit {
	slices.SortStableFunc(log.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.signature.Priority, b.signature.Priority),
			cmp.Compare(log.foreign(a.signature), log.foreign(b.signature)), cmp.Compare(a.signature.order, b.signature.order))
	})
	// A client's bad request may sound like a bad flag, or like a model that does not exist.
	log.hits = slices.DeleteFunc(log.hits, func(h hit) bool { return log.readyAt >= 0 && h.at > log.readyAt && h.signature.beforeReady() })
	after := slices.DeleteFunc(slices.Clone(log.hits), func(h hit) bool { return h.at < log.readyAt })
	if log.evidence.Running || slices.ContainsFunc(after, func(h hit) bool { return h.signature.cause() }) {
		return after
	}
	return log.hits
}

// foreign is 1 for another engine's words.
func (log *engineLog) foreign(s *signature) int {
	if e := log.evidence.Engine; e != "" && s.Engine != e && s.Engine != "any" && s.Engine != "host" {
		return 1
	}
	return 0
}

// later tells whether phase p comes after q in a trial.
func later(p, q tuner.Phase) bool {
	return q == "" || slices.Index(tuner.Phases, p) > slices.Index(tuner.Phases, q)
}
