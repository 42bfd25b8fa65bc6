package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"autotune/runner/bench"
	"autotune/runner/internal/proc"
	"autotune/runner/load"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// External is a benchmark tool that measures in place of the built-in load generator.
type External struct {
	Tool bench.Tool
	// Command starts it instead of its own program; empty for that. Args are further words at the end.
	Command, Args []string
	// Paths are the workloads' dataset files, by the workload's name.
	Paths map[string]string
	// Needs are the metrics without which a workload's measurement is none, by the workload's name: those of the objective and of its bounds.
	Needs map[string][]string
	// Guard is as in place.LocalConfig.
	Guard []string
}

// toolGrace is what the tool gets between SIGTERM and SIGKILL: its result is not wanted any more.
const toolGrace = 3 * time.Second

// toolFault says that the tool cannot measure anything here: that is no trial's fault.
type toolFault struct{ signature, evidence, hint string }

func (f toolFault) Error() string { return f.evidence }

// callTool lets the tool measure the workload. What it gave is then in a.told, or why that is no measurement in a.refused.
func (a *attempt) callTool(ctx context.Context, o load.Options, before map[string]float64, progress *atomic.Int64) (load.Result, error) {
	x, asked := a.External, o.Spec.Identity(o.FileHash)
	result := load.Result{Clock: metric.Wall, Identity: x.Tool.Identity(asked, x.Args), Ending: load.Complete, Share: 1}
	if o.LawTime {
		return result, toolFault{"law_time", "the server keeps simulated time, and " + x.Tool.Title + " measures real time", "bench: {tool: builtin}, or the fake engine on the wall clock"}
	}
	if a.target.APIKey != "" && x.Tool.KeyVariable == "" {
		return result, toolFault{"api_key", x.Tool.Title + " takes an API key only on its command line, where everybody on the machine can read it", "another tool, or a server without a key"}
	}
	job := bench.Job{Spec: o.Spec, Path: x.Paths[o.Spec.Name], URL: a.target.URL, Model: a.name, Tokenizer: a.plan.Model, Folder: a.toolFolder(), Seed: a.toolSeed(o)}
	argv, err := x.command(job)
	if err != nil {
		return result, toolFault{"bench_tool", err.Error(), "a workload that the tool can send, or bench: {tool: builtin}"}
	}
	rows, sum, err := x.prepare(job, o)
	if err != nil {
		return result, err
	}
	result.Sent, a.forced = x.sent(job, rows), sum
	a.stateTool(job, argv)
	began := time.Now()
	exit, lines, err := a.runTool(ctx, argv, filepath.Join(job.Folder, "output.log"), before, progress, &result)
	result.Elapsed = time.Since(began)
	if err == nil && result.Ending == load.WallLimit && a.leftWhole(job) {
		result.Ending = load.Complete // it hangs in its own end
	}
	if err != nil || result.Ending != load.Complete {
		return result, err
	}
	return result, a.takeResult(ctx, job, exit, lines, before)
}

// command is a job's command line.
func (x *External) command(job bench.Job) ([]string, error) {
	argv, err := x.Tool.Command(job)
	if err != nil {
		return nil, err
	}
	return append(x.Tool.Replace(argv, x.Command), x.Args...), nil
}

// prepare writes what the tool is given beside its command line: the rows of that file, and the tokens that it forces on all answers; nothing for most workloads.
func (x *External) prepare(job bench.Job, o load.Options) (rows []byte, sum int, err error) {
	var requests []workload.Request
	if x.Tool.Rewrites(o.Spec) {
		if requests = o.Requests; requests == nil {
			if requests, err = o.Spec.Expand(o.Rows); err != nil {
				return nil, 0, err
			}
		}
		for _, r := range requests {
			sum += r.Output
		}
	}
	rows, err = x.Tool.Prepare(job, requests)
	return rows, sum, err
}

