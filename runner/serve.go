package runner

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// failFast ends a benchmark whose first requests all failed: no later one would fare better.
const failFast = 5

// lastWords is how long a server whose requests fail is given to end by itself and say why.
const lastWords = time.Second

// serveAll sends one workload after the other, as long as each gives a measurement that counts: one whose limit was up with enough successes does. The result is that of the last one sent; what those
// before it gave is in before.
func (a *attempt) serveAll(ctx context.Context) (result load.Result, why error) {
	if a.RateGoal != nil {
		return a.findRate(ctx, a.Runner.Traffic[0])
	}
	var last *tuner.Measurement
	for i, t := range a.Runner.Traffic {
		if i > 0 {
			v := a.tell(tuner.Partial{Phase: tuner.PhaseBench, Begins: true, Workload: t.Workload.Name, Measured: a.sofar(last)})
			if v.Skip {
				continue
			}
			a.before = append(a.before, last)
			a.remark(result, last)
		}
		a.Traffic = t
		result, why = a.serve(ctx)
		ended := result.Ending == load.Complete || result.Ending == load.WallLimit && a.External == nil
		if why != nil || !ended || a.refused != nil || i == len(a.Runner.Traffic)-1 {
			return result, why
		}
		last = a.measurement(result)
		if !a.answered(result, last) || a.doubtful(result, last).rule != "" {
			return result, nil
		}
	}
	return result, nil
}

// sofar joins what the workloads before the last one gave, and what that one gave when it is not nil; nil when there is nothing.
func (a *attempt) sofar(last *tuner.Measurement) *tuner.Measurement {
	all := slices.Clone(a.before)
	if last != nil {
		all = append(all, last)
	}
	if len(all) == 0 {
		return nil
	}
	first := *all[0]
	first.Also = all[1:]
	return &first
}

// contentSeed keeps the workloads of a trial apart: no prompt of one begins like a prompt of another, so that the server's cache of prefixes knows none.
func (a *attempt) contentSeed() uint64 {
	return a.Seed + uint64(len(a.before))*0x9e3779b97f4a7c15 // any odd number would do
}

// knows tells whether the server may have seen prompts that a dataset brings, when the last workload is sent: a search for a rate sends them again and
// again, and two workloads of texts may have one file.
func (a *attempt) knows() bool {
	texts := 0
	for _, t := range a.Runner.Traffic {
		if d := t.Workload.Dataset; d == workload.ShareGPT || d == workload.JSONL {
			texts++
		}
	}
	return a.RateGoal != nil || texts > 1
}

// serve warms the server up, sends the workload at it, and watches it meanwhile. The error says why it was cut short; nil when the load
// generator came to an end of its own.
func (a *attempt) serve(parent context.Context) (load.Result, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var progress atomic.Int64
	watched := make(chan struct{})
	defer func() { cancel(nil); <-watched }()
	go func() { defer close(watched); a.watch(ctx, cancel, &progress) }()

	a.sending = sending{}
	a.target.Headers, a.target.APIKey, a.target.Secrets = nil, a.hidden.apiKey, nil // of the workload before
	a.target = a.target.For(a.Workload, a.variable)
	options := load.Options{Spec: a.Workload, Rows: a.Rows, Requests: a.Requests, FileHash: a.FileHash, StudySeed: a.contentSeed(), Trial: a.trial.Number, Repeat: a.repeat, Marked: a.knows(),
		FailFast: failFast, Silence: a.Timeouts.Hang, LawTime: load.DetectLawTime(ctx, a.target.URL)}
	if a.repeat == 0 {
		a.warmUp(ctx, options)
	}
	before := a.counters(ctx)
	a.enter(tuner.PhaseBench)
	options.Observe = func(p load.Progress) string { return a.measuring(p, &progress) }
	if word := options.Observe(load.Progress{Total: a.Workload.Requests}); word != "" {
		return load.Result{Ending: load.Stopped, Stopped: word}, nil
	}
	result, err := a.measure(ctx, options, before, &progress)
	if result.Clock == metric.Law {
		a.out.Cost += result.Elapsed
	}
	if parent.Err() != nil {
		return result, context.Cause(parent)
	}
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	if err != nil {
		return result, err
	}
	if result.Ending == load.Stopped {
		return result, nil
	}
	if (failures(result.Records) > 0 || a.refused != nil) && a.ends(parent, lastWords) {
		return result, errExited
	}
	if a.External == nil {
		a.growth(ctx, before, received(result.Records))
	}
	return result, nil
}

