package bench

import (
	"fmt"
	"slices"
	"strings"

	"autotune/tuner/workload"
)

// Asked is what the tool was told to do. The result's own word on it counts for nothing: a tool that lost requests does not know.
type Asked struct {
	Requests     int
	OutputTokens int     // forced on each answer; 0: not forced, or not known
	Gate         float64 // the share of the requests that has to succeed, above 0 and at most 1
}

// Result is a measurement that can be believed.
type Result struct {
	Tool      string             `json:"tool"`
	Version   string             `json:"version,omitempty"` // of the tool or its format, when the file says so
	Requests  int                `json:"requests"`
	Succeeded int                `json:"succeeded"`
	Metrics   map[string]float64 `json:"metrics"` // under our names, in our units
	// Theirs is what the tool calls each metric, and its own definition where that differs from ours.
	Theirs   map[string]Theirs `json:"theirs"`
	Warnings []string          `json:"warnings,omitempty"`
}

// Theirs is a metric as the tool has it.
type Theirs struct {
	Name    string `json:"name"`
	Differs string `json:"differs,omitempty"`
}

// Refusal says why a file is no measurement.
type Refusal struct {
	Rule     string // which rule it breaks: schema, numbers, counts, no_success, low_success, lengths, broken, order, arithmetic; stable
	Evidence string
}

func (r *Refusal) Error() string { return r.Evidence }

func refuse(rule, format string, args ...any) *Refusal {
	return &Refusal{Rule: rule, Evidence: fmt.Sprintf(format, args...)}
}

// Tool is a benchmark tool.
type Tool struct {
	Name string
	// Title is its name for people, and File what its result file is called.
	Title, File string
	// Program starts it, and KeyVariable is the environment variable from which it takes an API key; empty when only its command line does.
	Program     []string
	KeyVariable string
	sub         []string // words between the program and the flags
	module      string   // the Python module whose version is asked for; empty: the program knows --version
	datasets    []string
	gaps        func(burstiness float64) bool // which gaps between arrivals it can make (see workload.Spec)
	// requestLimit: it has a limit on one request.
	requestLimit bool
	// row is a request in the tool's own format of a file; nil when it reads the datasets' own files.
	row func(workload.Request) any
	// args are the flags of a job that it can realise; result is where the file goes.
	args func(j Job, result string) ([]string, error)
	// notes say by dataset in what the tool's one is not that of the built-in load generator.
	notes map[string]string
	table table
	// format is the version that its files say they have.
	format format
	// parse reads a decoded result.
	parse func(document) (*report, *Refusal)
	// tells are keys of which its files have one.
	tells []string
}

// Tools lists the tools. vLLM's comes last: what it is told by, others have too.
func Tools() []Tool { return []Tool{guidellm, sglangBench, aiperf, vllmBench} }

// Names are the tools' names.
func Names() []string {
	var names []string
	for _, t := range Tools() {
		names = append(names, t.Name)
	}
	return names
}

// Find gives a tool by its name.
func Find(name string) (Tool, bool) {
	for _, t := range Tools() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Read reads what a tool has written, and validates it. The error is a *Refusal.
func (t Tool) Read(text []byte, asked Asked) (Result, error) {
	docs, refusal := decode(text)
	if refusal != nil {
		return Result{}, refusal
	}
	doc := docs[len(docs)-1]
	if refusal := t.belongs(doc); refusal != nil {
		return Result{}, refusal
	}
	if refusal := t.format.check(doc, t.Title); refusal != nil {
		return Result{}, refusal
	}
	r, refusal := t.parse(doc)
	if refusal != nil {
		return Result{}, refusal
	}
	if len(docs) > 1 {
		r.warn("the file holds %d results: this is the last", len(docs))
	}
	r.read(doc, t.table)
	if refusal := r.validate(asked); refusal != nil {
		return Result{}, refusal
	}
	r.complete(asked)
	return Result{Tool: t.Name, Version: r.version, Requests: asked.Requests, Succeeded: r.done, Metrics: r.metrics, Theirs: r.theirs, Warnings: r.warnings}, nil
}

// belongs refuses another tool's file.
func (t Tool) belongs(doc document) *Refusal {
	if whose, ok := author(doc); ok && whose.Name == t.Name {
		return nil
	} else if ok {
		return refuse("schema", "this looks like a result of %s, not of %s", whose.Title, t.Title)
	}
	return refuse("schema", "this is no result of %s as far as this version knows: it has no %s", t.Title, strings.Join(t.tells, " or "))
}

// author is the tool that wrote a file: the first of the catalog whose mark it has.
func author(doc document) (Tool, bool) {
	for _, t := range Tools() {
		if slices.ContainsFunc(t.tells, doc.has) {
			return t, true
		}
	}
	return Tool{}, false
}
