package studyfile

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Defaults of a spec.
const (
	DefaultSeed       = 42 // of the search and of the workload's content alike
	DefaultGate       = 0.99
	DefaultTrials     = 60 // when the budget says neither trials nor wall_clock
	DefaultFailureRow = 20
	DefaultSampler    = "gp"
	DefaultStoppers   = StoppersOn
	// DefaultStopGain is less than what two measurements of one configuration differ by.
	DefaultStopGain = 0.01
	// DefaultWarmup is how many requests are sent and dropped before a measurement; never more than the workload holds or its cap lets run at once.
	DefaultWarmup = 16
	// DefaultWallLimit ends a measurement: the slowest published configuration of the balanced workload took 45 minutes.
	DefaultWallLimit = time.Hour
)

// DefaultTimeouts bound a trial. The worst compilation seen took 37 minutes, a cold one 20 without a line in the log.
var DefaultTimeouts = Timeouts{Start: time.Hour, Silence: 25 * time.Minute, Stop: 30 * time.Second, Hang: 5 * time.Minute}

// Known is what a spec's words are checked against.
type Known struct {
	// Engines and Samplers that there are; without Samplers any word is taken for one.
	Engines, Samplers []string
	// Tools are the benchmark tools beside the built-in load generator.
	Tools []string
	// Sampler is that of a spec which names none; empty for DefaultSampler.
	Sampler string
	// Canonical gives the one name of a flag that an engine knows by several; nil when every name is taken as it is written.
	Canonical func(engine, flag string) string
}

// Names are the engines of this version; who searches knows the samplers.
var Names = Known{Engines: []string{"vllm", "sglang"}, Tools: []string{"guidellm", "sglang-bench", "aiperf", "vllm-bench"}}

// Parse reads a spec. source is its file's name, for messages. The error is Errors: everything that is wrong, by position.
// The sampler's name is not looked at: see Known.
func Parse(source string, text []byte) (*Spec, error) { return Names.Parse(source, text) }

// Parse reads a spec as the function Parse does, with these names known.
func (k Known) Parse(source string, text []byte) (*Spec, error) {
	root, errs := readDocument(text)
	r := &reader{known: k, errs: errs, places: places{}}
	s := &Spec{Source: source, Text: bytes.Clone(text), places: r.places}
	if root != nil {
		r.spec(s, root)
	}
	if len(r.errs) == 0 {
		return s, nil
	}
	for i := range r.errs {
		r.errs[i].File = source
	}
	return nil, r.errs.sorted()
}

// spec reads the whole document: what stands by itself first, then what refers to it.
func (r *reader) spec(s *Spec, root *node) {
	s.Gate, s.Records, s.Timeouts, s.GPUs, s.Bench.Tool = DefaultGate, RecordsFull, DefaultTimeouts, -1, Builtin
	s.Sampler, s.Seed, s.Stoppers, s.StopGain = cmp.Or(r.known.Sampler, DefaultSampler), DefaultSeed, DefaultStoppers, DefaultStopGain
	var objective, workloads, engines, require, recipes, reference, plan *node
	r.fields(root, nil,
		field{name: "name", read: r.studyName(&s.Name)},
		field{name: "model", read: r.models(&s.Models), need: "a checkpoint, or a list of checkpoints"},
		field{name: "gpus", read: r.integer(&s.GPUs, 0, 4096), need: "how many GPUs a trial may use, 0 for a machine without any"},
		field{name: "objective", read: keep(&objective), need: "{maximize: METRIC} or {minimize: METRIC}"},
		field{name: "gate", read: r.gate(&s.Gate)},
		field{name: "workloads", read: keep(&workloads), need: "a workload by its name"},
		field{name: "engines", read: keep(&engines), need: "an engine by its name: " + strings.Join(r.known.Engines, ", ")},
		field{name: "require", read: keep(&require)},
		field{name: "recipes", read: keep(&recipes)},
		field{name: "reference", read: keep(&reference)},
		field{name: "plan", read: keep(&plan)},
		field{name: "search", read: r.search(s)},
		field{name: "sampler", read: r.sampler(&s.Sampler), formerly: true},
		field{name: "seed", read: r.seed(&s.Seed), formerly: true},
		field{name: "budget", read: r.budget(s)},
		field{name: "timeouts", read: r.timeouts(&s.Timeouts)},
		field{name: "records", read: r.oneOf(&s.Records, RecordsFull, RecordsRequests)},
		field{name: "bench", read: r.bench(&s.Bench)},
		field{name: "guards", lacks: "a list of guards; a workload says role: guard and max_regression: 10%"},
		field{name: "confirm", lacks: "measuring the best few again"},
	)
	r.once("sampler", "seed")
	if s.Budget.Trials == 0 && s.Budget.WallClock == 0 {
		s.Budget.Trials = DefaultTrials
	}
	if s.Budget.FailureRow == 0 {
		s.Budget.FailureRow = DefaultFailureRow
	}
	if s.Name == "" && len(s.Models) > 0 {
		s.Name = nameOfModel(s.Models[0])
	}
	if plan != nil {
		r.plan(s, plan)
	}
	if workloads != nil {
		r.workloads(s, workloads)
	}
	if objective != nil {
		r.objective(s, objective)
	}
	s.guard()
	if engines != nil {
		r.engines(s, engines, require, recipes)
	}
	r.reference(s, reference)
}