// sent is the hash of what is asked for by a command line that can be made, and its rows, whatever the server's address and the folders are.
func (x *External) sent(job bench.Job, rows []byte) string {
	job.URL, job.Model, job.Folder = "", "", ""
	plain, _ := x.Tool.Command(job)
	words := slices.Concat(plain, x.Args)
	if rows != nil {
		words = append(words, string(rows))
	}
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// toolFolder is where the result and the output of the tool lie: beside the engine's log, a folder for each workload and repeat.
func (a *attempt) toolFolder() string {
	name := "bench-" + a.Workload.Name
	if a.repeat > 0 {
		name += fmt.Sprintf("-%d", a.repeat)
	}
	folder, err := filepath.Abs(filepath.Join(a.Logs, a.folder, name))
	if err != nil {
		return filepath.Join(a.Logs, a.folder, name)
	}
	return folder
}

// toolSeed gives each measurement content of its own, as the built-in load generator does. Of a dataset's file the seed chooses the rows, which are the
// same for every trial.
func (a *attempt) toolSeed(o load.Options) uint64 {
	if o.Spec.Dataset != workload.Random {
		return o.Spec.Seed
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d/%d/%d", o.StudySeed, o.Trial, o.Repeat)
	return h.Sum64()
}

// stateTool writes down with the launch who measures.
func (a *attempt) stateTool(job bench.Job, argv []string) {
	if a.facts == nil {
		a.facts = map[string]string{"bench_tool": a.External.Tool.Name}
		if v := a.toolVersion(); v != "" {
			a.facts["bench_version"] = v
		}
	}
	key := "bench_command"
	if len(a.Runner.Traffic) > 1 {
		key += "." + job.Spec.Name
	}
	a.facts[key] = strings.Join(a.hidden.argv(argv), " ")
}

// runTool runs the tool until it ends, the workload's limit comes, or ctx ends; nothing of it is left then. The server is looked at meanwhile.
func (a *attempt) runTool(ctx context.Context, argv []string, output string, before map[string]float64, progress *atomic.Int64, result *load.Result) (exit proc.Exit, lines []string, err error) {
	p, err := a.startTool(argv, output)
	if err != nil {
		return exit, nil, err
	}
	stop := func() error { return p.Stop(min(toolGrace, a.Timeouts.Stop)) }
	defer func() { _ = p.Stop(0) }() // should anything panic; else it has long been stopped
	if limit := a.Workload.WallLimit; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errToolLimit)
		defer cancel()
	}
	why := a.attend(ctx, p.Done(), before, progress, result)
	if err := stop(); err != nil {
		return exit, nil, fmt.Errorf("stopping %s: %w", a.External.Tool.Title, err)
	}
	lines = p.Log().Lines()
	if errors.Is(why, errToolLimit) {
		result.Ending, why = load.WallLimit, nil
		if a.growth(context.WithoutCancel(ctx), before, 0); a.untouched() {
			why = toolFault{"bench_tool", fmt.Sprintf("%s has sent nothing within the workload's limit of %v%s", a.External.Tool.Title, a.Workload.WallLimit, lastWordsOf(lines)), byHand}
		}
	}
	return p.Exit(), lines, why
}

// byHand is what to try with a tool that does not work.
const byHand = "run the command line of the tool by hand against a server: autotune show has it as bench_command"

var errToolLimit = errors.New("the workload's limit has come")

// startTool starts the tool, with the server's key in its environment and no proxy between it and the server.
func (a *attempt) startTool(argv []string, output string) (*proc.Proc, error) {
	log, err := proc.NewLog(output, a.hidden.redact, nil)
	if err != nil {
		return nil, err
	}
	p, err := proc.Start(proc.Spec{Argv: argv, Env: a.toolEnv(), Marker: a.prefix + a.folder + "-bench", Log: log, Guard: a.External.Guard, Grace: toolGrace})
	if err == nil {
		return p, nil
	}
	err = errors.Join(err, log.Close())
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, toolFault{"no_command", err.Error(), fmt.Sprintf("install %s, or say in the spec how it is started: bench: {command: [...]}", a.External.Tool.Title)}
	}
	return nil, err
}

func (a *attempt) toolEnv() []string {
	env := slices.Clone(a.Environ)
	direct := "127.0.0.1,localhost"
	for _, e := range a.Environ {
		if name, value, _ := strings.Cut(e, "="); strings.EqualFold(name, "NO_PROXY") && value != "" {
			direct += "," + value
		}
	}
	env = append(env, "NO_PROXY="+direct, "no_proxy="+direct)
	if a.target.APIKey != "" {
		env = append(env, a.External.Tool.KeyVariable+"="+a.target.APIKey)
	}
	return env
}
