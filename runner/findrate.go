package runner

import (
	"context"
	"maps"
	"slices"

	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
)

// probe is one rate that was tried in a search, from begin to end.
type probe struct {
	*tuner.Measurement
	remarks []string // what a reader should know of it, were it what counts
	doubt   doubt
}

// doubt is why a measurement is not believed; zero for none.
type doubt struct{ rule, evidence string }

// ofClient tells whether the load generator, and not the server, is what a measurement was limited by.
func (d doubt) ofClient() bool { return d.rule == ruleLag || d.rule == ruleDropped }

// findRate searches for the highest rate of requests that keeps the bounds, on the server that runs. What counts is the best probe, and the others are
// kept beside it, also where the search does not come to its end; a configuration that does not even come within rateEdge of the rate to beat is left after one probe.
//
// A probe at which the load generator could not keep up tells nothing of the server. Far above the answer that does no harm, and the search goes on
// below it; but a rate that is bounded by such a probe is the load generator's, and not believed.
func (a *attempt) findRate(ctx context.Context, t Traffic) (result load.Result, why error) {
	beat := a.tell(tuner.Partial{Phase: tuner.PhaseBench, Begins: true, Workload: t.Workload.Name}).Beat
	p := newProbes(t.Workload.Rate, rateFirstStep)
	if beat > 0 {
		p = newProbes(beat/rateEdge, rateStep) // one probe of a rate at the very edge would lose every other configuration that is as good
	}
	var all []probe
	for more := true; more; {
		a.Traffic, a.repeat = t.at(p.rate), p.n
		if result, why = a.serve(ctx); why != nil || result.Ending == load.Hang || result.Ending == load.Stopped && a.verdict.Rule != tuner.RuleBroken {
			a.tried = joined(t, all, p.low)
			return result, why
		}
		now := a.probed(result)
		all = append(all, now)
		if now.doubt.rule != "" && !(now.doubt.ofClient() && (beat == 0 || p.n > 0)) {
			a.found, a.doubt = joined(t, all, p.rate), now.doubt
			return result, nil
		}
		holds := a.holds(result, now)
		more = p.told(holds) && (p.low > 0 || !idle(now.Measurement))
		if !holds && beat > 0 && p.n == 1 {
			a.left = true
			break
		}
	}
	last := all[len(all)-1]
	if rate, known := last.Metrics["success_rate"]; p.low == 0 && !a.left && last.doubt.rule == "" && known && rate < a.Gate {
		a.tried = joined(t, all, p.low) // it fails at any rate, and the last probe was at the lowest
		return result, nil
	}
	a.found = joined(t, all, p.low)
	a.conclude(t, all, p)
	return result, nil
}

// conclude says what a reader of the rate that was found should know, and whether it is the server's at all.
func (a *attempt) conclude(t Traffic, all []probe, p probes) {
	if best := at(all, p.low); best != nil {
		for _, word := range best.remarks {
			a.warn("%s", word)
		}
	}
	edge := at(all, p.high)
	switch {
	case a.left:
	case edge == nil:
		a.warn("after %d probes every rate holds, the last at %.4g requests/s: what was found is a lower bound; a tighter bound, or more requests, would have an answer", p.n, p.low)
	case edge.doubt.ofClient():
		a.doubt = edge.doubt
	case a.RateGoal.TotalViolation(edge.Measurement) == 0 && !metric.Sustained(edge.Metrics):
		a.warn("at %.4g requests/s the bounds hold, and the server does not keep up: of a run as long as these %d requests the bounds do not tell; a bound on ttft or latency would", p.high, t.Workload.Requests)
	}
}

// joined is the last probe at a rate with the others beside it; the last of all where there is none at that rate, and nil where there is none at all.
func joined(t Traffic, all []probe, rate float64) *tuner.Measurement {
	if len(all) == 0 {
		return nil
	}
	first := at(all, rate)
	if first == nil {
		first = &all[len(all)-1]
	}
	m := first.Measurement
	m.Identity, m.Also = t.Workload.Identity(t.FileHash), nil // the question is the same whatever the answer
	for _, other := range all {
		if other.Measurement != m {
			m.Also = append(m.Also, other.Measurement)
		}
	}
	return m
}

// idle tells whether requests had the server to themselves, by Little's law: what breaks a bound even then breaks it at every lower rate.
func idle(m *tuner.Measurement) bool {
	latency, ok := m.Metrics["mean_latency"]
	return ok && latency*m.Metrics["request_throughput"] < rateIdle
}

// at is the last probe at a rate; nil when there is none.
func at(all []probe, rate float64) *probe {
	for i := range slices.Backward(all) {
		if all[i].Metrics[metric.RequestRate] == rate {
			return &all[i]
		}
	}
	return nil
}

// probed judges the run at one rate as any other run is judged. Of one that was cut short the metrics are what the whole of it would have come to.
func (a *attempt) probed(result load.Result) probe {
	m := a.measurement(result)
	m.Repeat = a.repeat
	p := probe{Measurement: m, doubt: a.doubtful(result, m)}
	if p.doubt.rule == "" && a.answered(result, m) {
		p.remarks = a.remarks(result, m)
	}
	if result.Ending == load.Stopped {
		m.Share, m.Metrics = a.verdict.Share, maps.Clone(a.verdict.Expected)
	}
	if m.Metrics == nil { // it was ended before anything could be foreseen
		m.Metrics = map[string]float64{}
	}
	m.Metrics[metric.RequestRate] = a.Workload.Rate
	return p
}

// doubtful says why a probe is not believed. One that was cut short, or failed, can only be the load generator's fault: its figures are not used.
func (a *attempt) doubtful(result load.Result, m *tuner.Measurement) (d doubt) {
	if d.evidence = unsendable(result); d.evidence != "" {
		d.rule = ruleDropped
	} else if a.answered(result, m) {
		d.rule, d.evidence = a.disbelief(result, m)
	} else if d.evidence = lagging(result, m.Metrics); d.evidence != "" {
		d.rule = ruleLag
	}
	return d
}

// answered tells whether a probe came to its end and passes the gate.
func (a *attempt) answered(result load.Result, m *tuner.Measurement) bool {
	return (result.Ending == load.Complete || result.Ending == load.WallLimit) && m.Metrics["success_rate"] >= a.Gate
}

// holds tells whether a probe is believed, was answered, keeps every bound, and was sustained: see metric.Sustained.
func (a *attempt) holds(result load.Result, p probe) bool {
	return p.doubt.rule == "" && a.answered(result, p.Measurement) && a.RateGoal.TotalViolation(p.Measurement) == 0 && metric.Sustained(p.Metrics)
}
