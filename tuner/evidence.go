package tuner

import (
	"strings"

	"autotune/space"
)

// Evidence is how a configuration of an earlier study came out, as a hint for this one. Two studies are never compared in absolute figures:
// machine, traffic and checkpoint may differ, so a value is relative to a reference of the study that it comes from.
type Evidence struct {
	// Point is the configuration, translated into this study's space; its key may be that of a trial of this study, or of other evidence.
	Point space.Point
	// Kind is Measured or Infeasible.
	Kind Kind
	// Reason is why it was infeasible, as in an Outcome.
	Reason Reason
	// Value is, of what was measured, the natural logarithm of how much better this study's objective was there than at the reference: above 0
	// is better whichever way the objective goes, 0.1 is about a tenth better.
	Value float64
	// Reference names the engine whose baseline, in that study, Value is counted from. What this study's baseline of the same engine
	// measures is where Value 0 lies here.
	Reference string
	// Weight is how far the evidence is to be trusted, above 0 and at most 1: 1 where model, machine and workload are the same as here. A model
	// takes it as an observation whose noise variance is that of a measurement divided by Weight. Use WeightIn, which knows of versions.
	Weight float64
	// EngineVersion is what the engine was there; empty when it is not known.
	EngineVersion string
	// Source names the earlier study and the trial, for people: other.db, trial 12.
	Source string
}

// Differences are what sets an earlier study apart from this one.
type Differences struct {
	Model    bool `json:"model,omitempty"`    // another checkpoint
	Workload bool `json:"workload,omitempty"` // another question: see workload.Spec.Identity
	Machine  bool `json:"machine,omitempty"`  // another number or kind of GPUs, as far as known
	Clock    bool `json:"clock,omitempty"`    // one of the two is a rehearsal
}

// Shares of its weight that evidence keeps for each difference. They are chosen, not measured: a weight of 0.1 makes noise three times as
// large, so that a difference of a tenth between two configurations there is a faint hint here, and a factor of two is still a clear one.
const (
	otherModel    = 0.1
	otherWorkload = 0.2
	otherMachine  = 0.2
	otherClock    = 0.1
)

// Weight is what evidence weighs beside these differences: 1 without any.
func (d Differences) Weight() float64 {
	w := 1.0
	for _, c := range []struct {
		differs bool
		share   float64
	}{{d.Model, otherModel}, {d.Workload, otherWorkload}, {d.Machine, otherMachine}, {d.Clock, otherClock}} {
		if c.differs {
			w *= c.share
		}
	}
	return w
}

// String lists the differences: another checkpoint, another workload.
func (d Differences) String() string {
	var words []string
	for _, c := range []struct {
		differs bool
		word    string
	}{{d.Model, "another checkpoint"}, {d.Workload, "another workload"}, {d.Machine, "another machine"}, {d.Clock, "a rehearsal on one side"}} {
		if c.differs {
			words = append(words, c.word)
		}
	}
	return strings.Join(words, ", ")
}

// otherVersion is the share of its weight that evidence keeps under another version of the engine. Chosen, not measured: flags keep their
// meaning mostly, while what is fastest changes with kernels and defaults.
const otherVersion = 0.5

// WeightIn is the evidence's weight beside what this study has seen so far: less once its engine turned out to be another version.
func (e Evidence) WeightIn(h History) float64 {
	if e.EngineVersion == "" {
		return e.Weight
	}
	for i := len(h) - 1; i >= 0; i-- {
		t := h[i]
		if v := t.Outcome.Run.EngineVersion; v != "" && t.Told() && t.Point.Engine() == e.Point.Engine() {
			if v != e.EngineVersion {
				return e.Weight * otherVersion
			}
			return e.Weight
		}
	}
	return e.Weight
}
