package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"autotune/space"
)

// Dimension is a flag that is worth searching: its values, and why.
type Dimension struct {
	Flag string
	// Values are listed in this order; a default among them leaves the flag out.
	Values []space.Value
	// Lo and Hi bound a range beside the values; equal bounds are no range. Whole says that it is one of integers, Log that what matters is the
	// ratio of two of them. Step is the distance of two floats.
	Lo, Hi, Step float64
	Whole, Log   bool
	When         string // condition under which the flag is there; empty: always
	Why          string // for people, in part of a sentence
	Off          bool   // to be switched on by hand
}

// Including widens a dimension so that it holds a value. One between the bounds of a range is left to the range.
func (d Dimension) Including(v space.Value) Dimension {
	switch {
	case slices.ContainsFunc(d.Values, func(w space.Value) bool { return space.Equal(v, w) }):
	case v.IsNumber() && d.Hi > d.Lo:
		d.Lo, d.Hi = min(d.Lo, v.AsFloat()), max(d.Hi, v.AsFloat())
	default:
		d.Values = append(slices.Clone(d.Values), v)
		if v.Kind() == space.KindInt {
			slices.SortStableFunc(d.Values, func(a, b space.Value) int {
				if a.Kind() != space.KindInt || b.Kind() != space.KindInt {
					return 0
				}
				return int(a.AsInt() - b.AsInt())
			})
		}
	}
	return d
}

// Text is the dimension as a spec writes it. write writes one value.
func (d Dimension) Text(write func(space.Value) string) string {
	var parts []string
	switch {
	case len(d.Values) == 2 && d.Values[0].Kind() == space.KindBool && d.Values[1].Kind() == space.KindBool && d.When == "":
		return "bool"
	default:
		for _, v := range d.Values {
			parts = append(parts, write(v))
		}
	}
	if d.Hi > d.Lo {
		number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
		kind, more := "floats", ""
		switch {
		case d.Whole && d.Log:
			kind, more = "ints", ", log: true"
		case d.Whole:
			kind = "ints"
		case d.Step > 0:
			more = ", step: " + number(d.Step)
		}
		parts = append(parts, fmt.Sprintf("{%s: [%s, %s]%s}", kind, number(d.Lo), number(d.Hi), more))
	}
	text := "[" + strings.Join(parts, ", ") + "]"
	if d.When != "" {
		text = fmt.Sprintf("{choices: %s, when: %s}", text, strconv.Quote(d.When))
	}
	return text
}

// Choice is one flag with a value, and why it has that one.
type Choice struct {
	Setting
	Why string
}

// Seed is a configuration that those who know the engine begin with.
type Seed struct {
	Settings []Setting
	Why      string
}

// Proposal is what is worth searching for a checkpoint on a machine.
type Proposal struct {
	// Fixed flags belong in every command; Baseline holds those of the engine with nothing tuned.
	Fixed, Baseline []Choice
	// Layout are the dimensions that say how the model lies on the GPUs; Require is what makes sense of them together, with its reason.
	Layout              []Dimension
	Require, RequireWhy string
	Tuning              []Dimension
	Seeds               []Seed
	Notes               []string // what a reader has to be told, as sentences
}

// Propose says what is worth searching for a checkpoint on a machine, from what is known of both.
func (d *Definition) Propose(c Checkpoint, h Host) Proposal { return d.propose(c, h) }

// layout is a way to lay a model out: as many replicas of as many GPUs each.
type layout struct{ tp, dp int }

// settings are the layout's flags, by their names; none where the list leaves no choice.
func (l layout) settings(list []layout, tp, dp string) []Setting {
	if len(list) == 1 {
		return nil
	}
	return []Setting{{tp, space.Int(int64(l.tp))}, {dp, space.Int(int64(l.dp))}}
}

// whole is what a layout puts on each GPU, in GiB, where every replica holds the whole model.
func (c Checkpoint) whole(l layout) float64 { return c.WeightsGiB / float64(l.tp) }

// spread is what a layout puts on each GPU, in GiB, where the replicas share the experts.
func (c Checkpoint) spread(l layout) float64 {
	return (c.WeightsGiB-c.ExpertsGiB)/float64(l.tp) + c.ExpertsGiB/float64(l.tp*l.dp)
}

// layouts are those that use every GPU, keep whole attention heads together, and hold the weights, of which weights says how many GiB come to lie on each GPU: the largest tp first. Where none holds them
// the largest tp alone is left, and fits is false; so it is where their size is not known, and fits is true.
func layouts(c Checkpoint, h Host, weights func(layout) float64) (list []layout, fits bool) {
	var largest layout
	for tp := h.GPUs; tp >= 1; tp-- {
		if c.Heads > 0 && c.Heads%tp != 0 || c.Heads == 0 && tp&(tp-1) != 0 {
			continue
		}
		if largest.tp == 0 {
			largest = layout{tp, 1}
		}
		if h.GPUs%tp != 0 {
			continue
		}
		l := layout{tp, h.GPUs / tp}
		if c.WeightsGiB > 0 && (h.MemoryGiB == 0 || weights(l) < roomForWeights*h.MemoryGiB) {
			list = append(list, l)
		}
	}
	if len(list) > 0 {
		return list, true
	}
	return []layout{{max(1, largest.tp), 1}}, c.WeightsGiB == 0
}

// roomForWeights is the share of a GPU that weights may take and still leave some for a cache: what is above starts seldom and serves few requests.
const roomForWeights = 0.85

// sizes are the distinct values of one side of the layouts, in order.
func sizes(list []layout, of func(layout) int) []space.Value {
	var numbers []int
	for _, l := range list {
		if n := of(l); !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var out []space.Value
	for _, n := range numbers {
		out = append(out, space.Int(int64(n)))
	}
	return out
}

// together is the condition that holds for the layouts alone.
func together(list []layout, tp, dp string) string {
	var parts []string
	for _, l := range list {
		parts = append(parts, is(tp, l.tp)+" && "+is(dp, l.dp))
	}
	return strings.Join(parts, " || ")
}

// is compares a size: 1 is what the engine does anyway, and so the same as the flag left out.
func is(flag string, n int) string {
	if n == 1 {
		return flag + " in [default, 1]"
	}
	return fmt.Sprintf("%s == %d", flag, n)
}

func choice(flag string, v space.Value, why string) Choice {
	return Choice{Setting{flag, v}, why}
}

func ints(numbers ...int64) []space.Value {
	var out []space.Value
	for _, n := range numbers {
		out = append(out, space.Int(n))
	}
	return out
}

func words(texts ...string) []space.Value {
	var out []space.Value
	for _, t := range texts {
		if t == "default" {
			out = append(out, space.Default())
			continue
		}
		out = append(out, space.String(t))
	}
	return out
}

func orDefault(values []space.Value) []space.Value {
	return append([]space.Value{space.Default()}, values...)
}

var bools = []space.Value{space.Bool(false), space.Bool(true)}

// described says what is known of a checkpoint and of what it takes, for the notes of a proposal.
func described(c Checkpoint, h Host, fits bool) []string {
	var notes []string
	if c.WeightsGiB > 0 {
		notes = append(notes, fmt.Sprintf("The weights take about %s.", gib(c.WeightsGiB)))
	}
	if !fits {
		notes = append(notes, fmt.Sprintf("That is more than %d x %s have room for: expect every trial to run out of memory; use more GPUs, or a narrower checkpoint.", h.GPUs, gib(h.MemoryGiB)))
	}
	return notes
}

func gib(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) + " GiB" }
