package runner

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"autotune/runner/engine"
	"autotune/runner/place"
	"autotune/tuner"
	"autotune/tuner/workload"
)

// Config is all that a Runner goes by. Every field is needed, except where it says otherwise.
type Config struct {
	// Place is where servers are started.
	Place place.Place
	// Plan says how a trial's configuration is launched. An error is autotune's own failure.
	Plan func(tuner.Trial) (Plan, error)

	// Traffic is what each trial is measured with, in this order, all on one launch of the server; the first is always measured.
	Traffic []Traffic
	// ThinRecords keeps of each request no more than its first and last token event.
	ThinRecords bool
	// RateGoal makes each trial a search for the highest rate at which the first workload keeps this goal's bounds; nil: the workloads' own rates.
	RateGoal *tuner.Goal
	// External measures instead of the built-in load generator; nil: nobody does.
	External *External
	// Gate is the success rate, above 0 and at most 1, below which a trial has no score.
	Gate     float64
	Timeouts Timeouts
	// GPUs is how many the study counts with, for the metrics that are meant for one GPU; 0: none.
	GPUs int

	// StudyID and Seed are the study's. The ID, with Logs, marks every process that the study starts.
	StudyID string
	Seed    uint64
	// Logs is the folder of the engines' logs. Outcomes name a log as it lies beside that folder: study.db.d/0007-1/engine.log.
	Logs string
	// Environ is the environment (NAME=VALUE) that servers inherit. Values of secret names reach the servers and nothing else.
	Environ []string
	// Self is autotune's own executable: it stands in for the word autotune at the start of a Plan's command.
	Self string
	Host string // name of this machine, for the record
	Now  func() time.Time
}

// Traffic is one workload as it is sent.
type Traffic struct {
	Workload workload.Spec
	Rows     []workload.Row     // of the dataset's file; none for a random dataset
	Requests []workload.Request // sent instead of what Workload and Rows expand to, when not nil
	FileHash string             // of the dataset's file
}

// Plan is one trial as it is launched.
type Plan struct {
	Engine   *engine.Definition
	Model    string
	Settings []engine.Setting
	// Searched are those of the settings that the study varies.
	Searched []engine.Setting
	// Command starts the engine instead of its own executable; empty for that.
	Command []string
	// Env (NAME=VALUE) is added to the environment.
	Env []string
}

// executable is how the engine is started; the word autotune in front means this program, self. Nil is the engine's own.
func (p Plan) executable(self string) []string {
	words := slices.Clone(p.Command)
	if len(words) > 0 && words[0] == "autotune" {
		words[0] = self
	}
	return words
}

// Timeouts bound the phases of a trial; all are needed. The workload has its own limit.
type Timeouts struct {
	Start   time.Duration // from launch to ready
	Silence time.Duration // without a new line in the log while starting
	Stop    time.Duration // from SIGTERM to SIGKILL
	Hang    time.Duration // without a byte from the server while it owes some
}

func (c Config) validate() error {
	var wrong []error
	need := func(is bool, what string) {
		if !is {
			wrong = append(wrong, errors.New(what))
		}
	}
	need(c.Place != nil, "a place is missing")
	need(c.Plan != nil, "a plan is missing")
	need(c.Now != nil, "a clock is missing")
	need(c.Gate > 0 && c.Gate <= 1, fmt.Sprintf("the gate is %g; allowed is more than 0 and at most 1", c.Gate))
	need(c.StudyID != "" && c.Logs != "" && c.Self != "", "the study's id, the folder of the logs and autotune's own path are needed")
	for name, d := range map[string]time.Duration{"start": c.Timeouts.Start, "silence": c.Timeouts.Silence, "stop": c.Timeouts.Stop, "hang": c.Timeouts.Hang} {
		need(d > 0, fmt.Sprintf("the %s timeout is %v; more than 0 is needed", name, d))
	}
	need(len(c.Traffic) > 0, "a workload is missing")
	need(c.External == nil || c.RateGoal == nil, "a rate is searched for by the built-in load generator alone")
	for _, t := range c.Traffic {
		if err := t.Workload.Validate(); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// Guard is what the hidden command does that place.LocalConfig.Guard names: it waits for the end of the process that started it, and ends the
// server that this one could not end any more. in is its standard input, words are those after the command.
func Guard(in io.Reader, words []string) error { return place.Guard(in, words) }
