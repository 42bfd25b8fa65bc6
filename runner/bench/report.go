package bench

import (
	"fmt"
	"math"
)

// report is what a tool's file says, on the way to a Result.
type report struct {
	version  string
	done     int    // requests that succeeded
	failed   int    // -1: the file does not say
	told     int    // requests that the tool was told to send, by the file; -1: it does not say
	broken   string // why the tool itself calls its run no whole one; empty: it does not
	duration float64
	input    float64 // tokens of all successful requests; NaN: the file does not say
	output   float64
	limit    int       // cap on concurrency, 0: none or not known
	outputs  []float64 // tokens of each answer, when the file has them; failed requests may stand there too
	example  string    // the first error's words
	metrics  map[string]float64
	theirs   map[string]Theirs
	warnings []string
}

func newReport() *report {
	return &report{failed: -1, told: -1, metrics: map[string]float64{}, theirs: map[string]Theirs{}}
}

// countOf reads a count that a file may lack; what stands there and is no count is refused.
func countOf(doc document, path string, to *int) *Refusal {
	if found, there := doc.at(path); !there || found == nil {
		return nil
	}
	n, ok := doc.count(path)
	if !ok {
		return refuse("numbers", "%s is no number of requests", path)
	}
	*to = n
	return nil
}

func (r *report) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// read takes over every metric of the table that the file has. Null is nothing.
func (r *report) read(doc document, t table) {
	t.each(func(row row) {
		if v, ok := doc.number(row.theirs); ok {
			if row.scale != 0 {
				v *= row.scale
			}
			r.set(row.ours, v, row.theirs, row.differs)
		}
	})
}

func (r *report) set(ours string, v float64, theirs, differs string) {
	r.metrics[ours] = v
	r.theirs[ours] = Theirs{Name: theirs, Differs: differs}
}

func (r *report) drop(ours string) {
	delete(r.metrics, ours)
	delete(r.theirs, ours)
}

// complete adds what follows from the counts by arithmetic, and what a reader should know.
func (r *report) complete(asked Asked) {
	own := "computed from the file's sums"
	set := func(name string, v float64) {
		if _, there := r.metrics[name]; !there && !math.IsNaN(v) && !math.IsInf(v, 0) {
			r.set(name, v, "", own)
		}
	}
	set("success_rate", float64(r.done)/float64(asked.Requests))
	set("successful_requests", float64(r.done))
	set("failed_requests", float64(asked.Requests-r.done))
	set("duration", r.duration)
	set("input_tokens", r.input)
	set("output_tokens", r.output)
	set("request_throughput", float64(r.done)/r.duration)
	set("input_token_throughput", r.input/r.duration)
	set("output_token_throughput", r.output/r.duration)
	set("total_token_throughput", (r.input+r.output)/r.duration)
	if asked.Requests < 500 {
		r.warn("a 99th percentile of %d requests is that of a handful", asked.Requests)
	}
	if waves := float64(asked.Requests) / float64(r.limit); r.limit > 0 && waves < 4 {
		r.warn("%d requests at %d at a time are %.1f waves: ramp-up and drain weigh much", asked.Requests, r.limit, waves)
	}
	if tpot, itl := r.metrics["mean_tpot"], r.metrics["p50_itl"]; tpot > 0 && r.theirs["p50_itl"].Name != "" && itl < bundled*tpot {
		r.warn("half of the gaps between events are below %.3g ms, while a token takes %.3g ms: several tokens come at once, and inter-token latency is not what it says", 1e3*itl, 1e3*tpot)
	}
}

// bundled is the share of the time per token below which the median gap between events shows that tokens come in bundles.
const bundled = 0.05
