package studyfile

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"autotune/space"
)

// TemplateInput is what `init` knows of the machine and the wish.
type TemplateInput struct {
	Engines []TemplateEngine
	Model   string
	GPUs    int
	// Comments stand at the top, a line each: what the spec was made from, and what a reader must know.
	Comments []string
	// Longest bounds input and output of a request, in tokens; 0: no bound.
	Longest int
	Recipes []TemplateRecipe
}

// TemplateEngine is what is proposed for an engine. Values are YAML, as ValueText writes them.
type TemplateEngine struct {
	Name                   string
	Comments               []string
	Command                []string
	Env                    []EnvVar
	Fixed, Baseline, Space []TemplateLine
	Require                []TemplateLine // Value is the rule, Why the reason
}

// TemplateLine is a flag with its value or its values, and what it is for.
type TemplateLine struct {
	Flag, Value, Why string
	Off              bool // to be switched on by hand
}

// TemplateRecipe is a configuration to begin with.
type TemplateRecipe struct {
	Engine string
	Flags  []TemplateLine
	Why    string
}

// Template writes a commented spec that parses, for any engines of this version, any model and 0 GPUs or more.
// Lines that begin with "#: " are keys to switch on by hand; they are valid as they stand.
func Template(in TemplateInput) []byte {
	var b strings.Builder
	b.WriteString(templateHead)
	for _, c := range in.Comments {
		b.WriteString("# " + comment(c) + "\n")
	}
	fmt.Fprintf(&b, templateTop, yamlText(nameOfModel(in.Model)), yamlText(in.Model), in.GPUs)
	in.traffic(&b)
	b.WriteString("\nengines:\n")
	for _, e := range in.Engines {
		e.write(&b)
	}
	in.recipes(&b)
	fmt.Fprintf(&b, templateEnd, DefaultSampler)
	if len(in.Engines) > 1 {
		fmt.Fprintf(&b, "#: reference: %s # the engine whose baseline gains are counted from; the first one above by default\n", in.Engines[0].Name)
	}
	return []byte(b.String())
}

// traffic is a workload that fits the longest request, and others to choose from.
func (in TemplateInput) traffic(b *strings.Builder) {
	input, output := 2048, 256
	if in.Longest > 0 && in.Longest < input+output {
		output = max(1, in.Longest/8)
		input = max(1, in.Longest-output-in.Longest/16)
	}
	fmt.Fprintf(b, templateTraffic, input, output)
	fmt.Fprintf(b, "#:   chat: {dataset: random, input_tokens: %d, output_tokens: %d, requests: 500, rate: 1000, max_concurrency: 128, role: guard, max_regression: 10%%} # a second kind of traffic, which must not get worse by more\n",
		max(1, input/2), max(1, output))
	b.WriteString("# Others to choose from, with numbers of your own: long prompts {input_tokens: 32000, output_tokens: 100, requests: 100}, long answers\n" +
		"# {input_tokens: 1000, output_tokens: 2000, requests: 200}, recorded ones {dataset: sharegpt, path: FILE.json, requests: 1000, rate: 1000, max_concurrency: 512}.\n")
}

func (e TemplateEngine) write(b *strings.Builder) {
	fmt.Fprintf(b, "  %s:\n", e.Name)
	for _, c := range e.Comments {
		b.WriteString("    # " + comment(c) + "\n")
	}
	if len(e.Command) > 0 {
		var words []string
		for _, w := range e.Command {
			words = append(words, yamlText(w))
		}
		fmt.Fprintf(b, "    command: [%s] # what starts the engine\n", strings.Join(words, ", "))
	}
	if len(e.Env) > 0 {
		b.WriteString("    env: # of the server, beside what it inherits\n")
		for _, v := range e.Env {
			fmt.Fprintf(b, "      %s: %s\n", v.Name, yamlText(v.Value))
		}
	}
	section(b, "fixed", "in every command", e.Fixed)
	section(b, "baseline", "of the first command, which gains are counted from", e.Baseline)
	section(b, "space", "in each list: the values to try; default leaves the flag out", e.Space)
	if len(e.Require) > 0 {
		b.WriteString("    require: # what every configuration keeps\n")
		for _, l := range e.Require {
			fmt.Fprintf(b, "      - {that: %s, reason: %s}\n", strconv.QuoteToGraphic(l.Value), strconv.QuoteToGraphic(l.Why))
		}
	}
}

