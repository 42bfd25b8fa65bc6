package law

import "time"

// Simulation is a server as a discrete-event simulation: deterministic, in whole microseconds.
type Simulation struct{ cfg Config }

// New starts a server; a Failure says how its start ends instead.
func New(cfg Config, opt Options) (*Simulation, *Failure) { return &Simulation{cfg: cfg}, nil }

// Startup lists the stages of the start, with the markers that the real engine logs.
func (s *Simulation) Startup() []Stage { return nil }

// Facts are the sizes that the engine would report: kv_tokens, weights_gib, kv_gib, ...
func (s *Simulation) Facts() map[string]float64 { return nil }

// Submit hands in a request; its instant may not lie before the end of the last step.
func (s *Simulation) Submit(r Request) {}

// Next is the instant at which the next internal step ends; false when there is nothing to do.
func (s *Simulation) Next() (time.Duration, bool) { return 0, false }

// Step runs the next internal step and returns what it gave, by instant. The slice is used again by the next Step.
func (s *Simulation) Step() []Event { return nil }

// Counters are what the engine's metrics endpoint would show now.
func (s *Simulation) Counters() Counters { return Counters{} }

// Crashed says how the server ended in serving; nil while it lives.
func (s *Simulation) Crashed() *Failure { return nil }
