package tuner

import (
	"context"
	"errors"
	"time"

	"autotune/space"
	"autotune/tuner/metric"
)

// ErrExhausted is what a sampler answers when no point is left to propose.
var ErrExhausted = errors.New("every configuration of the space was tried")

// ErrTaken is what a store answers when a trial begins under a number that another one has.
var ErrTaken = errors.New("the number of the trial is taken")

// Ask names the trial that a suggestion is for.
type Ask struct {
	Number int
	Seed   uint64 // the study's
}

// ProposalKind is what a suggestion is for. These words appear in JSON and never change.
type ProposalKind string

// The kinds of suggestions.
const (
	KindBaseline  ProposalKind = "baseline"  // an engine with nothing tuned
	KindRecipe    ProposalKind = "recipe"    // listed in the spec, or found best by an earlier study
	KindScreen    ProposalKind = "screen"    // spread over the space, before a model is asked
	KindGain      ProposalKind = "gain"      // the model expects most of it: the only kind that the stop rule looks at
	KindExplore   ProposalKind = "explore"   // the model knows little of it, though it is near the best
	KindStructure ProposalKind = "structure" // another layout, which the model knows little of
	KindRandom    ProposalKind = "random"    // by chance
	KindSweep     ProposalKind = "sweep"     // the next step of a fixed order
	KindGuard     ProposalKind = "guard"     // the loop's own: a trial that would lead, again and with the guards that were left out
)

// Proposal is a suggestion and the reasons for it; it is stored with the trial.
type Proposal struct {
	Point space.Point `json:"-"`
	// Kind may be left empty by a sampler that has no model; the loop fills in baselines and recipes.
	Kind ProposalKind `json:"kind,omitempty"`
	// Why is a sentence's worth of reason, for people.
	Why string `json:"why,omitempty"`
	// Predicted holds what a model expects of the measurement, by metric: of the objective, and of the metrics that are bounded.
	Predicted map[string]Prediction `json:"predicted,omitempty"`
	// PRun is the probability that the server runs and the measurement passes the gate; 0 when the sampler has no idea.
	PRun float64 `json:"p_run,omitempty"`
	// Gain is the expected improvement over the best, as a share of it (0.02 is two hundredths), the chances that it fails or breaks a bound
	// already priced in; at least 0. It has a meaning for KindGain alone.
	Gain float64 `json:"gain,omitempty"`
}

// Prediction is a log-normal distribution of what will be measured at a point, made before it is.
type Prediction struct {
	// Mean is the median, in the metric's own unit; above 0.
	Mean float64 `json:"mean"`
	// SD is the standard deviation of the natural logarithm of the metric, the model's doubt and the noise of one measurement together: nine
	// measurements in ten are expected between Mean*exp(-1.645 SD) and Mean*exp(1.645 SD).
	SD float64 `json:"sd"`
}

// Sampler proposes points: a pure function of the problem, the history and the ask. Its random source is made from
// (study seed, trial number), so that the next suggestion is a function of the study file alone.
type Sampler interface {
	Suggest(Problem, History, Ask) (Proposal, error)
}

// Ranked is a trial in the order of who leads.
type Ranked struct {
	Trial Trial
	Value float64
}

// Ranker says who leads; only trials that were measured and keep every bound are ranked.
type Ranker interface {
	Rank(Problem, History) []Ranked
}

// Partial is what is known of a running trial, once a second of its clock.
type Partial struct {
	Trial   Trial
	Phase   Phase
	Elapsed time.Duration // of the phase
	Done    int           // requests ended
	Failed  int           // of them, failures
	Total   int           // requests in the workload
	Share   float64       // of the workload
	Detail  string        // one line for people: the engine's last milestone, a retry
	Metrics map[string]float64
	Begins  bool // a further workload of the trial is about to begin: Verdict.Skip leaves it out
	// Measured is what the workloads before this one gave on the same launch; nil for the first.
	Measured *Measurement
	// Workload, Requests and Pace are known in the phase bench: whose requests these are, how each of the workload's requests stands, by index,
	// and how many generated tokens came up to each report since the one before.
	Workload string // also known when it Begins
	Requests []metric.Sight
	Pace     []metric.Event
	GPUs     int      // that metrics for one GPU are divided by; 0: none
	Argv     []string // known from the first event on
	// EngineVersion is what the running server says it is; known once it is ready.
	EngineVersion string
	Location      string // the log's path
}

