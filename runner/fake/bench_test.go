package fake

import (
	"testing"
	"time"
)

// BenchmarkLawTime plays a benchmark of 1000 requests of 8192 + 1024 tokens, 512 at once, over HTTP.
func BenchmarkLawTime(b *testing.B) {
	p := ready(b, "--clock law --seed 3 sglang --model-path=zai-org/GLM-5.2-FP8 --served-model-name=demo/tiny --tp-size=8 --max-running-requests=256")
	l := steady(1000, 1000, 512, 8192, 1024)
	for b.Loop() {
		begin := time.Now()
		answers, _ := p.play(b, l)
		for i, a := range answers {
			if a.Usage != 1024 {
				b.Fatalf("request %d: %+v", i, a)
			}
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s/plan")
	}
	user, sys := p.processorTime()
	b.ReportMetric(user/float64(b.N), "server-user-s/plan")
	b.ReportMetric(sys/float64(b.N), "server-sys-s/plan")
}
