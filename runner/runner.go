package runner

import (
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"autotune/runner/engine"
	"autotune/tuner"
)

// Runner carries out trials, one at a time.
type Runner struct {
	Config
	prefix  string // of the marks on every process of this study in this folder
	reap    sync.Once
	version *version // of the benchmark tool
}

// How often one trial is launched again within a Run.
const (
	portTries    = 3 // when its ports turn out to be taken: another block each time, and it never counts
	passingTries = 2 // when the failure may be a passing one: the second time it counts
)

// New makes a runner; it starts nothing.
func New(c Config) (*Runner, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("making a runner: %w", err)
	}
	folder, err := filepath.Abs(c.Logs)
	if err != nil {
		return nil, fmt.Errorf("making a runner: %w", err)
	}
	c.Environ = slices.Clone(c.Environ)
	// A copy of a study file has its ID too: what another folder's study runs is none of ours.
	h := fnv.New32a()
	_, _ = h.Write([]byte(folder))
	return &Runner{Config: c, prefix: fmt.Sprintf("%s-%08x-", c.StudyID, h.Sum32()), version: &version{}}, nil
}

// Run implements tuner.Runner: it launches the server, waits until it is ready, drives the workload at it, stops it, and judges. A failure
// that may be a passing one is tried once more before it counts. A *tuner.MachineError says that the machine, the checkpoint or the study
// itself is at fault, and has the outcome as it was seen.
func (r *Runner) Run(ctx context.Context, t tuner.Trial, observe func(tuner.Partial) tuner.Verdict) (tuner.Outcome, error) {
	notes := r.reapOnce()
	plan, err := r.Plan(t)
	if err != nil {
		return tuner.Outcome{}, fmt.Errorf("planning trial %d: %w", t.Number, err)
	}
	began := r.Now()
	simulated := time.Duration(0) // by all launches
	for tries := map[bool]int{}; ; {
		a, err := r.newAttempt(t, plan, observe, notes)
		if err != nil {
			return tuner.Outcome{}, err
		}
		finding, err := a.run(ctx)
		if err != nil {
			return a.out, err
		}
		simulated += a.out.Cost
		if a.out.Cost = simulated; simulated == 0 {
			a.out.Cost = r.Now().Sub(began)
		}
		ports := aboutPorts(finding)
		tries[ports]++
		again := ctx.Err() == nil && a.out.Kind == tuner.Infeasible && (ports && tries[ports] < portTries || finding.Retry && !ports && tries[ports] < passingTries)
		if !again {
			return r.settled(a.out, ports)
		}
		notes = append(notes, fmt.Sprintf("launched again after %s: %s", finding.Signature, finding.Evidence))
		plan.Env = append(slices.Clone(plan.Env), finding.RetryEnv...)
	}
}

// aboutPorts tells whether a failure is that of ports which somebody else has.
func aboutPorts(f engine.Finding) bool {
	return slices.Contains([]string{"port_in_use", "sgl_port_plan", signatureStranger}, f.Signature)
}

// settled turns what is no verdict on the configuration into an error.
func (r *Runner) settled(o tuner.Outcome, ports bool) (tuner.Outcome, error) {
	if o.Kind != tuner.Infeasible {
		return o, nil
	}
	if ports {
		o.Reason = tuner.ReasonEnvironment
		o.Hint = "see which other programs listen on this machine; another range of ports may be free"
	}
	switch o.Reason {
	case tuner.ReasonEnvironment, tuner.ReasonUser, tuner.ReasonCheckpoint:
		return o, &tuner.MachineError{Outcome: o}
	default:
		return o, nil
	}
}

// reapOnce ends, before the first launch, what an earlier process left behind when it was killed.
func (r *Runner) reapOnce() (notes []string) {
	r.reap.Do(func() {
		found, err := r.Place.Reap(r.prefix, r.Timeouts.Stop)
		if len(found) > 0 {
			notes = append(notes, "ended what an earlier run had left behind: "+strings.Join(found, ", "))
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("looking for what an earlier run may have left behind: %v", err))
		}
	})
	return notes
}

// seedVariable tells a simulated engine the seed of its noise: a trial's noise is its own, and the same whenever it is run.
const seedVariable = "AUTOTUNE_TRIAL_SEED"

// TrialSeed is the seed of a trial's noise, made from the study's.
func TrialSeed(study uint64, number int) string {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d/%d", study, number)
	return strconv.FormatUint(h.Sum64(), 10)
}
