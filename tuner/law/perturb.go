package law

import (
	"math"
	"math/rand/v2"
)

// Perturb changes named coefficients of the law by a seed, so that a benchmark's truth is no law that anybody tuned a sampler on.
type Perturb struct {
	Seed uint64
	Size float64 // largest relative change of a coefficient, for example 0.3
	// Least is the smallest relative change; 0.05 and a Size of 0.3 move every coefficient by 5 to 30 %, up or down.
	Least float64
}

// apply returns the model with its coefficients changed.
func (p *Perturb) apply(m model) model {
	if p == nil || p.Size <= 0 {
		return m
	}
	// One draw for each coefficient, in a fixed order, so that all configurations of a study live under one law.
	return p.change(m)
}

// change draws a factor for each coefficient.
func (p *Perturb) change(m model) model {
	r := rand.New(rand.NewPCG(p.Seed, 0x70657274))
	for _, f := range m.coefficient.each() {
		x := 2*r.Float64() - 1
		*f *= math.Exp(math.Copysign(math.Log1p(p.Least), x) + x*(math.Log1p(p.Size)-math.Log1p(p.Least)))
	}
	return m
}
