package memory

import (
	"fmt"
	"math"
)

// Answer is whether a configuration fits. These words appear in JSON and never change.
type Answer string

// The answers.
const (
	Unknown   Answer = "unknown"   // the model, the GPU or a flag is not known well enough to say anything
	Cannot    Answer = "cannot"    // not even with the least that every part needs
	Uncertain Answer = "uncertain" // between the two: worth a trial
	Fits      Answer = "fits"      // even with the most that every part has been seen to need
)

// Term is one part of a sum, of one GPU.
type Term struct {
	Name string `json:"name"`
	GiB  Range  `json:"gib"`
	// Measured says that logs of launches told it, at least one of its ends.
	Measured bool `json:"measured,omitempty"`
}

// Sum says what one pool of a GPU's memory has to hold, and how large it is.
type Sum struct {
	Pool  string `json:"pool"`
	Size  Range  `json:"size"`
	Terms []Term `json:"terms"`
}

// Needs is the sum of the terms.
func (s Sum) Needs() Range {
	var r Range
	for _, t := range s.Terms {
		r = r.plus(t.GiB)
	}
	return r
}

// Headroom is what is left of the pool: the lower end when everything takes the most.
func (s Sum) Headroom() Range {
	n := s.Needs()
	return Range{s.Size.Low - n.High, s.Size.High - n.Low}
}

// String writes the least that is needed against the pool: "weights 94.5 + cache 9.6 = 104.1 GiB, and ... is 96.1".
func (s Sum) String() string {
	text := ""
	for i, t := range s.Terms {
		if i > 0 {
			text += " + "
		}
		text += fmt.Sprintf("%s %.1f", t.Name, t.GiB.Low)
	}
	return fmt.Sprintf("%s = %.1f GiB of a GPU at the least, and %s is %.1f", text, s.Needs().Low, s.Pool, s.Size.High)
}

// Estimate is what is said of one configuration.
type Estimate struct {
	Answer Answer `json:"answer"`
	// Reason is a sentence's worth: the sum that cannot be, or what is not known.
	Reason string `json:"reason,omitempty"`
	Sums   []Sum  `json:"sums,omitempty"`
	// TokenBytes is what a token takes of the KV cache of a GPU; Tokens is how many the cache of one attention rank would hold.
	TokenBytes float64 `json:"token_bytes,omitempty"`
	Tokens     Span    `json:"tokens"`
	Share      float64 `json:"share,omitempty"` // as the engine would resolve it
}

// Span is an interval of tokens.
type Span struct {
	Low  int `json:"low"`
	High int `json:"high"`
}

// Measured tells whether the log of a launch has corrected any part.
func (e Estimate) Measured() bool {
	for _, s := range e.Sums {
		for _, t := range s.Terms {
			if t.Measured {
				return true
			}
		}
	}
	return false
}

// Headroom is the GiB that the tightest pool has left at the middle of every interval; negative: most likely too little. ok is false where nothing is known.
func (e Estimate) Headroom() (gib float64, ok bool) {
	least := math.Inf(1)
	for _, s := range e.Sums {
		least = math.Min(least, s.Headroom().Mid())
	}
	return least, len(e.Sums) > 0
}

// Sequences is how many requests of so many tokens run at once, over all attention ranks, at the middle of every interval: as many as the cache holds, and
// as the flags allow. 0 where nothing is known.
func (e Estimate) Sequences(s Setup, tokens float64) float64 {
	if len(e.Sums) == 0 || tokens <= 0 {
		return 0
	}
	s = s.complete()
	each := (float64(e.Tokens.Low) + float64(e.Tokens.High)) / 2 / tokens
	if limit := float64(s.Sequences); limit > 0 {
		if s.Inside {
			limit /= float64(s.DP) // SGLang divides max-running-requests over its ranks
		}
		each = math.Min(each, limit)
	}
	return each * float64(s.DP)
}

// Plan says whether a configuration fits. It forbids only what cannot fit at the optimistic end of every interval.
func Plan(m Model, s Setup) Estimate {
	return (&Calibration{model: m}).plan(s.complete())
}

func (c *Calibration) plan(s Setup) Estimate {
	m := c.model
	if s.GPUs > 0 && s.World() > s.GPUs {
		return Estimate{Answer: Cannot, Reason: fmt.Sprintf("the layout needs %d GPUs and there are %d", s.World(), s.GPUs)}
	}
	switch {
	case !m.Known():
		return Estimate{Answer: Unknown, Reason: "the checkpoint's geometry is not known"}
	case s.GiB <= 0:
		return Estimate{Answer: Unknown, Reason: "the memory of a GPU is not known"}
	case s.Inside && s.TP%s.DP != 0:
		return Estimate{Answer: Cannot, Reason: fmt.Sprintf("%d attention ranks do not divide %d GPUs", s.DP, s.TP)}
	case m.Heads%s.attentionTP() != 0:
		return Estimate{Answer: Cannot, Reason: fmt.Sprintf("%d attention heads do not divide over %d GPUs", m.Heads, s.attentionTP())}
	}
	by := c.tokenFactor(s)
	e := Estimate{TokenBytes: TokenBytes(m, s) * by.Mid()}
	var cache Range // room for the KV cache
	if s.Engine == "vllm" {
		cache = e.vllm(c, s)
	} else {
		cache = e.sglang(c, s)
	}
	e.Tokens = tokens(m, s, cache, by)
	e.answer()
	return e
}

