package engine

import "autotune/tuner"

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
func Classify(e Evidence) Finding { return Finding{Phase: tuner.PhaseUnknown, Reason: tuner.ReasonUnknown} }
