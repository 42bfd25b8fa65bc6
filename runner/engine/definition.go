package engine

import (
	"maps"
	"math"
	"slices"
	"strings"

	"autotune/space"
	"autotune/tuner"
)

// Definition is what is known of one engine: everything that differs between engines, as data.
type Definition struct {
	Name    string // vllm, sglang
	Title   string // vLLM, SGLang
	Version string // of the engine that the flags were read from
	// Program, Usage, Entry and EntryUsage are what its argument parser prints: the name and usage of the command that serves, and those of
	// the program as a whole, which is the one that complains of arguments that nobody knows.
	Program, Usage, Entry, EntryUsage string
	// Subcommands are the words in front of the flags that say no more than that it serves.
	Subcommands []string
	// ModelFlag names the model; PositionalModel says that it may stand without it, and that we write it so.
	ModelFlag       string
	PositionalModel bool
	// Underscores says that --max_num_seqs is --max-num-seqs; DottedKeys that --x.key=value sets a key of the JSON flag x;
	// StrictJSON that the argument parser itself reads the JSON of JSON flags.
	Underscores, DottedKeys, StrictJSON bool
	// SortsChoices says that the parser lists a flag's choices in alphabetical order.
	SortsChoices bool

	executable    []string
	infoPaths     []string
	flushPath     string
	configLine    string            // what stands in front of the configuration in the log
	attributes    map[string]string // where the effective configuration has a flag, if not under its own name
	infoFacts     []infoFact
	undivide      func(map[string]space.Value)
	helpArguments [][]string
	markers       []marker
	facts         []fact
	readNumber    func(string) (int64, error)
	env           func(Launch) []string
	additions     func(Launch) []string
	rules         func(ruleContext) ([]space.Constraint, []space.Rewrite)
	warnings      []warning
	propose       func(Checkpoint, Host) Proposal
	resolved      map[string]func(Host) (space.Value, bool)
	unfollowed    []string // flags that the memory planner does not follow, by full name
	kernels       []string // flags that choose kernels, by full name
	installed     bool     // the flags are those that an installed engine printed
	flags         []Flag
	history       releases       // which releases have which flag
	served        releases       // which releases have which architecture of models
	keys          []Flag         // of JSON flags, under their dotted names
	bySpelling    map[string]int // every exact spelling, dashes included
	withoutDashes map[string]int
	defaults      map[string]space.Value // those that hang on no machine, by flag
}

// Host is the machine as far as rules and defaults need it.
type Host struct {
	GPUs      int     // 0: none, or unknown
	GPU       string  // H200; empty: unknown
	MemoryGiB float64 // of one GPU; 0: unknown
}

// Model is a checkpoint's geometry as far as rules need it; 0 is unknown.
type Model struct {
	Heads, KVHeads, Hidden, Experts, ContextLen int
	DraftLayers                                 int  // layers that predict further tokens (num_nextn_predict_layers)
	Dense                                       bool // known to have no experts
}

// index makes the lookup tables, and puts dotted keys apart: no argument parser knows them.
func (d *Definition) index() *Definition {
	all := d.flags
	d.flags, d.keys = nil, nil
	for _, f := range all {
		if strings.Contains(f.Name, ".") {
			d.keys = append(d.keys, f)
		} else {
			d.flags = append(d.flags, f)
		}
	}
	d.bySpelling, d.withoutDashes = map[string]int{}, map[string]int{}
	d.unfollowed, d.kernels = d.listUnplanned(), d.listKernels()
	for i := range d.flags {
		f := &d.flags[i]
		spellings := append([]string{"--" + f.Name}, f.Aliases...)
		for _, s := range spellings {
			d.bySpelling[s] = i
			if _, taken := d.withoutDashes[bare(s)]; !taken || s == "--"+f.Name {
				d.withoutDashes[bare(s)] = i
			}
		}
		if f.Kind == NegatableSwitch {
			d.bySpelling["--no-"+f.Name] = i
		}
	}
	d.defaults = d.plainDefaults()
	return d
}