// Verdict ends a trial early, or lets it go on.
type Verdict struct {
	Stop   bool
	Beat   float64 // asked before a search for a rate: the rate that another trial has reached; 0: none
	Skip   bool    // asked before a workload begins: it is not measured in this trial
	Reason string  // for people: what will come of the trial at most, and why that is not enough
	// Rule is the name of the stopper's rule: RuleHopeless or RuleBroken; empty where something else ended the trial.
	Rule string
	// Report says that the stopper only reports: Stop is false, and the trial goes on as if nothing had been said.
	Report bool
	// Share is how much of the run had been seen, 0 to 1, and Expected what its metrics would have come to: the fairest guess. Both are there with
	// a Rule.
	Share    float64
	Expected map[string]float64
}

// The rules by which a trial is cut short. These words appear in JSON and never change.
const (
	RuleHopeless = "hopeless" // it cannot become the best any more
	RuleBroken   = "broken"   // it has broken a bound, or the gate, for certain
)

// Stopper tells whether a running trial is certainly not worth finishing; pure.
type Stopper interface {
	Stop(Problem, History, Partial) Verdict
}

// Runner carries out one trial on a real server. It cleans up before it returns, also when ctx ends: then the outcome is Interrupted.
// An error says that autotune or its machine failed; a bad configuration is an Outcome.
type Runner interface {
	Run(ctx context.Context, t Trial, observe func(Partial) Verdict) (Outcome, error)
}

// MachineError is the machine's fault, not the configuration's: the study stops, and the trial is asked again when it resumes.
type MachineError struct {
	Outcome Outcome // what was seen: reason environment, user or checkpoint, with evidence and hint
}

func (e *MachineError) Error() string {
	o := e.Outcome
	s := "the machine, not the configuration: " + o.Evidence
	if o.Hint != "" {
		s += "\nTry: " + o.Hint
	}
	return s
}

// Store keeps a study. Every method is durable when it returns.
type Store interface {
	// Load reads the study and its whole history.
	Load(context.Context) (Study, History, error)
	// Begin records that a trial has been asked (again, for an interrupted one). A number that is taken is an error.
	Begin(context.Context, Trial) error
	// Finish records a trial's end, its run, its measurement and its records in one transaction.
	Finish(context.Context, Trial) error
	// Restate records that earlier trials are stale, in one transaction; nothing measured is changed.
	Restate(ctx context.Context, trials []Trial) error
	// Note records an event of the study: what happened when.
	Note(context.Context, Event) error
	// Renew keeps the lease, adds to the time spent, and fails when the path no longer names the open file or another process holds the study.
	Renew(ctx context.Context, spent time.Duration) error
	// SetVerdict records how the study stands: best, gain, and which rule ended it, as JSON.
	SetVerdict(ctx context.Context, verdict []byte) error
}

// Event is something that happened to a study.
type Event struct {
	At    time.Time
	Kind  string // begun, resumed, ended, interrupted, warning, ...
	Trial int    // -1 when it concerns none
	Text  string
}

// Observer sees the study go by; it never blocks for long.
type Observer interface {
	Observe(Progress)
}

// Progress is what an observer sees: at each change of state, and once a second of a trial's clock.
type Progress struct {
	Study   Study
	Problem Problem
	History History
	Trial   *Trial   // the current one, nil between trials
	Partial *Partial // of the current one, nil at its begin and end
	Ended   bool     // the current trial has just ended
	Leader  *Ranked
	Left    time.Duration // of the wall clock, or estimated from the trials left; 0: unknown
	Message string        // a line of its own: a warning, a retry
}
