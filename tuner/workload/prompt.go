package workload

import (
	"slices"
	"strings"
)

// DefaultVocab bounds the token ids when the model's vocabulary is not known: every tokenizer of a language model has so many.
const DefaultVocab = 1000

// specialTokens is how many ids at the start of a vocabulary are left out: padding, begin, end, unknown stand there in many of them.
const specialTokens = 100

// WarmupRepeat is the repeat number of warm-up requests, whose content no measured request has.
const WarmupRepeat = -1

// Prompt makes the token ids of a request and appends them to dst: new content for each trial and repeat, always the same for the same
// arguments, evenly spread over the vocabulary without its first hundred ids (its first quarter, when it is small).
func Prompt(studySeed uint64, trial, repeat int, r Request, vocab int, dst []int32) []int32 {
	if vocab <= 0 {
		vocab = DefaultVocab
	}
	lowest := uint64(min(specialTokens, vocab/4))
	width := uint64(vocab) - lowest
	state := mix(mix(mix(mix(studySeed)+uint64(trial))+uint64(int64(repeat))) + uint64(r.Index))
	dst = slices.Grow(dst, r.Input)
	for n := 0; n < r.Input; n += 2 {
		state += golden
		bits := mix(state)
		// The upper half of a product spreads 32 bits evenly over the width, without a division.
		dst = append(dst, int32(lowest+(bits>>32)*width>>32))
		if n+1 < r.Input {
			dst = append(dst, int32(lowest+(bits&0xffffffff)*width>>32))
		}
	}
	return dst
}

// golden is 2^64 over the golden ratio, the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// mix is the output function of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// WarmupText is a text of a text's length that shares no beginning with it, so that no cache of prefixes knows the text afterwards:
// its words in reverse.
func WarmupText(text string) string {
	words := strings.Fields(text)
	slices.Reverse(words)
	return "Warm-up: " + strings.Join(words, " ")
}
