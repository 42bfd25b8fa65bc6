package tuner_test

import (
	"math"
	"testing"

	"autotune/space"
	"autotune/tuner"
)

// here is a space with a fixed flag, a list, a range, and a flag that exists only beside another; a rule keeps seqs and chunk apart.
func here(t *testing.T) *space.Space {
	t.Helper()
	must := func(d space.Domain, err error) space.Domain {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	when, err := space.ParseExpr("dp")
	if err != nil {
		t.Fatal(err)
	}
	if when, err = when.Bind(func(flag string) (string, bool) { return "vllm." + flag, true }); err != nil {
		t.Fatal(err)
	}
	flag := func(engine, name string, d space.Domain) space.Param {
		return space.Param{Name: engine + "." + name, Engine: engine, Flag: name, Domain: d.Allowing(space.Default())}
	}
	size := flag("vllm", "dp-size", must(space.Choices(space.Int(2), space.Int(4))))
	size.When = when
	s, err := space.New([]space.Param{
		{Name: space.EngineParam, Domain: must(space.Choices(space.String("vllm"), space.String("sglang")))},
		{Name: "vllm.tp", Engine: "vllm", Flag: "tp", Domain: must(space.Choices(space.Int(8))), Fixed: true},
		flag("vllm", "seqs", must(space.Ints(16, 1024, 1, true, space.Default()))),
		flag("vllm", "chunk", must(space.Choices(space.Default(), space.Int(2048), space.Int(8192)))),
		flag("vllm", "share", must(space.Floats(0.7, 0.9, 0, false))),
		flag("vllm", "dp", space.Bools()), size,
		flag("sglang", "seqs", must(space.Ints(1, 64, 1, false))),
	}, []space.Constraint{{ID: "rule", Reason: "made up", Holds: func(look space.Lookup) bool {
		seqs, _ := look("vllm.seqs")
		chunk, _ := look("vllm.chunk")
		return seqs != space.Int(1024) || chunk != space.Int(8192)
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTranslate(t *testing.T) {
	s := here(t)
	full := func(change string) map[string]space.Value {
		p, err := space.ReadPoint([]byte(`{"engine":"vllm","vllm.tp":8,"vllm.seqs":100,"vllm.chunk":2048,"vllm.share":0.85,"vllm.dp":false}`))
		if err != nil {
			t.Fatal(err)
		}
		values := p.Map()
		if p, err = space.ReadPoint([]byte(change)); err != nil {
			t.Fatal(err)
		}
		for name, v := range p.Map() {
			if values[name] = v; v == space.String("gone") {
				delete(values, name)
			}
		}
		return values
	}
	const same = `{"engine":"vllm","vllm.chunk":2048,"vllm.dp":false,"vllm.seqs":100,"vllm.share":0.85,"vllm.tp":8}`
	for name, c := range map[string]struct{ change, constant, want string }{
		"the same":                                    {`{}`, "", same},
		"a range's nearest value":                     {`{"vllm.share":0.8512}`, "", same},
		"outside of a range":                          {`{"vllm.share":0.95}`, "", ""},
		"between the values of a list":                {`{"vllm.chunk":4096}`, "", ""},
		"a flag that nobody set there":                {`{"vllm.chunk":"gone"}`, "", `{"engine":"vllm","vllm.chunk":null,"vllm.dp":false,"vllm.seqs":100,"vllm.share":0.85,"vllm.tp":8}`},
		"default where it is no value here":           {`{"vllm.share":null}`, "", `{"engine":"vllm","vllm.chunk":2048,"vllm.dp":false,"vllm.seqs":100,"vllm.share":null,"vllm.tp":8}`},
		"fixed here, searched there":                  {`{"vllm.tp":4}`, "", ""},
		"fixed in both, otherwise":                    {`{"vllm.tp":4}`, "vllm.tp", same},
		"fixed here, not set there":                   {`{"vllm.tp":"gone"}`, "", same},
		"unknown here, at its default there":          {`{"vllm.eager":null}`, "", same},
		"unknown here, set there":                     {`{"vllm.eager":true}`, "", ""},
		"unknown here, fixed there":                   {`{"vllm.eager":true}`, "vllm.eager", same},
		"fixed there to what is no value here":        {`{"vllm.chunk":4096}`, "vllm.chunk", ""},
		"beside a flag that it needs":                 {`{"vllm.dp":true,"vllm.dp-size":4}`, "", `{"engine":"vllm","vllm.chunk":2048,"vllm.dp":true,"vllm.dp-size":4,"vllm.seqs":100,"vllm.share":0.85,"vllm.tp":8}`},
		"beside one that takes its place away":        {`{"vllm.dp-size":4}`, "", ""},
		"a rule of this space":                        {`{"vllm.seqs":1024,"vllm.chunk":8192}`, "", ""},
		"another engine":                              {`{"engine":"trt"}`, "", ""},
		"another engine's flags are not in it":        {`{"engine":"sglang","vllm.tp":"gone","vllm.seqs":"gone","vllm.chunk":"gone","vllm.share":"gone","vllm.dp":"gone","sglang.seqs":9}`, "", `{"engine":"sglang","sglang.seqs":9}`},
		"no engine at all becomes this study's first": {`{"engine":"gone"}`, "", same},
	} {
		p, ok := tuner.Translate(s, full(c.change), func(name string) bool { return name == c.constant })
		if ok != (c.want != "") || ok && p.Key() != c.want {
			t.Errorf("%s: %v, %s\nwant %s", name, ok, p.Key(), c.want)
		}
	}
}

func TestEvidenceWeighsLessTheMoreDiffers(t *testing.T) {
	d := tuner.Differences{}
	if d.Weight() != 1 || d.String() != "" {
		t.Errorf("no difference weighs %v, %q", d.Weight(), d.String())
	}
	last := 1.0
	for _, differ := range []func(){func() { d.Workload = true }, func() { d.Model = true }, func() { d.Machine = true }, func() { d.Clock = true }} {
		differ()
		if w := d.Weight(); w <= 0 || w >= last {
			t.Errorf("%s weighs %v after %v", d, w, last)
		}
		last = d.Weight()
	}
	if want := "another checkpoint, another workload, another machine, a rehearsal on one side"; d.String() != want {
		t.Errorf("%q", d.String())
	}
}

func TestEvidenceOfAnotherEngineVersion(t *testing.T) {
	p := newBench(t).problem
	e := tuner.Evidence{Point: p.Baselines[0], Weight: 0.2, EngineVersion: "1.0"}
	run := func(version string, stale bool) tuner.Trial {
		return tuner.Trial{Point: p.Baselines[0], Stale: stale, Outcome: tuner.Outcome{Kind: tuner.Measured, Run: tuner.Run{EngineVersion: version}}}
	}
	for name, c := range map[string]struct {
		h    tuner.History
		want float64
	}{
		"nothing known yet":    {nil, 0.2},
		"the same":             {tuner.History{run("1.0", false)}, 0.2},
		"another":              {tuner.History{run("2.0", false)}, 0.1},
		"the engine of today":  {tuner.History{run("1.0", true), run("2.0", false), run("", false)}, 0.1},
		"only stale ones know": {tuner.History{run("2.0", true)}, 0.2},
	} {
		if got := e.WeightIn(c.h); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	e.EngineVersion = ""
	if got := e.WeightIn(tuner.History{run("2.0", false)}); got != 0.2 {
		t.Errorf("an unknown version weighs %v", got)
	}
}
