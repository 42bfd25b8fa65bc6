package studyfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// TemplateInput is what `init` knows of the machine and the wish.
type TemplateInput struct {
	Engines []string // vllm, sglang or both
	Model   string
	GPUs    int
}

// Template writes a commented spec that parses, for any engines of this version, any model and 0 GPUs or more.
// Lines that begin with "#: " are keys to switch on by hand; they are valid as they stand.
func Template(in TemplateInput) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, templateTop, yamlText(nameOfModel(in.Model)), yamlText(in.Model), in.GPUs)
	for _, name := range in.Engines {
		fmt.Fprintf(&b, "  %s:\n", name)
		b.WriteString(engineTemplate(name, in.GPUs))
	}
	fmt.Fprintf(&b, templateEnd, DefaultSampler)
	if len(in.Engines) > 1 {
		fmt.Fprintf(&b, "#: reference: %s                       # the engine whose baseline gains are counted from; the first one above by default\n", in.Engines[0])
	}
	return []byte(b.String())
}

const templateTop = `# A study for autotune. Look at it with "autotune check FILE", try it without a GPU with "autotune run FILE --rehearse", then "autotune run FILE".
# Lines that begin with "#: " are further keys: take the "#: " away to use them.
name: %s
model: %s # a name on the hub, or a folder; a list of checkpoints makes the checkpoint a part of the search
gpus: %d # that a trial may use; 0 for a machine without any
#: plan: {gpu: H200, disk: 3} # their name (or memory: GIB) and the GiB that the disk reads in a second: what cannot fit is not launched

objective:
  maximize: total_token_throughput # prompt and answer tokens a second; "autotune show --definitions" lists every metric
#:   subject_to: ["p95_ttft <= 5s", "p95_tpot <= 100ms"] # bounds that the best configuration has to keep
gate: {success_rate: 0.99} # a configuration that fails more of its requests has no score

workloads: # the traffic: make it as much like yours as you can, since that is what is tuned for
  traffic:
    dataset: random # prompts of exactly these lengths
    input_tokens: 2048
    output_tokens: 256
    requests: 500 # of one measurement: long enough to last a few minutes
    rate: 1000 # requests a second; far above what a server can do asks for its highest throughput
    max_concurrency: 128 # requests at a time, at most
    seed: 42

engines:
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

// engineTemplate is what init proposes for an engine.
func engineTemplate(name string, gpus int) string {
	lines, size := vllmTemplate, "tensor-parallel-size"
	if name == "sglang" {
		lines, size = sglangTemplate, "tp-size"
	}
	var b strings.Builder
	if gpus > 0 {
		fmt.Fprintf(&b, "    fixed: {%s: %d} # in every command; the model is split over so many GPUs\n", size, powerOfTwo(gpus))
	}
	b.WriteString("    space: # in each list: the values to try; default leaves the flag out\n")
	for _, l := range lines {
		if gpus < l.gpus {
			continue
		}
		mark := ""
		if l.off {
			mark = "#: "
		}
		fmt.Fprintf(&b, "%s      %s # %s\n", mark, l.text, l.why)
	}
	return b.String()
}

// powerOfTwo is the largest one up to n: attention heads are seldom divided by anything else.
func powerOfTwo(n int) int {
	p := 1
	for p <= n/2 {
		p *= 2
	}
	return p
}

// templateLine is a parameter that init proposes, where there are so many GPUs.
type templateLine struct {
	text, why string
	off       bool // to be switched on by hand
	gpus      int
}

var vllmTemplate = []templateLine{
	{text: "max-num-seqs: [default, {ints: [16, 1024], log: true}]", why: "requests in a step"},
	{text: "max-num-batched-tokens: [default, 2048, 4096, 8192, 16384]", why: "tokens in a step: larger ones are better used and need more memory"},
	{text: "gpu-memory-utilization: [default, {floats: [0.80, 0.96]}]", why: "what is not for weights and activations holds requests; too much of it ends out of memory", gpus: 1},
	{text: "kv-cache-dtype: [auto, fp8]", why: "a narrower cache holds twice as many tokens; compare the answers before you deploy it", gpus: 1},
	{text: "performance-mode: [balanced, throughput]", why: "throughput doubles the two limits above where they are not set"},
	{text: "enable-expert-parallel: bool", why: "mixture-of-experts models only", off: true, gpus: 2},
	{text: "enforce-eager: bool", why: "no graphs: starts sooner, runs slower", off: true},
	{text: "max-model-len: [8192]", why: "input and output of the longest request; a shorter context leaves more room", off: true},
}

var sglangTemplate = []templateLine{
	{text: "max-running-requests: [default, {ints: [16, 1024], log: true}]", why: "requests at a time"},
	{text: "chunked-prefill-size: [default, 2048, 4096, 8192, 16384]", why: "tokens of a piece of a prompt: larger ones are better used and need more memory"},
	{text: "mem-fraction-static: [default, {floats: [0.70, 0.92]}]", why: "for weights and cache; too little of it does not start, too much ends out of memory", gpus: 1},
	{text: "kv-cache-dtype: [auto, fp8_e4m3]", why: "a narrower cache holds twice as many tokens; compare the answers before you deploy it", gpus: 1},
	{text: "schedule-policy: [fcfs, lpm]", why: "lpm favours prompts whose beginning is cached"},
	{text: "enable-dp-attention: bool", why: "mixture-of-experts and latent-attention models: attention a GPU, experts over all", off: true, gpus: 2},
	{text: "dp-size: {choices: [2], when: enable-dp-attention}", why: "a parameter that exists only beside another", off: true, gpus: 2},
	{text: "moe-a2a-backend: [none, deepep]", why: "mixture-of-experts models only, where deepep is installed", off: true, gpus: 2},
}

// plainYAML is a text that no reader of YAML takes for anything else.
var plainYAML = regexp.MustCompile(`^[A-Za-z./][A-Za-z0-9._/-]*$`)

// yamlText writes a text as YAML, in quotes where it could be read as something else.
func yamlText(s string) string {
	words := []string{"true", "false", "null", "default", "bool", "yes", "no", "on", "off", ".inf", ".nan"}
	if plainYAML.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return strconv.QuoteToGraphic(s)
}