// Flags returns the flags in the order of the engine's help.
func (d *Definition) Flags() []Flag { return slices.Clone(d.flags) }

// Keys returns the keys inside JSON flags that are known, by their dotted names: compilation-config.cudagraph_mode.
func (d *Definition) Keys() []Flag { return slices.Clone(d.keys) }

// Flag finds a flag by any spelling: with or without dashes, an alias, underscores where the engine allows them, a dotted key under a JSON flag.
func (d *Definition) Flag(name string) (Flag, bool) {
	key := bare(name)
	if d.Underscores {
		head, tail, dotted := strings.Cut(key, ".")
		key = strings.ReplaceAll(head, "_", "-")
		if dotted {
			key += "." + tail
		}
	}
	if i, ok := d.withoutDashes[key]; ok {
		return d.flags[i], true
	}
	head, tail, dotted := strings.Cut(key, ".")
	if i, ok := d.withoutDashes[head]; ok && dotted && tail != "" && d.DottedKeys && d.flags[i].Kind == JSON {
		name := d.flags[i].Name + "." + tail
		if k := slices.IndexFunc(d.keys, func(f Flag) bool { return f.Name == name }); k >= 0 {
			return d.keys[k], true
		}
		return Flag{Name: name, Kind: JSON, Min: math.Inf(-1), Max: math.Inf(1)}, true
	}
	return Flag{}, false
}

// canonical is the flag's long name, or the name as it was written when the catalog does not know it.
func (d *Definition) canonical(name string) string {
	if f, ok := d.Flag(name); ok {
		return f.Name
	}
	return bare(name)
}

// Near is the known flag whose name is nearest to name, or "" when none is near.
func (d *Definition) Near(name string) string {
	near := nearest(strings.ReplaceAll(bare(name), "_", "-"), slices.Sorted(maps.Keys(d.withoutDashes)))
	if near == "" {
		return ""
	}
	return d.flags[d.withoutDashes[near]].Name
}

// editDistance is Levenshtein's: insertions, deletions and replacements of bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := diagonal
			if a[i] != b[j] {
				next = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}

// HealthPath answers 200 when the engine believes that it is well.
func (d *Definition) HealthPath() string { return "/health" }

// ModelsPath lists the models that are served.
func (d *Definition) ModelsPath() string { return "/v1/models" }

// InfoPaths are where the effective configuration may be read, newest first.
func (d *Definition) InfoPaths() []string { return slices.Clone(d.infoPaths) }

// FlushPath is posted to between repeats to empty the prefix cache.
func (d *Definition) FlushPath() string { return d.flushPath }

// Hungry maps each memory-hungry flag to the weight of its effect on running out of memory.
func (d *Definition) Hungry() map[string]float64 {
	hungry := map[string]float64{}
	for _, f := range slices.Concat(d.flags, d.keys) {
		if f.Hungry > 0 {
			hungry[f.Name] = f.Hungry
		}
	}
	return hungry
}

// ResolvedDefault is what the engine makes of a flag that is left out, where it is known: the default of the catalog, or what it would find out on that host.
func (d *Definition) ResolvedDefault(flag string, h Host) (space.Value, bool) {
	if v, known := d.defaults[flag]; known {
		return v, true
	}
	f, ok := d.Flag(flag)
	if !ok {
		return space.Value{}, false
	}
	if resolve := d.resolved[f.Name]; resolve != nil {
		return resolve(h)
	}
	v, known := d.defaults[f.Name]
	return v, known
}

// plainDefaults reads the defaults that stand in the catalog.
func (d *Definition) plainDefaults() map[string]space.Value {
	out := map[string]space.Value{}
	for _, f := range slices.Concat(d.flags, d.keys) {
		if d.resolved[f.Name] != nil || f.Default == "" {
			continue
		}
		if v, problem := d.value(f, f.Default); problem == "" {
			out[f.Name] = v
		}
	}
	return out
}

// Marker recognises a start-up milestone: the phase that begins (or goes on) with this line.
func (d *Definition) Marker(line string) (tuner.Phase, bool) { return phaseOf(d.markers, line) }
