package searchbench

import (
	"math"
	"math/rand/v2"
	"slices"

	"autotune/space"
)

// effect is what the value of one parameter does: a smooth random function of an ordered one's position, an arbitrary number for each word.
// Its mean over the values is about 0 and its spread about 1.
type effect struct {
	param     space.Param
	half, one [2]float64 // amplitudes and phases of half a wave and of a whole one over [0, 1]
	words     map[space.Value]float64
}

func newEffect(p space.Param, r *rand.Rand) *effect {
	e := &effect{param: p, words: map[space.Value]float64{}} // amplitudes of 1.1 and 0.6 make a spread of √((1.1² + 0.6²)/2) = 0.9 over phases
	e.half = [2]float64{1.1 * r.NormFloat64(), 2 * math.Pi * r.Float64()}
	e.one = [2]float64{0.6 * r.NormFloat64(), 2 * math.Pi * r.Float64()}
	for _, v := range append(p.Domain.Listed(), p.Domain.Extra()...) {
		e.words[v] = r.NormFloat64()
	}
	return e
}

// at is the effect of a value; 0 for a parameter that is not active. A default that is known to stand for a value has that value's effect.
func (e *effect) at(look space.Lookup) float64 {
	v, ok := look(e.param.Name)
	if !ok {
		return 0
	}
	if v.IsDefault() && e.param.Resolved.Kind() != space.KindNone {
		v = e.param.Resolved
	}
	if u, ok := e.param.Domain.Position(v); ok {
		return e.half[0]*math.Sin(math.Pi*u+e.half[1]) + e.one[0]*math.Sin(2*math.Pi*u+e.one[1])
	}
	if x, ok := e.words[v]; ok {
		return x
	}
	return e.words[space.Default()] // what default stands for is not among the values
}

// pair is an interaction: the product of an effect of each of two parameters.
type pair struct {
	a, b *effect
}

func (p pair) at(look space.Lookup) float64 { return p.a.at(look) * p.b.at(look) }

// field is a random function of a point: a sum of effects and of pairs, in logs.
type field struct {
	effects []*effect
	weights []float64 // of effects
	pairs   []pair
	both    float64 // size of an interaction
}

// newField draws effects of all parameters that may change, and so many pairs of parameters that may be active together. The size of an effect is
// main, times a log-normal factor of the given spread: with one, a few flags matter and many do not.
func newField(params []space.Param, main, spread, both float64, pairs int, r *rand.Rand) *field {
	f := &field{both: both}
	for _, p := range params {
		f.effects = append(f.effects, newEffect(p, r))
		f.weights = append(f.weights, main*math.Exp(spread*r.NormFloat64()))
	}
	for len(f.pairs) < pairs {
		a, b := twoOf(params, r)
		f.pairs = append(f.pairs, pair{newEffect(a, r), newEffect(b, r)})
	}
	return f
}

// twoOf draws two different parameters that one engine has.
func twoOf(params []space.Param, r *rand.Rand) (a, b space.Param) {
	for {
		a, b = params[r.IntN(len(params))], params[r.IntN(len(params))]
		if a.Name != b.Name && (a.Engine == b.Engine || a.Engine == "" || b.Engine == "") {
			return a, b
		}
	}
}

func (f *field) at(look space.Lookup) float64 {
	sum := 0.0
	for i, e := range f.effects {
		sum += f.weights[i] * e.at(look)
	}
	for _, p := range f.pairs {
		sum += f.both * p.at(look)
	}
	return sum
}

// crash is a pair of settings that the server does not survive, which no rule knows: a side of an ordered parameter, or one word.
type crash struct {
	a, b setting
}

type setting struct {
	param space.Param
	word  space.Value
	above float64 // an ordered parameter from this position on; with below, up to it
	below bool
}

// newSetting draws a value that is not the default, or the half of an ordered domain in which the default does not lie.
func newSetting(p space.Param, r *rand.Rand) setting {
	if p.Domain.Ordered() {
		u, known := p.Domain.Position(p.Resolved)
		below := r.IntN(2) == 0
		if known {
			below = u > 0.5
		}
		return setting{param: p, above: map[bool]float64{true: 0.45, false: 0.55}[below], below: below}
	}
	var others []space.Value
	for _, v := range p.Domain.Listed() {
		if !v.IsDefault() && v != p.Resolved {
			others = append(others, v)
		}
	}
	if len(others) == 0 {
		others = p.Domain.Listed()
	}
	return setting{param: p, word: others[r.IntN(len(others))]}
}

func (s setting) holds(look space.Lookup) bool {
	v, ok := look(s.param.Name)
	if !ok || v.IsDefault() {
		return false
	}
	if u, ok := s.param.Domain.Position(v); ok && s.param.Domain.Ordered() {
		return s.below && u <= s.above || !s.below && u >= s.above
	}
	return v == s.word
}

func (c crash) holds(look space.Lookup) bool { return c.a.holds(look) && c.b.holds(look) }

// tunable are the parameters that may change, the engine aside.
func tunable(s *space.Space) []space.Param {
	return slices.DeleteFunc(s.Params(), func(p space.Param) bool { return p.Name == space.EngineParam || p.Domain.Size() < 2 })
}

// crashLeast and crashMost bound the share of random points that a hidden crash takes.
const (
	crashLeast = 0.01
	crashMost  = 0.08
)

// newCrash draws two settings that random points have together now and then.
func newCrash(s *space.Space, params []space.Param, r *rand.Rand) crash {
	for {
		a, b := twoOf(params, r)
		c := crash{newSetting(a, r), newSetting(b, r)}
		n := 0
		for range crashSample {
			if c.holds(s.Random(r).Get) {
				n++
			}
		}
		if share := float64(n) / crashSample; crashLeast <= share && share <= crashMost {
			return c
		}
	}
}

const crashSample = 200
