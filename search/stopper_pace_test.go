package search

import (
	"math"
	"testing"
)

// turns is a server that for half a minute reads prompts, 1000 tokens a second, and for the next half generates, 50 a second, and so on for so long.
func turns(seconds int) pace {
	c := pace{begun: 20, succeeded: 10}
	for t := 0; t <= seconds; t += 10 {
		n := len(c.at)
		c.at, c.read, c.made, c.batch = append(c.at, float64(t)), append(c.read, 0), append(c.made, 0), append(c.batch, 10)
		if n == 0 {
			continue
		}
		c.read[n], c.made[n] = c.read[n-1], c.made[n-1]
		if (t-1)/30%2 == 0 {
			c.read[n] += 10 * 1000
		} else {
			c.made[n] += 10 * 50
		}
	}
	return c
}

// TestOutlookByHand: what is left takes at least as long as in the best mixture of what was seen, a linear program whose optimum is plain here: reading at 1000 a second and then
// generating at 50. Exchange rates lie √2 apart, so that the bound may fall short of it, by 8 % here, and never lies above. On average the server does half of either.
func TestOutlookByHand(t *testing.T) {
	for _, c := range []struct{ unread, unmade float64 }{{60e3, 0}, {0, 3e3}, {60e3, 3e3}, {100e3, 1e3}, {5e3, 4e3}} {
		p := turns(360)
		p.unread, p.unmade = c.unread, c.unmade
		o, ok := p.outlook()
		optimum := c.unread/1000 + c.unmade/50
		if took := o.least - 360; !ok || took > optimum*(1+1e-9) || took < 0.92*optimum {
			t.Errorf("%+v: the rest takes at least %.1f s (%v), in the best mixture %.1f", c, took, ok, optimum)
		}
		// At an exchange rate of w a second is worth 500 + 25 w on average, and the best one 1000 or 50 w, whichever is more: as much where these are alike, else up to twice.
		if took := o.likely - 360; took < 0.99*optimum || took > 2.1*optimum {
			t.Errorf("%+v: the rest is likely to take %.1f s, in the best mixture %.1f", c, took, optimum)
		}
	}
	if o, ok := func() (outlook, bool) { p := turns(50); p.unread = 1e3; return p.outlook() }(); ok {
		t.Errorf("after 50 s the server is said to have settled: %+v", o)
	}
}

// TestLeastOfStatistics by hand: of 10, 9, 1, 2, 3 the first two may drop out. Without both the mean is 2; the median of what is left, with them at the lower end, is that at place 0 of 3.
func TestLeastOfStatistics(t *testing.T) {
	values := []float64{10, 9, 1, 2, 3}
	if got := leastMean(values, 2); got != 2 {
		t.Errorf("the mean is at least %g, want 2", got)
	}
	if got := leastMean([]float64{4, 1, 9}, 1); got != 14.0/3 { // to lose the 4 would raise it
		t.Errorf("the mean is at least %g, want 14/3", got)
	}
	for q, want := range map[float64]float64{0.5: 1, 0.75: 2, 0.875: 2.5, 1: 3} {
		if got, ok := leastPercentile(values, 2, q); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %g is at least %g, want %g", q, got, want)
		}
	}
	if _, ok := leastPercentile(values, 2, 0.25); ok {
		t.Error("a quantile is certain that may be one of those that drop out")
	}
}

func TestThreeDigits(t *testing.T) {
	for v, want := range map[float64]float64{1234: 1230, 0.98765: 0.988, 0: 0, -15.55: -15.6, 999.9: 1000} {
		if got := threeDigits(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g is written as %g, want %g", v, got, want)
		}
	}
}
