package studyfile

import (
	"time"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/workload"
)

// Spec is what a person asks for, complete: every default is filled in. It is not changed once Parse has returned it,
// and parsing Text again gives the same Spec.
type Spec struct {
	// Source is the file's name, for messages.
	Source string
	// Text is the spec as its author wrote it.
	Text []byte

	Name string
	// Models holds one checkpoint, or several: then the checkpoint is a dimension.
	Models []string
	// GPUs is how many GPUs a trial may use; 0 is a machine without any.
	GPUs int
	// Plan is what the memory planner is told of the machine and the checkpoints.
	Plan Plan
	Goal tuner.Goal
	// Gate is the success rate, above 0 and at most 1, below which a trial has no score.
	Gate float64
	// Traffic are the workloads, in the order in which a trial measures them: targets, then guards. A relative dataset path is relative to the folder of
	// the spec.
	Traffic []Traffic
	// Engines in the order of the spec.
	Engines []Engine
	// Require holds the rules of the whole study; the engines have their own.
	Require []Rule
	// Sampler is the name of who proposes.
	Sampler string
	// Seed makes every random choice of the study, together with a trial's number.
	Seed uint64
	// StartFrom names earlier study files, whose best configurations are tried early. A relative path is relative to the folder of the spec.
	StartFrom []string
	// Stoppers says what becomes of a running trial that is certainly not worth finishing: StoppersOn, StoppersOff or StoppersReport.
	Stoppers string
	// StopGain ends the study once its model expects less than this share of the best from its own proposals; 0: no such end.
	StopGain float64
	Budget   tuner.Budget
	// Reference names the engine whose baseline gains are counted from; the first engine when the spec does not say.
	Reference string
	// Recipes are configurations that the author wants tried right after the baselines.
	Recipes  []Recipe
	Timeouts Timeouts
	// Records says what is stored of each request: RecordsFull or RecordsRequests.
	Records string
	// Bench is who measures.
	Bench Bench

	places places
}

// Workload is the first workload: that of a study which has only one.
func (s *Spec) Workload() workload.Spec { return s.Traffic[0].Spec }

// What is stored of each request.
const (
	RecordsFull     = "full"     // every token event
	RecordsRequests = "requests" // the requests with their first and last token event alone
)

// Engine is one engine of a spec.
type Engine struct {
	Name string
	// Command starts the engine instead of its own executable; empty for that. The first word "autotune" means this program itself.
	Command []string
	// Version is the release that the spec is for, as 0.17.1; empty for whichever is installed.
	Version string
	// Env is added to the engine's environment, in the order of the spec.
	Env []EnvVar
	// Fixed flags go into every command, the baseline included.
	Fixed []Setting
	// Baseline flags are those of the baseline alone.
	Baseline []Setting
	// Params are the engine's parameters under their full names, ENGINE.FLAG, the fixed ones included and first; conditions are bound.
	Params []space.Param
	// Require holds the engine's own rules, bound to full names.
	Require []Rule
}

// EnvVar is a variable of an engine's environment.
type EnvVar struct{ Name, Value string }

// Setting is a value for a flag, named as the engine names it, without dashes in front.
type Setting struct {
	Flag  string
	Value space.Value
}

// Rule is a rule that the spec adds to those of the engines.
type Rule struct {
	// That must hold for every proposed configuration; its names are bound to full names.
	That *space.Expr
	// Reason is the author's, for people; empty when there is none.
	Reason string
}

// Recipe is a configuration that the author wants tried: the fixed flags, these, and default for everything else.
type Recipe struct {
	Engine     string
	Checkpoint string // empty for the first
	Settings   []Setting
}

// Timeouts bound the phases of a trial.
type Timeouts struct {
	Start   time.Duration // from launch to ready, at most
	Silence time.Duration // without a new line in the log while starting
	Stop    time.Duration // from SIGTERM to SIGKILL
	Hang    time.Duration // without progress while serving
}
