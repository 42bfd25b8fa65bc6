package tuner

import "autotune/tuner/metric"

// Savings are what cutting trials short saves.
type Savings struct {
	Trials int `json:"trials"`
	// Minutes are of benchmarks, on the trials' clock: what was left of each by its length, or its most likely one, and the mean length of what was not
	// even begun, a further target or the rest of a search for a rate.
	Minutes float64 `json:"minutes"`
	// Best counts, among trials that a stopper which only reports would have cut short, those that ended better than all before them.
	Best int `json:"best,omitempty"`
}

// Saved adds up the trials that were cut short, and those that a stopper which only reports would have cut.
func Saved(g Goal, h History) (saved, reported Savings) {
	var best *Measurement
	whole := lengthsOf(h)
	for _, t := range h {
		o := t.Outcome
		if t.Foreign {
			continue
		}
		leads := g.Feasible(t) && (best == nil || g.Better(o.Measured, best))
		if leads {
			best = o.Measured
		}
		left := g.Metric == metric.RequestRate && o.Kind == Stopped // after one probe, which may have been whole
		if !left && (o.Share <= 0 || o.Share >= 1) || o.Measured == nil {
			continue
		}
		into, seconds := &saved, 0.0
		switch all := o.Measured.All(); {
		case o.Kind == Measured:
			into = &reported
			seconds = (1 - o.Share) * lengthOf(all)
		case left:
			seconds = max(0, whole.trial-lengthOf(all))
		default:
			last := all[len(all)-1] // of several workloads the last one was cut
			length, known := last.Metrics["duration"]
			if !known {
				length = whole.workload[last.Workload]
			}
			seconds = (1 - o.Share) * length
			for _, target := range g.Targets {
				if o.Measured.Of(target.Workload) == nil {
					seconds += whole.workload[target.Workload]
				}
			}
		}
		into.Trials++
		into.Minutes += seconds / 60
		if leads {
			into.Best++
		}
	}
	return saved, reported
}

// lengths are how long benchmarks last that come to their end, on average, in seconds.
type lengths struct {
	trial    float64 // all measurements of a launch
	workload map[string]float64
}

func lengthsOf(h History) lengths {
	l, trials, n := lengths{workload: map[string]float64{}}, 0.0, map[string]float64{}
	for _, t := range h {
		if t.Foreign || t.Outcome.Kind != Measured {
			continue
		}
		all := t.Outcome.Measured.All()
		l.trial += lengthOf(all)
		trials++
		for _, m := range all {
			l.workload[m.Workload] += m.Metrics["duration"]
			n[m.Workload]++
		}
	}
	l.trial /= max(1, trials)
	for name := range n {
		l.workload[name] /= n[name]
	}
	return l
}

// lengthOf is how long measurements took one after the other, in seconds; one that was cut short, the share of it that was seen.
func lengthOf(all []*Measurement) (seconds float64) {
	for _, m := range all {
		d := m.Metrics["duration"]
		if m.Share > 0 && m.Share < 1 {
			d *= m.Share
		}
		seconds += d
	}
	return seconds
}
