package metric

import (
	"fmt"
	"strings"
)

// Names lists the names that a definition stands for: its own, or those of its family.
func (d Definition) Names() []string {
	if !d.Statistics {
		return []string{d.Name}
	}
	var names []string
	for _, s := range Statistics {
		names = append(names, s+"_"+d.Name)
	}
	return names
}

// Markdown writes every definition, and the rows of the result block, as a page.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Metrics

Written by ` + "`autotune show --definitions --markdown`" + `; a test holds the two together.

Every metric has one definition. Base units are seconds, tokens/s, requests/s, a ratio from 0 to 1, and counts. *sent*, *first*, *last* and *end* are instants of
a request (*first* and *last*: its first and last event with tokens), *scheduled* is when the workload wanted it sent, *in* and *out* are its prompt and completion
tokens by the server's usage. Only successful requests count, except where a formula says otherwise. What is undefined is absent, never 0. A family NAME stands for
` + statisticsText() + `; percentiles interpolate linearly between the two nearest values.

| metric | unit | what it is | formula | better |
|---|---|---|---|---|
`)
	cell := func(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
	for _, d := range definitions {
		name := "`" + d.Name + "`"
		if d.Statistics {
			name += " (family)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, d.Unit, cell(d.Help), cell(d.Formula), d.Better)
	}
	b.WriteString(`
Goodput needs SLOs, which stand with the workload, as in ` + "`goodput: {ttft: 2s, tpot: 50ms}`" + `: limits on ttft, ttft_sent, tpot, latency (or e2el) and latency_sent of each
request. ttft and latency count from the instant at which the workload wanted the request; ttft_sent and latency_sent from its send, as in vLLM's ` + "`--goodput`" + `.

## The result block

` + "`autotune load`" + ` prints the 26 rows of the published tables, and further ones where they have a value. The last column is the metric that equals what published tables of
guidellm runs have under the same label.

| row | metric | in tables of guidellm runs |
|---|---|---|
`)
	for _, r := range Table {
		published := r.Metric
		if r.Published != "" {
			published = r.Published
		}
		fmt.Fprintf(&b, "| %s | `%s` | `%s` |\n", r.Label, r.Metric, published)
	}
	b.WriteString("\nThe block's \"Maximum request concurrency\" is the workload's max_concurrency where it has one. Peak output throughput of guidellm is an artefact of its\nclock and compares with nothing.\n")
	return b.String()
}

func statisticsText() string {
	var names []string
	for _, s := range Statistics {
		names = append(names, s+"_NAME")
	}
	return strings.Join(names, ", ")
}
