package runner

import (
	"strings"

	"autotune/runner/load"
	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// Weigh judges a run against a server that was started by somebody else, as one of a trial is judged: the rule that its figures break, if any,
// and how; else what a reader of them should know. The server's own counters are not looked at: others may use it too.
func Weigh(w workload.Spec, gate float64, result load.Result, metrics map[string]float64) (rule, evidence string, warnings []string) {
	a := &attempt{Runner: &Runner{Config: Config{Gate: gate}}, Traffic: Traffic{Workload: w}, hidden: secrets{values: strings.NewReplacer()}}
	m := &tuner.Measurement{Workload: w.Name, Clock: result.Clock, Metrics: metrics, Records: result.Records}
	if rule, evidence = a.disbelief(result, m); rule != "" {
		return rule, evidence, nil
	}
	a.remark(result, m)
	return "", "", append(a.out.Warnings, result.Notes...)
}

// Failures says how many requests of a run succeeded, and what became of the others, by class.
func Failures(gate float64, records []metric.Record) string {
	return (&attempt{Runner: &Runner{Config: Config{Gate: gate}}}).counts(records)
}
