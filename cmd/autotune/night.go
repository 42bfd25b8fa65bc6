package main

import (
	"context"

	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/studyfile"
	"autotune/tuner/workload"
)

// night is the plan of a study before it runs. Its JSON keys are documented and stay.
type night struct {
	checkReport
	GPU       string        `json:"gpu"`
	Memory    census        `json:"memory"`
	Sums      []baselineSum `json:"sums"`
	Phases    []phase       `json:"phases"` // of one trial
	TrialTime float64       `json:"trial_seconds"`
	Buys      int           `json:"buys_trials"` // that the budget is good for
	Hours     float64       `json:"hours"`
	GPUHours  float64       `json:"gpu_hours"`
	Ends      string        `json:"ends_by"` // trials, wall_clock or space
	NotTried  []string      `json:"not_tried"`
}

// phase is a part of a trial, and why it is taken to last so long.
type phase struct {
	Name    string  `json:"phase"`
	Seconds float64 `json:"seconds"`
	Most    float64 `json:"seconds_at_most,omitempty"` // 0: no bound
	Why     string  `json:"why"`
}

// What is assumed where nothing was measured. Small models are up in 35 to 60 s, Llama-70B on 8 GPUs in 3.5 minutes with its files in memory, models of 700 GB
// in more than 10 minutes, the first time 10 to 20 more for kernels that are compiled once.
const (
	assumedDisk    = 2.0              // GiB/s, one NVMe disk
	assumedInit    = 30 * time.Second // processes, imports, groups
	assumedCapture = 90 * time.Second // profiling, compiling, graphs
	assumedWarm    = 20 * time.Second // readiness, warm-up, flushing, ending
	assumedBench   = 10 * time.Minute // of one workload
	assumedSearch  = 30 * time.Minute // for the highest rate
)

// night makes the night's plan from what check has found. own is what the study itself has measured: with it nothing of earlier ones counts.
func (a *assembly) night(ctx context.Context, r checkReport, own experience) (night, error) {
	x := own
	if x.from == "" {
		var err error
		if x, err = a.experience(ctx); err != nil {
			return night{}, err
		}
	}
	n := night{checkReport: r, GPU: gpuCount(a.planner.host.GPUs), Memory: a.memoryCensus(r.Exact), Sums: a.sums(), NotTried: []string{}}
	if h := a.planner.host; h.MemoryGiB > 0 {
		n.GPU = fmt.Sprintf("%d x %s%.1f GiB", h.GPUs, map[bool]string{true: h.GPU + ", "}[h.GPU != ""], h.MemoryGiB)
	}
	n.Phases = a.phases(x)
	for _, p := range n.Phases {
		n.TrialTime += p.Seconds
	}
	n.budget(a.spec)
	n.Warnings = append(n.Warnings, a.nightWarnings(n)...)
	n.NotTried = a.notTried(n)
	return n, nil
}

// gpuCount writes a number of GPUs of which nothing else is known.
func gpuCount(n int) string {
	switch n {
	case 0:
		return "no GPU"
	case 1:
		return "1 GPU"
	default:
		return fmt.Sprintf("%d GPUs", n)
	}
}

// budget works out how far the budget goes.
func (n *night) budget(s *studyfile.Spec) {
	n.Buys, n.Ends = n.Points, "space"
	if b := s.Budget.Trials; b > 0 && (b <= n.Buys || !n.Exact) {
		n.Buys, n.Ends = b, "trials"
	}
	if c := s.Budget.WallClock; c > 0 && n.TrialTime > 0 {
		if most := int((c.Seconds() + n.TrialTime - 1) / n.TrialTime); most < n.Buys {
			n.Buys, n.Ends = max(most, 1), "wall_clock"
		}
	}
	n.Hours = float64(n.Buys) * n.TrialTime / 3600
	n.GPUHours = n.Hours * float64(s.GPUs)
}

// experience is what earlier studies of these checkpoints on real hardware measured.
type experience struct {
	pace tuner.Pace
	from string // the first study with trials that ran; empty without any
}

// experience reads the earlier studies once more, for what the study itself does not keep of them.
func (a *assembly) experience(ctx context.Context) (x experience, err error) {
	for _, e := range a.inputs.Earlier {
		where := e.Path
		if !filepath.IsAbs(where) {
			where = filepath.Join(a.inputs.Folder, where)
		}
		o, err := look(ctx, where)
		if err != nil {
			return x, err
		}
		if !o.inputs.Rehearse && slices.Equal(o.spec.Models, a.spec.Models) {
			if p := o.history.Pace(); p.Ran > 0 && x.from == "" {
				x.pace, x.from = p, e.Path
			}
		}
		if err := o.db.Close(); err != nil {
			return x, err
		}
	}
	return x, nil
}

