package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"autotune/runner/bench"
	"autotune/runner/engine"
	"autotune/runner/load"
	"autotune/runner/place"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// attempt is one launch of a server for a trial.
type attempt struct {
	*Runner
	trial   tuner.Trial
	plan    Plan
	Traffic                      // that is being sent, or was sent last
	before  []*tuner.Measurement // what the workloads before it gave
	observe func(tuner.Partial) tuner.Verdict
	folder  string // of the log, below Logs
	name    string // under which the server serves the model: nobody else's
	hidden  secrets
	news    *news
	client  *http.Client
	server  place.Server
	target  load.Target
	phase   tuner.Phase
	since   time.Time // begin of the phase
	ready   bool
	sending
	repeat int                // of the workload on this launch: each has content of its own
	found  *tuner.Measurement // what a search for a rate has come to, its other probes beside it; nil without one
	doubt  doubt              // why that is not believed
	tried  *tuner.Measurement // the probes of a search that found no rate, since the server ended or fails at all of them
	left   bool               // that search was given up, since the rate to beat did not hold
	facts  map[string]string  // of the tool, for the record
	out    tuner.Outcome      // what is known so far
}

// sending is what is known of the workload that is being sent, or was sent last.
type sending struct {
	grown    map[string]float64 // growth of the server's counters over the measurement
	gauges   *metric.Gauges     // what the server said of itself meanwhile
	verdict  tuner.Verdict      // what has ended the measurement early; zero for nothing
	pace     []metric.Event     // generated tokens by report, and streamed their sum
	streamed int
	forced   int            // tokens that the benchmark tool's file of requests forces on all answers; 0: there is none
	told     *bench.Result  // what the benchmark tool gave; nil without one
	refused  *bench.Refusal // why what it gave is no measurement
}

func (r *Runner) newAttempt(t tuner.Trial, plan Plan, observe func(tuner.Partial) tuner.Verdict, notes []string) (*attempt, error) {
	if plan.Engine == nil {
		return nil, fmt.Errorf("planning trial %d: no engine is named", t.Number)
	}
	folder, launch, err := r.newFolder(t.Number)
	if err != nil {
		return nil, err
	}
	a := &attempt{Runner: r, trial: t, plan: plan, observe: observe, folder: folder, hidden: findSecrets(r.Environ, plan), news: newNews(plan.Engine),
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, phase: tuner.PhaseFlags, since: r.Now()}
	a.name = fmt.Sprintf("autotune-%.8s-%d-%d", r.StudyID, t.Number, launch)
	a.out.Warnings = slices.Clone(notes)
	a.out.Run = tuner.Run{Purpose: "search", Host: r.Host, Started: a.since, Phases: map[tuner.Phase]time.Duration{},
		Log: filepath.Join(filepath.Base(r.Logs), folder, logName)}
	return a, nil
}

const logName = "engine.log"

// newFolder makes the folder of a launch: NNNN-RUN, the first RUN that is not there yet, so that no earlier log is ever overwritten.
func (r *Runner) newFolder(number int) (folder string, launch int, err error) {
	if err := os.MkdirAll(r.Logs, 0o755); err != nil {
		return "", 0, fmt.Errorf("making the folder of the engines' logs: %w", err)
	}
	for launch = 1; ; launch++ {
		folder = fmt.Sprintf("%04d-%d", number, launch)
		err := os.Mkdir(filepath.Join(r.Logs, folder), 0o755)
		if err == nil {
			return folder, launch, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", 0, fmt.Errorf("making the folder of a launch's log: %w", err)
		}
	}
}

// run carries the launch out and leaves its outcome in out; nothing that it started is left when it returns. The finding says what a failure was.
func (a *attempt) run(ctx context.Context) (engine.Finding, error) {
	if err := a.start(ctx); err != nil {
		return a.notStarted(ctx, err)
	}
	defer func() { _ = a.server.Stop(0) }() // should anything panic; else it has long been stopped
	why := a.awaitReady(ctx)
	var result load.Result
	if why == nil {
		result, why = a.serveAll(ctx)
	}
	lines := a.server.Lines() // before the lines of a stop that is not its own
	gone := closed(a.server.Done())
	a.enter(a.phase)
	stopErr := a.server.Stop(a.Timeouts.Stop)
	a.out.Run.Ended = a.Now()
	if a.out.Run.Facts = a.news.allFacts(); a.facts != nil {
		maps.Copy(a.facts, a.out.Run.Facts)
		a.out.Run.Facts = a.facts
	}
	if a.out.Run.Resolved == nil {
		a.out.Run.Resolved = a.news.logged()
	}
	if gone {
		lines = a.server.Lines() // its last words may have come meanwhile
	}
	finding, err := a.judge(ctx, why, result, lines)
	if a.tried != nil && a.out.Kind == tuner.Infeasible {
		a.out.Measured = a.tried
	}
	if left, ok := place.Unkillable(stopErr); ok {
		return finding, a.unkillable(left)
	}
	if stopErr != nil {
		a.warn("stopping the server: %v", stopErr)
	}
	return finding, err
}

