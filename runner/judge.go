package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"autotune/runner/engine"
	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// Signatures of ends that are seen from outside, beside those that an engine's log names.
const (
	signatureHang     = "hang"         // nothing comes any more, at start or in serving
	signatureLate     = "slow_start"   // not ready within the limit
	signatureStranger = "wrong_server" // somebody else answers on our port
	signatureRefuses  = "refuses"      // it is well, and answered every request before the benchmark with an error
	signatureLow      = "low_success"  // fewer requests succeeded than the gate asks for
	signatureLimit    = "bench_limit"  // the workload was not through within its limit
	signatureExited   = "exited"       // it ended, and nothing says why
)

// judge says what kind of end a launch came to. lines are the server's, why is what cut it short. The error is autotune's own failure.
func (a *attempt) judge(ctx context.Context, why error, result load.Result, lines []string) (engine.Finding, error) {
	var word stopped
	var fault toolFault
	switch {
	case ctx.Err() != nil:
		a.out.Kind = tuner.Interrupted
		return engine.Finding{}, nil
	case errors.As(why, &word):
		a.stop(word.reason, result)
		return engine.Finding{}, nil
	case errors.Is(why, errExited), errors.Is(why, errFatal), errors.Is(why, errSilent), errors.Is(why, errLate), errors.Is(why, errStranger), errors.Is(why, errRefuses):
		return a.ended(why, result, lines), nil
	case errors.As(why, &fault):
		a.fail(tuner.PhaseBench, tuner.ReasonUser, fault.signature, fault.evidence, fault.hint)
		a.out.Measured = a.sofar(nil)
		return engine.Finding{}, nil
	case why != nil:
		return engine.Finding{}, fmt.Errorf("measuring trial %d: %w", a.trial.Number, why)
	}
	if a.found != nil {
		return a.foundRate(), nil
	}
	switch {
	case a.refused != nil:
		return a.weighRefusal(lines), nil
	case a.External != nil && result.Ending == load.WallLimit:
		a.out.Measured = a.sofar(nil)
		a.fail(tuner.PhaseBench, tuner.ReasonInfeasible, signatureLimit,
			fmt.Sprintf("%s was not through within the workload's limit of %v", a.External.Tool.Title, a.Workload.WallLimit), "a longer wall_limit, or a smaller workload")
		return engine.Finding{}, nil
	}
	switch result.Ending {
	case load.Stopped:
		return a.cutShort(result, lines), nil
	case load.Hang:
		return a.ended(fmt.Errorf("%w: requests are under way, and nothing has come for %v", errSilent, a.Timeouts.Hang), result, lines), nil
	default:
		return a.weigh(result, lines), nil
	}
}

// weighRefusal judges a tool's result that is no measurement: too few successes are the server's, all else is the figures'.
func (a *attempt) weighRefusal(lines []string) engine.Finding {
	a.out.Measured = a.sofar(nil)
	r := a.refused
	if r.Rule == "low_success" || r.Rule == "no_success" {
		return a.fewSuccesses(lines, a.External.Tool.Title+": "+r.Evidence, r.Evidence, r.Rule == "low_success")
	}
	a.out.Kind, a.out.Rule, a.out.Evidence = tuner.Invalid, r.Rule, a.hidden.redact(a.External.Tool.Title+": "+r.Evidence)
	return engine.Finding{}
}

func (a *attempt) stop(reason string, result load.Result) {
	a.out.Kind, a.out.Phase, a.out.Evidence, a.out.Share = tuner.Stopped, a.phase, a.hidden.redact(reason), result.Share
	if len(result.Records) > 0 {
		a.out.Measured = a.sofar(a.measurement(result))
	} else {
		a.out.Measured = a.sofar(nil)
	}
}

// cutShort judges a benchmark that was ended because it is not worth finishing. Its metrics are what the whole of it would have come to, not
// those of what has ended: see tuner.Verdict. When so many requests have failed that the gate is broken for certain, that is how the trial ends, as
// it would have at its end.
func (a *attempt) cutShort(result load.Result, lines []string) engine.Finding {
	a.stop(result.Stopped, result)
	v := a.verdict
	m := a.out.Measured.Of(a.Workload.Name)
	if v.Rule == "" || m == nil {
		return engine.Finding{}
	}
	a.out.Signature, a.out.Share = v.Rule, v.Share
	m.Share, m.Metrics = v.Share, v.Expected
	if n := len(result.Records); float64(n-ownFailures(result.Records))/float64(n) >= a.Gate {
		return engine.Finding{}
	}
	finding := a.lowSuccess(result, lines)
	a.out.Evidence = a.hidden.redact(v.Reason) + "; " + a.out.Evidence
	return finding
}

