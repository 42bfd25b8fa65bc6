package tuner

import (
	"autotune/tuner/metric"
)

// Effective is the key of the configuration that a trial was: what the running server reported, where that is another point's or another trial's, else what
// was asked.
func (t Trial) Effective() string {
	if k := t.Outcome.Run.ResolvedKey; k != "" && t.Ran() {
		return k
	}
	return t.Point.Key()
}

// Joined is the history with trials that turned out to be one configuration joined: the first that was measured stands for all of them, and Twin
// marks the others, where they stand. The measurement of each is the mean of all. Only whole measurements of the same question on the same clock are
// joined. A trial that was cut short is no measurement of its own beside one that was not.
func (h History) Joined() History {
	groups := map[string][]int{}
	for i, t := range h {
		if t.Told() && t.Ran() {
			groups[t.Effective()] = append(groups[t.Effective()], i)
		}
	}
	joined := append(History(nil), h...)
	for _, group := range groups {
		first := -1
		var all []*Measurement
		for _, i := range group {
			m := h[i].Outcome.Measured
			if h[i].Outcome.Kind != Measured || m == nil || first >= 0 && !m.asks(h[first].Outcome.Measured) {
				continue
			}
			if first < 0 {
				first = i
			}
			all = append(all, m)
			joined[first].Joins = append(joined[first].Joins, h[i].Number)
		}
		for _, i := range group {
			m := h[i].Outcome.Measured
			joined[i].Twin = first >= 0 && i != first && (h[i].Outcome.Kind == Stopped || m != nil && m.asks(h[first].Outcome.Measured))
		}
		if len(all) < 2 {
			if first >= 0 {
				joined[first].Joins = nil
			}
			continue
		}
		m := mean(all)
		for _, i := range group {
			if i == first || joined[i].Twin && h[i].Outcome.Kind == Measured {
				joined[i].Outcome.Measured = m
			}
		}
	}
	return joined
}

// Repeats is how many measurements a trial's own is the mean of, at least 1.
func (t Trial) Repeats() int { return max(1, len(t.Joins)) }

// asks tells whether two measurements are of the same question on the same clock.
func (m *Measurement) asks(as *Measurement) bool {
	return m.Identity == as.Identity && m.Clock == as.Clock
}

// mean is the mean of several measurements, metric by metric, workload by workload: of those that have it.
func mean(all []*Measurement) *Measurement {
	out := *all[0]
	out.Metrics = meanOf(all)
	out.Also = nil
	seen := map[string]bool{out.Workload: true}
	for _, m := range all {
		for _, also := range m.Also {
			if _, probe := also.Metrics[metric.RequestRate]; probe || also.Workload == out.Workload {
				if m == all[0] {
					out.Also = append(out.Also, also) // other rates that its search has tried
				}
				continue
			}
			if seen[also.Workload] {
				continue
			}
			seen[also.Workload] = true
			var same []*Measurement
			for _, other := range all {
				if of := other.Of(also.Workload); of != nil && of.asks(also) {
					same = append(same, of)
				}
			}
			one := *also
			one.Metrics = meanOf(same)
			out.Also = append(out.Also, &one)
		}
	}
	return &out
}

// meanOf is the mean of each metric that all have.
func meanOf(all []*Measurement) map[string]float64 {
	out := map[string]float64{}
	for name := range all[0].Metrics {
		sum, n := 0.0, 0
		for _, m := range all {
			if v, ok := m.Metrics[name]; ok {
				sum, n = sum+v, n+1
			}
		}
		if n == len(all) {
			out[name] = sum / float64(n)
		}
	}
	return out
}
