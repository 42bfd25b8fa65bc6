package law

// Perturb changes named coefficients of the law by a seed, so that a benchmark's truth is no law that anybody tuned a sampler on.
type Perturb struct {
	Seed uint64
	Size float64 // largest relative change of a coefficient, for example 0.3
}
