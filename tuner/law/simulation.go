package law

import (
	"math"
	"math/rand/v2"
	"time"
)

// handover is how long a request takes from the socket to the scheduler's queue: parsing, tokenising, a hop between processes.
// It also is why a step never holds a request that was sent at the very instant at which the step began.
const handover = time.Millisecond

// Simulation is a server as a discrete-event simulation: deterministic, in whole microseconds.
type Simulation struct {
	cfg      Config
	model    model
	memory   memory
	speed    *speed
	pace     float64 // factor on every step's time: the run's noise
	replicas []*replica
	turn     int // the replica that the next request goes to
	events   []Event
	counters Counters
	crashed  *Failure
	room     float64     // GiB that a step's activations may take
	free     []*sequence // ended ones, used again
}

// New starts a server; a Failure says how its start ends instead.
func New(cfg Config, opt Options) (*Simulation, *Failure) {
	return start(cfg, opt, nil)
}

// start is New, with other coefficients than the model's when they are given.
func start(cfg Config, opt Options, with *Coefficients) (*Simulation, *Failure) {
	m := lookup(cfg.Model)
	if with != nil {
		m.coefficient = *with
	}
	m = opt.Perturb.apply(m)
	s := &Simulation{cfg: cfg, model: m, memory: cfg.plan(m), speed: newSpeed(m, cfg), pace: 1}
	if opt.Noise > 0 {
		s.pace = math.Exp(-opt.Noise * rand.New(rand.NewPCG(opt.Seed, 0x6c6177)).NormFloat64())
	}
	if f := s.startFailure(); f != nil {
		return nil, f
	}
	s.room = s.slack()
	for range cfg.Replicas {
		s.replicas = append(s.replicas, newReplica(s))
	}
	return s, nil
}

// Facts are the sizes that the engine would report: kv_tokens of all attention ranks and replicas, kv_tokens_rank of one, weights_gib, kv_gib,
// graphs_gib and workspace_gib of a GPU, memory_share as resolved, max_running of a rank, context, ranks.
func (s *Simulation) Facts() map[string]float64 {
	m := s.memory
	ranks := float64(s.cfg.Ranks * s.cfg.Replicas)
	return map[string]float64{
		"kv_tokens": float64(m.tokens) * ranks, "kv_tokens_rank": float64(m.tokens), "ranks": ranks, "weights_gib": m.weights,
		"kv_gib": m.cache, "graphs_gib": m.graphs, "workspace_gib": m.workspace, "memory_share": m.share,
		"max_running": float64(m.running), "context": float64(m.context),
	}
}

// Submit hands in a request; its instant may not lie before the end of the last step.
func (s *Simulation) Submit(r Request) {
	q := s.sequence()
	*q = sequence{id: r.ID, at: r.At, need: max(r.Input, 1), left: max(r.Output, 1)}
	s.replicas[s.turn].submit(q, r.Input)
	s.turn = (s.turn + 1) % len(s.replicas)
}

func (s *Simulation) sequence() *sequence {
	if n := len(s.free); n > 0 {
		q := s.free[n-1]
		s.free = s.free[:n-1]
		return q
	}
	return &sequence{}
}

// Next is the instant at which the next internal step ends; false when there is nothing to do.
func (s *Simulation) Next() (time.Duration, bool) {
	r := s.next()
	if r == nil {
		return 0, false
	}
	return r.end, true
}

// next is the replica whose step ends first; nil when none has anything to do.
func (s *Simulation) next() *replica {
	if s.crashed != nil {
		return nil
	}
	var first *replica
	for _, r := range s.replicas {
		if r.busy && (first == nil || r.end < first.end) {
			first = r
		}
	}
	return first
}

// Step runs the next internal step and returns what it gave, by instant. The slice is used again by the next Step. A step may give
// nothing: the scheduler woke up, or only read a part of a prompt. All events of a step are at the instant that Next told.
func (s *Simulation) Step() []Event {
	s.events = s.events[:0]
	if r := s.next(); r != nil {
		r.finish()
	}
	return s.events
}

// Counters are what the engine's metrics endpoint would show now.
func (s *Simulation) Counters() Counters {
	c := s.counters
	used := 0
	for _, r := range s.replicas {
		for _, k := range r.ranks {
			c.Running += len(k.prefill) + len(k.decode)
			c.Waiting += k.waiting.len()
			used += k.used
		}
	}
	c.KVUse = min(1, float64(used)/float64(max(1, s.memory.tokens*s.cfg.Ranks*s.cfg.Replicas)))
	return c
}

// Crashed says how the server ended in serving; nil while it lives.
func (s *Simulation) Crashed() *Failure { return s.crashed }
