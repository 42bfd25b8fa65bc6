package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"autotune/tuner/memory"
)

// pageWidth is that of the plan's page, in columns.
const pageWidth = 100

// printNight writes the plan as a page, or as JSON.
func printNight(out io.Writer, n night, asJSON bool) error {
	if asJSON {
		return printJSON(out, n)
	}
	p := &page{}
	p.line("Plan      ", fmt.Sprintf("%s: %s", n.Name, n.Goal))
	p.line("Machine   ", n.GPU)
	more := map[bool]string{false: "more than "}[n.Exact]
	p.line("Space     ", fmt.Sprintf("%s%d configurations over %s, after the rules and the planner; sampler %s", more, n.Points, strings.Join(n.Engines, " and "), n.Sampler))
	n.memory(p)
	for _, e := range n.Earlier {
		p.line("Earlier   ", e)
	}
	p.text("")
	p.text("Memory of one GPU, GiB: the least that is needed, and the most that has been seen")
	for _, s := range n.Sums {
		s.write(p)
	}
	p.text("")
	p.text("One trial")
	for _, f := range n.Phases {
		why := f.Why
		if f.Most > 0 {
			why += "; at most " + secondsText(f.Most)
		}
		p.line(fmt.Sprintf("  %-18s %8s   ", clip(f.Name, 18), secondsText(f.Seconds)), why)
	}
	p.line(fmt.Sprintf("  %-18s %8s   ", "together", secondsText(n.TrialTime)), "a trial that fails or is cut short costs less")
	p.text("")
	p.line("Budget    ", budgetLine(n.checkReport))
	p.line("Buys      ", n.buysText())
	p.list("Not tried ", n.NotTried)
	p.list("Warning   ", n.Warnings)
	_, err := io.WriteString(out, p.b.String())
	return err
}

// buysText says how far the budget goes.
func (n night) buysText() string {
	if n.Buys == 0 {
		return "nothing: no configuration is left"
	}
	ends := map[string]string{"trials": "then its trials are used up", "wall_clock": "then the wall clock is", "space": "then every configuration was tried"}[n.Ends]
	return fmt.Sprintf("about %s in %s, %.0f GPU-hours; %s", trials(n.Buys), roughly(time.Duration(n.Hours*float64(time.Hour))), n.GPUHours, ends)
}

// memory says what the planner makes of the space.
func (n night) memory(p *page) {
	c := n.Memory
	if c.Looked == 0 {
		return
	}
	of := fmt.Sprintf("%d points", c.Looked)
	if !c.Exact {
		of = fmt.Sprintf("%d points by chance", c.Looked)
	}
	p.line("Fits      ", fmt.Sprintf("of %s %d fit, %d are uncertain and are tried, %d cannot fit and are excluded; of %d nothing is known", of,
		c.Answers[memory.Fits], c.Answers[memory.Uncertain], c.Excluded, c.Answers[memory.Unknown]))
}

// write puts the sums of a baseline on the page, a line for each part.
func (s baselineSum) write(p *page) {
	p.line("  ", fmt.Sprintf("baseline of %s: %s", s.Engine, s.verdict()))
	if s.Source != "" {
		p.line("    ", "as the log of "+s.Source+" said, where it did")
	}
	for _, sum := range s.Sums {
		for _, t := range sum.Terms {
			p.line(fmt.Sprintf("    %15s   ", rangeText(t.GiB)), t.Name)
		}
		p.line(fmt.Sprintf("    %15s   ", rangeText(sum.Needs())), fmt.Sprintf("of %s: %s", strings.TrimSuffix(sum.Pool, ","), rangeText(sum.Size)))
	}
	if s.Tokens.High > 0 {
		line := fmt.Sprintf("KV cache of %s for a token: %s", bytesText(s.TokenBytes), spanText(s.Tokens, "token"))
		if s.Requests != nil {
			line += fmt.Sprintf(", %s of the longest at once", spanText(*s.Requests, "request"))
		}
		p.line("    ", line)
	}
}

func (s baselineSum) verdict() string {
	text := map[memory.Answer]string{memory.Fits: "fits", memory.Uncertain: "uncertain", memory.Cannot: "cannot fit, and is not launched", memory.Unknown: "unknown"}[s.Answer]
	if s.Headroom != nil {
		text += fmt.Sprintf(", headroom about %.0f GiB", *s.Headroom)
	}
	if s.Reason != "" && s.Answer == memory.Unknown {
		text += ": " + s.Reason
	}
	return text
}

func rangeText(r memory.Range) string {
	if r.High-r.Low < 0.05 {
		return fmt.Sprintf("%.1f", r.Low)
	}
	return fmt.Sprintf("%.1f to %.1f", r.Low, r.High)
}

// spanText writes a number of things: "44 to 60 requests".
func spanText(s memory.Span, thing string) string {
	if s.Low == s.High {
		return fmt.Sprintf("%d %ss", s.Low, thing)
	}
	return fmt.Sprintf("%d to %d %ss", s.Low, s.High, thing)
}

func bytesText(b float64) string { return fmt.Sprintf("%.1f KiB", b/1024) }

func secondsText(s float64) string { return roughly(time.Duration(s * float64(time.Second))) }

// page wraps text to the page's width.
type page struct{ b strings.Builder }

func (p *page) text(s string) { p.b.WriteString(s + "\n") }

// line writes a text behind a label, wrapped and indented under itself.
func (p *page) line(label, s string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(label))
	column := 0
	p.b.WriteString(label)
	for i, word := range strings.Split(strings.ReplaceAll(s, " %", "\u00a0%"), " ") {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case len(indent)+column+1+length > pageWidth:
			p.b.WriteString("\n" + indent)
			column = 0
		default:
			p.b.WriteString(" ")
			column++
		}
		p.b.WriteString(strings.ReplaceAll(word, "\u00a0", " "))
		column += length
	}
	p.b.WriteString("\n")
}

func (p *page) list(label string, lines []string) {
	for _, l := range lines {
		p.line(label, l)
	}
}
