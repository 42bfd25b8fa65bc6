package tuner

import (
	"time"

	"autotune/space"
)

// Origin is where a trial's point came from.
type Origin string

// The origins.
const (
	OriginBaseline Origin = "baseline"
	OriginRecipe   Origin = "recipe"
	OriginSearch   Origin = "search"
	OriginHand     Origin = "by hand"
)

// Trial is one configuration, launched and measured.
type Trial struct {
	Number        int // from 0, unique, never used again
	Point         space.Point
	Origin        Origin
	Proposal      Proposal
	Outcome       Outcome // its Kind is Running until the trial has ended
	Started       time.Time
	Ended         time.Time
	Interruptions int  // how often in a row it was interrupted
	Stale         bool // measured with an engine version that the study no longer uses: shown, never compared
	Outside       bool // its point is no longer in the space: shown, never proposed, never told to the sampler
	Foreign       bool // added to the file by another program: shown, never a best, never told to the sampler

	// Joins and Twin are set by Joined, and not stored: the numbers of the trials whose measurements this one's is the mean of, none where it is its own
	// alone; and that another trial stands for this one.
	Joins []int `json:"-"`
	Twin  bool  `json:"-"`
}

// Told tells whether a sampler may learn from the trial (a running one only as taken).
func (t Trial) Told() bool { return !t.Foreign && !t.Stale && !t.Outside && !t.Point.IsZero() }

// Ran tells whether the server ran: measured, or ended early on purpose.
func (t Trial) Ran() bool { return t.Outcome.Kind == Measured || t.Outcome.Kind == Stopped }

// History is every trial so far, by number; running and infeasible ones included.
type History []Trial

// Taken returns the test for keys that may not be proposed again: what was asked, whatever came of it, and what a server that ran reported.
func (h History) Taken() func(key string) bool {
	keys := make(map[string]bool, len(h))
	for _, t := range h {
		if !t.Point.IsZero() && !t.Stale {
			keys[t.Point.Key()] = true
		}
		if k := t.Outcome.Run.ResolvedKey; k != "" && t.Ran() && !t.Stale {
			keys[k] = true
		}
	}
	return func(key string) bool { return keys[key] }
}

// Next is the number of the next new trial.
func (h History) Next() int {
	n := 0
	for _, t := range h {
		n = max(n, t.Number+1)
	}
	return n
}

// Problem is what a sampler knows of a study besides its history.
type Problem struct {
	Space *space.Space
	// Baselines are each engine's configuration with nothing tuned, in the spec's order: always the first trials.
	Baselines []space.Point
	// Recipes are points that are tried next: the spec's, then the best of earlier studies.
	Recipes []space.Point
	// RecipeWhy says of each recipe where it comes from, in a few words; as long as Recipes, or empty.
	RecipeWhy []string
	// Evidence is what earlier studies say of points of this space. It is never a measurement, takes no point, and is no part of the history.
	Evidence []Evidence
	Goal     Goal
	// Seed makes every random source, together with the trial's number.
	Seed uint64
	// Hungry says which parameters ask for memory, by full name: the weight of its effect on running out of it.
	Hungry map[string]float64
	// Capacity is what the arithmetic of memory says of a configuration, whose values look gives by full name; ok is false where nothing is known of it. A
	// pure function of the study's inputs; nil without any.
	Capacity func(look space.Lookup) (c Capacity, ok bool)
	// Reference names the engine whose baseline gains are counted from.
	Reference string
}

// Capacity is what the arithmetic of memory says of a configuration before anything was launched. It is an estimate, and may be far off.
type Capacity struct {
	// Headroom is the GiB that is left of a GPU, in the tightest of its pools; negative where it most likely has too little.
	Headroom float64
	// Sequences is how many requests of the first workload run at once, over all ranks, for which cache, flags and client have room; at least 0.
	Sequences float64
}

// Budget ends a study.
type Budget struct {
	Trials     int           // new trials, baselines included; 0: no limit
	WallClock  time.Duration // while running, over all sittings; 0: no limit
	FailureRow int           // failures in a row after which the study stops; 0: no limit
}

// Study is one search, complete: a study file needs nothing else to go on.
type Study struct {
	UUID    string
	Name    string
	Spec    []byte // as its author wrote it
	Source  string // the file's name, for messages
	Created time.Time
	Budget  Budget
	// Inputs is what the problem was made from besides the spec (GPUs, rehearsal, catalog's version), as JSON; cmd/autotune reads it back.
	Inputs []byte
	Spent  time.Duration // running so far, over all sittings
}
