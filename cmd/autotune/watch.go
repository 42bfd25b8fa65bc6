package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"autotune/space"
	"autotune/tuner"
	"autotune/tuner/metric"
	"autotune/tuner/report"
)

// watcher shows a study going by: a line at each change of state, and on a terminal a live block under them.
type watcher struct {
	out      io.Writer
	live     bool
	width    func() int
	now      func() time.Time
	started  time.Time
	phase    tuner.Phase // of the current trial, as shown
	block    int         // lines of the live block now on the screen
	redrawn  time.Time
	lastLine string
}

func newWatcher(w *world) *watcher {
	return &watcher{out: w.out, live: w.terminal, width: w.width, now: w.now, started: w.now()}
}

// redrawEvery keeps a fast study from flooding a terminal.
const redrawEvery = 100 * time.Millisecond

// Observe prints what has changed.
func (v *watcher) Observe(p tuner.Progress) {
	switch {
	case p.Message != "":
		v.line(p.Message)
	case p.Trial == nil:
	case p.Ended:
		v.line(fmt.Sprintf("%s  %s | %s", v.head(p), ending(p), v.standing(p)))
	case p.Partial == nil:
		v.phase = ""
		v.line(fmt.Sprintf("%s  %s", v.head(p), news(p)))
	case p.Partial.Phase != v.phase:
		v.phase = p.Partial.Phase
		v.line(strings.TrimRight(fmt.Sprintf("%s  %s %s", v.head(p), v.phase, milestone(p.Partial.Detail)), " "))
	}
	if v.live && p.Partial != nil && !p.Ended && v.now().Sub(v.redrawn) >= redrawEvery {
		v.redraw(p)
	}
}

// milestone is what a line of an engine's log says, without who says it and when.
func milestone(line string) string {
	if _, text, ok := strings.Cut(line, "] "); ok {
		line = text
	}
	return clip(line, 80)
}

func (v *watcher) head(p tuner.Progress) string {
	return fmt.Sprintf("[%s] trial %s", clock(v.now().Sub(v.started)), ofTrials(p))
}

func ofTrials(p tuner.Progress) string {
	if n := p.Study.Budget.Trials; n > 0 {
		return fmt.Sprintf("%d/%d", p.Trial.Number, n-1)
	}
	return fmt.Sprint(p.Trial.Number)
}

// news says what the trial's configuration sets otherwise than the leader's, or than the engine's baseline while nobody leads.
func news(p tuner.Progress) string {
	t := p.Trial
	if t.Origin == tuner.OriginBaseline {
		return fmt.Sprintf("baseline of %s: nothing tuned", t.Point.Engine())
	}
	against, name := space.Point{}, ""
	if p.Leader != nil {
		against, name = p.Leader.Trial.Point, fmt.Sprintf("the best, trial %d", p.Leader.Trial.Number)
	} else if b, ok := baselineOf(p.Problem, t.Point.Engine()); ok {
		against, name = b, "the baseline"
	}
	diff := shorten(p.Problem.Space, against.Diff(t.Point), t.Point.Engine())
	if len(diff) == 0 {
		return "the same flags as " + name
	}
	return fmt.Sprintf("%s (against %s)", strings.Join(diff, " "), name)
}

// shorten leaves the engine's name out of its own flags, and drops what another engine loses.
func shorten(s *space.Space, diff []string, engine string) []string {
	var out []string
	for _, d := range diff {
		name, _, _ := strings.Cut(strings.TrimPrefix(d, "-"), "=")
		if p, ok := s.Param(name); ok && p.Engine != "" && p.Engine != engine {
			continue
		}
		sign := ""
		if strings.HasPrefix(d, "-") {
			sign, d = "-", d[1:]
		}
		out = append(out, sign+strings.TrimPrefix(d, engine+"."))
	}
	return out
}

func baselineOf(p tuner.Problem, engine string) (space.Point, bool) {
	for _, b := range p.Baselines {
		if b.Engine() == engine {
			return b, true
		}
	}
	return space.Point{}, false
}

// ending says how the trial came out.
func ending(p tuner.Progress) string {
	o := p.Trial.Outcome
	switch o.Kind {
	case tuner.Measured:
		v, ok := p.Problem.Goal.Value(o.Measured)
		if !ok {
			return "measured, without " + p.Problem.Goal.Metric
		}
		s := "measured " + metric.Format(p.Problem.Goal.Metric, v)
		broken, why := strings.Join(report.Misses(p.Problem.Goal, o.Measured), ", "), "too far behind to be"
		if broken != "" {
			s, why = s+", breaks "+broken, "so it is not"
		}
		var skipped []string
		for _, name := range p.Problem.Goal.Guards {
			if o.Measured.Of(name) == nil {
				skipped = append(skipped, name)
			}
		}
		if len(skipped) > 0 {
			s += fmt.Sprintf(", %s measured on %s", why, strings.Join(skipped, ", "))
		}
		if o.Share > 0 {
			s += fmt.Sprintf(", would have been cut short after %.0f %%", 100*o.Share)
		}
		return s
	case tuner.Infeasible:
		return fmt.Sprintf("failed, %s: %s", tuner.FailureOf(o).Name(), firstLine(o.Evidence))
	case tuner.Invalid:
		return fmt.Sprintf("not believed (%s): %s", o.Rule, firstLine(o.Evidence))
	case tuner.Stopped:
		return fmt.Sprintf("cut short (%s) %s", cmp.Or(o.Signature, "asked to stop"), o.Evidence)
	default:
		return "interrupted, will be asked again"
	}
}

// standing says who leads and how long it will take.
func (v *watcher) standing(p tuner.Progress) string {
	s := "no feasible configuration yet"
	if p.Leader != nil {
		s = fmt.Sprintf("best %s, trial %d%s", metric.Format(p.Problem.Goal.Metric, p.Leader.Value), p.Leader.Trial.Number, gainText(p.Problem, p.History, p.Leader.Value))
	}
	if p.Left > 0 {
		s += " | " + roughly(p.Left) + " left"
	}
	return s
}

func (v *watcher) line(s string) {
	v.erase()
	if s == v.lastLine {
		return
	}
	v.lastLine = s
	fmt.Fprintln(v.out, strings.TrimRight(s, " "))
}

// erase takes the live block off the screen.
func (v *watcher) erase() {
	if v.block > 0 {
		fmt.Fprintf(v.out, "\x1b[%dA\x1b[J", v.block)
		v.block = 0
	}
}

func (v *watcher) redraw(p tuner.Progress) {
	v.redrawn = v.now()
	v.erase()
	a := p.Partial
	lines := []string{
		fmt.Sprintf("  trial %s  %s %s", ofTrials(p), a.Phase, clock(a.Elapsed)),
		"  " + progressBar(a),
		"  " + v.standing(p),
	}
	if a.Detail != "" {
		lines = append(lines, "  "+a.Detail)
	}
	for _, l := range lines {
		fmt.Fprintln(v.out, clip(l, v.width()-1))
	}
	v.block = len(lines)
}

func progressBar(a *tuner.Partial) string {
	if a.Total == 0 {
		return "starting"
	}
	const cells = 30
	full := min(cells, cells*a.Done/a.Total)
	s := fmt.Sprintf("[%s%s] %d of %d requests", strings.Repeat("#", full), strings.Repeat(".", cells-full), a.Done, a.Total)
	if a.Failed > 0 {
		s += fmt.Sprintf(", %d failed", a.Failed)
	}
	return s
}
