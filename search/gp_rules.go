package search

import (
	"math"
	"math/bits"
	"slices"

	"autotune/tuner"
)

// A server refuses a configuration by a rule that nobody told us: this cache type with that kernel, so many requests in that layout. A rule is taken to be one
// condition, or two on two flags that hold together: a number from some value on or up to it, a word, any word but the default. Whatever failed is
// weighed against every rule that would explain it. A rule loses belief with each trial that ran in spite of it, and with each that failed in the same
// way without it. This is Bayesian concept learning (Tenenbaum, Rules and Similarity in Concept Learning, NIPS 1999), without its size principle: the
// trials were not drawn from the rule, the searcher chose them.

// How rules are weighed. Only the products over many trials matter; half or double of each gives the same trials.
const (
	ruleSingle  = 0.3  // prior probability that a rule has one condition, not two
	ruleSpares  = 0.05 // likelihood of a trial that ran in spite of a rule: the rule is narrower than it is told here
	ruleOther   = 0.15 // likelihood of a trial that failed in the same way without the rule: it had another cause
	ruleComplex = 0.05 // prior probability that a failure has no such rule, and says nothing of other points
)

var logSpares, logOther = math.Log(ruleSpares), math.Log(ruleOther)

// condition is the levels of a parameter under which it holds.
type condition []bool

// conditionsOf lists the conditions on a parameter. A default that stands for a number counts as that number, and also as not given.
func conditionsOf(d *dimension) []condition {
	var out []condition
	add := func(holds func(a atom) bool) {
		c := make(condition, len(d.atoms)+1)
		some, all := false, true
		for level, a := range d.atoms {
			c[level] = holds(a)
			some, all = some || c[level], all && c[level]
		}
		if some && !all && !slices.ContainsFunc(out, func(other condition) bool { return slices.Equal(c, other) }) {
			out = append(out, c)
		}
	}
	words := 0
	for _, a := range d.atoms {
		if a.word {
			words++
			add(func(other atom) bool { return other.value == a.value })
			continue
		}
		for _, given := range []bool{false, true} {
			number := func(other atom) bool { return !other.word && !(given && other.value.IsDefault()) }
			add(func(other atom) bool { return number(other) && other.place >= a.place })
			add(func(other atom) bool { return number(other) && other.place <= a.place })
		}
	}
	if words > 2 {
		add(func(a atom) bool { return !a.value.IsDefault() })
	}
	return out
}

// rules are the suspicions of a history.
type rules struct {
	conditions [][]condition // by parameter
	causes     []suspicion   // one for each trial that failed by a rule
}

// suspicion is the probability that a point is under the rule by which one trial failed, taken apart by the parameters that the rule is about.
type suspicion struct {
	single [][]float64   // by parameter and level
	pair   [][][]float64 // by two parameters, the later first; by level of the earlier times the levels of the later, and that of the later
}

// learnRules weighs the rules that would explain the failures that are not for lack of memory.
func (b *belief) learnRules() *rules {
	r := &rules{}
	for _, d := range b.dims {
		r.conditions = append(r.conditions, conditionsOf(d))
	}
	var ran []sight
	var manners []string
	failed := map[string][]sight{}
	for _, s := range b.seen {
		switch {
		case s.ran:
			ran = append(ran, s)
		case s.trial.Outcome.Kind == tuner.Infeasible && kindOf(s.trial.Outcome) == refused:
			manner := mannerOf(s.trial)
			if failed[manner] == nil {
				manners = append(manners, manner)
			}
			failed[manner] = append(failed[manner], s)
		}
	}
	lived := b.under(r.conditions, ran)
	for _, manner := range manners {
		died := b.under(r.conditions, failed[manner])
		for _, s := range failed[manner] {
			j := judge{conditions: r.conditions, meets: b.meets(r.conditions, s), lived: lived, died: died, dead: len(failed[manner])}
			r.causes = append(r.causes, j.suspect())
		}
	}
	return r
}

// mannerOf tells failures apart that have not one cause.
func mannerOf(t tuner.Trial) string {
	o := t.Outcome
	return t.Point.Engine() + "/" + string(o.Phase) + "/" + string(o.Reason) + "/" + o.Signature
}

// trialSet is a set of trials, by their places in a list.
type trialSet []uint64

func (s trialSet) add(i int) { s[i/64] |= 1 << (i % 64) }

// both counts the trials that are in both sets.
func (s trialSet) both(other trialSet) int {
	n := 0
	for i, w := range s {
		n += bits.OnesCount64(w & other[i])
	}
	return n
}

