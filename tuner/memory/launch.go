package memory

import (
	"fmt"
	"math"
)

// Facts are what a server's own log said of one GPU's memory; 0: it did not say.
type Facts struct {
	WeightsGiB float64 `json:"weights_gib,omitempty"` // "Model loading took", "Load weight end ... mem usage"
	CacheGiB   float64 `json:"kv_gib,omitempty"`      // "Available KV cache memory", "K size ... V size"
	GraphsGiB  float64 `json:"graphs_gib,omitempty"`  // "Graph capturing finished ... took", "Capture cuda graph end ... mem usage"
	Tokens     int     `json:"kv_tokens,omitempty"`   // in the cache of one attention rank
	Allocated  int     `json:"allocated,omitempty"`   // the same, from the line that allocates it (SGLang)
}

// held is how many tokens the cache of a rank holds; 0: the log did not say.
func (f Facts) held() int { return max(f.Tokens, f.Allocated) }

// Launch is one start of a server: its configuration, and what its log said of memory.
type Launch struct {
	Setup Setup
	Facts Facts
	Ran   bool // it came up and served
}

// A measured size is believed between these shares of the ends of its estimate. Of the sizes in docs/memory.md none lies outside of its estimate;
// a log of another process, a unit that was misread or a rank that is not like the others does.
const (
	believedFrom = 0.9
	believedTo   = 1.1
)

// believed is what a launch tells of the model: nothing where the log says anything that cannot be, since it is then one of another model or machine.
// Doubts say what, in a few words for people.
func (l Launch) believed(m Model) (f Facts, doubts []string) {
	s, f := l.Setup, l.Facts
	doubt := func(what string, got float64, unit string, from, to float64) {
		doubts = append(doubts, fmt.Sprintf("%s of %.4g %s (expected %.4g to %.4g)", what, got, unit, from, math.Max(from, to)))
	}
	w, each := WeightsPerGPU(m, s), TokenBytes(m, s)
	free := s.GiB - w.Low*believedFrom
	if from, to := believedFrom*w.Low, math.Min(believedTo*w.High, s.GiB); f.WeightsGiB != 0 && !within(f.WeightsGiB, from, to) {
		doubt("weights", f.WeightsGiB, "GiB", from, to)
	}
	if f.CacheGiB != 0 && !within(f.CacheGiB, 0, free) {
		doubt("KV cache", f.CacheGiB, "GiB", 0, free)
	}
	if to := l.pool() + 1; f.WeightsGiB+f.CacheGiB > to {
		doubt("weights and KV cache together", f.WeightsGiB+f.CacheGiB, "GiB", 0, to)
	}
	if to := 2*graphs(s).High + 1; f.GraphsGiB != 0 && !within(f.GraphsGiB, -1, to) {
		doubt("graphs", f.GraphsGiB, "GiB", 0, to)
	}
	most := s.GiB * GiB
	if even(m) && m.KnownCache {
		most = math.Max(0, free) * GiB / each * 2
	}
	if f.held() != 0 && !within(float64(f.held()), 0, most) {
		doubt("KV cache", float64(f.held()), "tokens", 0, most)
	}
	if f.CacheGiB > 0 && f.held() > 0 && even(m) && m.KnownCache {
		if got := f.CacheGiB * GiB / float64(f.held()); !within(got, each/2, each*2) {
			doubt("KV cache", got, "bytes a token", each/2, each*2)
		}
	}
	if len(doubts) > 0 {
		return Facts{}, doubts
	}
	f.GraphsGiB = math.Max(0, f.GraphsGiB) // the difference of two readings of what is free
	return f, nil
}

// pool is the most that weights and cache may take together.
func (l Launch) pool() float64 {
	if l.Setup.Share > 0 && l.Setup.CacheBytes == 0 {
		return l.Setup.Share * l.Setup.GiB
	}
	return l.Setup.GiB
}

// within is false for what is no number, too.
func within(x, from, to float64) bool { return x >= from && x <= to }

// even tells whether every token takes the same of the cache, whatever the length of its request.
func even(m Model) bool { return m.WindowLayers == 0 && m.LinearLayers == 0 }