// ownFailures counts the requests that failed by themselves, and were not ended by us.
func ownFailures(records []metric.Record) int {
	n := 0
	for _, r := range records {
		if !r.OK() && r.Error != metric.ErrUnsent && r.Error != metric.ErrCancelled {
			n++
		}
	}
	return n
}

// ended judges a server that did not last: by its log and its exit, and where they say nothing by what was seen of it.
func (a *attempt) ended(why error, result load.Result, lines []string) engine.Finding {
	phase := a.phase
	if p, _ := a.news.standing(); !a.ready && later(p, phase) {
		phase = p // the log may be ahead of what was reported
	}
	if phase == tuner.PhaseBench {
		phase = tuner.PhaseServe // where the server is in a benchmark
	}
	e := engine.Evidence{Engine: a.plan.Engine.Name, Lines: lines, Phase: phase, Running: true, Ready: a.ready,
		ServedRequests: failures(result.Records) < len(result.Records), Searched: a.plan.Searched}
	if errors.Is(why, errExited) {
		exit := a.server.Exit()
		e.Running, e.ExitCode, e.Signal = false, exit.Code, exit.Signal
		why = fmt.Errorf("%w: %v", errExited, exit)
	}
	f := engine.Classify(e)
	if sign := a.news.dying(0); errors.Is(why, errFatal) && !f.Found() && sign != nil {
		f = *sign
	}
	if errors.Is(why, errStranger) || e.Running && !f.Found() || f.Signature == "" {
		f = unexplained(why, lines)
	}
	if f.Phase == "" || f.Phase == tuner.PhaseUnknown {
		f.Phase = phase
	}
	a.fail(f.Phase, f.Reason, f.Signature, f.Evidence, f.Hint)
	a.out.Measured = a.sofar(nil)
	return f
}

// unexplained is the finding where the log names no cause.
func unexplained(why error, lines []string) engine.Finding {
	f := engine.Finding{Reason: tuner.ReasonUnknown, Evidence: why.Error()}
	switch {
	case errors.Is(why, errSilent):
		f.Signature, f.Hint = signatureHang, "look at the end of the log; a start that is only slow needs a longer timeouts.silence, a long prefill a longer timeouts.hang"
	case errors.Is(why, errLate):
		f.Signature, f.Hint = signatureLate, "raise timeouts.start if the log was still getting on: loading a large checkpoint, compiling kernels and capturing graphs may take longer than the limit"
	case errors.Is(why, errRefuses):
		f.Signature, f.Reason = signatureRefuses, tuner.ReasonInfeasible
		f.Hint = "look at the answer's words and at the log; 4xx: the request, its endpoint or the key do not suit the server; 5xx: its queue has no room, or the engine behind it is dead"
	case errors.Is(why, errStranger):
		f.Signature, f.Reason = signatureStranger, tuner.ReasonTransient
	default:
		f.Signature, f.Hint = signatureExited, "look at the log"
	}
	if len(lines) > 0 {
		f.Evidence += "; its last line: " + lines[len(lines)-1]
	}
	return f
}

// weigh judges a benchmark that came to its end: first whether all of it was sent, then what share of it succeeded, then whether its figures can be believed.
func (a *attempt) weigh(result load.Result, lines []string) engine.Finding {
	m := a.measurement(result)
	a.out.Measured = a.sofar(m)
	if evidence := unsendable(result); evidence != "" { // before anything is held against the server
		a.out.Kind, a.out.Rule, a.out.Evidence = tuner.Invalid, ruleDropped, evidence
		return engine.Finding{}
	}
	rate := m.Metrics["success_rate"]
	if result.Ending == load.WallLimit && rate < a.Gate {
		a.fail(tuner.PhaseBench, tuner.ReasonInfeasible, signatureLimit,
			fmt.Sprintf("%s within the workload's limit of %v", a.counts(result.Records), a.Workload.WallLimit), "a longer bench limit, or a smaller workload")
		return engine.Finding{}
	}
	if rate < a.Gate || result.Ending == load.AllFailed {
		return a.lowSuccess(result, lines)
	}
	if rule, evidence := a.disbelief(result, m); rule != "" {
		a.out.Kind, a.out.Rule, a.out.Evidence = tuner.Invalid, rule, evidence
		return engine.Finding{}
	}
	a.out.Kind = tuner.Measured
	a.remark(result, m)
	return engine.Finding{}
}