// phases says how long the parts of a trial last.
func (a *assembly) phases(x experience) []phase {
	var list []phase
	pace, source := x.pace, x.from
	if source != "" {
		list = append(list, a.starting(x))
	} else {
		list = append(list, phase{Name: "init", Seconds: assumedInit.Seconds(), Why: "assumed"}, a.loading(),
			phase{Name: "profile, capture", Seconds: assumedCapture.Seconds(), Why: "assumed, with compiled kernels in the cache; 10 to 20 min more the first time"},
			phase{Name: "warm-up, stop", Seconds: assumedWarm.Seconds(), Why: "assumed"})
	}
	for i, t := range a.spec.Traffic {
		p := measuring(t.Spec)
		if a.spec.Goal.Metric == metric.RequestRate {
			p.Seconds, p.Most, p.Why = assumedSearch.Seconds(), 0, "assumed: the search for a rate takes several probes" // the limit is one probe's
		}
		if source != "" && i == 0 && len(a.spec.Traffic) == 1 {
			p.Seconds, p.Why = pace.Bench.Seconds(), fmt.Sprintf("mean of the %s that ran in %s", trials(pace.Ran), source)
		}
		if len(a.spec.Traffic) > 1 {
			p.Name += " " + t.Name
			if t.Role == studyfile.RoleGuard {
				p.Why += "; only of a trial that could win"
			}
		}
		list = append(list, p)
	}
	return list
}

// starting is the start-up as an earlier study learned it, by engine and checkpoint: the search may ask each of them as often.
func (a *assembly) starting(x experience) phase {
	p := phase{Name: "start", Seconds: x.pace.StartUp.Seconds()}
	var words, unknown []string
	sum := 0.0
	known := map[string]bool{}
	for _, k := range x.pace.StartUps.Roots() {
		if !slices.ContainsFunc(a.spec.Engines, func(e studyfile.Engine) bool { return e.Name == k.Engine }) {
			continue
		}
		known[k.Engine], sum = true, sum+k.Typical.Seconds()
		word := fmt.Sprintf("%s %s in %s", k.Like, roughly(k.Typical), trials(k.Trials))
		if k.Cold > k.Typical+k.Typical/4 {
			word += ", the first " + roughly(k.Cold)
		}
		words = append(words, word)
	}
	for _, e := range a.spec.Engines {
		if !known[e.Name] {
			unknown = append(unknown, e.Name)
		}
	}
	if len(words) == 0 {
		p.Why = fmt.Sprintf("mean of the %s that ran in %s, under other engines", trials(x.pace.Ran), x.from)
		return p
	}
	p.Seconds, p.Why = sum/float64(len(words)), fmt.Sprintf("learned in %s: %s", x.from, strings.Join(words, "; "))
	if len(unknown) > 0 {
		p.Why += "; nothing is known of " + strings.Join(unknown, ", ")
	}
	return p
}

// loading is the reading of the weights: of the largest checkpoint, since the search decides which one.
func (a *assembly) loading() phase {
	most := 0.0
	for _, m := range a.planner.models {
		most = max(most, float64(m.Weights.Total()-m.Weights.Draft)/(1<<30))
	}
	if most == 0 {
		return phase{Name: "load", Seconds: 120, Why: "assumed: the checkpoint's size is not known"}
	}
	rate, of := a.spec.Plan.DiskGiB, "the spec's disk"
	if rate == 0 {
		rate, of = assumedDisk, "an assumed disk"
	}
	return phase{Name: "load", Seconds: most / rate, Why: fmt.Sprintf("%.0f GiB at %.3g GiB/s, %s; much less while the files are in memory", most, rate, of)}
}

// measuring is the benchmark of a workload: no shorter than its arrivals, no longer than its limit.
func measuring(w workload.Spec) phase {
	p := phase{Name: "bench", Seconds: assumedBench.Seconds(), Most: w.WallLimit.Seconds(), Why: "assumed: nothing was measured yet"}
	if w.Rate > 0 {
		if arrivals := float64(w.Requests) / w.Rate; arrivals > p.Seconds {
			p.Seconds, p.Why = arrivals, "the requests arrive no faster"
		}
	}
	if p.Most > 0 && p.Seconds > p.Most {
		p.Seconds = p.Most
	}
	return p
}
