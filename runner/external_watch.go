package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"autotune/runner/bench"
	"autotune/runner/internal/proc"
	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// attend waits for the tool's end. The tool says nothing before it, so that the server's own counters tell how it gets on: every second they are looked
// at and reported. When for the hang timeout nothing of them moves, the server hangs if it says that requests are under way; if it says that it is idle, or
// says nothing at all, it is asked for a completion. The error says what else ended it.
func (a *attempt) attend(ctx context.Context, done <-chan struct{}, before map[string]float64, progress *atomic.Int64, result *load.Result) error {
	tick := time.NewTicker(witnessEvery)
	defer tick.Stop()
	var g metric.Gauges
	defer func() {
		if len(g.At) > 0 {
			a.gauges = &g
		}
	}()
	start := time.Now()
	moved, last := start, ""
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		grown, look, answered := a.lookAtServer(ctx, before, time.Since(start))
		if answered {
			g.Add(look)
		}
		busy := before != nil && (!answered || look.Running+look.Waiting > 0)
		now := fmt.Sprint(grown, look.Running, look.Waiting, look.KVUse)
		if !busy || now != last && answered {
			progress.Add(1)
		}
		switch {
		case answered && now != last:
			moved, last = time.Now(), now
		case time.Since(moved) < a.Timeouts.Hang:
		case busy:
			return fmt.Errorf("%w: requests are under way, and the server has counted nothing for %v", errSilent, a.Timeouts.Hang)
		default:
			if err := a.askIdle(ctx, done, before); err != nil {
				return err
			}
			moved = time.Now()
		}
		if v := a.tell(a.standing(grown, time.Since(start))); v.Stop {
			a.verdict, result.Ending, result.Stopped = v, load.Stopped, v.Reason
			return nil
		}
	}
}

// askIdle asks a server for a completion that counts nothing and does not say that requests are under way. The tool may be slow; but an engine that hangs tells
// its front of no request any more, and then seems idle. What it counts of the question is added to before, so that it is not the tool's.
func (a *attempt) askIdle(ctx context.Context, done <-chan struct{}, before map[string]float64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-done:
			cancel(errToolEnded)
		case <-ctx.Done():
		}
	}()
	was := a.counters(ctx)
	err := a.probe(ctx)
	switch {
	case errors.Is(context.Cause(ctx), errToolEnded):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	}
	if was != nil && before != nil {
		for name, n := range grownBy(was, a.counters(ctx)) {
			before[name] += min(n, questionCounts(name)) // what is above it the tool has begun to send
		}
	}
	return nil
}

// questionCounts is the most that one question of load.Probe adds to a counter: a token for each of its 19 letters at the utmost, and one at its start.
func questionCounts(counter string) float64 {
	switch {
	case counter == generated:
		return 4
	case strings.HasPrefix(counter, "num_") || strings.HasPrefix(counter, "request_"):
		return 1
	default:
		return 20
	}
}

var errToolEnded = errors.New("the tool has ended")

// lookAtServer gives by how much the server's counters have grown, and how it stands, if it answers. Before is nil for a server that does not tell.
func (a *attempt) lookAtServer(ctx context.Context, before map[string]float64, at time.Duration) (grown map[string]float64, look metric.Gauge, answered bool) {
	if before == nil {
		return nil, look, false
	}
	text, err := a.get(ctx, "/metrics")
	if err != nil {
		return nil, look, false
	}
	prefix := a.plan.Engine.Name + ":"
	return grownBy(before, readCounters(string(text), prefix)), readGauge(string(text), prefix, before, at), true
}

// standing is how the measurement stands by the server's counters.
func (a *attempt) standing(grown map[string]float64, elapsed time.Duration) tuner.Partial {
	done := min(int(grown[finishedCounter(grown)]), a.Workload.Requests)
	return tuner.Partial{Phase: a.phase, Elapsed: elapsed, Done: done, Total: a.Workload.Requests, Share: float64(done) / float64(a.Workload.Requests),
		Workload: a.Workload.Name, Measured: a.sofar(nil), GPUs: a.GPUs}
}

