package space

import (
	"errors"
	"strings"
	"testing"
)

// assignment looks values up, written as words: "tp=8 mode=fast x=default".
func assignment(text string) Lookup {
	values := map[string]Value{}
	for _, pair := range strings.Fields(text) {
		name, word, _ := strings.Cut(pair, "=")
		values[name] = ParseWord(word)
	}
	return func(name string) (Value, bool) { v, ok := values[name]; return v, ok }
}

// names of the parameters that conditions in tests may use.
func testNames(name string) (string, bool) {
	switch name {
	case "tp", "dp", "mode", "on", "share", "a-b.c", "gone":
		return name, true
	}
	return "", false
}

func bound(t *testing.T, text string) *Expr {
	t.Helper()
	e, err := ParseExpr(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	e, err = e.Bind(testNames)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

func TestConditions(t *testing.T) {
	const values = "tp=8 dp=2 mode=fast on=true share=0.8 a-b.c=default"
	for text, want := range map[string]bool{
		"tp == 8": true, "tp == 8.0": true, "tp != 8": false, "tp < 8": false, "tp <= 8": true, "tp > 7": true, "tp >= 9": false,
		"dp < tp": true, "tp < dp": false, "tp == dp": false, "tp != dp": true,
		"share > 0.7": true, "share <= 1": true, "share == 0.80": true,
		"mode == fast": true, `mode == "fast"`: true, "mode == 'slow'": false, "mode != slow": true, "mode < zzz": false, "mode >= fast": false,
		"on": true, "!on": false, "on == true": true, "on != false": true, "tp": false,
		"tp in [4, 8]": true, "tp in [4]": false, "mode in {fast, slow}": true, "mode in (slow)": false, "tp in [dp, 8.0]": true,
		"a-b.c == default": true, "a-b.c != default": false, "a-b.c == 8": false, "a-b.c != 8": true, "a-b.c < 8": false, "a-b.c in [default]": true,
		"tp == 8 && on": true, "tp == 4 || on": true, "tp == 4 || !on": false, "tp == 4 && on || mode == fast": true, "tp == 4 && (on || mode == fast)": false,
		"!(tp == 4 && on)": true, "!!on": true,
		"mode == 8": false, "tp == fast": false,
		// What is not there compares as false, whatever is asked of it.
		"gone == 1": false, "gone != 1": false, "gone < 1": false, "gone >= 1": false, "gone": false, "!gone": true, "gone in [1, default]": false,
		"gone == gone": false, "tp == gone": false, "gone == default": false,
	} {
		e := bound(t, text)
		if got := e.Holds(assignment(values)); got != want {
			t.Errorf("%s is %v with %s", text, got, values)
		}
		again := bound(t, e.Canonical())
		if again.Holds(assignment(values)) != want || again.Canonical() != e.Canonical() {
			t.Errorf("%s became %s, then %s", text, e.Canonical(), again.Canonical())
		}
	}
}

func TestLargeIntegersCompareExactly(t *testing.T) {
	if bound(t, "tp < 9007199254740993").Holds(assignment("tp=9007199254740993")) || !bound(t, "tp < 9007199254740993").Holds(assignment("tp=9007199254740992")) {
		t.Error("integers beyond 2^53 went through a float")
	}
}

func TestConditionErrorsHavePlaces(t *testing.T) {
	for text, want := range map[string]struct {
		offset int
		part   string
	}{
		"":                 {0, "too early"},
		"tp ==":            {5, "too early"},
		"tp == 1 &&":       {10, "too early"},
		"tp = 1":           {3, `unexpected "="`},
		"tp == 1 and on":   {8, `unexpected "and": expected &&, || or the end`},
		"(tp == 1":         {8, "expected )"},
		"tp == 'x":         {6, "a quote is not closed"},
		"tp in 1":          {6, "a list such as [a, b]"},
		"tp in [1 2]":      {9, "expected , or ]"},
		"tp + 1 > 2":       {3, "unexpected"},
		"1 == == 2":        {5, "expected a value"},
		"&& on":            {0, "expected a parameter's name"},
		"unknown == 1":     {0, `unknown parameter "unknown"`},
		"on && moed == x":  {6, `unknown parameter "moed"`},
		"tp % 2 == 0":      {3, "unexpected"},
		"on && (dp in [])": {14, "expected a value"},
	} {
		e, err := ParseExpr(text)
		if err == nil {
			_, err = e.Bind(testNames)
		}
		var at *ExprError
		if !errors.As(err, &at) || at.Offset != want.offset || !strings.Contains(at.Problem, want.part) {
			t.Errorf("%q: got %#v, want %v", text, err, want)
		}
	}
	if _, err := ParseExpr(strings.Repeat("(", 100_000) + "on"); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
		t.Errorf("deep nesting: %v", err)
	}
	if _, err := ParseExpr(strings.Repeat("!", 100_000) + "on"); err == nil {
		t.Error("a hundred thousand negations were read")
	}
}

func TestNamesOfACondition(t *testing.T) {
	e := bound(t, "mode == on && (dp > tp || mode in [x, dp])")
	if got := strings.Join(e.Names(), " "); got != "mode on dp tp" {
		t.Errorf("names %s", got)
	}
	var none *Expr
	if !none.Holds(assignment("")) || none.Names() != nil || none.String() != "" {
		t.Error("no condition does not always hold")
	}
}

func FuzzParseExpr(f *testing.F) {
	for _, s := range []string{"tp == 8 && !(on || mode in [a, 'b c'])", "a-b.c != default", "((", "x in {", "tp<1||tp>2", `mode == "\""`, "é == ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpr(text)
		if err != nil {
			var at *ExprError
			if !errors.As(err, &at) || at.Offset < 0 || at.Offset > len(text) {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		all := func(name string) (string, bool) { return name, true }
		e, err = e.Bind(all)
		if err != nil {
			t.Fatal(err)
		}
		e.Holds(assignment("tp=1 mode=x on=true"))
		again, err := ParseExpr(e.Canonical())
		if err != nil {
			return // a quoted text with both kinds of quotes has no spelling
		}
		if again, err = again.Bind(all); err != nil || again.Canonical() != e.Canonical() {
			t.Errorf("%q became %s, then %v", text, e.Canonical(), again)
		}
	})
}
