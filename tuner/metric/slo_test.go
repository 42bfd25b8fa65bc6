package metric

import (
	"testing"
	"time"
)

// Worked out by hand: four requests within two seconds, of which each limit lets other ones through.
func TestGoodputByHand(t *testing.T) {
	records := []Record{
		answer(0, 0, 10, 100*ms, 200*ms, 300*ms),                         // ttft 100, tpot 100, latency 300
		answer(0, 500*ms, 10, 600*ms, 610*ms, 620*ms),                    // ttft 600 (100 sent), tpot 10, latency 620 (120 sent)
		answer(ms, ms, 10, 1001*ms),                                      // ttft 1000, no tpot
		{Scheduled: 0, Sent: 0, End: 2 * time.Second, Error: ErrRefused}, // never good
	}
	for _, c := range []struct {
		slos SLOs
		kept float64
	}{
		{SLOs{TTFT: time.Second}, 3},
		{SLOs{TTFT: time.Second - 1}, 2},
		{SLOs{TTFT: 100 * ms}, 1},
		{SLOs{TTFTSent: 100 * ms}, 2},
		{SLOs{TPOT: 99 * ms}, 2},
		{SLOs{TPOT: 99 * ms, TTFT: 700 * ms}, 1},
		{SLOs{Latency: 619 * ms}, 1},
		{SLOs{LatencySent: 300 * ms}, 2},
		{SLOs{TPOT: time.Nanosecond, Latency: time.Nanosecond}, 0},
	} {
		m := Basis{GPUs: 2, SLOs: c.slos}.Compute(records)
		near(t, m, "goodput", c.kept/2)
		near(t, m, "goodput_per_gpu", c.kept/4)
		near(t, m, "slo_attainment", c.kept/4)
	}
	absent(t, Compute(records, 1), "goodput", "slo_attainment")
	absent(t, Basis{SLOs: SLOs{TTFT: 1}}.Compute(records[3:]), "goodput")
	if got := (SLOs{TTFT: 2 * time.Second, TPOT: 50 * ms}).String(); got != "ttft <= 2s, tpot <= 50ms" {
		t.Errorf("the limits are written as %q", got)
	}
}
