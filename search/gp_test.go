package search

import (
	"math"
	"testing"

	"autotune/search/searchtest"
	"autotune/space"
	"autotune/tuner"
)

// TestLogEI compares with the integral ∫ max(0, x - t) φ, by Simpson's rule, and far below with values of a 50-digit computation.
func TestLogEI(t *testing.T) {
	for _, z := range []float64{-5.9, -3, -1, 0, 0.5, 4} {
		const sd, target = 0.3, 2.0
		mean := target + z*sd
		const n = 200000
		lo, hi := target, math.Max(target, mean)+12*sd
		step, sum := (hi-lo)/n, 0.0
		for i := range n + 1 {
			x := lo + float64(i)*step
			w := 2 + 2*float64(i%2)
			if i == 0 || i == n {
				w = 1
			}
			d := (x - mean) / sd
			sum += w * (x - target) * math.Exp(-d*d/2) / (sd * math.Sqrt(2*math.Pi))
		}
		want := math.Log(sum * step / 3)
		if got := logEI(mean, sd*sd, target); math.Abs(got-want) > 1e-4 {
			t.Errorf("z = %g: log EI is %.8f, want %.8f", z, got, want)
		}
	}
	// log(φ(z) + zΦ(z)) at z = -10 and -40.
	for z, want := range map[float64]float64{-10: -55.55312, -40: -808.29856} {
		if got := logEI(z, 1, 0); math.Abs(got-want) > 2e-3 {
			t.Errorf("z = %g: log EI is %.5f, want %.5f", z, got, want)
		}
	}
	for z := -6.2; z < -5.8; z += 0.01 {
		if logEI(z+0.01, 1, 0) <= logEI(z, 1, 0) {
			t.Errorf("log EI does not rise at z = %g", z)
		}
	}
}

func TestLogCDF(t *testing.T) {
	// log Φ at -1, -10 and -30, from tables.
	for z, want := range map[float64]float64{-1: -1.8410216450, -10: -53.2312851505, -30: -454.3212439955} {
		if got := logCDF(z); math.Abs(got-want) > 2e-3 {
			t.Errorf("log CDF(%g) is %.6f, want %.6f", z, got, want)
		}
	}
}

func believed(t *testing.T, p tuner.Problem, h tuner.History) *belief {
	t.Helper()
	b, err := newGP().believe(p, h)
	if err != nil {
		t.Fatal(err)
	}
	b.classify()
	return b
}

// TestCellsAreThePoint: a point's cell gives the point back where its values are on the grid; an inactive parameter is idle.
func TestCellsAreThePoint(t *testing.T) {
	for _, surface := range append(searchtest.Surfaces(), searchtest.Dry(), searchtest.Wide()) {
		l := newLattice(surface.Problem.Space)
		r := source(tuner.Ask{Number: 1, Seed: 1})
		for range 200 {
			c := l.random(r)
			p := l.point(c)
			if back := l.cell(p); back.hash() != c.hash() {
				t.Fatalf("%s: %v is %s, whose cell is %v", surface.Name, c, p.Key(), back)
			}
			for _, n := range l.neighbours(c) {
				if changed := len(differing(l, c, n)); changed < 1 {
					t.Fatalf("%s: a neighbour of %v is itself", surface.Name, c)
				}
			}
			for i, on := range l.active(c) {
				if _, has := p.Get(l.params[i].Name); has != on {
					t.Fatalf("%s: %s is active: %v, in the point: %v", surface.Name, l.params[i].Name, on, has)
				}
				if !on && c[i] != l.idle[i] {
					t.Fatalf("%s: %s is inactive and not idle", surface.Name, l.params[i].Name)
				}
			}
		}
	}
}

func differing(l *lattice, a, b cell) []string {
	var names []string
	for i := range a {
		if a[i] != b[i] {
			names = append(names, l.params[i].Name)
		}
	}
	return names
}

// TestFailuresTeach: after out of memory nothing that asks for more is proposed, and a flag that always fails becomes unlikely to run.
func TestFailuresTeach(t *testing.T) {
	surface := searchtest.TwoEngines()
	h := searchtest.Study(t, newGP(), surface, 1, 30)
	b := believed(t, surface.Problem, h)
	oom := 0
	for _, s := range b.seen {
		if s.trial.Outcome.Reason == tuner.ReasonMemory && s.trial.Outcome.Kind == tuner.Infeasible {
			oom++
			if f := b.forecast(s.cell); f.logRun != doomed {
				t.Errorf("a point that ran out of memory runs with probability %g", math.Exp(f.logRun))
			}
		}
	}
	if oom == 0 {
		t.Fatal("nothing ran out of memory: the test shows nothing")
	}
	broken := surface
	broken.Truth = func(p space.Point) tuner.Outcome {
		if cache, _ := p.Get("fast.cache"); cache == space.String("fp8") {
			return tuner.Outcome{Kind: tuner.Infeasible, Phase: tuner.PhaseFlags, Reason: tuner.ReasonInfeasible}
		}
		return surface.Truth(p)
	}
	h = searchtest.Study(t, newGP(), broken, 1, 40)
	late := 0
	for _, trial := range h[20:] {
		if cache, _ := trial.Point.Get("fast.cache"); cache == space.String("fp8") {
			late++
		}
	}
	if late > 5 {
		t.Errorf("%d of the last 20 trials have the value that never runs", late)
	}
}

