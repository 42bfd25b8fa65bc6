package search

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"autotune/space"
	"autotune/tuner"
)

// sobol fills the space evenly: a Sobol sequence, shifted at random modulo 1, mapped down the tree of conditions. It learns nothing.
// Sobol, On the distribution of points in a cube and the approximate evaluation of integrals, USSR Computational Mathematics and
// Mathematical Physics 7 (1967), 86-112; the shift is that of Cranley and Patterson, SIAM Journal on Numerical Analysis 13 (1976), 904-914.
type sobol struct{}

// sobolTries is how many points of the sequence are looked at before a random one is drawn: those that are taken or break a rule are passed over.
const sobolTries = 5000

// Suggest proposes an opening move, else the first allowed point of the sequence from the trial's own number on.
func (sobol) Suggest(p tuner.Problem, h tuner.History, ask tuner.Ask) (tuner.Proposal, error) {
	if move, ok := OpeningMoves(p, h); ok {
		return move, nil
	}
	refused := unwanted(p, h)
	if point, ok := newSobolPoints(p.Space, ask.Seed).from(ask.Number, refused); ok {
		return tuner.Proposal{Point: point, Kind: tuner.KindScreen, Why: "next point of a Sobol sequence"}, nil
	}
	return drawRandom(p, source(ask), refused, "random: what the Sobol sequence has next was tried or is not allowed")
}

// sobolPoints are the points of a space in the order of a shifted Sobol sequence.
type sobolPoints struct {
	space      *space.Space
	sequence   *sobolSequence
	seed       uint64
	shift      []float64
	coordinate map[string]int // by parameter; engines, of which only one is there at a time, share theirs
}

func newSobolPoints(s *space.Space, seed uint64) *sobolPoints {
	q := &sobolPoints{space: s, seed: seed, coordinate: map[string]int{}}
	params := s.Ordered()
	next := map[string]int{}
	for _, p := range params {
		if p.Engine == "" {
			q.coordinate[p.Name] = next[""]
			next[""]++
		}
	}
	dims := next[""]
	for _, p := range params {
		if p.Engine != "" {
			q.coordinate[p.Name] = next[""] + next[p.Engine]
			next[p.Engine]++
			dims = max(dims, q.coordinate[p.Name]+1)
		}
	}
	q.sequence = newSobolSequence(dims)
	r := rand.New(rand.NewPCG(seed, 0))
	for range dims {
		q.shift = append(q.shift, r.Float64())
	}
	return q
}

// from is the first point from a place of the sequence on that keeps the rules and is not refused.
func (q *sobolPoints) from(n int, refused func(space.Point) bool) (p space.Point, ok bool) {
	for k := n; k < n+sobolTries; k++ {
		if p = q.at(uint64(k)); !refused(p) && q.space.Keeps(p) {
			return p, true
		}
	}
	return p, false
}

// at is the point at a place of the sequence. Parameters beyond the sequence's last coordinate are drawn at random.
func (q *sobolPoints) at(n uint64) space.Point {
	u := q.sequence.at(n)
	rest := rand.New(rand.NewPCG(q.seed, n))
	return q.space.Build(func(p space.Param, _ space.Lookup) space.Value {
		c := q.coordinate[p.Name]
		if c >= len(u) {
			return p.Domain.Sample(rest)
		}
		x := u[c] + q.shift[c]
		return quantile(p.Domain, x-math.Floor(x))
	})
}

// quantile is the value of a domain at a share 0 <= u < 1 of its probability under Domain.Sample: listed values first, equally wide, then an integer
// range as wide as eight of them (or the whole where nothing is listed), evenly or in its logarithm. Every value is reached, the top of a
// range too.
func quantile(d space.Domain, u float64) space.Value {
	lo, hi, step, isRange := d.Range()
	n := d.Size()
	if !isRange {
		return d.At(int64(math.Min(u*float64(n), float64(n-1))))
	}
	cells := int64((uint64(hi)-uint64(lo))/uint64(step)) + 1
	listed := n - cells
	if listed > 0 {
		if u *= float64(listed + rangeWeight); u < float64(listed) {
			return d.At(int64(u))
		}
		u = (u - float64(listed)) / rangeWeight
	}
	k := u * float64(cells)
	if d.Log() {
		// Each integer has the stretch of the logarithm from half below it to half above, so that the outermost are no narrower.
		low, high := math.Log(float64(lo)-0.5), math.Log(float64(hi)+0.5)
		k = math.Round(math.Exp(low+(high-low)*u)) - float64(lo)
	}
	if k >= float64(cells-1) {
		return d.At(n - 1)
	}
	return d.At(listed + int64(math.Max(0, k)))
}

// sobolBits is the precision of the coordinates: the sequence repeats after 2^32 points.
const sobolBits = 32

// sobolSequence is a Sobol sequence in as many dimensions as wanted, at most as many as there are polynomials, and one.
type sobolSequence struct {
	directions [][sobolBits]uint32 // by coordinate and bit: the binary fraction that the bit contributes
}

func newSobolSequence(dims int) *sobolSequence {
	s := &sobolSequence{}
	table := polynomials()
	for j := range min(dims, len(table)+1) {
		var v [sobolBits]uint32
		if j == 0 {
			for k := range v {
				v[k] = 1 << (sobolBits - 1 - k)
			}
		} else {
			v = table[j-1].directions()
		}
		s.directions = append(s.directions, v)
	}
	return s
}

// directions follows the recurrence m_k = 2 a_1 m_(k-1) + 4 a_2 m_(k-2) + ... + 2^s m_(k-s) + m_(k-s), sums without carry,
// on v_k = m_k / 2^k (Bratley and Fox, ACM Transactions on Mathematical Software 14 (1988), 88-100).
func (p polynomial) directions() (v [sobolBits]uint32) {
	s := len(p.initial)
	for k := range v {
		if k < s {
			v[k] = p.initial[k] << (sobolBits - 1 - k)
			continue
		}
		v[k] = v[k-s] ^ v[k-s]>>s
		for i := 1; i < s; i++ {
			if p.coefficients>>(s-1-i)&1 == 1 {
				v[k] ^= v[k-i]
			}
		}
	}
	return v
}

// at is point n of the sequence in Gray code order, point 0 the origin: no point before it is needed.
func (s *sobolSequence) at(n uint64) []float64 {
	gray := uint32(n ^ n>>1)
	out := make([]float64, len(s.directions))
	for j, v := range s.directions {
		x := uint32(0)
		for g := gray; g != 0; g &= g - 1 {
			x ^= v[bits.TrailingZeros32(g)]
		}
		out[j] = float64(x) / (1 << sobolBits)
	}
	return out
}
