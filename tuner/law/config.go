package law

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"autotune/space"
)

// Config is a configuration as the engine resolves it. Two sets of flags that the engine makes the same of give equal Configs.
type Config struct {
	Engine  string // vllm or sglang
	Model   string
	Machine Machine

	TP, PP         int     // GPUs that share each layer; stages
	Replicas       int     // servers that share nothing behind one address
	Ranks          int     // attention ranks of a replica, each with a queue and a KV cache of its own; 1 without data-parallel attention
	ExpertParallel bool    // whole experts on each GPU
	Balanced       bool    // experts are moved so that every GPU has as much to do
	MemoryShare    float64 // of each GPU's memory for weights and cache (SGLang) or for everything (vLLM); 0: by formula
	CacheBytes     int64   // of each GPU for the KV cache, whatever MemoryShare says; 0: not given
	CacheTokens    int     // most tokens in the KV cache; 0: not given
	CacheType      string  // bf16, fp8, fp4
	WeightType     string  // as the checkpoint has them when empty; fp8, int4
	MaxRunning     int     // sequences in a step of one attention rank; 0: by formula
	Chunk          int     // tokens in a step of one attention rank; math.MaxInt32: no limit
	MaxPrefill     int     // tokens in a prefill batch of one attention rank
	Context        int     // most tokens of a request
	Page           int     // tokens of a page of the cache
	Mixed          bool    // decoding goes on in steps that prefill
	Graphs         string  // full, decode (full graphs, decoding only), piecewise, none
	GraphMax       int     // sequences of a rank in the largest graph
	AllToAll       string  // none, normal, low_latency, auto (normal in prefill, low_latency in decode)
	Conservative   float64 // SGLang's schedule-conservativeness, after the factor for data-parallel attention
	Overlap        bool    // the host prepares a step while the GPU runs the one before
	StatePerSlot   int     // states of linear-attention layers kept for each running request
	Draft          int     // tokens drafted a step; 0: no speculation
	DraftMethod    string
	TwoBatch       bool   // halves of a batch overlap computing and communication
	Interactive    bool   // many small graphs and low-latency kernels
	Attention      string // attention backend; auto
	Experts        string // backend of the expert layers; auto
	Compile        bool   // SGLang's enable-torch-compile
}

// gpus is the number of GPUs that the layout needs.
func (c Config) gpus() int { return c.TP * c.PP * c.Replicas }

// attentionTP is the number of GPUs that share one attention rank's heads.
func (c Config) attentionTP() int { return c.TP / c.Ranks }

// Resolve makes the configuration that an engine would make of its flags: long names without dashes, switches as Bool, a missing
// flag (or a default value) is the engine's own default. Flags that change neither speed nor memory are ignored.
// The error is a value that the law cannot read, a layout that the machine does not have, or an unknown engine.
func Resolve(engine, name string, flags map[string]space.Value, m Machine) (Config, error) {
	r := &reader{flags: flags, engine: engine}
	m = m.complete()
	c := Config{Engine: engine, Model: name, Machine: m, PP: 1, Replicas: 1, Ranks: 1, CacheType: "bf16", Page: 1, Conservative: 1, Overlap: true,
		Attention: "auto", Experts: "auto", Graphs: "full", AllToAll: "none", StatePerSlot: 1}
	switch engine {
	case "vllm":
		resolveVLLM(&c, r, lookup(name))
	case "sglang":
		resolveSGLang(&c, r, lookup(name))
	default:
		return Config{}, fmt.Errorf("engine %q: the law knows vllm and sglang", engine)
	}
	if r.err == nil {
		r.err = c.check()
	}
	return c, r.err
}

