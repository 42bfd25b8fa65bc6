package tuner

import (
	"encoding/json"
	"time"

	"autotune/tuner/metric"
)

// Kind is how a trial ended. The zero Kind is no end at all: the trial is running.
type Kind string

// The kinds of outcomes. These words appear in JSON and never change.
const (
	Running     Kind = ""
	Measured    Kind = "measured"    // a broken SLO is still measured: the goal ranks it below every point that keeps it
	Infeasible  Kind = "infeasible"  // did not start, rejected flags, out of memory, success rate below the gate: kept and learned from
	Invalid     Kind = "invalid"     // the measurement cannot be believed: kept without a value, told to nobody
	Stopped     Kind = "stopped"     // ended early on purpose, with a partial result
	Interrupted Kind = "interrupted" // asked again under its own number
)

// Phase is where in a trial something ended. These words appear in JSON and never change.
type Phase string

// The phases of a trial.
const (
	PhaseFlags   Phase = "flags"   // parsing and validating arguments
	PhaseInit    Phase = "init"    // processes, ports, GPUs, downloads
	PhaseLoad    Phase = "load"    // reading weights
	PhaseProfile Phase = "profile" // sizing the KV cache
	PhaseCapture Phase = "capture" // graphs, compilation, warm-up
	PhaseServe   Phase = "serve"   // after ready
	PhaseBench   Phase = "bench"   // in the load generator
	PhaseUnknown Phase = "unknown"
)

// Phases lists every phase in the order in which a trial goes through them.
var Phases = []Phase{PhaseFlags, PhaseInit, PhaseLoad, PhaseProfile, PhaseCapture, PhaseServe, PhaseBench, PhaseUnknown}

// Reason is the class of a failure. These words appear in JSON and never change.
type Reason string

// The reasons.
const (
	ReasonInfeasible  Reason = "infeasible"  // this combination can never work here
	ReasonMemory      Reason = "memory"      // lack of GPU or host memory: every point that asks for more in the same layout fails too
	ReasonTransient   Reason = "transient"   // clean up and retry once; the second time it counts
	ReasonEnvironment Reason = "environment" // the machine, not the configuration: never told to the sampler
	ReasonUser        Reason = "user"        // the study asks for something impossible
	ReasonCheckpoint  Reason = "checkpoint"  // the checkpoint's files are broken: no flag helps
	ReasonUnknown     Reason = "unknown"     // nothing known explains the end
)

// Outcome is how one trial ended.
type Outcome struct {
	Kind      Kind   `json:"kind"`
	Phase     Phase  `json:"phase,omitempty"`     // infeasible, stopped
	Reason    Reason `json:"reason,omitempty"`    // infeasible
	Signature string `json:"signature,omitempty"` // what was recognised: an id of the failure signatures, or low_success, hang, exit, ...; stopped: the rule
	Rule      string `json:"rule,omitempty"`      // invalid: the rule that the measurement broke
	Evidence  string `json:"evidence,omitempty"`  // the line of the log, or the counts
	Hint      string `json:"hint,omitempty"`      // what helps, as a sentence
	// Share is how much of the run was seen before it was cut short, 0 to 1; 0 for a trial that was not. Beside a measured trial, whose Signature
	// is then a stopper's rule, it is when the trial would have been.
	Share    float64       `json:"share,omitempty"`
	Measured *Measurement  `json:"measurement,omitempty"`
	Run      Run           `json:"run"`
	Warnings []string      `json:"warnings,omitempty"`
	Cost     time.Duration `json:"cost,omitempty"` // from begin to end, on the trial's clock
}

// Run is one launch of a server: what was started and what is known of it.
type Run struct {
	Purpose       string                  `json:"purpose,omitempty"` // search, repeat, confirm, verify
	Argv          []string                `json:"argv,omitempty"`
	Env           []string                `json:"env,omitempty"` // NAME=VALUE that autotune added, secrets redacted
	Additions     []string                `json:"additions,omitempty"`
	EngineVersion string                  `json:"engine_version,omitempty"`
	Host          string                  `json:"host,omitempty"`
	GPUs          []int                   `json:"gpus,omitempty"`
	Log           string                  `json:"log,omitempty"` // path relative to the study file's folder
	Phases        map[Phase]time.Duration `json:"phases,omitempty"`
	Started       time.Time               `json:"started"`
	Ended         time.Time               `json:"ended"`
	Resolved      json.RawMessage         `json:"resolved,omitempty"` // the effective configuration as the engine reports it
	ResolvedKey   string                  `json:"resolved_key,omitempty"`
	Facts         map[string]string       `json:"facts,omitempty"` // read from the log: KV tokens, weights' memory, ...
}

// Measurement is what a workload's run on a server gave. Of a run that was cut short the metrics are what the whole of it would most likely
// have come to (see Verdict.Expected), while the records are those of what was seen.
type Measurement struct {
	Workload   string             `json:"workload"`
	Identity   string             `json:"identity"` // what is asked: only equal ones are compared
	Sent       string             `json:"sent"`     // hash of what was sent, for reproducing
	Repeat     int                `json:"repeat"`
	Clock      metric.Clock       `json:"clock"`
	Share      float64            `json:"share"` // how much of the run was seen: 1 is all of it
	Metrics    map[string]float64 `json:"metrics"`
	Records    []metric.Record    `json:"-"`
	ServerSide map[string]float64 `json:"server_side,omitempty"` // growth of the server's own counters over the run
	// Gauges are what the server said of itself meanwhile; nil when it was not asked or did not tell.
	Gauges *metric.Gauges `json:"gauges,omitempty"`
	// Also are the study's other workloads on the same launch, in the order in which they were measured.
	Also []*Measurement `json:"also,omitempty"`
}

// Of is the measurement of a workload on this launch; nil when it was not measured. Empty stands for the first.
func (m *Measurement) Of(workload string) *Measurement {
	if m == nil || workload == "" || m.Workload == workload {
		return m
	}
	for _, other := range m.Also {
		if other.Workload == workload {
			return other
		}
	}
	return nil
}

// All are the measurements of a launch, in the order in which they were made.
func (m *Measurement) All() []*Measurement {
	if m == nil {
		return nil
	}
	return append([]*Measurement{m}, m.Also...)
}
