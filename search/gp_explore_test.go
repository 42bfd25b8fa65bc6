package search

import (
	"math"
	"slices"
	"testing"

	"autotune/search/searchtest"
	"autotune/space"
	"autotune/tuner"
)

// explored is what is known of a small surface after some trials.
func explored(t *testing.T, trials int) *belief {
	t.Helper()
	surface := searchtest.TwoEngines()
	return believed(t, surface.Problem, searchtest.Study(t, newGP(), surface, 2, trials))
}

// highest is the cell that has the highest score, of equals the first, among those that may be asked.
func highest(b *belief, cells []cell, score func(cell) float64) cell {
	var best cell
	top := math.Inf(-1)
	for _, c := range cells {
		if v := score(c); v > top && b.allowed(c) {
			best, top = c, v
		}
	}
	return best
}

// TestScreenIsTheBestDraw works every draw's score out anew, from the trials themselves: twice the log of P(run), the log of 0.1 and the distance to the nearest trial, 0.7
// times the log of one and the trials that ran with each structural value, and 1 for another engine.
func TestScreenIsTheBestDraw(t *testing.T) {
	b := explored(t, 7)
	score := func(c cell, base cell) float64 {
		p := b.point(c)
		near := math.Inf(1)
		for _, trial := range b.history {
			other, apart := b.cell(trial.Point), 0.0
			for i, d := range b.dims {
				switch u, v := d.atoms[c[i]], d.atoms[other[i]]; {
				case c[i] == other[i]:
				case u.word || v.word:
					apart++
				default:
					apart += math.Abs(u.place - v.place)
				}
			}
			near = math.Min(near, apart)
		}
		sum := 2*b.logRun(c) + math.Log(0.1+near)
		for _, name := range []string{space.EngineParam, "fast.draft"} { // what conditions name
			v, has := p.Get(name)
			ran := 0
			for _, trial := range b.history {
				if w, ok := trial.Point.Get(name); ok && w == v && trial.Outcome.Kind == tuner.Measured {
					ran++
				}
			}
			if has && b.structural[b.place[name]] {
				sum -= 0.7 * math.Log(1+float64(ran))
			}
		}
		if p.Engine() != b.point(base).Engine() {
			sum--
		}
		return sum
	}
	for turn := range 4 {
		ask := tuner.Ask{Number: 7 + turn, Seed: 2}
		got, ok := b.screen(turn, source(ask))
		if !ok {
			t.Fatal("no screen")
		}
		r, base := source(ask), b.settle(b.cell(b.problem.Baselines[turn%2]))
		var draws []cell
		for range screenDraws {
			draws = append(draws, b.shake(base, 4, r))
		}
		if want := highest(b, draws, func(c cell) float64 { return score(c, base) }); !slices.Equal(got, want) {
			t.Errorf("screen %d is %s, the best draw %s", turn, b.point(got), b.point(want))
		}
	}
}

// TestExploreOneIsTheMostHopeful: of the leader's neighbours, 2.5 standard deviations above the mean count, and half the log of the probabilities.
func TestExploreOneIsTheMostHopeful(t *testing.T) {
	b := explored(t, 20)
	leader := b.settle(slices.Clone(b.ranked[0].cell))
	want := highest(b, b.neighbours(leader), func(c cell) float64 {
		mean, variance := b.value(c)
		return mean + 2.5*math.Sqrt(variance) + b.logRun(c)/2 + b.logKeep(c)/2
	})
	got, why, ok := b.exploreOne()
	if !ok || !slices.Equal(got, want) {
		t.Errorf("explores %s (%s), want %s", b.point(got), why, b.point(want))
	}
	if n := len(differing(b.lattice, leader, got)); n != 1 {
		t.Errorf("%d parameters differ from the leader's", n)
	}
}

// TestStructuresWithoutHopeAreLeft: the structural value that ran least is explored while it may be as good as the leader, by 2.5 standard deviations, and not once it is known to be worse.
func TestStructuresWithoutHopeAreLeft(t *testing.T) {
	b := explored(t, 20)
	i, level, ok := b.seldom()
	if !ok {
		t.Fatal("every structure ran often: the test shows nothing")
	}
	if n := b.ranWith(i, level); n >= fewRuns || level == b.ranked[0].cell[i] {
		t.Errorf("%s=%s ran %d times, or is the leader's", b.params[i].Name, b.dims[i].atoms[level].value, n)
	}
	c, _, ok := b.exploreStructure(source(tuner.Ask{Number: 20, Seed: 2}))
	if f := b.forecast(c); ok != (f.mean+2.5*math.Sqrt(f.variance) >= b.target) || c[i] != level {
		t.Errorf("explored: %v, mean %g, standard deviation %g, target %g", ok, f.mean, math.Sqrt(f.variance), b.target)
	}
	b.target += 100
	if _, _, ok := b.exploreStructure(source(tuner.Ask{Number: 20, Seed: 2})); ok {
		t.Error("a structure is explored that cannot be as good as the leader")
	}
}