func (c Config) check() error {
	m := lookup(c.Model)
	switch {
	case c.TP < 1 || c.PP < 1 || c.Replicas < 1 || c.Ranks < 1:
		return fmt.Errorf("%s: every parallel size is at least 1", c.Engine)
	case c.TP%c.Ranks != 0:
		return fmt.Errorf("%s: %d attention ranks do not divide the %d GPUs that share a layer", c.Engine, c.Ranks, c.TP)
	case m.heads%c.attentionTP() != 0:
		return fmt.Errorf("%s: the %d attention heads of %s do not divide over %d GPUs", c.Engine, m.heads, c.Model, c.attentionTP())
	case c.gpus() > c.Machine.GPUs:
		return fmt.Errorf("%s: the layout needs %d GPUs and the machine has %d", c.Engine, c.gpus(), c.Machine.GPUs)
	case c.MemoryShare < 0 || c.MemoryShare > 1:
		return fmt.Errorf("%s: a share of memory of %v does not lie between 0 and 1", c.Engine, c.MemoryShare)
	case c.Engine == "vllm" && c.MaxRunning < 1:
		return fmt.Errorf("%s: %d sequences in a step are too few", c.Engine, c.MaxRunning)
	case c.Chunk < 1:
		return fmt.Errorf("%s: %d tokens in a step are too few", c.Engine, c.Chunk)
	}
	return nil
}

// resolveCache reads a KV cache type; both engines' names.
func resolveCache(text string) string {
	switch {
	case strings.HasPrefix(text, "fp8"), strings.HasPrefix(text, "int8"), text == "mxfp8":
		return "fp8"
	case strings.Contains(text, "fp4"), strings.Contains(text, "4bit"), strings.HasPrefix(text, "int4"):
		return "fp4"
	}
	return "bf16"
}

// resolveWeights reads a quantization flag: the type that weights get when the checkpoint has them wider.
func resolveWeights(text string, m model) string {
	wanted := ""
	switch {
	case text == "" || text == "none":
		return ""
	case strings.Contains(text, "fp8") || strings.Contains(text, "int8"):
		wanted = "fp8"
	case strings.Contains(text, "fp4") || strings.Contains(text, "int4") || strings.Contains(text, "awq") || strings.Contains(text, "gptq") || text == "bitsandbytes":
		wanted = "int4"
	}
	if wanted == "fp8" && m.bytes <= 1 || wanted == "int4" && m.bytes < 1 {
		return "" // it already is
	}
	return wanted
}

// reader reads typed flags and keeps the first error.
type reader struct {
	flags  map[string]space.Value
	engine string
	err    error
}

// find gives the first of the names that is set to something else than its default.
func (r *reader) find(names []string) (string, space.Value, bool) {
	for _, n := range names {
		if v, ok := r.flags[n]; ok && !v.IsDefault() && v.Kind() != space.KindNone {
			return n, v, true
		}
	}
	return "", space.Value{}, false
}

func (r *reader) fail(name string, v space.Value, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: --%s=%s is not %s", r.engine, name, v, want)
	}
}

func (r *reader) number(otherwise float64, names ...string) float64 {
	name, v, ok := r.find(names)
	if !ok {
		return otherwise
	}
	if v.IsNumber() {
		return v.AsFloat()
	}
	f, err := strconv.ParseFloat(v.String(), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		r.fail(name, v, "a number")
		return otherwise
	}
	return f
}

func (r *reader) int(otherwise int, names ...string) int {
	f := r.number(float64(otherwise), names...)
	return int(min(max(f, math.MinInt32), math.MaxInt32))
}

func (r *reader) text(otherwise string, names ...string) string {
	if _, v, ok := r.find(names); ok {
		return v.String()
	}
	return otherwise
}

// on reads a switch, also one whose opposite was given as no-NAME.
func (r *reader) on(otherwise bool, names ...string) bool {
	if name, v, ok := r.find(names); ok {
		if v.Kind() == space.KindBool {
			return v.AsBool()
		}
		b, err := strconv.ParseBool(v.String())
		if err != nil {
			r.fail(name, v, "true or false")
		}
		return b
	}
	for _, n := range names {
		if v, ok := r.flags["no-"+n]; ok && v.AsBool() {
			return false
		}
	}
	return otherwise
}