// foundRate judges a search for a rate that came to its end. One that was given up is a trial cut short, of which no more is known than what the server did of the rate that
// it could not hold.
func (a *attempt) foundRate() engine.Finding {
	a.out.Measured = a.found
	if a.doubt.rule != "" {
		a.out.Kind, a.out.Rule, a.out.Evidence = tuner.Invalid, a.doubt.rule, a.doubt.evidence
		return engine.Finding{}
	}
	if a.left {
		m := a.found
		rate := m.Metrics[metric.RequestRate]
		a.out.Kind, a.out.Phase, a.out.Signature, a.out.Share = tuner.Stopped, tuner.PhaseBench, tuner.RuleHopeless, m.Share
		a.out.Evidence = fmt.Sprintf("after one probe: the bounds do not hold at %.4g requests/s, within %.0f %% of the rate to beat", rate, 100*(rateEdge-1))
		if served, ok := m.Metrics["request_throughput"]; ok {
			m.Metrics[metric.RequestRate] = min(rate, served)
		}
		return engine.Finding{}
	}
	a.out.Kind = tuner.Measured
	return engine.Finding{}
}

func (a *attempt) measurement(result load.Result) *tuner.Measurement {
	for i := range result.Records {
		result.Records[i].Detail = a.hidden.redact(result.Records[i].Detail)
	}
	metric.Round(result.Records) // so that the stored records give the same figures
	if a.told != nil {
		return &tuner.Measurement{Workload: a.Workload.Name, Identity: result.Identity, Sent: result.Sent, Clock: result.Clock, Share: result.Share,
			Metrics: a.told.Metrics, ServerSide: a.grown, Gauges: a.gauges}
	}
	m := &tuner.Measurement{Workload: a.Workload.Name, Identity: result.Identity, Sent: result.Sent, Clock: result.Clock, Share: result.Share,
		Metrics: metric.Basis{GPUs: a.GPUs, SLOs: a.Workload.Goodput}.Compute(result.Records), Records: result.Records, ServerSide: a.grown, Gauges: a.gauges}
	result.Confess(m.Metrics)
	if a.ThinRecords {
		m.Records = metric.Thin(m.Records)
	}
	return m
}

// lowSuccess is a server that refuses, or fails, more than the gate allows. What it or its log says decides whose fault that is.
func (a *attempt) lowSuccess(result load.Result, lines []string) engine.Finding {
	said := ""
	for _, r := range result.Records {
		if !r.OK() && r.Detail != "" {
			said = r.Detail
			break
		}
	}
	return a.fewSuccesses(lines, a.counts(result.Records), said, failures(result.Records) < len(result.Records))
}

// fewSuccesses judges by the server's log and by what it said to a request; served tells that it has answered some.
func (a *attempt) fewSuccesses(lines []string, evidence, answer string, served bool) engine.Finding {
	said := lines[max(0, len(lines)-logTail):]
	if answer != "" {
		said = append(said[:len(said):len(said)], answer)
	}
	if words := complaints(lines); words != "" {
		evidence += "; the server's log: " + words
	}
	f := engine.Classify(engine.Evidence{Engine: a.plan.Engine.Name, Lines: said, Phase: tuner.PhaseBench, Running: true, Ready: true,
		ServedRequests: served, Searched: a.plan.Searched})
	switch f.Reason {
	case tuner.ReasonMemory, tuner.ReasonEnvironment, tuner.ReasonUser, tuner.ReasonCheckpoint:
		a.fail(f.Phase, f.Reason, f.Signature, f.Evidence+"; "+evidence, f.Hint)
		return f
	}
	a.fail(tuner.PhaseBench, tuner.ReasonInfeasible, signatureLow, evidence, "a server that keeps up: more room for requests, or a lower rate")
	return engine.Finding{}
}

// logTail is how many of the last lines are searched for the cause of failed requests.
const logTail = 200

// complaints are the last lines of a log that tell of trouble, three at most.
func complaints(lines []string) string {
	var found []string
	for i := len(lines) - 1; i >= max(0, len(lines)-logTail) && len(found) < 3; i-- {
		if trouble.MatchString(lines[i]) {
			found = append([]string{lines[i]}, found...)
		}
	}
	return strings.Join(found, " | ")
}
