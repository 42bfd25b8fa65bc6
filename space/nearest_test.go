package space

import "testing"

func TestNearest(t *testing.T) {
	must := func(d Domain, err error) Domain {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	steps := must(Ints(1024, 8192, 1024, false, Default()))
	grid := must(Floats(0.7, 0.9, 0, false, Default())) // steps of 0.00625
	list := must(Choices(Default(), Int(2048), Int(16384), String("auto")))
	for _, c := range []struct {
		d        Domain
		v, want  Value
		outside  bool
		whatever string
	}{
		{steps, Int(2048), Int(2048), false, "itself"},
		{steps, Int(2500), Int(2048), false, "the nearer one"},
		{steps, Int(2561), Int(3072), false, "the nearer one"},
		{steps, Int(8192), Int(8192), false, "the top"},
		{steps, Float(4096), Int(4096), false, "a float of the same size"},
		{steps, Int(1000), Value{}, true, "below"},
		{steps, Int(9000), Value{}, true, "above"},
		{steps, Default(), Default(), false, "what stands before the range"},
		{grid, Float(0.85), Float(0.85), false, "itself"},
		{grid, Float(0.851), Float(0.85), false, "the nearer one"},
		{grid, Float(0.8), Float(0.8), false, "itself"},
		{grid, Float(0.95), Value{}, true, "above"},
		{grid, String("auto"), Value{}, true, "a word"},
		{list, Int(4096), Value{}, true, "between two of a list"},
		{list, String("auto"), String("auto"), false, "a word of the list"},
		{list.Allowing(Int(7)), Int(7), Int(7), false, "of a baseline"},
		{Bools(), Bool(true), Bool(true), false, "itself"},
		{Bools(), Int(1), Value{}, true, "no boolean"},
	} {
		got, ok := c.d.Nearest(c.v)
		if ok == c.outside || got != c.want {
			t.Errorf("%s, %v: %v, %v; want %v", c.whatever, c.v, got, ok, c.want)
		}
	}
}
