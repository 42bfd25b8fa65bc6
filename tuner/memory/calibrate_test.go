package memory

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// glm is GLM-5.2's geometry as its config.json has it, and a launch of it on eight H200 whose sizes are those of a public log of its successor
// (vllm-project/recipes#893).
const glm = `{"model_type": "glm_moe_dsa", "num_hidden_layers": 78, "hidden_size": 6144, "vocab_size": 154880, "num_attention_heads": 64, "intermediate_size": 12288,
	"moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 2048,
	"qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256, "index_head_dim": 128, "index_n_heads": 32, "quantization_config": {"quant_method": "fp8"}}`

func vllmGLM(share float64, context int) Setup {
	return Setup{Engine: "vllm", GPUs: 8, GiB: 140.4, TP: 8, Share: share, Chunk: 8192, Sequences: 1024, GraphMax: 512, Context: context, Longest: 9216}
}

var glmFacts = Facts{WeightsGiB: 94.46, CacheGiB: 25.94, GraphsGiB: 0.48, Tokens: 317000}

// TestMeasuredSizesExclude: a share that the estimate leaves open is excluded once the log of another share has told what the weights and a step take, and
// one that the sizes leave room in is not.
func TestMeasuredSizesExclude(t *testing.T) {
	m := read(t, glm)
	c := Calibrate(m, []Launch{{Setup: vllmGLM(0.92, 16384), Facts: glmFacts, Ran: true}})
	for _, x := range []struct {
		share         float64
		context       int
		before, after Answer
	}{
		{0.68, 16384, Uncertain, Cannot},  // 95.5 GiB for weights of 94.5 and a step of 8.8
		{0.80, 16384, Uncertain, Fits},    // 112.3
		{0.80, 140000, Uncertain, Cannot}, // of which one request takes 11.3
		{0.92, 16384, Fits, Fits},
		{0.60, 16384, Cannot, Cannot},
	} {
		s := vllmGLM(x.share, x.context)
		before, after := Plan(m, s), c.Plan(s)
		if before.Answer != x.before || after.Answer != x.after {
			t.Errorf("share %.2f, %d tokens: %s, then %s (%s)\n%v\n%v", x.share, x.context, before.Answer, after.Answer, after.Reason, before.Sums, after.Sums)
		}
		a, _ := before.Headroom()
		b, ok := after.Headroom()
		if !ok || a == b && x.context == 16384 {
			t.Errorf("share %.2f: headroom %.2f, then %.2f", x.share, a, b)
		}
	}
	if e := c.Plan(vllmGLM(0.92, 16384)); e.Tokens != (Span{317000, 317000}) || !e.Measured() {
		t.Errorf("the launch itself: %+v", e)
	}
	// 25.94 GiB for 317,000 tokens.
	if each := c.Plan(vllmGLM(0.8, 16384)).TokenBytes; math.Abs(each-87864) > 10 {
		t.Errorf("a token of %.0f bytes", each)
	}
}

// TestASizeHoldsForItsLayoutAlone: other kernels, layouts and engines keep their estimates, but for ends that were wrong.
func TestASizeHoldsForItsLayoutAlone(t *testing.T) {
	m := read(t, glm)
	at := vllmGLM(0.92, 16384)
	c := Calibrate(m, []Launch{{Setup: at, Facts: glmFacts, Ran: true}})
	kernels, stages, sglang := at, at, Setup{Engine: "sglang", GPUs: 8, GiB: 140.4, TP: 8, Share: 0.85, Chunk: 8192, GraphMax: 512, Longest: 9216}
	kernels.Kernels = "moe-backend=marlin"
	stages.TP, stages.PP = 4, 2
	for _, s := range []Setup{kernels, stages, sglang} {
		if before, after := Plan(m, s), c.Plan(s); before.Sums[0].Terms[0] != after.Sums[0].Terms[0] {
			t.Errorf("%+v: weights %v, then %v", s, before.Sums[0].Terms[0], after.Sums[0].Terms[0])
		}
	}
	// Weights that are less than anything the geometry allows: its lower end is too high for every layout of the engine.
	light := Calibrate(m, []Launch{{Setup: at, Facts: Facts{WeightsGiB: 0.9 * WeightsPerGPU(m, at).Low}}})
	if before, after := Plan(m, stages).Sums[0].Terms[0], light.Plan(stages).Sums[0].Terms[0]; math.Abs(after.GiB.Low/before.GiB.Low-0.9) > 1e-9 || after.GiB.High != before.GiB.High {
		t.Errorf("%v, then %v", before, after)
	}
}

