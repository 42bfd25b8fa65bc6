package search

import (
	"testing"

	"autotune/search/searchtest"
	"autotune/space"
	"autotune/tuner"
)

func study(t *testing.T, s tuner.Sampler, surface searchtest.Surface, trials int) tuner.History {
	t.Helper()
	return searchtest.Study(t, s, surface, 1, trials)
}

// TestGridGoesInTheSpecsOrder: what the grid asks is the enumeration of the space, without what breaks a rule and without second spellings.
func TestGridGoesInTheSpecsOrder(t *testing.T) {
	surface := searchtest.Dry()
	var want []string
	seen := map[string]bool{}
	for p := range surface.Problem.Space.Enumerate() {
		if surface.Problem.Space.Keeps(p) && !seen[p.Key()] {
			seen[p.Key()] = true
			want = append(want, p.Key())
		}
	}
	h := study(t, grid{}, surface, 100)
	if len(h) != len(want) || len(h) != searchtest.DryPoints {
		t.Fatalf("%d trials, the space has %d points", len(h), len(want))
	}
	for i, trial := range h {
		if trial.Point.Key() != want[i] {
			t.Errorf("trial %d is %s, want %s", i, trial.Point.Key(), want[i])
		}
	}
}

// TestInactiveFlagsDoNotMultiply: two values without the flag and one with each of its four are six points, in this order.
func TestInactiveFlagsDoNotMultiply(t *testing.T) {
	s := withCondition(t)
	o := newOdometer(s)
	var got []string
	for {
		p, ok := o.turn(func(space.Point) bool { return false })
		if !ok {
			break
		}
		got = append(got, p.Key())
	}
	want := []string{
		`{"e.mode":"x","engine":"e"}`,
		`{"e.mode":"y","e.size":1,"engine":"e"}`, `{"e.mode":"y","e.size":2,"engine":"e"}`,
		`{"e.mode":"y","e.size":3,"engine":"e"}`, `{"e.mode":"y","e.size":4,"engine":"e"}`,
		`{"e.mode":"z","engine":"e"}`,
	}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("point %d is %s, want %s", i, got[i], want[i])
		}
	}
}

func withCondition(t *testing.T) *space.Space {
	t.Helper()
	engine, err := space.Choices(space.String("e"))
	if err != nil {
		t.Fatal(err)
	}
	modes, err := space.Choices(space.String("x"), space.String("y"), space.String("z"))
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := space.Ints(1, 4, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	when, err := space.ParseExpr("mode == y")
	if err == nil {
		when, err = when.Bind(func(n string) (string, bool) { return "e." + n, n == "mode" })
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New([]space.Param{
		{Name: space.EngineParam, Domain: engine},
		{Name: "e.mode", Engine: "e", Flag: "mode", Domain: modes},
		{Name: "e.size", Engine: "e", Flag: "size", Domain: sizes, When: when},
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGridLooksAtFewPoints: at trial 10,000 of a space with 2^60 points and more, with half of it excluded by a rule on the slowest flag, a suggestion
// looks at few points. It counts them by how often a rule is asked.
func TestGridLooksAtFewPoints(t *testing.T) {
	engine, err := space.Choices(space.String("e"))
	if err != nil {
		t.Fatal(err)
	}
	params := []space.Param{{Name: space.EngineParam, Domain: engine}}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"} {
		d, err := space.Ints(0, 7, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		params = append(params, space.Param{Name: "e." + name, Engine: "e", Flag: name, Domain: d})
	}
	asked := 0
	rule := space.Constraint{ID: "a-is-high", Holds: func(look space.Lookup) bool {
		asked++
		a, _ := look("e.a")
		return a.AsInt() > 3
	}}
	s, err := space.New(params, []space.Constraint{rule}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := tuner.Problem{Space: s}
	var h tuner.History
	o := newOdometer(s)
	first, ok := o.turn(func(space.Point) bool { return false })
	if !ok || asked > 20*gridPatience {
		t.Fatalf("the first point took %d looks (%t)", asked, ok)
	}
	if a, _ := first.Get("e.a"); a != space.Int(4) {
		t.Errorf("the first point has a=%s, want 4", a)
	}
	for n := range 10_000 {
		h = append(h, tuner.Trial{Number: n, Point: first, Outcome: tuner.Outcome{Kind: tuner.Infeasible}})
		if first, ok = o.turn(func(space.Point) bool { return false }); !ok {
			t.Fatal("the grid ended")
		}
	}
	asked = 0
	got, err := grid{}.Suggest(p, h, tuner.Ask{Number: len(h), Seed: 1})
	if err != nil || got.Point.Key() != first.Key() {
		t.Errorf("trial 10,000 is %s (%v), want %s", got.Point.Key(), err, first.Key())
	}
	if asked != 1 {
		t.Errorf("it took %d looks, want 1", asked)
	}
}

// TestGridComesBackToWhatItSkipped: a point far ahead in the history moves the grid there; what lies before it is asked after the end.
func TestGridComesBackToWhatItSkipped(t *testing.T) {
	surface := searchtest.Dry()
	var last space.Point
	for p := range surface.Problem.Space.Enumerate() {
		last = p
	}
	h := tuner.History{{Number: 0, Point: last, Outcome: surface.Truth(last)}}
	h = searchtest.Continue(t, grid{}, surface, 1, 100, h)
	if len(h) != searchtest.DryPoints {
		t.Errorf("%d trials, want all %d points", len(h), searchtest.DryPoints)
	}
}
