package workload

import (
	"math"
	"math/rand/v2"
)

// ExpandLengths makes the requests of a ShareGPT workload without its file: token-id prompts whose lengths have the given means.
func (s Spec) ExpandLengths(meanIn, meanOut float64) ([]Request, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	requests := ShareGPTLengths(s.Requests, s.Seed, meanIn, meanOut)
	arrivals := s.arrivals(len(requests))
	for i := range requests {
		requests[i].Arrival = arrivals[i]
		if s.OutputTokens > 0 {
			requests[i].Output = s.OutputTokens
		}
	}
	return requests, nil
}

// Means of ShareGPT's first turns in tokens, as two published benchmarks of 1000 of them have them on average (328 and 342 in, 270 and 281 out).
const (
	ShareGPTMeanInput  = 335.0
	ShareGPTMeanOutput = 276.0
)

// Shape of ShareGPT's first turns: many short prompts and a long tail, answers less spread. The spreads are ours, estimated, not published:
// a log-normal of spread 1.3 has a mean 2.3 times its median, one of 1.0 has 1.6 times.
const (
	spreadIn     = 1.3
	spreadOut    = 1.0
	shortestTurn = 4    // tokens; the public benchmark tools drop shorter ones
	longestTurn  = 4096 // tokens
)

// ShareGPTLengths draws n pairs of prompt and answer lengths in tokens, log-normal and cut to 4..4096, whose sums are the given
// means times n, rounded. Every n-th part of the distribution is drawn once, so that two seeds differ in order only.
func ShareGPTLengths(n int, seed uint64, meanIn, meanOut float64) []Request {
	in := lengths(n, meanIn, spreadIn, rand.New(rand.NewPCG(seed, streamInputs)))
	out := lengths(n, meanOut, spreadOut, rand.New(rand.NewPCG(seed, streamOutputs)))
	requests := make([]Request, n)
	for i := range requests {
		requests[i] = Request{Index: i, Input: in[i], Output: out[i]}
	}
	return requests
}

func lengths(n int, mean, spread float64, rng *rand.Rand) []int {
	shape := make([]float64, n)
	for i := range shape {
		shape[i] = math.Exp(spread * math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/float64(n)-1))
	}
	want := int(math.Round(mean * float64(n)))
	// The cut moves the mean, so the scale is searched for; the sum grows with it.
	low, high := 0.0, 1000*mean
	for range 60 {
		if middle := (low + high) / 2; total(scaled(shape, middle)) < want {
			low = middle
		} else {
			high = middle
		}
	}
	out := scaled(shape, high)
	// What rounding left over is taken from the longest that are not cut, one token each.
	for i, over := n-1, total(out)-want; i >= 0 && over > 0; i-- {
		if out[i] > shortestTurn && out[i] < longestTurn {
			out[i]--
			over--
		}
	}
	rng.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func scaled(shape []float64, by float64) []int {
	out := make([]int, len(shape))
	for i, x := range shape {
		out[i] = int(math.Round(min(max(x*by, shortestTurn), longestTurn)))
	}
	return out
}

func total(values []int) int {
	sum := 0
	for _, v := range values {
		sum += v
	}
	return sum
}