// answer compares the pools with what they have to hold.
func (e *Estimate) answer() {
	e.Answer = Fits
	for _, s := range e.Sums {
		room := s.Headroom()
		if room.High < 0 {
			e.Answer, e.Reason = Cannot, s.String()
			return
		}
		if room.Low < 0 {
			e.Answer = Uncertain
		}
	}
}

// request is the longest request that the cache has to hold: vLLM refuses to start when one of the length that it was told to promise does not fit;
// SGLang starts, and refuses requests that are too long, so that the workload's longest counts. A length that is left to vLLM is the model's own, but
// releases have differed in what they make of one that does not fit: it counts at the upper end alone.
func (c *Calibration) request(s Setup) Term {
	least, most, m := s.Longest, s.Longest, c.model
	if s.Engine == "vllm" {
		switch {
		case s.Context > 0:
			least = s.Context
			most = least
		case s.Context == 0:
			most = max(most, m.Context)
		}
	}
	by := c.tokenFactor(s)
	gib := Range{RequestGiB(m, s, least).Low * by.Low, RequestGiB(m, s, most).High * by.High}
	if !m.KnownCache {
		gib.Low = 0
	}
	name := fmt.Sprintf("KV cache of a request of %d tokens", least)
	switch {
	case most == 0:
		name = "KV cache, requests of unknown length"
	case most > least:
		name = fmt.Sprintf("KV cache of a request of %d tokens (the model's %d at the most)", least, most)
	}
	return Term{name, gib, by != Range{1, 1}}
}

// vllm: everything has to fit into the share of the GPU that it may use; what is left of it is the cache.
func (e *Estimate) vllm(c *Calibration, s Setup) Range {
	e.Share = s.Share
	terms := append([]Term{c.weightsTerm(s)}, c.stepTerms(s)...)
	pool, size := fmt.Sprintf("%.4g of the GPU's %.1f GiB", s.Share, s.GiB), s.Share*s.GiB
	needs := Sum{Terms: terms}.Needs()
	longest := c.request(s)
	if s.CacheBytes > 0 {
		given := float64(s.CacheBytes) / GiB
		e.Share = 0
		e.Sums = append(e.Sums, Sum{"the GPU's memory", Range{s.GiB, s.GiB}, append(terms, Term{Name: "KV cache as given", GiB: Range{given, given}})},
			Sum{"the KV cache as given", Range{given, given}, []Term{longest}})
		return Range{given, given}
	}
	e.Sums = append(e.Sums, Sum{pool, Range{size, size}, append(terms, longest)})
	return Range{math.Max(0, size-needs.High), math.Max(0, size-needs.Low)}
}

// sglang: weights and cache have to fit into the static pool, a share of what is free before loading; everything else into the rest.
func (e *Estimate) sglang(c *Calibration, s Setup) Range {
	e.Share = s.Share
	share := Range{s.Share, s.Share}
	if s.Share == 0 {
		e.Share = automaticShare(s)
		share = Range{e.Share * 0.9, 0.97} // releases differ
	}
	own := c.runtimeOf(s)
	free := Range{s.GiB - own.High, s.GiB - own.Low}
	static := Range{share.Low * free.Low, share.High * free.High}
	weights := c.weightsTerm(s)
	e.Sums = append(e.Sums, Sum{fmt.Sprintf("the static pool, %.4g of what is free before loading,", e.Share), static, []Term{weights, c.request(s)}})
	if s.Share > 0 { // the automatic share leaves room for the rest by itself
		rest := Range{(1 - share.High) * free.Low, (1 - share.Low) * free.High}
		e.Sums = append(e.Sums, Sum{"what the static pool leaves", rest, []Term{{Name: "activations", GiB: activations(c.model, s)}, c.graphsTerm(s)}})
	}
	return Range{math.Max(0, e.Share*free.Low-weights.GiB.High), math.Max(0, e.Share*free.High-weights.GiB.Low)}
}

// tokens is how many tokens the room for the cache holds, in requests of the workload's length where windows and states matter; by is what was measured
// of a token, as a factor.
func tokens(m Model, s Setup, cache, by Range) Span {
	if even(m) || s.Longest == 0 {
		each := TokenBytes(m, s)
		if each <= 0 {
			return Span{}
		}
		return Span{int(cache.Low * GiB / (each * by.High)), int(cache.High * GiB / (each * by.Low))}
	}
	one := RequestGiB(m, s, s.Longest)
	return Span{int(cache.Low / one.High * float64(s.Longest)), int(cache.High / one.Low * float64(s.Longest))}
}
