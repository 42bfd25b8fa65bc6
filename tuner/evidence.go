package tuner

import "autotune/space"

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