// under is, for every condition of every parameter, which trials are under it.
func (b *belief) under(conditions [][]condition, trials []sight) [][]trialSet {
	out := make([][]trialSet, len(conditions))
	for i := range conditions {
		out[i] = make([]trialSet, len(conditions[i]))
		for k := range out[i] {
			out[i][k] = make(trialSet, (len(trials)+63)/64)
		}
	}
	for n, s := range trials {
		for i, met := range b.meets(conditions, s) {
			for _, k := range met {
				out[i][k].add(n)
			}
		}
	}
	return out
}

// meets lists, by parameter, the conditions that a trial is under: none on a parameter that it has not.
func (b *belief) meets(conditions [][]condition, s sight) [][]int {
	out := make([][]int, len(conditions))
	for i := range conditions {
		if _, has := s.trial.Point.Get(b.params[i].Name); !has {
			continue
		}
		for k, c := range conditions[i] {
			if c[s.cell[i]] {
				out[i] = append(out[i], k)
			}
		}
	}
	return out
}

// judge weighs the rules that one failed trial is under.
type judge struct {
	conditions  [][]condition
	meets       [][]int      // of the failed trial
	lived, died [][]trialSet // those that ran, and those that failed in the same manner
	dead        int          // how many those are
}

// likelihood of the history under a rule, by the number of trials that ran in spite of it and of those that failed in the same manner under it.
func (j judge) likelihood(ran, failed int) float64 {
	return math.Exp(float64(ran)*logSpares + float64(j.dead-failed)*logOther)
}

// suspect gives every rule its weight, and adds up those that a point would be under.
func (j judge) suspect() suspicion {
	n := len(j.conditions)
	s := suspicion{single: make([][]float64, n), pair: make([][][]float64, n)}
	open := 0
	for i := range n {
		if len(j.conditions[i]) > 0 {
			open++
		}
	}
	total := ruleComplex * j.likelihood(0, 1)
	for i := range n {
		if len(j.meets[i]) == 0 {
			continue
		}
		total += j.single(&s, i, ruleSingle/float64(open*len(j.conditions[i])))
		s.pair[i] = make([][]float64, i)
		for k := range i {
			if len(j.meets[k]) > 0 {
				pairs := open * (open - 1) / 2 * len(j.conditions[i]) * len(j.conditions[k])
				total += j.pair(&s, i, k, (1-ruleSingle)/float64(pairs))
			}
		}
	}
	s.scale(1 / total)
	return s
}

// single adds the rules of one condition on parameter i, and returns their weight.
func (j judge) single(s *suspicion, i int, prior float64) (total float64) {
	s.single[i] = make([]float64, len(j.conditions[i][0]))
	for _, k := range j.meets[i] {
		w := prior * j.likelihood(j.lived[i][k].both(j.lived[i][k]), j.died[i][k].both(j.died[i][k]))
		total += w
		j.conditions[i][k].addTo(s.single[i], w)
	}
	return total
}

// pair adds the rules of a condition on parameter a and one on the earlier parameter b, and returns their weight.
func (j judge) pair(s *suspicion, a, b int, prior float64) (total float64) {
	width := len(j.conditions[a][0])
	table := make([]float64, width*len(j.conditions[b][0]))
	row := make([]float64, width)
	for _, l := range j.meets[b] {
		clear(row)
		for _, k := range j.meets[a] {
			w := prior * j.likelihood(j.lived[a][k].both(j.lived[b][l]), j.died[a][k].both(j.died[b][l]))
			total += w
			j.conditions[a][k].addTo(row, w)
		}
		for level, in := range j.conditions[b][l] {
			if !in {
				continue
			}
			for m, w := range row {
				table[level*width+m] += w
			}
		}
	}
	s.pair[a][b] = table
	return total
}

func (c condition) addTo(levels []float64, w float64) {
	for level, in := range c {
		if in {
			levels[level] += w
		}
	}
}

func (s *suspicion) scale(by float64) {
	tables := slices.Concat(append(s.pair, s.single)...)
	for _, t := range tables {
		for i := range t {
			t[i] *= by
		}
	}
}

// at is the suspicion against a cell of which some parameters are active.
func (s *suspicion) at(c cell, active []bool) float64 {
	sum := 0.0
	for i, levels := range s.single {
		if !active[i] || levels == nil {
			continue
		}
		sum += levels[c[i]]
		for k, table := range s.pair[i] {
			if table != nil && active[k] {
				sum += table[c[k]*len(levels)+c[i]]
			}
		}
	}
	return sum
}

// logAvoids is the logarithm of the probability that a cell is under none of the rules by which trials failed. Two trials mostly failed by one rule, so
// that it is the strongest suspicion that counts, not their sum.
func (r *rules) logAvoids(c cell, active []bool) float64 {
	worst := 0.0
	for i := range r.causes {
		worst = math.Max(worst, r.causes[i].at(c, active))
	}
	return math.Log(math.Max(1-worst, 1e-12))
}
