package memory

// Comparison is a size as it was planned, beside what a log said of it.
type Comparison struct {
	What     string  `json:"what"` // weights, a token's KV cache, ...
	Unit     string  `json:"unit"` // GiB, B or tokens
	Planned  Range   `json:"planned"`
	Measured float64 `json:"measured"`
}

// Inside tells whether the measured size lies in the planned interval, but for the digits that it is printed without.
func (c Comparison) Inside() bool {
	r := around(c.Planned)
	return within(c.Measured, r.Low, r.High)
}

// Compare holds what a launch's log said against the plan of its configuration, as this Calibration has it. What was not believed is left out, and so is
// all where the plan has no sums.
func (c *Calibration) Compare(l Launch) []Comparison {
	l.Setup = l.Setup.complete()
	s, e := l.Setup, c.Plan(l.Setup)
	if len(e.Sums) == 0 {
		return nil
	}
	f, _ := l.believed(c.model)
	var out []Comparison
	add := func(what, unit string, planned Range, measured float64) {
		out = append(out, Comparison{what, unit, planned, measured})
	}
	if f.WeightsGiB > 0 {
		add("weights", "GiB", c.weightsTerm(s).GiB, f.WeightsGiB)
	}
	if x, ok := c.rest(s, f); ok && s.Engine == "vllm" {
		add("activations, runtime and graphs", "GiB", Sum{Terms: c.stepTerms(s)}.Needs(), x)
	}
	if f.GraphsGiB > 0 && s.Engine != "vllm" {
		add("graphs", "GiB", c.graphsTerm(s).GiB, f.GraphsGiB)
	}
	if f.CacheGiB >= leastCache && f.held() > 0 && even(c.model) {
		by, each := c.tokenFactor(s), TokenBytes(c.model, s)
		add("KV cache of a token", "B", Range{each * by.Low, each * by.High}, f.CacheGiB*GiB/float64(f.held()))
	}
	if n := f.held(); n > 0 {
		add("KV cache of a rank", "tokens", Range{float64(e.Tokens.Low), float64(e.Tokens.High)}, float64(n))
	}
	return out
}
