package law

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// TestFormulasAgreeWithTheReference compares steps and memory with what testdata/make.py works out from the formulas in doc.go.
func TestFormulasAgreeWithTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	demo := config(t, "vllm", "autotune/demo-13b", 1, 44)
	glm := config(t, "sglang", "zai-org/GLM-5.2-FP8", 8, 0, "--tp-size=8", "--dp-size=8", "--enable-dp-attention", "--moe-a2a-backend=deepep", "--kv-cache-dtype=fp8_e4m3")
	demoSpeed, glmSpeed := newSpeed(lookup(demo.Model), demo), newSpeed(lookup(glm.Model), glm)
	ranks := make([]share, 8)
	for i := range ranks {
		ranks[i] = share{decode: 32, seqs: 32, context: 32 * 2048, contextI: 32 * 9000}
	}
	four := config(t, "vllm", "autotune/demo-13b", 4, 44, "--tensor-parallel-size=4")
	drafts := demo
	drafts.Draft, drafts.DraftMethod = 4, "mtp"
	windowed, all := glmSpeed.looked(1500, 4000)
	demoToken, _ := demo.cacheBytes(lookup(demo.Model))
	glmToken, _ := glm.cacheBytes(lookup(glm.Model))
	for name, got := range map[string]float64{
		"demoDecode":   demoSpeed.step([]share{{decode: 8, seqs: 8, context: 8000, contextI: 8000}}),
		"demoPrefill":  demoSpeed.step([]share{{prefill: 2048, looked: 2048 * 2048 / 2, indexed: 2048 * 2048 / 2, done: 1}}),
		"glmDecode":    glmSpeed.step(ranks),
		"ring":         newSpeed(lookup(four.Model), four).link,
		"speculated":   newSpeed(lookup(drafts.Model), drafts).tokens,
		"demoWeights":  demo.weights(lookup(demo.Model)),
		"glmWeights":   glm.weights(lookup(glm.Model)),
		"demoToken":    demoToken,
		"glmToken":     glmToken,
		"lookedWindow": windowed,
		"lookedAll":    all,
	} {
		if w, known := want[name]; !known || !(math.Abs(got/w-1) < 1e-6) {
			t.Errorf("%s is %.9g, want %.9g", name, got, w)
		}
	}
}

// TestAutomaticShareIsSGLangs: mem-fraction-static as SGLang 0.5.23 resolves it on pretended GPUs (examples/sglang-args/resolve.py), each line with
// --disable-prefill-cuda-graph besides, of which the law knows nothing.
func TestAutomaticShareIsSGLangs(t *testing.T) {
	const glm, llama = "zai-org/GLM-5.2-FP8", "meta-llama/Llama-3.1-8B"
	dp8 := []string{"--tp-size=8", "--dp-size=8", "--enable-dp-attention"}
	for _, c := range []struct {
		want   float64
		config Config
	}{
		{0.897, config(t, "sglang", glm, 8, 0, "--tp-size=8")},
		{0.769, config(t, "sglang", glm, 8, 0, dp8...)},
		{0.512, config(t, "sglang", glm, 8, 0, append(dp8, "--chunked-prefill-size=32768")...)},
		{0.754, config(t, "sglang", glm, 8, 0, append(dp8, "--moe-a2a-backend=deepep")...)},
		{0.907, config(t, "sglang", llama, 1, 0)},
		{0.929, config(t, "sglang", llama, 1, 0, "--chunked-prefill-size=2048", "--cuda-graph-max-bs-decode=64")},
		{0.836, config(t, "sglang", "Qwen/Qwen3-30B-A3B", 4, 0, "--tp-size=4", "--dp-size=4", "--enable-dp-attention")},
	} {
		if got := c.config.automaticShare(); got != c.want {
			t.Errorf("%s on %d GPUs, %d ranks, chunk %d: %g, want %g", c.config.Model, c.config.TP, c.config.Ranks, c.config.Chunk, got, c.want)
		}
	}
}