// section writes flags under a key; a key with nothing to switch on is left out.
func section(b *strings.Builder, key, what string, lines []TemplateLine) {
	if !slices.ContainsFunc(lines, func(l TemplateLine) bool { return !l.Off }) {
		return
	}
	fmt.Fprintf(b, "    %s: # %s\n", key, what)
	for _, l := range lines {
		mark, why := "", ""
		if l.Off {
			mark = "#: "
		}
		if l.Why != "" {
			why = " # " + comment(l.Why)
		}
		fmt.Fprintf(b, "%s      %s: %s%s\n", mark, l.Flag, l.Value, why)
	}
}

func (in TemplateInput) recipes(b *strings.Builder) {
	if len(in.Recipes) == 0 {
		return
	}
	b.WriteString("\nrecipes: # configurations to try right after the baselines\n")
	for _, r := range in.Recipes {
		var flags []string
		for _, l := range r.Flags {
			flags = append(flags, l.Flag+": "+l.Value)
		}
		fmt.Fprintf(b, "  - {engine: %s, flags: {%s}} # %s\n", r.Engine, strings.Join(flags, ", "), comment(r.Why))
	}
}

// comment keeps a comment on its line.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\u0085' {
			return ' '
		}
		return r
	}, text)
}

const templateHead = `# A study for autotune. Look at it with "autotune check FILE", try it without a GPU with "autotune run FILE --rehearse", then "autotune run FILE".
# Lines that begin with "#: " are further keys: take the "#: " away to use them.
`

const templateTop = `name: %s
model: %s # a name on the hub, or a folder; a list of checkpoints makes the checkpoint a part of the search
gpus: %d # that a trial may use; 0 for a machine without any
#: plan: {gpu: H200, disk: 3} # their name (or memory: GIB) and the GiB that the disk reads in a second: what cannot fit is not launched

objective:
  maximize: total_token_throughput # prompt and answer tokens a second; "autotune show --definitions" lists every metric
#:   subject_to: ["p95_ttft <= 5s", "p95_tpot <= 100ms"] # bounds that the best configuration has to keep
gate: {success_rate: 0.99} # a configuration that fails more of its requests has no score
`

const templateTraffic = `
workloads: # the traffic: make it as much like yours as you can, since that is what is tuned for
  traffic:
    dataset: random # prompts of exactly these lengths
    input_tokens: %d
    output_tokens: %d
    requests: 500 # of one measurement: long enough to last a few minutes
    rate: 1000 # requests a second; far above what a server can do asks for its highest throughput
    max_concurrency: 128 # requests at a time, at most
    seed: 42
`

const templateEnd = `
search:
  sampler: %s # who proposes the next configuration
  seed: 42 # the same seed makes the same study
#:   start_from: [earlier.db] # study files whose best configurations are tried early, and whose results are hints
#:   stoppers: on # a trial that is certainly not worth finishing is cut short; off, or report what would have been saved
#:   stop: 1%% # the search ends early once its model expects less than this over the best; off: only the budget ends it
budget:
  trials: 40 # baselines included
  wall_clock: 10h # of running, over all sittings
  failures_in_a_row: 20
#: timeouts: {start: 1h, silence: 25m, stop: 30s, hang: 5m} # of a server: until it is ready, without a line in its log, to end, without a token
`

// plainYAML is a text that no reader of YAML takes for anything else.
var plainYAML = regexp.MustCompile(`^[A-Za-z./][A-Za-z0-9._/-]*$`)

// yamlText writes a text as YAML, in quotes where it could be read as something else.
func yamlText(s string) string {
	words := []string{"true", "false", "null", "default", "bool", "yes", "no", "on", "off", ".inf", ".nan"}
	switch {
	case plainYAML.MatchString(s) && !slices.Contains(words, strings.ToLower(s)):
		return s
	case s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strconv.IsGraphic(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError
	}):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return strconv.QuoteToGraphic(s)
}

// ValueText writes the value of a flag as a spec has it.
func ValueText(v space.Value) string {
	switch v.Kind() {
	case space.KindString:
		return yamlText(v.String())
	case space.KindFloat:
		return strconv.FormatFloat(v.AsFloat(), 'f', -1, 64) + pointOf(v.AsFloat())
	default:
		return v.String()
	}
}

// pointOf keeps a whole float a float.
func pointOf(f float64) string {
	if f == math.Trunc(f) {
		return ".0"
	}
	return ""
}
