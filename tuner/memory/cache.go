package memory

import (
	"math"
	"strings"
)

// valueBytes is the bytes of one value of the cache. nvfp4 has a byte of scale for 16 values.
func valueBytes(kind string) float64 {
	switch {
	case strings.HasPrefix(kind, "fp8"), strings.HasPrefix(kind, "int8"), kind == "mxfp8":
		return 1
	case strings.Contains(kind, "fp4"), strings.Contains(kind, "int4"), strings.Contains(kind, "4bit"):
		return 0.5625
	case strings.Contains(kind, "float32"), kind == "fp32":
		return 4
	default:
		return 2
	}
}

// sparseBytes is what vLLM's and FlashMLA's 8-bit format keeps of a token and layer of latent attention of 512 + 64 values: 512 of 8 bits, their four
// 4-byte scales, and the 64 of 16 bits.
const sparseBytes = 656

// TokenBytes is what one token of a request takes in the KV cache of each GPU, where every layer keeps it: layers of a window keep no more than their
// window, and layers of linear attention nothing.
func TokenBytes(m Model, s Setup) float64 { full, _ := tokenBytes(m, s.complete()); return full }

// tokenBytes is also what a token takes in the layers of a window.
func tokenBytes(m Model, s Setup) (full, window float64) {
	each := valueBytes(s.CacheType)
	layer := 0.0
	switch {
	case m.Latent > 0: // every GPU of a rank holds all of it
		layer = float64(m.Latent) * each
		if m.IndexDim > 0 && each == 1 && s.Engine == "vllm" {
			layer = sparseBytes
		}
	default:
		heads := math.Max(1, float64(m.KVHeads)/float64(s.attentionTP()))
		layer = heads * float64(m.KeyDim+m.ValDim) * each
	}
	per := 1 / (float64(s.PP) * float64(s.DCP))
	full = layer * float64(m.FullLayers)
	if s.Drafts {
		full += layer * float64(m.DraftLayers)
	}
	indexed := m.IndexLayers
	if s.Engine == "sglang" && m.IndexDim > 0 { // it keeps them for the layers without an indexer too
		indexed = m.FullLayers
	}
	full += float64(indexed) * indexBytes(m)
	return full * per, layer * float64(m.WindowLayers) * per
}

// indexBytes is what an indexer keeps of a token and layer.
func indexBytes(m Model) float64 { return float64(m.IndexDim) + 4*math.Ceil(float64(m.IndexDim)/128) }

// RequestGiB is what one request of so many tokens takes of the KV cache of each GPU. The lower end has states of 16 bits, windows that
// end exactly, and no more indexers' keys than the model has indexers;
// the upper one states of 32 bits, padded to the size of a page, a spare one for the prefix cache, and a page of up to 2048 tokens more (vLLM makes the
// pages of hybrid models so large that a state fits into one).
func RequestGiB(m Model, s Setup, tokens int) Range {
	s = s.complete()
	full, window := tokenBytes(m, s)
	state := float64(m.State+m.Conv) / float64(s.attentionTP()*s.PP)
	kept := math.Min(float64(tokens), float64(m.Window))
	page := 256
	if m.LinearLayers > 0 {
		page = 2048
	}
	least := full
	if s.Engine == "sglang" && m.IndexDim > 0 {
		least -= float64(m.FullLayers-m.IndexLayers) * indexBytes(m) / float64(s.PP*s.DCP)
	}
	low := least*float64(tokens) + window*kept + 2*state
	high := full*float64(tokens+page) + window*math.Min(float64(tokens), float64(m.Window+s.Chunk)) + 10*state
	return Range{low / GiB, high / GiB}
}
