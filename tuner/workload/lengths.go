package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Distributions of lengths.
const (
	Uniform   = "uniform"
	Normal    = "normal"
	LogNormal = "lognormal"
)

// Lengths is a distribution of lengths in tokens. Mean and SD are those of the lengths themselves, before they are cut to Min..Max.
type Lengths struct {
	Kind string  `json:"kind"`
	Mean float64 `json:"mean,omitempty"`
	SD   float64 `json:"sd,omitempty"`
	Min  int     `json:"min"`
	Max  int     `json:"max,omitempty"` // 0: no bound
}

// draw gives n lengths. Every n-th part of the distribution is drawn once, at its middle, so that the lengths of two seeds differ in order only.
func (l Lengths) draw(n int, rng *rand.Rand) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = l.quantile((float64(i) + 0.5) / float64(n))
	}
	rng.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// quantile is the length below which a share p of all lengths lies.
func (l Lengths) quantile(p float64) int {
	x := 0.0
	z := math.Sqrt2 * math.Erfinv(2*p-1)
	switch l.Kind {
	case Uniform: // each whole number of the range is as likely as the others
		x = float64(l.Min) + math.Floor(p*float64(l.Max-l.Min+1))
	case Normal:
		x = l.Mean + l.SD*z
	case LogNormal:
		variance := math.Log1p(l.SD / l.Mean * l.SD / l.Mean) // of the logarithm
		x = math.Exp(math.Log(l.Mean) - variance/2 + math.Sqrt(variance)*z)
	}
	top := float64(longest)
	if l.Max > 0 {
		top = float64(l.Max)
	}
	return int(math.Round(min(max(x, float64(l.Min)), top)))
}

// longest bounds every length in tokens: no model has so long a context.
const longest = 16 << 20

// Validate says what is wrong with a distribution.
func (l Lengths) Validate() error {
	switch {
	case l.Kind != Uniform && l.Kind != Normal && l.Kind != LogNormal:
		return fmt.Errorf("the distribution is %q; allowed are %s, %s, %s", l.Kind, Uniform, Normal, LogNormal)
	case l.Min < 1 || l.Min > longest || l.Max < 0 || l.Max > longest:
		return fmt.Errorf("the bounds are %d and %d tokens; 1 to %d are allowed", l.Min, l.Max, longest)
	case l.Max > 0 && l.Max < l.Min, l.Kind == Uniform && l.Max == 0:
		return fmt.Errorf("the upper bound is %d tokens; it is %d or more", l.Max, l.Min)
	case l.Kind == Uniform:
		return nil
	case !(l.Mean >= 1 && l.Mean <= longest) || !(l.SD >= 0 && l.SD <= longest):
		return fmt.Errorf("the mean is %v and the standard deviation %v tokens; 1 and 0 or more are allowed, at most %d", l.Mean, l.SD, longest)
	}
	return nil
}

// String describes a distribution: uniform 512..1024.
func (l Lengths) String() string {
	switch {
	case l.Kind == Uniform:
		return fmt.Sprintf("uniform %d..%d", l.Min, l.Max)
	case l.Max > 0:
		return fmt.Sprintf("%s %g ± %g in %d..%d", l.Kind, l.Mean, l.SD, l.Min, l.Max)
	default:
		return fmt.Sprintf("%s %g ± %g from %d", l.Kind, l.Mean, l.SD, l.Min)
	}
}

// Means are about how many tokens a request has, prompt and answer, told by the spec alone; texts are taken to be as long as ShareGPT's.
func (s Spec) Means() (in, out float64) {
	mean := func(all int, by Lengths, otherwise float64) float64 {
		switch {
		case by.Kind == Uniform:
			return float64(by.Min+by.Max) / 2
		case by.Kind != "":
			return by.Mean
		case all > 0:
			return float64(all)
		default:
			return otherwise
		}
	}
	in, out = mean(s.InputTokens, s.InputLengths, ShareGPTMeanInput), mean(s.OutputTokens, s.OutputLengths, ShareGPTMeanOutput)
	if s.Dataset == Conversation { // turn n reads n inputs and the n-1 answers before
		in = in*float64(s.Turns+1)/2 + out*float64(s.Turns-1)/2
	}
	return in + float64(s.PrefixTokens), out
}

// inputs are the lengths of n prompts; of a prefix dataset, of the parts behind the prefix, of a conversation, of each turn.
func (s Spec) inputs(n int) []int { return s.lengths(n, s.InputTokens, s.InputLengths, streamInputs) }

// outputs are the lengths of n answers.
func (s Spec) outputs(n int) []int {
	return s.lengths(n, s.OutputTokens, s.OutputLengths, streamOutputs)
}

func (s Spec) lengths(n, all int, by Lengths, stream uint64) []int {
	if by.Kind != "" {
		return by.draw(n, rand.New(rand.NewPCG(s.Seed, stream)))
	}
	out := make([]int, n)
	for i := range out {
		out[i] = all
	}
	return out
}