// studyNameText fits a served model's name (SGLang refuses a colon in it), a file's name and a Kubernetes label.
var studyNameText = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)

func (r *reader) studyName(to *string) func(*node, path) {
	const allowed = "at most 63 letters, digits, dots, dashes and underscores, a letter or digit first and last"
	return func(n *node, p path) {
		s, ok := r.word(n, p, allowed)
		if ok && !studyNameText.MatchString(s) {
			r.fail(n, p, "not a name", allowed)
		} else if ok {
			*to = s
		}
	}
}

var notInName = regexp.MustCompile(`[^a-z0-9.-]+`)

// nameOfModel makes a study's name of a checkpoint's: zai-org/GLM-5.2-FP8 gives glm-5.2-fp8.
func nameOfModel(model string) string {
	s := notInName.ReplaceAllString(strings.ToLower(model[strings.LastIndexByte(strings.TrimRight(model, "/"), '/')+1:]), "-")
	if s = strings.Trim(s[:min(len(s), 63)], "-."); s == "" {
		return "study"
	}
	return s
}

func (r *reader) models(to *[]string) func(*node, path) {
	const allowed = "a checkpoint: a name such as Qwen/Qwen3-8B, or a folder"
	return func(n *node, p path) {
		if n.kind == listNode && len(n.items) == 0 {
			r.fail(n, p, "the list is empty", allowed)
		}
		r.each(n, p, func(_ int, item *node, p path) {
			s, ok := r.word(item, p, allowed)
			switch {
			case !ok:
			case strings.HasPrefix(s, "-"):
				r.fail(item, p, "an engine would read this as a flag", allowed)
			case slices.Contains(*to, s):
				r.fail(item, p, "the checkpoint is listed twice", "")
			default:
				*to = append(*to, s)
			}
		})
	}
}

func (r *reader) gate(to *float64) func(*node, path) {
	return func(n *node, p path) {
		r.fields(n, p, field{name: "success_rate", read: r.number(to, 0, 1, true, "a share above 0, at most 1, such as 0.99")})
	}
}

func (r *reader) budget(s *Spec) func(*node, path) {
	return func(n *node, p path) {
		r.fields(n, p,
			field{name: "trials", read: r.integer(&s.Budget.Trials, 1, 1_000_000)},
			field{name: "wall_clock", read: r.duration(&s.Budget.WallClock, false)},
			field{name: "failures_in_a_row", read: r.integer(&s.Budget.FailureRow, 1, 1_000_000)},
		)
	}
}

func (r *reader) timeouts(t *Timeouts) func(*node, path) {
	return func(n *node, p path) {
		r.fields(n, p,
			field{name: "start", read: r.duration(&t.Start, false)},
			field{name: "silence", read: r.duration(&t.Silence, false)},
			field{name: "stop", read: r.duration(&t.Stop, false)},
			field{name: "hang", read: r.duration(&t.Hang, false)},
		)
	}
}

// reference names an engine of the spec; the first when the spec does not say.
func (r *reader) reference(s *Spec, n *node) {
	var names []string
	for _, e := range s.Engines {
		names = append(names, e.Name)
	}
	if n != nil {
		if len(names) > 0 {
			r.oneOf(&s.Reference, names...)(n, path{"reference"})
		}
		return
	}
	if len(names) > 0 {
		s.Reference = names[0]
	}
}

// places maps the path of each key to where it stands.
type places map[string]place

// Place returns where a key stands in the spec, by its path: "engines", "vllm", "space", "max-num-seqs". 0, 0 when it is not there.
func (s *Spec) Place(keys ...string) (line, column int) {
	at := s.places[path(keys).id()]
	return at.line, at.column
}

// Fault makes an error about a key of the spec, for what only the caller knows: an engine's flags, a file that is missing.
func (s *Spec) Fault(problem string, keys ...string) FieldError {
	line, column := s.Place(keys...)
	return FieldError{File: s.Source, Line: line, Column: column, Key: path(keys).String(), Problem: problem}
}