// TestBatch: asked four times with the earlier ones running, it gives four points, and the first is the one that it would give alone.
func TestBatch(t *testing.T) {
	surface := searchtest.Bounded()
	h := searchtest.Study(t, newGP(), surface, 4, 24)
	keys := map[string]bool{}
	for n := 24; n < 28; n++ {
		proposal, err := newGP().Suggest(surface.Problem, h, tuner.Ask{Number: n, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		keys[proposal.Point.Key()] = true
		h = append(h, tuner.Trial{Number: n, Point: proposal.Point, Proposal: proposal})
	}
	if len(keys) != 4 {
		t.Errorf("4 asks gave %d points", len(keys))
	}
	before, after := believed(t, surface.Problem, h[:24]), believed(t, surface.Problem, h)
	c := after.cell(h[24].Point)
	meanBefore, doubtBefore := before.value(c)
	meanAfter, doubtAfter := after.value(c)
	if math.Abs(meanBefore-meanAfter) > 1e-3 || doubtAfter >= doubtBefore {
		t.Errorf("a running trial changes the mean from %g to %g and the variance from %g to %g; the mean stays and the doubt shrinks", meanBefore, meanAfter, doubtBefore, doubtAfter)
	}
}

// TestPredictionsHold: of what is predicted before it is measured, without noise, most lies inside of three standard deviations; gains are never below 0.
func TestPredictionsHold(t *testing.T) {
	surface := searchtest.TwoEngines()
	predicted, inside := 0, 0
	for _, trial := range searchtest.Study(t, newGP(), surface, 2, 50) {
		if trial.Proposal.Gain < 0 || trial.Proposal.PRun < 0 || trial.Proposal.PRun > 1 {
			t.Errorf("trial %d: gain %g, P(run) %g", trial.Number, trial.Proposal.Gain, trial.Proposal.PRun)
		}
		p, ok := trial.Proposal.Predicted[surface.Problem.Goal.Metric]
		v, measured := surface.Problem.Goal.Value(trial.Outcome.Measured)
		if !ok || !measured {
			continue
		}
		predicted++
		if math.Abs(math.Log(v/p.Mean)) <= 3*p.SD {
			inside++
		}
	}
	if predicted < 30 || float64(inside) < 0.8*float64(predicted) {
		t.Errorf("%d of %d predictions hold", inside, predicted)
	}
}

// TestLeaderIsNoLuckyShot: with noise of 8 %, what the model ranks first is truly better, over many studies, than what was measured highest.
func TestLeaderIsNoLuckyShot(t *testing.T) {
	surface := searchtest.TwoEngines()
	goal := surface.Problem.Goal
	sumMeasured, sumModel, apart := 0.0, 0.0, 0
	for seed := range uint64(100) {
		r := source(tuner.Ask{Seed: seed})
		noisy := surface
		noisy.Truth = func(p space.Point) tuner.Outcome {
			o := surface.Truth(p)
			if o.Measured != nil {
				o.Measured.Metrics[goal.Metric] *= math.Exp(0.08 * r.NormFloat64())
			}
			return o
		}
		h := searchtest.Study(t, random{}, noisy, seed, 60)
		truth := func(ranker tuner.Ranker) float64 {
			v, _ := goal.Value(surface.Truth(ranker.Rank(surface.Problem, h)[0].Trial.Point).Measured)
			return math.Log(v)
		}
		measured, model := truth(Best{}), truth(RankerOf("gp"))
		sumMeasured, sumModel = sumMeasured+measured, sumModel+model
		if measured != model {
			apart++
		}
	}
	t.Logf("the model's leader is truly %.2f %% better than the highest measurement, and another one in %d of 100 studies", 100*(sumModel-sumMeasured)/100, apart)
	if apart == 0 || sumModel <= sumMeasured {
		t.Error("the model's leader is no better than the highest measurement")
	}
}

// TestEvidence: what an earlier study found best is expected to be good here, the more so the more it weighs, and is never a leader.
func TestEvidence(t *testing.T) {
	surface := searchtest.TwoEngines()
	goal := surface.Problem.Goal
	h := searchtest.Study(t, newGP(), surface, 1, 10)
	_, best := searchtest.Optimum(surface)
	plain := believed(t, surface.Problem, h)
	c := plain.cell(best)
	before, _ := plain.value(c)
	top, _ := goal.Value(surface.Truth(best).Measured)
	base, _ := goal.Value(h[0].Outcome.Measured)
	last := before
	for _, weight := range []float64{0.01, 0.1, 1} {
		p := surface.Problem
		p.Evidence = []tuner.Evidence{{Point: best, Kind: tuner.Measured, Value: math.Log(top / base), Reference: "fast", Weight: weight}}
		b := believed(t, p, h)
		mean, _ := b.value(c)
		if mean <= last {
			t.Errorf("with a weight of %g the mean is %.3f, with less %.3f", weight, mean, last)
		}
		last = mean
		if len(b.ranked) != len(plain.ranked) {
			t.Errorf("evidence is ranked: %d points, without it %d", len(b.ranked), len(plain.ranked))
		}
	}
	if math.Abs(last-math.Log(top)) > 0.1 {
		t.Errorf("with full weight the mean is %.3f, measured was %.3f", last, math.Log(top))
	}
}
