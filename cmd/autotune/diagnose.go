package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"autotune/runner/engine"
	"autotune/tuner"
)

type diagnoseOptions struct {
	engine   string
	exitCode int
	coded    bool // an exit code was given
	signal   string
	json     bool
}

// Exit statuses of diagnose, which are answers.
const (
	exitNothingFailed = 1
	exitNoCause       = 3
)

func newDiagnose(w *world) *cobra.Command {
	var o diagnoseOptions
	cmd := &cobra.Command{
		Use: "diagnose LOG", Short: "Say from its log why a server died: what, in which phase, whose fault, and what to try",
		Long: `Read the log of a vLLM or SGLang server (a file, or - for standard input) and say what happened, in which phase, whose fault it is, the lines that prove
it, and what to try: the rules that also judge trials. What containers, orchestrators and terminals put around lines is taken off; the log may be of any size.
A log of several starts is judged by the last one, or by the last that failed when the last one did not.

With --json: verdict (failed, nothing_failed, unknown), engine, phase (flags, init, load, profile, capture, serve, unknown), reason (memory, infeasible,
environment, checkpoint, user, transient, unknown, none), signature, fault (configuration, machine, checkpoint, user, chance, nobody, unknown), line (of the
cause), evidence (line, role, text), hint, note, flags (name, direction, value), retry, retry_env, lines. Roles: cause, where, echo, consequence, milestone, stop,
suspect. Directions: up, down, smaller, on, leave out, exclude, other, set. These words stay.` + exitStatuses("0    a cause was found", "1    nothing failed", "2    the log cannot be read, or the command line is wrong",
			"3    it failed, or nothing can be told, and no cause is known"),
		Example: "  autotune diagnose server.log\n  docker logs my-server 2>&1 | autotune diagnose - --json\n  autotune diagnose --engine sglang --exit-code 137 server.log",
		Args:    exactArgs(1, "one log file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.coded = cmd.Flags().Changed("exit-code")
			return runDiagnose(w, args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.engine, "engine", "", "whose log it is: "+strings.Join(engine.Names(), ", ")+" (default: read from the log)")
	cmd.Flags().IntVar(&o.exitCode, "exit-code", 0, "exit status of the server, if known (137: killed)")
	cmd.Flags().StringVar(&o.signal, "signal", "", "signal that ended the server, if known (KILL, SEGV, ...)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

func runDiagnose(w *world, path string, o diagnoseOptions) error {
	if _, known := engine.Find(o.engine); o.engine != "" && !known {
		return trying(usage("diagnose: unknown engine %q; known: %s", o.engine, strings.Join(engine.Names(), ", ")), "leave --engine out: the log usually says")
	}
	if o.coded && (o.exitCode < -64 || o.exitCode > 255) {
		return usage("diagnose: --exit-code is %d; allowed: 0 to 255, or a signal's number with a minus", o.exitCode)
	}
	x, err := readLogFile(w, path)
	if err != nil {
		return err
	}
	d := engine.Diagnose(x, o.engine, engine.End{Known: o.coded || o.signal != "", Code: o.exitCode, Signal: o.signal})
	if o.json {
		err = printJSON(w.out, newDiagnosisView(d, x))
	} else {
		err = printDiagnosis(w.out, d, x)
	}
	if err != nil {
		return err
	}
	switch d.Verdict {
	case engine.VerdictHealthy:
		return &exitError{code: exitNothingFailed, err: errors.New("")}
	case engine.VerdictUnknown:
		return &exitError{code: exitNoCause, err: errors.New("")}
	}
	return nil
}

// readLogFile reads a log; - is standard input.
func readLogFile(w *world, path string) (engine.Excerpt, error) {
	in := w.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return engine.Excerpt{}, trying(usage("reading the log: %v", err), "docker logs NAME 2>&1 | autotune diagnose -")
		}
		defer f.Close()
		in = f
	}
	x, err := engine.ReadExcerpt(in)
	if err != nil {
		return x, usage("reading the log: %v", err)
	}
	return x, nil
}

// diagnosisView is a diagnosis as scripts see it. Its JSON keys are documented and stay.
type diagnosisView struct {
	Verdict   engine.Verdict `json:"verdict"`
	Engine    string         `json:"engine"`
	Phase     tuner.Phase    `json:"phase"`
	Reason    string         `json:"reason"`
	Signature string         `json:"signature"`
	Fault     engine.Fault   `json:"fault"`
	Line      int            `json:"line"` // of the cause, from 1; 0: no line
	Evidence  []engine.Quote `json:"evidence"`
	Hint      string         `json:"hint"`
	Note      string         `json:"note,omitempty"`
	Flags     []flagMove     `json:"flags"`
	Retry     bool           `json:"retry"` // clean up, and the same again may work
	RetryEnv  []string       `json:"retry_env,omitempty"`
	Lines     int            `json:"lines"` // of the log
}

type flagMove struct {
	Name      string `json:"name"` // without dashes
	Direction string `json:"direction"`
	Value     string `json:"value,omitempty"`
}

func newDiagnosisView(d engine.Diagnosis, x engine.Excerpt) diagnosisView {
	v := diagnosisView{Verdict: d.Verdict, Engine: d.Engine, Phase: d.Phase, Reason: string(d.Reason), Signature: d.Signature, Fault: d.Fault, Evidence: d.Proof,
		Hint: d.Hint, Note: d.Note, Retry: d.Retry, RetryEnv: d.RetryEnv, Lines: x.Total, Flags: []flagMove{}}
	if v.Reason == "" {
		v.Reason = "none"
	}
	if v.Evidence == nil {
		v.Evidence = []engine.Quote{}
	}
	for _, q := range d.Proof {
		if q.Role == engine.RoleCause && v.Line == 0 {
			v.Line = q.Line
		}
	}
	for _, m := range d.Moves {
		v.Flags = append(v.Flags, flagMove{Name: m.Flag, Direction: m.Move, Value: m.Value})
	}
	return v
}

// What a person reads for the words of a diagnosis.
var (
	reasonWords = map[tuner.Reason]string{
		tuner.ReasonMemory: "It ran out of memory", tuner.ReasonInfeasible: "The engine cannot run like this here", tuner.ReasonTransient: "It failed for a reason that may pass",
		tuner.ReasonEnvironment: "Something on the machine or in the installation is wrong", tuner.ReasonUser: "It was asked for something impossible",
		tuner.ReasonCheckpoint: "The checkpoint's files are broken", tuner.ReasonUnknown: "It failed, and no known cause explains it",
	}
	faultWords = map[engine.Fault]string{
		engine.FaultConfiguration: "this configuration", engine.FaultMachine: "the machine or its installation, not the configuration", engine.FaultCheckpoint: "the checkpoint: no flag helps",
		engine.FaultUser: "the request", engine.FaultChance: "chance: the same again may work", engine.FaultNobody: "nobody's", engine.FaultUnknown: "not known",
	}
	phaseWords = map[tuner.Phase]string{
		tuner.PhaseFlags: "reading the command line", tuner.PhaseInit: "starting processes, GPUs, downloads", tuner.PhaseLoad: "reading weights", tuner.PhaseProfile: "sizing the KV cache",
		tuner.PhaseCapture: "graphs, compilation, warm-up", tuner.PhaseServe: "serving", tuner.PhaseBench: "under the benchmark", tuner.PhaseUnknown: "not known",
	}
)

func printDiagnosis(out io.Writer, d engine.Diagnosis, x engine.Excerpt) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	what := reasonWords[d.Reason]
	switch {
	case d.Verdict == engine.VerdictHealthy:
		what = "Nothing failed here"
	case d.Signature == "":
		what = "Nothing can be told from this log"
	case d.Verdict == engine.VerdictFailed:
		what += " (" + d.Signature + ")"
	}
	row("What", "%s", what)
	if d.Engine != "" {
		row("Engine", "%s", d.Engine)
	}
	row("Phase", "%s (%s)", d.Phase, phaseWords[d.Phase])
	row("Fault", "%s", faultWords[d.Fault])
	for i, q := range d.Proof {
		row(map[bool]string{true: "Evidence"}[i == 0], "line %d, %s: %s", q.Line, q.Role, q.Text)
	}
	row("Try", "%s", d.Hint)
	if len(d.RetryEnv) > 0 {
		row("", "the same again with %s", strings.Join(d.RetryEnv, " "))
	}
	for i, m := range d.Moves {
		row(map[bool]string{true: "Flags"}[i == 0], "--%s %s", m.Flag, strings.TrimSpace(m.Move+" "+m.Value))
	}
	if d.Note != "" {
		row("Note", "%s", d.Note)
	}
	if x.Dropped > 0 {
		row("Read", "%d lines; %d in the middle that show no trouble were left out", x.Total, x.Dropped)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
