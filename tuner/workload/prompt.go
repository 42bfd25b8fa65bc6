package workload

import (
	"slices"
)

// DefaultVocab bounds the token ids when the model's vocabulary is not known: every tokenizer of a language model has so many.
const DefaultVocab = 1000

// specialTokens is how many ids at the start of a vocabulary are left out: padding, begin, end, unknown stand there in many of them.
const specialTokens = 100

// WarmupRepeat is the repeat number of warm-up requests, whose content no measured request has.
const WarmupRepeat = -1

// Prompt makes the token ids of a request and appends them to dst: new content for each trial and repeat, always the same for the same
// arguments, evenly spread over the vocabulary without its first hundred ids (its first quarter, when it is small). Requests of one trial and
// repeat share the content of pieces that have one key, and nothing else.
func Prompt(studySeed uint64, trial, repeat int, r Request, vocab int, dst []int32) []int32 {
	if vocab <= 0 {
		vocab = DefaultVocab
	}
	of := mix(mix(mix(studySeed)+uint64(trial)) + uint64(int64(repeat)))
	dst = slices.Grow(dst, r.Input)
	if r.Pieces == nil {
		return fill(mix(of+uint64(r.Index)), r.Input, vocab, dst)
	}
	for _, p := range r.Pieces {
		dst = fill(mix(of+p.Key), p.Length, vocab, dst)
	}
	return dst
}

// fill appends so many ids, a function of the state: more of them begin with those of fewer.
func fill(state uint64, length, vocab int, dst []int32) []int32 {
	lowest := uint64(min(specialTokens, vocab/4))
	width := uint64(vocab) - lowest
	for n := 0; n < length; n += 2 {
		state += golden
		bits := mix(state)
		// The upper half of a product spreads 32 bits evenly over the width, without a division.
		dst = append(dst, int32(lowest+(bits>>32)*width>>32))
		if n+1 < length {
			dst = append(dst, int32(lowest+(bits&0xffffffff)*width>>32))
		}
	}
	return dst
}

// Kinds of pieces, so that keys of one kind are none of another, nor an index.
const (
	kindOwn    = 0x6f776e00000000
	kindPrefix = 0x70726500000000
	kindAnswer = 0x616e7300000000
	kindBlock  = 0x626c6f00000000
)

func key(kind, number uint64) uint64 { return mix(mix(kind) + number) }

// golden is 2^64 over the golden ratio, the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// mix is the output function of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
