package engine_test

import (
	"math/rand/v2"
	"testing"

	"autotune/runner/engine"
	"autotune/space"
)

// TestRulesAmongSomeFlagsAreThoseOfAll: a space leaves out what cannot bite in it, and its points are the same configurations as without that.
func TestRulesAmongSomeFlagsAreThoseOfAll(t *testing.T) {
	for _, name := range engine.Names() {
		_, rewrites := find(t, name).Rules(h200, glm, 0)
		whole := make([]space.Rewrite, len(rewrites))
		for i, r := range rewrites {
			r.Among = nil
			whole[i] = r
		}
		r := rand.New(rand.NewPCG(1, 2))
		fewer := 0
		for range 300 {
			few, p := world(t, name, h200, glm, 0, randomSettings(find(t, name), r))
			all, err := space.New(few.Params(), nil, whole)
			if err != nil {
				t.Fatal(err)
			}
			q, err := all.Point(values(p))
			if err != nil {
				t.Fatal(err)
			}
			if p.Key() != q.Key() {
				t.Fatalf("%s: %s, with every rule %s", name, p.Key(), q.Key())
			}
			fewer += len(whole) - len(few.Rewrites())
		}
		if fewer == 0 {
			t.Errorf("%s: no rule was ever left out", name)
		}
	}
}

// randomSettings are values of a dozen flags.
func randomSettings(d *engine.Definition, r *rand.Rand) []engine.Setting {
	var out []engine.Setting
	flags := d.Flags()
	r.Shuffle(len(flags), func(i, j int) { flags[i], flags[j] = flags[j], flags[i] })
	for _, f := range flags[:12] {
		v := space.Default()
		switch {
		case f.Kind == engine.Switch || f.Kind == engine.NegatableSwitch:
			v = space.Bool(r.IntN(2) == 0)
		case len(f.Choices) > 0:
			v = space.String(f.Choices[r.IntN(len(f.Choices))])
		case f.Kind == engine.Int:
			v = space.Int([]int64{1, 2, 8, 64}[r.IntN(4)])
		}
		out = append(out, engine.Setting{Flag: f.Name, Value: v})
	}
	return out
}

func values(p space.Point) map[string]space.Value {
	out := map[string]space.Value{}
	for name, v := range p.All() {
		out[name] = v
	}
	return out
}
