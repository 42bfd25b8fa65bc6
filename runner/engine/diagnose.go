package engine

import (
	"slices"
	"strconv"
	"strings"

	"autotune/tuner"
)

// Verdict is what a diagnosis came to. These words appear in JSON and never change.
type Verdict string

// The verdicts.
const (
	VerdictFailed  Verdict = "failed"         // a cause was found
	VerdictHealthy Verdict = "nothing_failed" // no sign of a failure, or the server was stopped from outside and ended in order
	VerdictUnknown Verdict = "unknown"        // it failed, and nothing known explains it
)

// Fault is who or what has to change. These words appear in JSON and never change.
type Fault string

// The faults.
const (
	FaultConfiguration Fault = "configuration" // another value of a flag
	FaultMachine       Fault = "machine"       // drivers, tools, packages, disks, networks, other processes, access rights
	FaultCheckpoint    Fault = "checkpoint"    // the model's files
	FaultUser          Fault = "user"          // the request itself is impossible: a name, a spelling, a model that the engine does not know
	FaultChance        Fault = "chance"        // the same again may work
	FaultNobody        Fault = "nobody"        // nothing failed
	FaultUnknown       Fault = "unknown"
)

var faults = map[tuner.Reason]Fault{
	tuner.ReasonInfeasible: FaultConfiguration, tuner.ReasonMemory: FaultConfiguration, tuner.ReasonEnvironment: FaultMachine,
	tuner.ReasonCheckpoint: FaultCheckpoint, tuner.ReasonUser: FaultUser, tuner.ReasonTransient: FaultChance,
}

// End is what is known of the end of the process, apart from its log.
type End struct {
	Known  bool
	Code   int    // 128+n for signal n, or n negative
	Signal string // SIGKILL, KILL, ...; empty: none is known
}

// Diagnosis is what a log says about its server's end, for a person.
type Diagnosis struct {
	Verdict Verdict
	Engine  string // vllm, sglang; empty: the log does not say
	Fault   Fault
	Finding
	Proof []Quote // lines of the log, in its order: the cause first by role, not by place
	Note  string  // what else a reader should know of the log, as sentences; may be empty
}

// Diagnose says what happened to the server that wrote a log, with the rules that also judge trials. Without an engine's name the log is
// asked. A log of several starts is judged by the last one, or by the last that failed when the last one has not.
func Diagnose(x Excerpt, engine string, end End) Diagnosis {
	if engine == "" {
		engine = Guess(x.Lines)
	}
	lives := livesOf(x.Lines, engine)
	var last Diagnosis
	for i := len(lives) - 1; i >= 0; i-- {
		l := life{from: lives[i].from, excerpt: x, evidence: Evidence{Engine: engine, Lines: x.Lines[lives[i].from:lives[i].to]}}
		if i == len(lives)-1 {
			l.end = end
		} else {
			l.restarted = true
		}
		d := l.diagnose()
		if i == len(lives)-1 {
			last = d
		}
		if d.Verdict != VerdictHealthy {
			if i < len(lives)-1 {
				d.Note = join(d.Note, "The server was started again after that, at line "+strconv.Itoa(x.Numbers[lives[i+1].from])+".")
			}
			return d
		}
	}
	return last
}

// life is one start of a server, and what came of it.
type life struct {
	excerpt   Excerpt
	from      int // its first line in the excerpt
	evidence  Evidence
	end       End
	restarted bool // another life follows
}

func (l life) diagnose() Diagnosis {
	e := l.evidence
	log := readLog(e)
	hits := log.relevant()
	stop := log.stoppedAt()
	trouble := log.trouble(hits, stop)
	if !l.end.Known && !trouble && stop < 0 && log.endsKilled() {
		l.end = End{Known: true, Signal: "SIGKILL"}
	}
	if l.end.Known {
		e.ExitCode, e.Signal = l.end.Code, l.end.Signal
	} else if trouble {
		e.ExitCode = 1
	}
	log.evidence = e
	signal := endSignal(e)
	asked := signal == "SIGTERM" || signal == "SIGINT" || signal == "SIGHUP"
	if !trouble && (!l.end.Known || signal == "" && e.ExitCode == 0 || asked) {
		return l.healthy(log, stop)
	}
	d := Diagnosis{Engine: e.Engine, Verdict: VerdictFailed}
	if !trouble { // by its exit status alone it failed: what the log says weakly counts
		hits = log.hits
	}
	if stop >= 0 {
		hits = slices.DeleteFunc(slices.Clone(hits), func(h hit) bool { return h.at > stop })
	}
	if h := log.cause(hits, killed(e)); h != nil {
		d.Finding = log.finding(h)
		d.Proof = log.proof(h.at, hits, h.signature)
	} else {
		d.Finding = log.ending(hits)
		at := log.find(d.Evidence)
		if r := log.exception(); r.text == d.Evidence && r.at >= 0 {
			at = r.at // a short exception may stand in other lines, too
		}
		d.Proof = log.proof(at, hits, nil)
		if slices.Contains([]string{"died_loading", "died_serving", "exited"}, d.Signature) {
			d.Verdict = VerdictUnknown
			d.Proof = log.suspects()
		}
	}
	d.Fault = faults[d.Reason]
	if s := signatureByID(d.Signature); s != nil && s.Fault != "" {
		d.Fault = s.Fault
	}
	if d.Verdict == VerdictUnknown {
		d.Fault, d.Reason = FaultUnknown, tuner.ReasonUnknown
		d.Hint = unknownHint
	}
	l.number(d.Proof)
	return d
}

const unknownHint = "Nothing known explains this end. The quoted lines look most like a cause; the first exception of the rank that failed first is the one to search for."

// number turns indices of this life's lines into line numbers of the file.
func (l life) number(proof []Quote) {
	for i := range proof {
		proof[i].Line = l.excerpt.Numbers[l.from+proof[i].Line]
	}
}

// healthy is the diagnosis of a life without trouble.
func (l life) healthy(log *engineLog, stop int) Diagnosis {
	d := Diagnosis{Engine: l.evidence.Engine, Verdict: VerdictHealthy, Fault: FaultNobody, Finding: Finding{Phase: log.phase}}
	switch {
	case stop >= 0 && (log.phase != tuner.PhaseUnknown || d.Engine != ""):
		d.Hint = "The server was asked to stop, and did."
		d.Proof = []Quote{{Line: stop, Text: quoted(log.evidence.Lines[stop]), Role: RoleStop}}
	case log.phase == tuner.PhaseServe:
		d.Hint = "The server became ready, and the log shows no failure after that. If it is gone all the same, something outside ended it: see dmesg for the kernel's memory killer, and the container's limits. --exit-code tells more."
	case log.phase == tuner.PhaseUnknown && !l.restarted:
		d.Verdict, d.Fault, d.Reason = VerdictUnknown, FaultUnknown, tuner.ReasonUnknown
		d.Hint = "The log holds neither a start nor a failure that is known. Give the whole output of the server, stderr too."
		d.Proof = log.suspects()
	default:
		d.Hint = "The log ends in the middle of a start, without a failure. If the server is gone, something outside ended it: see dmesg for the kernel's memory killer, and the container's limits. --exit-code tells more."
	}
	if len(d.Proof) == 0 {
		if at := log.lastMilestone(); at >= 0 {
			d.Proof = []Quote{{Line: at, Text: quoted(log.evidence.Lines[at]), Role: RoleMilestone}}
		}
	}
	l.number(d.Proof)
	return d
}

func join(a, b string) string { return strings.TrimSpace(a + " " + b) }
