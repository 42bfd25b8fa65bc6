package memory

// Facts are what a server's own log said of one GPU's memory; 0: it did not say.
type Facts struct {
	WeightsGiB float64 // "Model loading took", "Load weight end ... mem usage"
	CacheGiB   float64 // vLLM's "Available KV cache memory"
	GraphsGiB  float64 // "Graph capturing finished ... took", "Capture cuda graph end ... mem usage"
	Tokens     int     // in the cache of one attention rank
	Allocated  int     // the same, from the line that allocates it (SGLang)
}

// slack is how far a size that was measured once is taken to vary in another launch of the same layout.
const slack = 0.01

// Correct is the estimate of a configuration after what the log of a launch of the same layout said: measured sizes take the place of estimates. What
// the log did not say stays as it was, and so does an answer that rests on GPUs or heads alone.
func Correct(e Estimate, f Facts) Estimate {
	if len(e.Sums) == 0 {
		return e
	}
	sums := make([]Sum, len(e.Sums))
	for i, s := range e.Sums {
		s.Terms = append([]Term(nil), s.Terms...)
		for k, t := range s.Terms {
			switch {
			case t.Name == "weights" && f.WeightsGiB > 0:
				s.Terms[k].GiB = around(f.WeightsGiB)
			case t.Name == "graphs" && f.GraphsGiB > 0, t.Name == "graphs and buffers" && f.GraphsGiB > 0:
				s.Terms[k].GiB = around(f.GraphsGiB)
			}
		}
		sums[i] = s
	}
	e.Sums = sums
	if f.CacheGiB > 0 && f.Tokens > 0 {
		e.TokenBytes = f.CacheGiB * GiB / float64(f.Tokens)
	}
	if n := max(f.Tokens, f.Allocated); n > 0 {
		e.Tokens = Span{n, n}
	}
	e.Reason = ""
	e.answer()
	return e
}

func around(x float64) Range { return Range{x * (1 - slack), x * (1 + slack)} }
