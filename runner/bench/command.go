package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"autotune/tuner/workload"
)

// Job is one run of a tool.
type Job struct {
	Spec      workload.Spec
	Path      string // of the dataset's file, where it lies; empty when there is none
	URL       string // of the server, without /v1
	Model     string // the served name
	Tokenizer string // the checkpoint: a name or a folder
	Folder    string // where the tool leaves its result: Tool.File in it
	Seed      uint64 // of the content; only its lower 31 bits are used, since the tools take no more
}

// Lack is a part of a workload that a tool cannot realise.
type Lack struct {
	Key     string // of the workload
	Problem string // what the tool cannot do
	Allowed string // what it can
}

func (l Lack) Error() string { return l.Key + ": " + l.Problem }

// known are the keys of a workload that the command lines are made of, or that need none: the limit of the whole run and the warm-up are the caller's.
var known = []string{"name", "dataset", "path", "input_tokens", "output_tokens", "requests", "rate", "max_concurrency", "seed", "warmup", "endpoint", "request_limit", "wall_limit", "burstiness", "at_once"}

// untold are parts of a workload that no tool is called with: the key of the spec that holds them, what is done instead, and what is allowed.
var untold = map[string]Lack{
	"ramp":           {"arrival", "is called with one rate, and not with a ramp", "rate, which stays the same"},
	"input_lengths":  {"input_tokens", "is called with one length for all prompts", "a number"},
	"output_lengths": {"output_tokens", "is called with one length for all answers", "a number"},
	"extra_body":     {"extra_body", "is called without further fields of the request", "a workload without it, or the built-in load generator"},
	"headers":        {"headers", "is called without further headers", "a workload without it, or the built-in load generator"},
}

// Lacks lists what the tool cannot do of a workload; nothing when it can be sent. A key of a workload that no tool is told of is one of it, by its name;
// where the dataset cannot be sent, its own keys are not listed too.
func (t Tool) Lacks(s workload.Spec) []Lack {
	var all []Lack
	sends := slices.Contains(t.datasets, s.Dataset)
	if !sends {
		all = append(all, Lack{"dataset", fmt.Sprintf("%s cannot send %s", t.Title, s.Dataset), strings.Join(t.datasets, ", ")})
	}
	for _, key := range asked(s) {
		if slices.Contains(known, key) {
			continue
		}
		if lack, ok := untold[key]; ok {
			lack.Problem = t.Title + " " + lack.Problem
			all = append(all, lack)
		} else if sends {
			all = append(all, Lack{key, t.Title + " is not told of " + key, "a workload without it, or the built-in load generator"})
		}
	}
	switch fits := s.Rate == 0 || t.gaps(s.Burstiness); {
	case !fits && s.Burstiness == 0:
		all = append(all, Lack{"rate", t.Title + " sends at random instants (a Poisson process) and not at a constant rate", "arrival: poisson beside the rate; or no rate: all at once, up to max_concurrency"})
	case !fits:
		all = append(all, Lack{"arrival", t.Title + " has no gaps of this kind between arrivals", "poisson"})
	}
	if s.RequestLimit > 0 && !t.requestLimit {
		all = append(all, Lack{"request_limit", t.Title + " has no limit on one request", "wall_limit, on the whole run"})
	}
	return all
}

// Notes say in what the tool sends a workload otherwise than the built-in load generator does.
func (t Tool) Notes(s workload.Spec) []string {
	var notes []string
	if note := t.notes[s.Dataset]; note != "" {
		notes = append(notes, t.Title+" "+note)
	}
	if s.Dataset == workload.Random {
		notes = append(notes, t.Title+" sends random prompts as text and not as token ids: the server may count a few tokens more or less")
	}
	return notes
}

// asked are the keys of a workload that have a value.
func asked(s workload.Spec) []string {
	text, err := json.Marshal(s)
	if err != nil { // a rate that is no number, which no parsed spec has
		return []string{"rate"}
	}
	var keys map[string]any
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(keys))
}

// Command is the tool's command line for a job, its program in front. The error is a Lack when the tool cannot realise the workload.
func (t Tool) Command(j Job) ([]string, error) {
	if lacks := t.Lacks(j.Spec); len(lacks) > 0 {
		return nil, lacks[0]
	}
	if err := j.Spec.Validate(); err != nil {
		return nil, err
	}
	args, err := t.args(j, t.Result(j))
	if err != nil {
		return nil, err
	}
	return slices.Concat(t.Program, t.sub, args), nil
}

// Replace puts another program in front of a command line of Command.
func (t Tool) Replace(argv, program []string) []string {
	if len(program) == 0 {
		return argv
	}
	return slices.Concat(program, argv[len(t.Program):])
}

// Identity is what a workload asks (see workload.Spec.Identity) of this tool with these further words: only measurements of equal identities are compared.
func (t Tool) Identity(workload string, args []string) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{t.Name, workload}, args), "\x00")))
	return hex.EncodeToString(sum[:8])
}

// VersionCommand asks a program of the tool's for its version; nil when there is no way to ask.
func (t Tool) VersionCommand(program []string) []string {
	if len(program) == 0 {
		program = t.Program
	}
	if t.module == "" {
		return append(slices.Clone(program), "--version")
	}
	for i, word := range program {
		if word == "-m" {
			return append(slices.Clone(program[:i]), "-c", fmt.Sprintf("from importlib.metadata import version; print(version(%q))", t.module))
		}
	}
	return nil
}

// Result is where a job's result is written.
func (t Tool) Result(j Job) string { return filepath.Join(j.Folder, t.File) }

// seed is a content seed that every tool takes: numpy's go to 32 bits, some tools add to it.
func (j Job) seed() string { return strconv.FormatUint(j.Seed&0x7fffffff, 10) }

// inFlight is the cap on concurrency, or the number of requests where there is none: then all may be under way.
func (j Job) inFlight() int {
	if n := j.Spec.MaxConcurrency; n > 0 {
		return min(n, j.Spec.Requests)
	}
	return j.Spec.Requests
}

// Gaps between arrivals that tools can make, by burstiness: 0 is constant, 1 a Poisson process, others are gamma-distributed.
func anyGaps(float64) bool                 { return true }
func poissonGaps(b float64) bool           { return b == 1 }
func constantOrPoissonGaps(b float64) bool { return b == 0 || b == 1 }

func number64(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