// takeResult reads what the tool has written. The file has the word, not the exit status: tools end well after runs of failures alone, and badly after
// good ones.
func (a *attempt) takeResult(ctx context.Context, job bench.Job, exit proc.Exit, lines []string, before map[string]float64) error {
	tool := a.External.Tool
	text, err := readResult(tool.Result(job))
	if err != nil {
		evidence := fmt.Sprintf("%s ended with %v and %v%s", tool.Title, exit, err, lastWordsOf(lines))
		a.growth(ctx, before, 0)
		if a.untouched() {
			return toolFault{"bench_tool", evidence + "; it has sent nothing", byHand}
		}
		a.refused = &bench.Refusal{Rule: "no_result", Evidence: evidence}
		return nil
	}
	told, err := tool.Read(text, a.asked(job))
	if err == nil && a.forced > 0 {
		a.refused = told.Forced(a.forced)
	}
	if errors.As(err, &a.refused) || a.refused != nil {
		a.growth(ctx, before, 0)
		return nil
	}
	if err != nil {
		return err
	}
	bench.PerGPU(told.Metrics, a.GPUs)
	if a.refused = a.External.lacking(told, job.Spec.Name); a.refused != nil {
		a.growth(ctx, before, 0)
		return nil
	}
	a.told = &told
	a.growth(ctx, before, int(told.Metrics["output_tokens"]))
	for _, warning := range told.Warnings {
		a.warn("%s: %s", tool.Name, warning)
	}
	if exit.Code != 0 {
		a.warn("%s ended with %v after it had written its result%s", tool.Title, exit, lastWordsOf(lines))
	}
	return nil
}

// lacking refuses a result without a figure that the study is about; nil when it has them all.
func (x *External) lacking(told bench.Result, workload string) *bench.Refusal {
	for _, name := range x.Needs[workload] {
		if _, there := told.Metrics[name]; !there {
			return &bench.Refusal{Rule: "missing", Evidence: fmt.Sprintf("the file has no %s, which the study is about: the tool has not measured it, or it is undefined in this run", name)}
		}
	}
	return nil
}

func (a *attempt) asked(job bench.Job) bench.Asked {
	return bench.Asked{Requests: job.Spec.Requests, OutputTokens: job.Spec.OutputTokens, Gate: a.Gate}
}

// leftWhole tells whether there is a result that can be believed.
func (a *attempt) leftWhole(job bench.Job) bool {
	text, err := readResult(a.External.Tool.Result(job))
	if err != nil {
		return false
	}
	_, err = a.External.Tool.Read(text, a.asked(job))
	return err == nil
}

// untouched tells whether the server has seen nothing of the tool for certain.
func (a *attempt) untouched() bool {
	if a.grown == nil {
		return false
	}
	for _, v := range a.grown {
		if v != 0 {
			return false
		}
	}
	return a.gauges == nil || metric.Mean(a.gauges.Running)+metric.Mean(a.gauges.Waiting) == 0
}

// readResult reads what the tool has left; the error goes on a sentence.
func readResult(path string) ([]byte, error) {
	text, err := bench.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("left no %s", filepath.Base(path))
	case errors.Is(err, bench.ErrFolder), errors.Is(err, bench.ErrNoFile):
		return nil, fmt.Errorf("what it left as %s is no file that can be read", filepath.Base(path))
	}
	return text, err
}

// tracebackEnd is the last line of a Python traceback: what was wrong. Tools go on printing after it.
var tracebackEnd = regexp.MustCompile(`^[A-Za-z_][\w.]*(Error|Exception): \S`)

// lastWordsOf is the last error that a tool's output names, else its last line, for the end of a sentence.
func lastWordsOf(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if tracebackEnd.MatchString(line) {
			return "; its last error: " + line
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "; its last line: " + lines[len(lines)-1]
}

// versionLimit bounds how long a tool may take to say its version: some import all of themselves first, which takes half a minute.
const versionLimit = 2 * time.Minute

// toolVersion asks the tool for its version, once; empty when it does not tell.
func (a *attempt) toolVersion() string {
	v := a.Runner.version
	v.Do(func() {
		argv := a.External.Tool.VersionCommand(a.External.Command)
		if argv == nil {
			return
		}
		p, err := a.startTool(argv, filepath.Join(a.Logs, a.folder, "bench-version.log"))
		if err != nil {
			return // the measurement says it better
		}
		timer := time.NewTimer(versionLimit)
		defer timer.Stop()
		select {
		case <-p.Done():
		case <-timer.C:
		case <-a.server.Done():
		}
		if err := p.Stop(toolGrace); err == nil && p.Exit().Code == 0 {
			v.text = findVersion(p.Log().Lines())
		}
	})
	return v.text
}

// version is that of the tool, once it was asked for.
type version struct {
	sync.Once
	text string
}

var versionText = regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+-]*`)

// findVersion is the last thing in a tool's output that looks like a version.
func findVersion(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if all := versionText.FindAllString(line, -1); len(all) > 0 {
			return strings.TrimRight(all[len(all)-1], ".")
		}
	}
	return ""
}