// TestAbsurdFactsChangeNothing: no number that a log may hold excludes or admits anything, and it is said which was not believed.
func TestAbsurdFactsChangeNothing(t *testing.T) {
	m := read(t, glm)
	at := vllmGLM(0.92, 16384)
	plain := Calibrate(m, []Launch{{Setup: at, Ran: true}})
	for _, f := range []Facts{
		{WeightsGiB: 1e300}, {WeightsGiB: -94}, {WeightsGiB: math.NaN()}, {WeightsGiB: math.Inf(1)}, {WeightsGiB: 9.446}, {WeightsGiB: 140.3}, {WeightsGiB: 1e-300},
		{CacheGiB: 1e9}, {CacheGiB: -1}, {CacheGiB: math.NaN(), Tokens: 100}, {GraphsGiB: 500}, {GraphsGiB: -30}, {Tokens: math.MaxInt},
		{CacheGiB: 25.94, Tokens: 3}, {CacheGiB: 25.94, Tokens: 1 << 40},
		{WeightsGiB: 105, CacheGiB: 30, Tokens: 250000}, // more than its share holds, and it ran
	} {
		c := Calibrate(m, []Launch{{Setup: at, Facts: f, Ran: true}})
		if len(c.Doubts(0)) == 0 {
			t.Errorf("%+v is believed", f)
		}
		for _, share := range []float64{0.6, 0.68, 0.8, 0.92} {
			if s := vllmGLM(share, 16384); c.Plan(s).Answer != plain.Plan(s).Answer || c.Plan(s).Sums[0].String() != plain.Plan(s).Sums[0].String() {
				t.Errorf("%+v: share %.2f was %v and is %v", f, share, plain.Plan(s), c.Plan(s))
			}
		}
	}
}

// TestWhatRanIsNeverExcluded: whatever logs say, of itself or of others, a configuration that ran, and one that asks for less, stays possible.
func TestWhatRanIsNeverExcluded(t *testing.T) {
	m := read(t, glm)
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var launches []Launch
		for range 1 + r.IntN(6) {
			s := vllmGLM(0.55+0.4*r.Float64(), []int{0, -1, 4096, 1000000}[r.IntN(4)])
			if r.IntN(3) == 0 {
				s = Setup{Engine: "sglang", GPUs: 8, GiB: 140.4, TP: 8, DP: 8, Inside: true, Share: 0.5 + 0.45*r.Float64(), Chunk: 1 << (10 + r.IntN(7)), GraphMax: 512, Longest: 9216}
			}
			f := Facts{WeightsGiB: r.Float64() * 150, CacheGiB: r.Float64() * 60, GraphsGiB: r.Float64() * 10, Tokens: r.IntN(1e6)}
			launches = append(launches, Launch{Setup: s, Facts: f, Ran: r.IntN(2) == 0})
		}
		c := Calibrate(m, launches)
		for _, l := range launches {
			smaller := l.Setup
			smaller.Chunk /= 2
			for _, s := range []Setup{l.Setup, smaller} {
				if e := c.Plan(s); l.Ran && e.Answer == Cannot {
					t.Fatalf("%+v ran: %s", s, e.Reason)
				}
			}
		}
	}
}

// TestTheOrderOfLaunchesDoesNotMatter, since a history may be read in any.
func TestTheOrderOfLaunchesDoesNotMatter(t *testing.T) {
	m := read(t, glm)
	a := Launch{Setup: vllmGLM(0.92, 16384), Facts: glmFacts, Ran: true}
	b := Launch{Setup: vllmGLM(0.8, 16384), Facts: Facts{WeightsGiB: 95, CacheGiB: 9, GraphsGiB: 0.6, Tokens: 110000}, Ran: true}
	there, back := Calibrate(m, []Launch{a, b}), Calibrate(m, []Launch{b, a})
	for share := 0.5; share < 0.97; share += 0.01 {
		s := vllmGLM(share, 16384)
		if x, y := there.Plan(s), back.Plan(s); x.Answer != y.Answer || x.Sums[0].Needs() != y.Sums[0].Needs() {
			t.Errorf("%v %v", x, y)
		}
	}
	if w := there.Plan(b.Setup).Sums[0].Terms[0].GiB; w != around(Range{94.46, 95}) {
		t.Errorf("weights %v", w)
	}
}

// TestASGLangLogNarrowsThePool: weights and cache of a launch tell what was free before it loaded.
func TestASGLangLogNarrowsThePool(t *testing.T) {
	m := read(t, strings.Replace(glm, `"index_head_dim": 128, "index_n_heads": 32, `, "", 1))
	at := Setup{Engine: "sglang", GPUs: 8, GiB: 140.4, TP: 8, Share: 0.85, Chunk: 8192, GraphMax: 512, Longest: 9216}
	tokens := int((0.85*(140.4-2) - 94) * GiB / TokenBytes(m, at))
	c := Calibrate(m, []Launch{{Setup: at, Facts: Facts{WeightsGiB: 94, Allocated: tokens, GraphsGiB: 1.44}, Ran: true}})
	other := at
	other.Share = 0.9
	pool := c.Plan(other).Sums[0].Size
	if pool.Low < 0.9*(140.4-2.2) || pool.High > 0.9*140 {
		t.Errorf("pool %v", pool)
	}
	if g := c.Plan(other).Sums[1].Terms[1]; g.GiB != around(Range{1.44, 1.44}) || !g.Measured {
		t.Errorf("graphs %v", g)
	}
}

// TestNoLaunchesPlanAsBefore: the Calibration of none is Plan.
func TestNoLaunchesPlanAsBefore(t *testing.T) {
	m := read(t, glm)
	s := vllmGLM(0.9, 16384)
	if a, b := Plan(m, s), Calibrate(m, nil).Plan(s); a.Answer != b.Answer || a.Sums[0].String() != b.Sums[0].String() || a.Measured() {
		t.Errorf("%v %v", a, b)
	}
	if e := Calibrate(Model{}, []Launch{{Setup: s, Facts: glmFacts}}).Plan(s); e.Answer != Unknown {
		t.Errorf("%v", e)
	}
}
