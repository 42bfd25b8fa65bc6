package memory

import "math"

// Range is an interval of GiB: what is needed at the least, and what has been seen at the most.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Mid is the middle of the interval.
func (r Range) Mid() float64 { return (r.Low + r.High) / 2 }

func (r Range) plus(o Range) Range { return Range{r.Low + o.Low, r.High + o.High} }

// What engines take beyond the bytes of the checkpoint: kernels pad and repack (gpt-oss-120b: 9 %, GLM-5.3: 5 %), small tensors are rounded up.
const (
	repacked = 1.10
	rounded  = 0.3 // GiB
)

// WeightsPerGPU is the GiB of weights on one GPU. Its lower end is the checkpoint's bytes, each group divided by as many GPUs as can share it.
func WeightsPerGPU(m Model, s Setup) Range {
	s = s.complete()
	w := m.Weights
	if s.Narrowed > 0 && w.Wide {
		by := s.Narrowed / 2
		for _, p := range []*int64{&w.Experts, &w.Attention, &w.KeyValue, &w.Dense, &w.Shared} {
			*p = int64(float64(*p) * by)
		}
	}
	stage := float64(ceilDiv(m.Layers, s.PP)) / float64(m.Layers) // of the layers, on the fullest stage
	if s.PP > 1 {
		stage = 1 / float64(s.PP) // a partition by hand may be evener than that by count
	}
	tp, attention := float64(s.TP), float64(s.attentionTP())
	experts := 1 / float64(s.expertGPUs())
	if s.EP && m.Experts > 0 {
		experts = float64(ceilDiv(m.Experts, s.expertGPUs())) / float64(m.Experts)
	}
	keyValue := attention
	if m.KVHeads > 0 {
		keyValue = math.Min(attention, float64(m.KVHeads))
	}
	low := stage * (float64(w.Experts)*experts + float64(w.Attention)/attention + float64(w.KeyValue)/keyValue +
		float64(w.Dense+w.Shared)/tp + float64(w.Replicated))
	high := low
	ends := float64(w.Embedding+w.Head) / tp
	if s.PP == 1 {
		low += ends
	}
	high += ends
	if s.Drafts {
		low += float64(w.Draft) / math.Max(tp, float64(s.expertGPUs()))
		high += float64(w.Draft) / tp
	}
	high += float64(w.Vision) + 2*float64(m.LatentUp)/attention*stage
	high += stage * float64(w.Loose) / attention
	if m.Multimodal && w.Vision == 0 {
		high += 2 * GiB
	}
	if s.Inside { // what need not be split by rank, and what a rank may hold whole
		high += float64(w.Embedding) * (1 - 1/tp)
	}
	if s.Away {
		high += stage * float64(w.Shared) * (1 - 1/tp)
	}
	if s.PP > 1 { // by count of layers the first stages are fuller
		high *= float64(ceilDiv(m.Layers, s.PP)) * float64(s.PP) / float64(m.Layers)
	}
	if !w.Exact { // norms, biases and scales are not counted, and some types are guessed
		low *= 0.98
		high *= 1.03
	}
	if w.Unsure {
		low *= 0.9
		high *= 1.8
	}
	return Range{low / GiB, high*repacked/GiB + rounded}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
