package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"autotune/runner/load"
	"autotune/tuner/metric"
	"autotune/tuner/workload"
)

// loadReport is what a call of load found. Its JSON keys are documented and stay.
type loadReport struct {
	URL      string        `json:"url"`
	Model    string        `json:"model"`
	Clock    metric.Clock  `json:"clock"`
	Seed     uint64        `json:"seed"`
	Workload workload.Spec `json:"workload"`
	Runs     []loadRun     `json:"runs"`
	gate     float64
	all      int // runs that were asked for
}

// loadRun is one measurement of it.
type loadRun struct {
	Repeat   int                `json:"repeat"`
	Ending   load.Ending        `json:"ending"`
	Share    float64            `json:"share"`
	Elapsed  float64            `json:"elapsed"` // s
	Identity string             `json:"identity"`
	Sent     string             `json:"sent"`
	Rule     string             `json:"rule,omitempty"`
	Evidence string             `json:"evidence,omitempty"`
	Failures map[string]int     `json:"failures"`
	Warnings []string           `json:"warnings"`
	Metrics  map[string]float64 `json:"metrics"`
	low      string             // how many succeeded, when that is fewer than the gate asks for
}

// verdict is the error that the call ends with; nil when every run was measured.
func (r loadReport) verdict() error {
	for _, run := range r.Runs {
		switch {
		case run.Rule != "" && run.Ending == load.Complete:
			return &exitError{code: exitFailed, err: fmt.Errorf("not believed (%s): %s", run.Rule, run.Evidence)}
		case run.low != "":
			return &exitError{code: exitFailed, err: errors.New(run.low)}
		case run.Ending != load.Complete:
			return &exitError{code: exitFailed, err: errors.New(run.cutShort())}
		}
	}
	return nil
}

// cutShort says why a run did not come to its end; empty when it did.
func (r loadRun) cutShort() string {
	why, ok := map[load.Ending]string{load.Interrupted: "interrupted", load.WallLimit: "the workload's wall_limit came first", load.Hang: "nothing came any more",
		load.AllFailed: "the first requests all failed", load.Stopped: "stopped"}[r.Ending]
	if !ok {
		return ""
	}
	return fmt.Sprintf("cut short after %.1f s (%s): %.0f %% of the requests had ended", r.Elapsed, why, 100*r.Share)
}

const blockWidth = 50

// printRun writes a run's block, and what is to be known of it below.
func (r loadReport) printRun(out io.Writer, run loadRun) {
	var b strings.Builder
	if r.all > 1 {
		fmt.Fprintf(&b, "Run %d of %d\n", run.Repeat+1, r.all)
	}
	fmt.Fprintln(&b, centred("Serving Benchmark Result", "=", 1))
	for _, row := range metric.Table {
		if row.Section != "" {
			fmt.Fprintln(&b, centred(row.Section, "-", 0))
		}
		value := row.Value(run.Metrics)
		if row.Label == "Maximum request concurrency" && r.Workload.MaxConcurrency > 0 {
			value = fmt.Sprint(r.Workload.MaxConcurrency) // as those tools print it: what was allowed
		}
		blockLine(&b, row.Label, value)
		for _, m := range [][3]string{{"successful_requests", "failed_requests", "Failed requests"}, {"request_throughput", "goodput", "Request goodput (req/s)"},
			{"total_token_throughput", "steady_total_token_throughput", "Steady Total Token throughput (tok/s)"}} {
			if v, ok := run.Metrics[m[1]]; ok && row.Metric == m[0] {
				blockLine(&b, m[2], fmt.Sprintf("%.*f", map[bool]int{true: 0, false: 2}[m[1] == "failed_requests"], v))
			}
		}
	}
	fmt.Fprintln(&b, strings.Repeat("=", blockWidth))
	fmt.Fprintf(&b, "Server   %s, model %s, %s time, content seed %d\n", r.URL, r.Model, r.Clock, r.Seed)
	if cpu, ok := run.Metrics[metric.ClientCPU]; ok {
		said := func(name string) string { return metric.Format(name, run.Metrics[name]) }
		fmt.Fprintf(&b, "Client   late by %s (median), %s (p99), %s at most; %.2f of %d processors; %s not sent for want of room, of %s at once\n",
			said("client_lag_p50"), said("client_lag_p99"), said("client_lag_max"), cpu, runtime.NumCPU(), said(metric.ClientDropped), said(metric.ClientFiles))
	}
	if s := r.Workload.Goodput; !s.None() {
		fmt.Fprintf(&b, "Goodput  of requests with %s: %s of those asked for\n", s, metric.Format("slo_attainment", run.Metrics["slo_attainment"]))
	}
	if word := run.cutShort(); word != "" {
		fmt.Fprintf(&b, "Cut      %s\n", word)
	}
	if run.Rule != "" && run.Ending == load.Complete {
		fmt.Fprintf(&b, "Doubt    not believed (%s): %s\n", run.Rule, run.Evidence)
	}
	for _, class := range slices.Sorted(maps.Keys(run.Failures)) {
		fmt.Fprintf(&b, "Failed   %d x %s\n", run.Failures[class], class)
	}
	for _, warning := range run.Warnings {
		fmt.Fprintf(&b, "Warning  %s\n", warning)
	}
	fmt.Fprint(out, b.String())
}