// unkillable is the machine's fault whatever the trial has shown: the next server would find no memory.
func (a *attempt) unkillable(left []string) error {
	o := a.out
	o.Kind, o.Phase, o.Reason, o.Signature = tuner.Infeasible, a.phase, tuner.ReasonEnvironment, tuner.SignatureUnkillable
	o.Evidence = "processes of the engine outlive SIGKILL: " + strings.Join(left, ", ")
	o.Hint = "they hang in a driver and hold their GPUs; restart the machine, then resume"
	return &tuner.MachineError{Outcome: o}
}

// start launches the server.
func (a *attempt) start(ctx context.Context) (err error) {
	a.server, err = a.Place.Start(ctx, place.Job{
		ID: a.prefix + a.folder, Command: a.command, Log: filepath.Join(a.Logs, a.folder, logName),
		Redact: a.hidden.redact, OnLine: a.news.line, Grace: a.Timeouts.Stop,
	})
	if err == nil {
		a.target = load.Target{URL: a.server.Slot().URL(), Model: a.name, APIKey: a.hidden.apiKey}
	}
	return err
}

// command is what the place is to start, and is written down as it is.
func (a *attempt) command(slot place.Slot) place.Command {
	launch := engine.Launch{Executable: a.plan.executable(a.Self), Model: a.plan.Model, ServedName: a.name, Port: slot.Port, InternalPort: slot.InternalPort, Settings: a.plan.Settings}
	argv, additions := a.plan.Engine.Command(launch)
	added := slices.Concat(slot.Env, a.plan.Engine.Env(launch), []string{seedVariable + "=" + TrialSeed(a.Seed, a.trial.Number)}, a.plan.Env)
	a.out.Run.Argv, a.out.Run.Additions = a.hidden.argv(argv), additions
	a.out.Run.Env, a.out.Run.GPUs = a.hidden.env(added), slot.GPUs
	return place.Command{Argv: argv, Env: slices.Concat(a.Environ, added)}
}

// notStarted judges a server that could not even be started.
func (a *attempt) notStarted(ctx context.Context, err error) (engine.Finding, error) {
	a.out.Run.Ended = a.Now()
	switch {
	case ctx.Err() != nil:
		a.out.Kind = tuner.Interrupted
		return engine.Finding{}, nil
	case errors.Is(err, place.ErrPorts):
		a.fail(tuner.PhaseInit, tuner.ReasonEnvironment, "no_ports", err.Error(), "end other programs on these ports")
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		a.fail(tuner.PhaseInit, tuner.ReasonUser, "no_command", err.Error(), fmt.Sprintf("install %s, or say in the spec how it is started: command: [...]", a.plan.Engine.Title))
	default:
		return engine.Finding{}, err
	}
	return engine.Finding{}, nil
}

// enter begins a phase, and adds up the time of the one before.
func (a *attempt) enter(p tuner.Phase) {
	now := a.Now()
	a.out.Run.Phases[a.phase] += now.Sub(a.since)
	a.phase, a.since = p, now
}

// later tells whether a phase comes after another; several ranks report theirs as they get there, and only the first one counts.
func later(p, than tuner.Phase) bool {
	return slices.Index(tuner.Phases, p) > slices.Index(tuner.Phases, than)
}

// tell reports how the launch stands.
func (a *attempt) tell(p tuner.Partial) tuner.Verdict {
	p.Trial, p.Argv, p.Location = a.trial, a.out.Run.Argv, a.out.Run.Log
	return a.observe(p)
}

func (a *attempt) warn(format string, args ...any) {
	a.out.Warnings = append(a.out.Warnings, a.hidden.redact(fmt.Sprintf(format, args...)))
}

func (a *attempt) fail(phase tuner.Phase, reason tuner.Reason, signature, evidence, hint string) {
	o := &a.out
	o.Kind, o.Phase, o.Reason, o.Signature, o.Evidence, o.Hint = tuner.Infeasible, phase, reason, signature, a.hidden.redact(evidence), hint
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
