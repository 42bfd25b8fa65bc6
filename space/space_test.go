package space

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// layout is a small space in the shape of a study's: two engines, conditions, a rule, a flag that is ignored beside another and one that is forced.
func layout(t testing.TB) *Space {
	t.Helper()
	when := func(text string) *Expr {
		e, err := must(ParseExpr(text)).Bind(func(n string) (string, bool) {
			return "s." + n, slices.Contains([]string{"attention", "dp", "backend"}, n)
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	param := func(engine, flag string, d Domain, e *Expr) Param {
		return Param{Name: engine + "." + flag, Engine: engine, Flag: flag, Domain: d.Allowing(Default()), When: e}
	}
	params := []Param{
		{Name: EngineParam, Domain: must(Choices(String("s"), String("v")))},
		param("s", "mode", must(Choices(String("auto"), String("normal"))), when("backend == deepep")), // stands before what it names
		param("s", "attention", Bools(), nil),
		param("s", "dp", must(Choices(Int(2), Int(4), Int(8))), when("attention")),
		param("s", "spread", must(Choices(Int(1), Int(8))), when("dp >= 4")),
		param("s", "backend", must(Choices(String("none"), String("deepep"))), nil),
		param("s", "running", must(Ints(4, 8, 1, false)), nil),
		param("v", "seqs", must(Choices(Default(), Int(64))), nil),
		{Name: "v.tp", Engine: "v", Flag: "tp", Domain: must(Choices(Int(8))), Fixed: true},
	}
	rules := []Constraint{{ID: "running", Reason: "needs as many running requests as ranks", Engine: "s", Holds: func(look Lookup) bool {
		dp, ok := look("s.dp")
		running, _ := look("s.running")
		return !ok || running.IsDefault() || running.AsInt() >= dp.AsInt()
	}}}
	rewrites := []Rewrite{
		{ID: "spread", Reason: "deepep spreads over all", Engine: "s", Apply: func(look Lookup) map[string]Value {
			if v, _ := look("s.backend"); v != String("deepep") {
				return nil
			}
			return map[string]Value{"s.spread": Int(8)}
		}},
		{ID: "normal", Reason: "normal mode knows no running limit of its own", Engine: "s", Apply: func(look Lookup) map[string]Value {
			if v, _ := look("s.mode"); v != String("normal") {
				return nil
			}
			return map[string]Value{"s.running": {}}
		}},
	}
	return must(New(params, rules, rewrites))
}

func TestInactiveParametersAreAbsent(t *testing.T) {
	s := layout(t)
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}
	for range 2000 {
		p := s.Random(r)
		attention, _ := p.Get("s.attention")
		backend, _ := p.Get("s.backend")
		dp, hasDP := p.Get("s.dp")
		_, hasSpread := p.Get("s.spread")
		_, hasMode := p.Get("s.mode")
		_, hasSeqs := p.Get("v.seqs")
		for what, ok := range map[string]bool{
			"dp beside attention": hasDP == attention.AsBool(), "spread beside dp 4 and 8": hasSpread == (hasDP && dp.AsInt() >= 4),
			"mode beside deepep": hasMode == (backend == String("deepep")), "seqs under v": hasSeqs == (p.Engine() == "v"),
		} {
			if !ok {
				t.Fatalf("%s: %v", what, p.Map())
			}
		}
		seen[fmt.Sprint(hasDP, hasSpread, hasMode, hasSeqs)] = true
	}
	if len(seen) != 7 { // v; s with mode or without, times: no dp, dp, dp and spread
		t.Errorf("%d shapes of points, want 7: %v", len(seen), seen)
	}
}

func TestSpellingsOfOneConfigurationHaveOneKey(t *testing.T) {
	s := layout(t)
	key := func(text string) string {
		t.Helper()
		values := map[string]Value{}
		for _, pair := range strings.Fields(text) {
			name, word, _ := strings.Cut(pair, "=")
			values[name] = ParseWord(word)
		}
		p, err := s.Point(values)
		if err != nil {
			t.Fatal(err)
		}
		return p.Key()
	}
	const base = "engine=s s.attention=true s.running=8 s.dp=8 "
	if key(base+"s.backend=deepep s.mode=auto s.spread=1") != key(base+"s.backend=deepep s.mode=auto s.spread=8") {
		t.Error("a flag that is forced makes two keys")
	}
	if key(base+"s.backend=none s.spread=1") == key(base+"s.backend=none s.spread=8") {
		t.Error("a flag that counts makes one key")
	}
	if key(base+"s.backend=deepep s.mode=normal s.spread=1") != key("engine=s s.attention=true s.running=default s.dp=8 s.backend=deepep s.mode=normal s.spread=8") {
		t.Error("a flag that is ignored makes two keys")
	}
	if key("engine=s s.attention=false s.running=8 s.backend=none") != key("engine=s s.attention=false s.running=8 s.backend=none s.dp=4 s.mode=auto v.seqs=64") {
		t.Error("values of inactive parameters get into the key")
	}
}

func TestPointRefusesWhatIsNone(t *testing.T) {
	s := layout(t)
	for text, want := range map[string]string{
		`{"engine":"x"}`:                        "engine cannot be x",
		`{}`:                                    "engine has no value",
		`{"engine":"v","v.tp":8}`:               "v.seqs has no value",
		`{"engine":"v","v.tp":4,"v.seqs":64}`:   "v.tp cannot be 4",
		`{"engine":"v","v.tp":8,"v.seqs":"64"}`: "v.seqs cannot be 64",
		`{"engine":"v","v.tp":8,"v.seqs":64,"v.sesq":1}`: "no parameter is called v.sesq",
		`{"engine":"v"`: "reading a point",
		`[]`:            "reading a point",
	} {
		if _, err := s.ParsePoint([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestSpacesThatAreNone(t *testing.T) {
	one := must(Choices(Int(1)))
	when := func(name string) *Expr {
		return must(must(ParseExpr(name + " == 1")).Bind(func(n string) (string, bool) { return n, true }))
	}
	for want, params := range map[string][]Param{
		"a is given twice":         {{Name: "a", Domain: one}, {Name: "a", Domain: one}},
		"b has no values":          {{Name: "b"}},
		"unknown parameter x":      {{Name: "a", Domain: one, When: when("x")}},
		"unknown parameter engine": {{Name: "v.a", Engine: "v", Domain: one}},
		"a needs b needs a":        {{Name: "a", Domain: one, When: when("b")}, {Name: "b", Domain: one, When: when("a")}},
		"a needs a":                {{Name: "a", Domain: one, When: when("a")}},
	} {
		if _, err := New(params, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestCensusCountsConfigurations(t *testing.T) {
	s := layout(t)
	kept, removed, exact := s.Census(100_000)
	keys, broken, all := map[string]bool{}, 0, 0
	for p := range s.Enumerate() {
		all++
		if s.Keeps(p) {
			keys[p.Key()] = true
		} else {
			broken++
		}
	}
	// s: 5 running x (3 backends and modes) x (1 without attention, 1 with dp 2, 2 each with dp 4 and 8) + 2 of v
	if want := 5*3*6 + 2; all != want {
		t.Errorf("enumerated %d points, want %d", all, want)
	}
	if kept != len(keys) || removed["running"] != broken || broken == 0 || !exact {
		t.Errorf("census %d, %v, %v; enumerated %d keys, %d broken", kept, removed, exact, len(keys), broken)
	}
	if _, _, exact := s.Census(all - 1); exact {
		t.Error("a census that stopped calls itself exact")
	}
}

func TestDrawTakesEveryConfigurationOnce(t *testing.T) {
	s := layout(t)
	kept, _, _ := s.Census(100_000)
	r := rand.New(rand.NewPCG(5, 5))
	taken := map[string]bool{}
	for {
		p, ok := s.Draw(r, func(p Point) bool { return taken[p.Key()] })
		if !ok {
			break
		}
		if taken[p.Key()] || !s.Keeps(p) {
			t.Fatalf("drew %s", p.Key())
		}
		taken[p.Key()] = true
	}
	if len(taken) != kept {
		t.Errorf("drew %d configurations of %d", len(taken), kept)
	}
}

func TestDiff(t *testing.T) {
	s := layout(t)
	a := must(s.ParsePoint([]byte(`{"engine":"s","s.attention":true,"s.dp":2,"s.backend":"none","s.running":8}`)))
	b := must(s.ParsePoint([]byte(`{"engine":"s","s.attention":false,"s.backend":"none","s.running":null}`)))
	v := must(s.ParsePoint([]byte(`{"engine":"v","v.tp":8,"v.seqs":null}`)))
	if got := strings.Join(a.Diff(b), " "); got != "s.attention=false s.running=default -s.dp" {
		t.Errorf("got %s", got)
	}
	if got := a.Diff(v); got[0] != "engine=v" || len(got) != 7 {
		t.Errorf("got %v", got)
	}
	if got := a.Diff(a); got != nil {
		t.Errorf("a point differs from itself: %v", got)
	}
}

func TestWithAddsRules(t *testing.T) {
	s := layout(t)
	never := s.With([]Constraint{{ID: "no-v", Holds: func(look Lookup) bool { v, _ := look(EngineParam); return v != String("v") }}}, nil)
	if len(never.Constraints()) != 2 || len(s.Constraints()) != 1 || len(never.Rewrites()) != 2 {
		t.Errorf("%d rules, the first space has %d", len(never.Constraints()), len(s.Constraints()))
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		if p, ok := never.Draw(r, func(Point) bool { return false }); !ok || p.Engine() == "v" {
			t.Fatalf("drew %s", p.Key())
		}
	}
}

// randomSpace makes a space of up to three engines with conditions, rules and rewrites, from a seed.
func randomSpace(seed uint64) *Space {
	r := rand.New(rand.NewPCG(seed, 99))
	engines := []Value{String("e0"), String("e1"), String("e2")}[:1+r.IntN(3)]
	params := []Param{{Name: EngineParam, Domain: must(Choices(engines...))}}
	var rules []Constraint
	var rewrites []Rewrite
	for _, e := range engines {
		var names []string
		for i := range 1 + r.IntN(5) {
			p := Param{Name: fmt.Sprintf("%s.p%d", e, i), Engine: e.String(), Flag: fmt.Sprintf("p%d", i), Domain: randomDomain(r)}
			if len(names) > 0 && r.IntN(2) == 0 {
				p.When = randomCondition(r, params, names)
			}
			names, params = append(names, p.Name), append(params, p)
		}
		if r.IntN(2) == 0 {
			c := randomCondition(r, params, names)
			rules = append(rules, Constraint{ID: "not " + c.String(), Engine: e.String(), Holds: func(l Lookup) bool { return !c.Holds(l) }})
		}
		if len(names) > 1 && r.IntN(2) == 0 {
			c, forced := randomCondition(r, params, names[:1]), params[len(params)-1]
			value := forced.Domain.At(0)
			rewrites = append(rewrites, Rewrite{ID: "forced", Engine: e.String(), Apply: func(l Lookup) map[string]Value {
				if !c.Holds(l) {
					return nil
				}
				return map[string]Value{forced.Name: value}
			}})
		}
	}
	return must(New(params, rules, rewrites))
}

func randomDomain(r *rand.Rand) Domain {
	switch r.IntN(5) {
	case 0:
		return Bools()
	case 1:
		return must(Choices([]Value{String("a"), String("b"), Default(), Int(3)}[:2+r.IntN(3)]...))
	case 2:
		return must(Ints(int64(r.IntN(3))-1, 2+int64(r.IntN(2)), 1, false, Default()))
	case 3:
		return must(Ints(1, 1+int64(r.IntN(4)), 1, true))
	default:
		return must(Floats(0.5, 1, 0.25, false))
	}
}

// randomCondition compares one or two of the names with values of theirs.
func randomCondition(r *rand.Rand, params []Param, names []string) *Expr {
	one := func() string {
		name := names[r.IntN(len(names))]
		i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
		d := params[i].Domain
		op := []string{"==", "!=", "<", "<=", ">", ">="}[r.IntN(6)]
		return fmt.Sprintf("%s %s %s", name, op, d.At(r.Int64N(d.Size())))
	}
	text := one()
	if r.IntN(2) == 0 {
		text = fmt.Sprintf("%s %s %s", text, []string{"&&", "||"}[r.IntN(2)], one())
	}
	if r.IntN(3) == 0 {
		text = "!(" + text + ")"
	}
	return must(must(ParseExpr(text)).Bind(func(n string) (string, bool) { return n, slices.Contains(names, n) }))
}

// TestPropertiesOfRandomSpaces: whatever the space, sampled and enumerated points are the same set, each valid, active where it has to be,
// equal after a round trip, with a key that equal configurations share.
func TestPropertiesOfRandomSpaces(t *testing.T) {
	for seed := range uint64(150) {
		s := randomSpace(seed)
		enumerated := map[string]string{} // by spelling, the key
		for p := range s.Enumerate() {
			checkPoint(t, s, p)
			spelling := string(must(json.Marshal(p)))
			if _, twice := enumerated[spelling]; twice {
				t.Fatalf("space %d: %s was enumerated twice", seed, spelling)
			}
			enumerated[spelling] = p.Key()
		}
		r := rand.New(rand.NewPCG(seed, 1))
		for range 200 {
			p := s.Random(r)
			checkPoint(t, s, p)
			if key, ok := enumerated[string(must(json.Marshal(p)))]; !ok || key != p.Key() {
				t.Fatalf("space %d: %v was drawn and not enumerated", seed, p.Map())
			}
		}
		kept, removed, exact := s.Census(len(enumerated))
		total := 0
		for _, n := range removed {
			total += n
		}
		if !exact || kept > len(enumerated)-total || len(s.rewrites) == 0 && kept != len(enumerated)-total {
			t.Fatalf("space %d: %d points, %d kept, %d removed", seed, len(enumerated), kept, total)
		}
	}
}

func checkPoint(t *testing.T, s *Space, p Point) {
	t.Helper()
	for _, q := range s.Params() {
		v, there := p.Get(q.Name)
		if there != s.Active(q, p.Get) || there && !q.Domain.Contains(v) {
			t.Fatalf("%s is %v in %v", q.Name, v, p.Map())
		}
	}
	text := must(json.Marshal(p))
	back, err := s.ParsePoint(text)
	if err != nil || back.Key() != p.Key() || string(must(json.Marshal(back))) != string(text) {
		t.Fatalf("%s came back as %v, %v", text, back.Map(), err)
	}
	again, err := s.Point(p.Map())
	if err != nil || again.Key() != p.Key() || len(p.Diff(again)) != 0 {
		t.Fatalf("%v made %v, %v", p.Map(), again.Map(), err)
	}
}

func BenchmarkRandom(b *testing.B) {
	s := layout(b)
	r := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		s.Keeps(s.Random(r))
	}
}

// TestSubstituteExchangesRules: the rule of that name counts no more, points and keys stay.
func TestSubstituteExchangesRules(t *testing.T) {
	d, err := Choices(Int(1), Int(2))
	if err != nil {
		t.Fatal(err)
	}
	is := func(n int64) func(Lookup) bool {
		return func(look Lookup) bool { v, _ := look("n"); return v == Int(n) }
	}
	s, err := New([]Param{{Name: "n", Domain: d}}, []Constraint{{ID: "memory", Holds: is(1)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	after := s.Substitute([]Constraint{{ID: "memory", Holds: is(2)}})
	for p := range s.Enumerate() {
		v, _ := p.Get("n")
		q, err := after.Point(p.Map())
		if err != nil || q.Key() != p.Key() || s.Keeps(p) != (v == Int(1)) || after.Keeps(p) != (v == Int(2)) {
			t.Errorf("%s: %v", p.Key(), err)
		}
	}
	if both := s.Substitute([]Constraint{{ID: "other", Holds: is(2)}}); len(both.Constraints()) != 2 || len(s.Constraints()) != 1 {
		t.Errorf("%d and %d rules", len(both.Constraints()), len(s.Constraints()))
	}
}