func blockLine(b *strings.Builder, label, value string) {
	fmt.Fprintf(b, "%-40s %s\n", label+":", value)
}

// centred sets a heading in a line of the block.
func centred(heading, fill string, blanks int) string {
	heading = strings.Repeat(" ", blanks) + heading + strings.Repeat(" ", blanks)
	left := (blockWidth - len(heading)) / 2
	return strings.Repeat(fill, left) + heading + strings.Repeat(fill, blockWidth-len(heading)-left)
}

// printEnd writes what there is to say of all runs together.
func (r loadReport) printEnd(out io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(out, r)
	}
	if len(r.Runs) < 2 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Over %d runs: mean (lowest to highest)\n", len(r.Runs))
	for _, name := range []string{"total_token_throughput", "output_token_throughput", "request_throughput", "goodput", "mean_ttft_sent", "p99_ttft_sent", "mean_tpot", "p99_tpot", "mean_latency_sent", "p99_latency_sent"} {
		sum, lowest, highest, n := 0.0, math.Inf(1), math.Inf(-1), 0
		for _, run := range r.Runs {
			if v, ok := run.Metrics[name]; ok {
				sum, lowest, highest, n = sum+v, min(lowest, v), max(highest, v), n+1
			}
		}
		if n > 0 {
			fmt.Fprintf(&b, "  %-26s %s (%s to %s)\n", name, metric.Format(name, sum/float64(n)), metric.Format(name, lowest), metric.Format(name, highest))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// requestLine is a request in a file of --records. Its JSON keys are documented and stay.
type requestLine struct {
	Repeat      int          `json:"repeat"`
	Index       int          `json:"index"`
	Scheduled   float64      `json:"scheduled"`
	Sent        *float64     `json:"sent"` // null: it was never sent
	Lag         float64      `json:"lag"`
	FirstByte   *float64     `json:"first_byte"` // null: none came
	End         *float64     `json:"end"`
	Status      int          `json:"status"`
	Error       string       `json:"error"`
	Detail      string       `json:"detail"`
	AskedInput  int          `json:"asked_input"`
	AskedOutput int          `json:"asked_output"`
	Input       int          `json:"input_tokens"`
	Output      int          `json:"output_tokens"`
	Tokens      [][2]float64 `json:"tokens"`
}

// writeRecords writes a run's requests.
func writeRecords(out io.Writer, repeat int, records []metric.Record) error {
	buffered := bufio.NewWriter(out)
	e := json.NewEncoder(buffered)
	e.SetEscapeHTML(false)
	for _, r := range records {
		line := requestLine{Repeat: repeat, Index: r.Index, Scheduled: seconds(r.Scheduled), Lag: seconds(r.Lag), Status: r.Status, Error: r.Error, Detail: r.Detail,
			AskedInput: r.AskedIn, AskedOutput: r.AskedOut, Input: r.Input, Output: r.Output, Tokens: make([][2]float64, 0, len(r.Tokens))}
		if r.Error != metric.ErrUnsent {
			sent, end := seconds(r.Sent), seconds(r.End)
			line.Sent, line.End = &sent, &end
		}
		if r.FirstByte > 0 {
			first := seconds(r.FirstByte)
			line.FirstByte = &first
		}
		for _, t := range r.Tokens {
			line.Tokens = append(line.Tokens, [2]float64{seconds(t.At), float64(t.Tokens)})
		}
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// seconds writes an instant, which is one of whole microseconds, in no more digits than it has.
func seconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }

// loadProgress shows on a terminal how a run gets on, in one line of its error output that is written over once a second.
type loadProgress struct {
	out   io.Writer // nil: nobody looks
	now   func() time.Time
	shown time.Time
	drawn bool
}

func (w *world) newLoadProgress() *loadProgress {
	p := &loadProgress{now: w.now}
	if w.errTerminal {
		p.out = w.err
	}
	return p
}

func (p *loadProgress) observe(a load.Progress) string {
	if p.out == nil || p.now().Sub(p.shown) < time.Second {
		return ""
	}
	p.shown, p.drawn = p.now(), true
	failed := map[bool]string{true: fmt.Sprintf(", %d failed", a.Failed)}[a.Failed > 0]
	rate := float64(a.StreamedTokens) / cmp.Or(a.Elapsed.Seconds(), 1)
	fmt.Fprintf(p.out, "\r\x1b[K%s  %d of %d requests%s, %d in flight, %.0f output tokens/s", clock(a.Elapsed), a.Done, a.Total, failed, a.Sent-a.Done, rate)
	return ""
}

func (p *loadProgress) erase() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}
