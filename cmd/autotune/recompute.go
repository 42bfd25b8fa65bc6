package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"

	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/studyfile"
)

// recomputed is what the stored requests of a measurement come to, against what is stored. Its JSON keys are documented and stay.
type recomputed struct {
	Workload    string              `json:"workload"`
	Repeat      int                 `json:"repeat"`
	Requests    int                 `json:"requests"`
	Equal       int                 `json:"equal"`
	Further     int                 `json:"further"`
	Expected    bool                `json:"expected"`
	Differences []metric.Difference `json:"differences"`
	Metrics     map[string]float64  `json:"metrics"`
}

// recompute computes a trial's figures again from its stored requests, measurement by measurement. The error says that some differ.
func (o *opened) recompute(ctx context.Context, out io.Writer, t tuner.Trial, asJSON bool) error {
	var all []recomputed
	wrong := 0
	for _, m := range t.Outcome.Measured.All() {
		records, err := o.db.RecordsOn(ctx, t.Number, m.Workload, m.Repeat)
		if err != nil {
			return err
		}
		if records == nil {
			continue
		}
		r := recomputed{Workload: m.Workload, Repeat: m.Repeat, Requests: len(records), Expected: expected(t, m), Differences: []metric.Difference{}}
		r.Metrics = metric.Basis{GPUs: o.spec.GPUs, SLOs: o.slos(m.Workload)}.Compute(records)
		if o.spec.Records == studyfile.RecordsRequests {
			maps.DeleteFunc(r.Metrics, func(name string, _ float64) bool { return metric.NeedsEvents(name) })
			m = withoutEvents(m)
		}
		if !r.Expected {
			equal, further, differences := metric.Compare(m.Metrics, r.Metrics)
			r.Equal, r.Further, r.Differences = equal, further, append(r.Differences, differences...)
		}
		wrong += len(r.Differences)
		all = append(all, r)
	}
	if len(all) == 0 {
		return usage("trial %d has no stored requests", t.Number)
	}
	if err := o.printRecomputed(out, t, all, asJSON); err != nil {
		return err
	}
	if wrong > 0 {
		return &exitError{code: exitFailed, err: fmt.Errorf("%d stored figures of trial %d are not those of its requests", wrong, t.Number),
			try: "the recomputed ones are what was measured; the study file was changed after the trial, or is damaged"}
	}
	return nil
}

// withoutEvents is a measurement without the figures that cannot come of records without their token events (records: requests).
func withoutEvents(m *tuner.Measurement) *tuner.Measurement {
	c := *m
	c.Metrics = maps.Clone(m.Metrics)
	maps.DeleteFunc(c.Metrics, func(name string, _ float64) bool { return metric.NeedsEvents(name) })
	return &c
}

// expected tells whether the stored figures are an expectation of a whole run of which only a share was seen: the trial, or a probe of it, was cut short.
func expected(t tuner.Trial, m *tuner.Measurement) bool {
	return m.Share < 1 && (t.Outcome.Share > 0 || isProbe(m))
}

// slos are those of a workload of the spec.
func (o *opened) slos(workload string) metric.SLOs {
	for _, t := range o.spec.Traffic {
		if t.Name == workload {
			return t.Goodput
		}
	}
	return metric.SLOs{}
}

func (o *opened) printRecomputed(out io.Writer, t tuner.Trial, all []recomputed, asJSON bool) error {
	if asJSON {
		return printJSON(out, all)
	}
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "Trial %d on %s, repeat %d\n", t.Number, r.Workload, r.Repeat)
		writeMetrics(&b, r.Metrics)
		b.WriteString(r.verdict())
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (r recomputed) verdict() string {
	var b strings.Builder
	fmt.Fprintf(&b, "recomputed from %d requests: ", r.Requests)
	switch {
	case r.Expected:
		b.WriteString("the figures of what had come when the run was cut short; those stored are what the whole of it would have come to\n")
	case len(r.Differences) == 0:
		fmt.Fprintf(&b, "all %d figures equal\n", r.Equal)
	default:
		fmt.Fprintf(&b, "%d figures equal, %d differ\n", r.Equal, len(r.Differences))
	}
	for _, d := range r.Differences {
		fmt.Fprintf(&b, "  %-34s stored %s, recomputed %s\n", d.Metric, figureOf(d.Metric, d.Stored), figureOf(d.Metric, d.Recomputed))
	}
	if r.Further > 0 {
		fmt.Fprintf(&b, "  %d more are not stored: an earlier version of autotune measured\n", r.Further)
	}
	return b.String()
}

// figureOf writes a figure in full as well, because a difference may be too small for the few digits that people read.
func figureOf(name string, v *float64) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s [%v]", metric.Format(name, *v), *v)
}
