package bench

import "strings"

// table says which of our metrics a tool has, under which name, and where its definition differs. STAT in a name stands for each statistic.
type table struct {
	rows []row
	// stats are the tool's words for our statistics: mean, p50, p90, p95, p99.
	stats map[string]string
}

// row is one metric, or one family of statistics.
type row struct {
	ours, theirs string
	scale        float64 // theirs times this is ours; 0 stands for 1
	differs      string
}

// the words of tools that name percentiles in their keys
var numpyStats = map[string]string{"mean": "mean", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99"}

// each lists every single metric of the table.
func (t table) each(f func(r row)) {
	for _, r := range t.rows {
		if !strings.Contains(r.theirs, "STAT") {
			f(r)
			continue
		}
		for _, stat := range []string{"mean", "p50", "p90", "p95", "p99"} {
			single := r
			single.ours, single.theirs = stat+"_"+r.ours, strings.Replace(r.theirs, "STAT", t.stats[stat], 1)
			f(single)
		}
	}
}

// Metrics are our names of what the tool gives.
func (t Tool) Metrics() []string {
	var names []string
	t.table.each(func(r row) { names = append(names, r.ours) })
	return names
}
