package space

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// domains of every kind, awkward ones among them.
func domains() map[string]Domain {
	return map[string]Domain{
		"choices":            must(Choices(String("a"), String("b c"), String(""))),
		"numbers":            must(Choices(Default(), Int(2), Int(4), Float(4.5))),
		"bools":              Bools(),
		"one":                must(Choices(Int(8))),
		"ints":               must(Ints(-3, 3, 1, false)),
		"steps":              must(Ints(1024, 8192, 1024, false, Default())),
		"log":                must(Ints(1, 1024, 1, true, Default(), String("auto"))),
		"point":              must(Ints(5, 5, 1, true)),
		"floats":             must(Floats(0.7, 0.92, 0, false, Default())),
		"log floats":         must(Floats(1e-6, 10, 0, true)),
		"float steps":        must(Floats(0.1, 0.9, 0.1, false)),
		"one float":          must(Floats(0.5, 0.5, 0, false)),
		"the top of int64":   must(Ints(math.MaxInt64-3, math.MaxInt64, 1, false)),
		"all of int64":       must(Ints(math.MinInt64, math.MaxInt64, 3, false)),
		"log to the top":     must(Ints(1, math.MaxInt64, 1, true)),
		"beyond exact float": must(Ints(1<<53, 1<<53+10, 5, false)),
	}
}

// TestSamplesAreInTheDomainAndReachBothEnds draws from every domain that is small enough to see all of.
func TestSamplesAreInTheDomainAndReachBothEnds(t *testing.T) {
	for name, d := range domains() {
		r := rand.New(rand.NewPCG(1, 1))
		seen := map[Value]bool{}
		for range 20_000 {
			v := d.Sample(r)
			if !d.Contains(v) || d.At(d.Index(v)) != v {
				t.Fatalf("%s: drew %v", name, v)
			}
			seen[v] = true
		}
		if d.Size() < 100 && int64(len(seen)) != d.Size() {
			t.Errorf("%s: saw %d of %d values", name, len(seen), d.Size())
		}
		lo, hi, _, isRange := d.Range()
		if isRange && d.Size() < 2000 && (!seen[Int(lo)] || !seen[Int(hi)]) {
			t.Errorf("%s: the ends %d and %d were not both drawn", name, lo, hi)
		}
		for v := range seen {
			text := must(json.Marshal(v))
			var back Value
			if err := json.Unmarshal(text, &back); err != nil || back != v {
				t.Errorf("%s: %s came back as %v, %v", name, text, back, err)
			}
		}
	}
}

func TestIndexAndAtAreInverse(t *testing.T) {
	for name, d := range domains() {
		for i := range min(d.Size(), 2000) {
			if v := d.At(i); d.Index(v) != i {
				t.Errorf("%s: value %d is %v, whose index is %d", name, i, v, d.Index(v))
			}
		}
		if last := d.At(d.Size() - 1); d.Size() < math.MaxInt64 && d.Index(last) != d.Size()-1 {
			t.Errorf("%s: the last value is %v", name, last)
		}
	}
}

func TestPositionsRiseFromZeroToOne(t *testing.T) {
	for name, d := range domains() {
		lo, hi, ok := d.Bounds()
		if !d.Ordered() || !ok {
			continue
		}
		before, last := -1.0, math.Inf(-1)
		for i := range min(d.Size(), 3000) {
			v := d.At(i)
			u, placed := d.Position(v)
			if placed != v.IsNumber() || placed && (u < 0 || u > 1 || math.IsNaN(u)) {
				t.Errorf("%s: %v is placed at %v, %v", name, v, u, placed)
			}
			if placed && v.AsFloat() > last && last > math.Inf(-1) && u < before {
				t.Errorf("%s: %v is placed at %v, below the one before it, %v", name, v, u, before)
			}
			if placed {
				before, last = u, v.AsFloat()
			}
		}
		if lo < hi {
			if a, _ := d.Position(Float(lo)); a != 0 {
				t.Errorf("%s: the bottom is placed at %v", name, a)
			}
			if b, _ := d.Position(Float(hi)); b != 1 {
				t.Errorf("%s: the top is placed at %v", name, b)
			}
		}
	}
}

