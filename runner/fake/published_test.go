package fake

import (
	"strings"
	"testing"
)

const glm = "sglang --model-path=zai-org/GLM-5.2-FP8 --served-model-name=demo/tiny --tp-size=8 --dp-size=8 --enable-dp-attention --mem-fraction-static=0.85"

// TestPublishedFailureHappensHere has the one of the published studies: with longer chunks the memory runs out.
func TestPublishedFailureHappensHere(t *testing.T) {
	p := start(t, "--clock law "+glm+" --chunked-prefill-size=16384 --host=127.0.0.1 --port=0")
	p.logged(`fired up and ready to roll|[oO]ut of memory`)
	if m := strings.Contains(p.log(), "ready to roll"); m { // then it comes under load
		p.base = p.logged(`running on (http://127\.0\.0\.1:\d+)`)[1]
		p.play(t, steady(600, 1000, 512, 8192, 16))
	}
	if got := p.status(); got != -9 {
		t.Errorf("exit status %d", got)
	}
	if f := p.verdict("sglang", -9); f.Reason != "memory" {
		t.Errorf("the log reads as %s (%s):\n%s", f.Reason, f.Signature, p.log())
	}
	p.nothingLeft()
}

// TestPublishedBestServes has the same configuration without that flag.
func TestPublishedBestServes(t *testing.T) {
	p := ready(t, "--clock law "+glm+" --moe-a2a-backend=deepep --max-running-requests=256 --kv-cache-dtype=fp8_e4m3")
	answers, _ := p.play(t, steady(300, 1000, 256, 8192, 32))
	for i, a := range answers {
		if a.Usage != 32 || a.Prompt != 8192 || a.Finish != "length" {
			t.Fatalf("request %d: %+v", i, a)
		}
	}
}
