package runner

import (
	"fmt"
	"testing"
	"time"

	"autotune/tuner/workload"
)

// TestProbes: whatever the highest rate is, and wherever the search begins, it is found to within a twentieth, has held twice, and takes few probes.
func TestProbes(t *testing.T) {
	for _, c := range []struct{ start, step, truth float64 }{
		{1, rateFirstStep, 1000}, {1, rateFirstStep, 3.3}, {1, rateFirstStep, 0.02}, {10, rateStep, 10.2}, {10, rateStep, 14}, {10, rateStep, 80}, {1, rateFirstStep, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			p := newProbes(c.start, c.step)
			held := map[float64]int{}
			for more := true; more; {
				holds := p.rate <= c.truth
				if holds {
					held[p.rate]++
				}
				more = p.told(holds)
			}
			if p.low > c.truth || p.low < c.truth/rateEdge || held[p.low] < rateTwice || p.n > 14 {
				t.Errorf("found %v (held %d times) in %d probes, the truth is %v", p.low, held[p.low], p.n, c.truth)
			}
		})
	}
}

// TestProbesOfNoRate: where no rate holds the search ends, and says so.
func TestProbesOfNoRate(t *testing.T) {
	p := newProbes(1, rateFirstStep)
	for p.told(false) {
	}
	if p.low != 0 || p.n > rateMost {
		t.Errorf("found %v in %d probes", p.low, p.n)
	}
}

// TestProbesThatHoldOnce: a rate that does not hold a second time is the bracket's upper end, and the next lower one that held is the answer at most.
func TestProbesThatHoldOnce(t *testing.T) {
	p := newProbes(8, rateFirstStep)
	tried := map[float64]int{}
	for more := true; more; {
		tried[p.rate]++
		more = p.told(p.rate <= 8 || p.rate < 12 && tried[p.rate] == 1)
	}
	if p.low != 8 || p.high > 12 {
		t.Errorf("found %v, below %v", p.low, p.high)
	}
}

func TestTrafficAtAnotherRate(t *testing.T) {
	before := Traffic{Workload: workload.Spec{Rate: 2}, Requests: []workload.Request{{Arrival: 0}, {Arrival: time.Second / 2}, {Arrival: time.Second}}}
	after := before.at(8)
	if after.Workload.Rate != 8 || after.Requests[2].Arrival != time.Second/4 || before.Requests[2].Arrival != time.Second {
		t.Errorf("%+v, before %+v", after, before)
	}
}