func TestLogSamplesAreEvenInTheLogarithm(t *testing.T) {
	d := must(Ints(1, 1023, 1, true))
	r := rand.New(rand.NewPCG(3, 3))
	low := 0
	for range 10_000 {
		if d.Sample(r).AsInt() < 32 { // half of the way, by the logarithm
			low++
		}
	}
	if low < 5000 || low > 6500 { // the cell of 1 reaches down to one half
		t.Errorf("%d of 10000 below 32", low)
	}
}

func TestFloatGrid(t *testing.T) {
	d := must(Floats(0.7, 0.92, 0, false))
	if d.Size() != FloatGrid || d.At(0) != Float(0.7) || d.At(FloatGrid-1) != Float(0.92) {
		t.Errorf("%d values from %v to %v", d.Size(), d.At(0), d.At(FloatGrid-1))
	}
	steps := must(Floats(0.1, 0.9, 0.1, false))
	var texts []string
	for _, v := range steps.Listed() {
		texts = append(texts, v.String())
	}
	if got := strings.Join(texts, " "); got != "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9" {
		t.Errorf("steps are %s", got)
	}
}

func TestDomainsThatAreNone(t *testing.T) {
	for want, err := range map[string]error{
		"empty":           second(Choices()),
		"listed twice":    second(Choices(Int(1), Int(2), Int(1))),
		"below 1":         second(Ints(1, 5, 0, false)),
		"[5, 1] is":       second(Ints(5, 1, 1, false)),
		"starts at 0":     second(Ints(0, 8, 1, true)),
		"has no step":     second(Ints(1, 9, 2, true)),
		"by steps of 4":   second(Ints(2, 8, 4, false)),
		"3 is listed":     second(Ints(1, 5, 1, false, Int(3))),
		"more than":       second(Ints(math.MinInt64, math.MaxInt64, 1, false)),
		"more than 9223":  second(Ints(1, math.MaxInt64, 1, false, Default())),
		"[2, 1] is":       second(Floats(2, 1, 0, false)),
		"NaN":             second(Floats(math.NaN(), 1, 0, false)),
		"+Inf":            second(Floats(0, math.Inf(1), 0, false)),
		"not above 0":     second(Floats(0, 1, 0, true)),
		"negative":        second(Floats(0, 1, -1, false)),
		"by steps of 0.3": second(Floats(0, 1, 0.3, false)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestExtraValuesAreAllowedButNeverDrawn(t *testing.T) {
	d := must(Ints(1, 4, 1, false)).Allowing(Default(), Int(9), Int(2))
	if len(d.Extra()) != 2 || !d.Allows(Int(9)) || !d.Allows(Default()) || d.Contains(Int(9)) || d.Size() != 4 {
		t.Errorf("extra %v, size %d", d.Extra(), d.Size())
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		if v := d.Sample(r); v == Int(9) || v.IsDefault() {
			t.Fatalf("drew %v", v)
		}
	}
}

func TestValues(t *testing.T) {
	for text, v := range map[string]Value{
		`null`: Default(), `true`: Bool(true), `9223372036854775807`: Int(math.MaxInt64), `4.0`: Float(4), `1e+21`: Float(1e21), `"4"`: String("4"),
		`"<a&b>"`: String("<a&b>"), `0.0`: Float(math.Copysign(0, -1)), `"null"`: String("null"), `-5`: Int(-5), `""`: String(""),
	} {
		got, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		direct, err := v.MarshalJSON() // json.Marshal escapes <
		if err != nil || string(direct) != text {
			t.Errorf("%v is written %s, want %s", v, direct, text)
		}
		var back Value
		if err := json.Unmarshal(got, &back); err != nil || back != v {
			t.Errorf("%s is read as %v (%v)", got, back, err)
		}
	}
	for _, text := range []string{"9223372036854775808", "[1]", "{}", "1e999", ""} {
		var v Value
		if err := v.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%q was read as %v", text, v)
		}
	}
	if _, err := (Value{}).MarshalJSON(); err == nil {
		t.Error("no value has JSON")
	}
}
