package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"autotune/runner"
	"autotune/runner/load"
	"autotune/tuner/metric"
	"autotune/tuner/studyfile"
	"autotune/tuner/workload"
)

type loadOptions struct {
	model, workload, name, endpoint, apiKeyEnv, records string
	seed                                                uint64
	repeat, gpus                                        int
	successRate                                         float64
	wait                                                time.Duration
	json                                                bool
}

const (
	apiKeyVariable = "OPENAI_API_KEY"
	inlineExample  = "{dataset: random, input_tokens: 128, output_tokens: 64, requests: 100, max_concurrency: 8}"
	// loadFailFast ends a run whose first requests all failed, as in a trial.
	loadFailFast = 5
	readyPoll    = 100 * time.Millisecond
)

func newLoad(w *world) *cobra.Command {
	var o loadOptions
	cmd := &cobra.Command{
		Use: "load URL --workload FILE|{...}", Short: "Measure a server that is already running, without a study",
		Long: `Send a workload at an OpenAI-compatible server that is already running, and print the result block that vLLM's and SGLang's benchmarks print.
The workload is the one of a spec: written on the command line as {...}, a file that holds it, or a spec (--name says which of its workloads).
Latency and TTFT of the block count from the send; "autotune show --definitions" has every metric, and those that hold the wait in the client's queue.
The prompts' content is new each time, so that a server's cache of prefixes knows none of it (texts of a file begin with a number in brackets); --seed N
sends the same again.

--records FILE writes a line of JSON for each request: repeat, index, scheduled, sent, lag, first_byte, end (seconds from the start), status, error
(empty for a success), detail, asked_input, asked_output, input_tokens, output_tokens, tokens (a list of [second, tokens], one an event).

With --json: url, model, clock, seed, workload (times in nanoseconds) and runs, each of repeat, ending, share, elapsed, identity, sent, rule and evidence
(when it cannot be believed), failures (by class), warnings, metrics. These keys stay.` +
			exitStatuses("0    measured", "1    not measured, not believable, cut short, or fewer successes than --success-rate", statusUsage,
				"130  interrupted: what had come until then is printed (143 for SIGTERM, 129 for SIGHUP)"),
		Example: "  autotune load http://localhost:8000 --workload '" + inlineExample + "'\n" +
			"  autotune load http://localhost:8000 --model Qwen/Qwen3-8B --workload glm.yaml --name chat --records chat.jsonl --json",
		Args: exactArgs(1, "the server's address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runLoad(cmd.Context(), w, args[0], o, cmd.Flags().Changed)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.model, "model", "", "the served name (default: the only one that the server lists)")
	f.StringVar(&o.workload, "workload", "", "the workload: {...}, or a file with one, or a spec")
	f.StringVar(&o.name, "name", "", "which of a spec's workloads")
	f.StringVar(&o.endpoint, "endpoint", "", "completions or chat (default: the workload's)")
	f.StringVar(&o.apiKeyEnv, "api-key-env", apiKeyVariable, "environment variable with the server's API key; it is sent and nothing else")
	f.StringVar(&o.records, "records", "", "write every request to a new file, a line of JSON each")
	f.Uint64Var(&o.seed, "seed", 0, "of the prompts' content (default: another each time); lengths and arrivals go by the workload's seed")
	f.IntVar(&o.repeat, "repeat", 1, "measure so many times, each with content of its own")
	f.IntVar(&o.gpus, "gpus", 0, "GPUs of the server, for the figures per GPU")
	f.Float64Var(&o.successRate, "success-rate", studyfile.DefaultGate, "share of the requests that must succeed")
	f.DurationVar(&o.wait, "wait", 0, "wait so long for the server to answer")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

func runLoad(ctx context.Context, w *world, address string, o loadOptions, given func(flag string) bool) error {
	t, options, err := w.prepareLoad(address, o, given)
	if err != nil {
		return err
	}
	ctx, stop := w.untilSignal(ctx)
	defer stop()
	if t.Model, err = awaitModel(ctx, t, o); err != nil {
		return err
	}
	var file *os.File
	if o.records != "" {
		if file, err = os.OpenFile(o.records, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
			return trying(usage("writing the requests: %w", err), "another name with --records")
		}
	}
	options.LawTime = load.DetectLawTime(ctx, t.URL)
	r := loadReport{URL: t.URL, Model: t.Model, Clock: metric.Wall, Seed: options.StudySeed, Workload: options.Spec, gate: o.successRate, all: o.repeat}
	if options.LawTime {
		r.Clock = metric.Law
	}
	for options.Repeat = range o.repeat {
		run, records, err := w.measureLoad(ctx, t, options, o)
		if err != nil {
			return errors.Join(err, closeFile(file))
		}
		r.Runs = append(r.Runs, run)
		if !o.json {
			r.printRun(w.out, run)
		}
		if err := keepRecords(file, run.Repeat, records); err != nil {
			return errors.Join(err, closeFile(file))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if err := errors.Join(r.printEnd(w.out, o.json), closeFile(file)); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.verdict()
}

// keepRecords writes a run's requests where a person wants them.
func keepRecords(f *os.File, repeat int, records []metric.Record) error {
	if f == nil {
		return nil
	}
	if err := writeRecords(f, repeat, records); err != nil {
		return fmt.Errorf("writing the requests: %w", err)
	}
	return nil
}

func closeFile(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// prepareLoad reads the command line: what is sent, and where to. The model may be left to find.
func (w *world) prepareLoad(address string, o loadOptions, given func(flag string) bool) (t load.Target, options load.Options, err error) {
	if t.URL, err = serverURL(address); err != nil {
		return t, options, err
	}
	switch {
	case o.repeat < 1 || o.repeat > 1000:
		err = usage("--repeat %d: allowed is 1 to 1000", o.repeat)
	case o.gpus < 0:
		err = usage("--gpus %d: allowed is 0 or more", o.gpus)
	case !(o.successRate >= 0 && o.successRate <= 1):
		err = usage("--success-rate %g: allowed is 0 to 1", o.successRate)
	case o.wait < 0:
		err = usage("--wait %v: allowed is 0s or more", o.wait)
	}
	if err != nil {
		return t, options, err
	}
	if t.APIKey = w.getenv(o.apiKeyEnv); t.APIKey == "" && given("api-key-env") {
		return t, options, trying(usage("--api-key-env: the variable %s is not set", o.apiKeyEnv), "export it in the shell that starts autotune")
	}
	t.Model = o.model
	options = load.Options{StudySeed: o.seed, Marked: true, FailFast: loadFailFast, Silence: studyfile.DefaultTimeouts.Hang}
	if !given("seed") {
		options.StudySeed = newSeed()
	}
	if err = readWorkload(o, &options); err != nil {
		return t, options, err
	}
	if given("api-key-env") { // what is said last counts
		options.Spec.APIKeyEnv = ""
	}
	if warning := missingVariable(options.Spec, w.getenv); warning != "" {
		return t, options, trying(usage("%s", warning), "export it in the shell that starts autotune")
	}
	return t.For(options.Spec, w.getenv), options, nil
}

func newSeed() uint64 {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic("no random numbers: " + err.Error())
	}
	return binary.LittleEndian.Uint64(b[:]) >> 32 // short enough to be typed
}

// serverURL takes what people copy of an address: with /v1 or an endpoint behind it, too.
func serverURL(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", trying(usage("not a server's address"), "http://HOST:PORT")
	case u.User != nil:
		return "", trying(usage("the address holds a user or a password"), "the key in an environment variable, and --api-key-env NAME")
	case u.RawQuery != "" || u.Fragment != "":
		return "", trying(usage("the address has more than a path: %s", u.Redacted()), "http://HOST:PORT")
	}
	for _, end := range []string{"/", "/completions", "/chat", "/v1", "/"} {
		u.Path = strings.TrimSuffix(u.Path, end)
	}
	return u.String(), nil
}

// readWorkload reads what is to be sent, and its dataset's file.
func readWorkload(o loadOptions, options *load.Options) error {
	text, source, folder := []byte(o.workload), "--workload", "."
	switch {
	case strings.TrimSpace(o.workload) == "":
		return trying(usage("--workload is missing"), "--workload '%s'", inlineExample)
	case !strings.HasPrefix(strings.TrimSpace(o.workload), "{"):
		var err error
		if text, err = readRegular(o.workload); err != nil {
			return trying(usage("reading the workload: %w", err), "a file, or a workload as in --workload '%s'", inlineExample)
		}
		source, folder = o.workload, filepath.Dir(o.workload)
	}
	spec, err := studyfile.ParseWorkload(source, o.name, text)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if o.endpoint != "" {
		spec.Endpoint = o.endpoint
	}
	if err := spec.Validate(); err != nil {
		return usage("the workload: %w", err)
	}
	options.Spec = spec
	if spec.Path == "" {
		return nil
	}
	path := spec.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	d, requests, err := expandFile(spec, path)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	options.Rows, options.FileHash, options.Spec.Requests = d.Rows, d.Hash, len(requests)
	return nil
}

// awaitModel waits until the server answers, and gives the name that is asked for: the person's, or the only one there is.
func awaitModel(ctx context.Context, t load.Target, o loadOptions) (string, error) {
	deadline := time.Now().Add(o.wait)
	names, err := load.Models(ctx, t)
	for err != nil && ctx.Err() == nil && time.Now().Before(deadline) {
		timer := time.NewTimer(readyPoll)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		names, err = load.Models(ctx, t)
	}
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case t.Model != "" && (errors.Is(err, load.ErrRefused) || err == nil && (len(names) == 0 || slices.Contains(names, t.Model))):
		return t.Model, nil
	case errors.Is(err, load.ErrRefused):
		return "", trying(&exitError{code: exitFailed, err: err}, "--model NAME; an API key in %s, or in the variable that --api-key-env names", apiKeyVariable)
	case err != nil:
		return "", trying(&exitError{code: exitFailed, err: err}, "the address, or --wait 10m for a server that is still starting")
	case t.Model != "":
		return "", trying(usage("the server does not serve %s", t.Model), "--model %s", strings.Join(names, ", or --model "))
	case len(names) != 1:
		return "", trying(usage("the server lists %d models: which one is not said", len(names)), "--model %s", strings.Join(append(names, "NAME")[:max(1, len(names))], ", or --model "))
	default:
		return names[0], nil
	}
}

// measureLoad warms the server up and sends the workload once.
func (w *world) measureLoad(ctx context.Context, t load.Target, options load.Options, o loadOptions) (loadRun, []metric.Record, error) {
	var warnings []string
	if err := load.Warm(ctx, t, options); err != nil && ctx.Err() == nil {
		warnings = append(warnings, fmt.Sprintf("the warm-up failed: %v", err))
	}
	p := w.newLoadProgress()
	options.Observe = p.observe
	result, err := load.Run(ctx, t, options)
	p.erase()
	if err != nil && result.Ending != load.Interrupted {
		return loadRun{}, nil, err
	}
	metric.Round(result.Records)
	run := loadRun{Repeat: options.Repeat, Ending: result.Ending, Share: result.Share, Elapsed: result.Elapsed.Seconds(), Identity: result.Identity, Sent: result.Sent,
		Metrics: metric.Basis{GPUs: o.gpus, SLOs: options.Spec.Goodput}.Compute(result.Records), Failures: failuresByClass(result.Records)}
	result.Confess(run.Metrics)
	var more []string
	run.Rule, run.Evidence, more = runner.Weigh(options.Spec, o.successRate, result, run.Metrics)
	run.Warnings = slices.Concat(warnings, more, loadWarnings(options.Spec, result, run.Metrics))
	if run.Metrics["success_rate"] < o.successRate {
		run.low = runner.Failures(o.successRate, result.Records)
	}
	return run, result.Records, nil
}

func failuresByClass(records []metric.Record) map[string]int {
	classes := map[string]int{}
	for _, r := range records {
		if !r.OK() {
			classes[r.Error]++
		}
	}
	return classes
}

// lateClient is a lateness of the load generator that is worth a word.
const lateClient = 5 * time.Millisecond

// loadWarnings are what a reader of the block should know beyond what a trial's reader is told.
func loadWarnings(w workload.Spec, result load.Result, m map[string]float64) []string {
	var out []string
	if result.Clock == metric.Law {
		out = append(out, "law time: the server is a fake engine in simulated time; the figures say nothing about real hardware")
	}
	if lag := m["client_lag_p99"]; lag >= lateClient.Seconds() {
		out = append(out, fmt.Sprintf("the load generator was late by %s (p99; at most %s)", metric.Format("client_lag_p99", lag), metric.Format("client_lag_max", m["client_lag_max"])))
	}
	if _, _, ok := metric.Steady(result.Records); !ok && m["successful_requests"] > 0 {
		out = append(out, "no steady part: from the end of the ramp-up to the last send it was less than a request takes; more requests, or a lower cap, would give one")
	}
	if good, ok := m["slo_attainment"]; ok && w.Goodput.TTFT+w.Goodput.Latency > 0 {
		sent := w.Goodput
		sent.TTFTSent, sent.LatencySent, sent.TTFT, sent.Latency = least(sent.TTFTSent, sent.TTFT), least(sent.LatencySent, sent.Latency), 0, 0
		if other := (metric.Basis{SLOs: sent}).Compute(result.Records)["slo_attainment"]; other > good {
			out = append(out, fmt.Sprintf("goodput's ttft and latency hold the wait for a free slot: %s of the requests keep the SLOs, and %s would from their send on (ttft_sent, latency_sent)",
				metric.Format("slo_attainment", good), metric.Format("slo_attainment", other)))
		}
	}
	return out
}

// least is the smaller of two limits of which 0 is none.
func least(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