// variable is the value of an environment's variable; the last one counts.
func (a *attempt) variable(name string) (value string) {
	for _, e := range a.Environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// measure sends the workload, or has it sent, with an eye on what the server says of itself. In law time a second is over before it can be asked.
func (a *attempt) measure(ctx context.Context, o load.Options, before map[string]float64, progress *atomic.Int64) (load.Result, error) {
	if a.External != nil {
		return a.callTool(ctx, o, before, progress)
	}
	if o.LawTime {
		return load.Run(ctx, a.target, o)
	}
	watching, enough := context.WithCancel(ctx)
	seen := make(chan *metric.Gauges, 1)
	go func() { seen <- a.witness(watching, before, witnessEvery) }()
	result, err := load.Run(ctx, a.target, o)
	enough()
	a.gauges = <-seen
	return result, err
}

// watch ends the measurement when the server ends, or when its log says that it is about to and nothing moves any more.
func (a *attempt) watch(ctx context.Context, cancel context.CancelCauseFunc, progress *atomic.Int64) {
	tick := time.NewTicker(everyTick / 4)
	defer tick.Stop()
	seen := int64(0)
	for moved := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-a.server.Done():
			cancel(errExited)
			return
		case <-a.news.came:
			a.news.judge(a.plan.Searched, true)
		case <-tick.C:
			if now := progress.Load(); now != seen {
				seen, moved = now, time.Now()
			}
			switch {
			case a.news.dying(fatalGrace) == nil:
			case time.Since(moved) >= fatalGrace:
				cancel(errFatal)
				return
			default:
				a.news.forgive()
			}
		}
	}
}

// ends tells whether the server ends within so long.
func (a *attempt) ends(ctx context.Context, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-a.server.Done():
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// warmUp sends the workload's warm-up, and empties the cache of prefixes behind it. A failure shows again in the measurement.
func (a *attempt) warmUp(ctx context.Context, o load.Options) {
	if a.Workload.Warmup == 0 || o.LawTime {
		return
	}
	o.Repeat = workload.WarmupRepeat
	if err := load.Warm(ctx, a.target, o); err != nil && ctx.Err() == nil {
		a.warn("the warm-up failed: %v", err)
	}
	if path := a.plan.Engine.FlushPath(); path != "" {
		_, _ = a.ask(ctx, http.MethodPost, path) // warm-up prompts share no beginning with measured ones: this is for room alone
	}
}

// measuring reports how the measurement stands; what it answers ends it.
func (a *attempt) measuring(p load.Progress, progress *atomic.Int64) string {
	progress.Store(int64(p.StreamedTokens + p.Done))
	partial := tuner.Partial{Phase: a.phase, Elapsed: p.Elapsed, Done: p.Done, Failed: p.Failed, Total: p.Total, Share: p.Share,
		Workload: a.Workload.Name, Measured: a.sofar(nil), GPUs: a.GPUs, Requests: p.Requests, Pace: a.keepPace(p)}
	if s := p.Elapsed.Seconds(); s > 0 {
		partial.Metrics = map[string]float64{
			"request_throughput":      float64(p.Done-p.Failed) / s,
			"output_token_throughput": float64(p.OutputTokens) / s,
			"total_token_throughput":  float64(p.InputTokens+p.OutputTokens) / s,
		}
	}
	v := a.tell(partial)
	if v.Stop {
		a.verdict = v
	}
	switch {
	case !v.Stop:
		return ""
	case v.Reason == "":
		return "stopped"
	default:
		return v.Reason
	}
}

// keepPace adds what a report says of the tokens that came, and gives the pace so far.
func (a *attempt) keepPace(p load.Progress) []metric.Event {
	if p.Elapsed > 0 {
		a.pace = append(a.pace, metric.Event{At: p.Elapsed, Tokens: p.StreamedTokens - a.streamed})
		a.streamed = p.StreamedTokens
	}
	return a.pace[:len(a.pace):len(a.pace)]
}
