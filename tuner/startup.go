package tuner

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"autotune/space"
)

// How start-ups are told apart beyond engine and checkpoint.
const (
	// splitFrom is how many warm starts a value must have to be a kind of its own: a median of fewer is chance.
	splitFrom = 3
	// splitGain is how much of the spread, the sum of the distances of logarithms to their median, may be left. Of groups of three chance alone leaves two
	// thirds.
	splitGain = 0.5
)

// StartUp is how long one kind of configuration takes to start: all of a trial that ran but its benchmark.
type StartUp struct {
	Engine  string
	Like    string        // what such configurations have in common: "vllm", "vllm tensor-parallel-size=8"
	Typical time.Duration // the median of the warm ones; the cold one while there is no other
	Cold    time.Duration // the first of its engine and checkpoint, which finds nothing in memory and nothing compiled; 0 where that is of another kind
	Trials  int
}

// start is one trial's.
type start struct {
	point space.Point
	took  time.Duration
	cold  bool
}

// StartUps are the start-ups of a study's trials, learned by engine and checkpoint, and by the one parameter that explains most of what is left, if one does.
type StartUps struct {
	split string             // that parameter's name; empty for none
	warm  map[string]int     // warm starts by engine, checkpoint and that parameter's value
	kinds map[string]StartUp // by name
	roots map[string]StartUp // by engine and checkpoint alone
	all   StartUp
}

// startUps learns from the trials of this study that ran.
func (h History) startUps() StartUps {
	var starts []start
	seen := map[string]bool{}
	for _, t := range h {
		took := t.Ended.Sub(t.Started)
		if t.Foreign || !t.Ran() || took < 0 {
			continue
		}
		root := rootKind(t.Point)
		starts = append(starts, start{t.Point, max(0, took-t.Outcome.Run.Phases[PhaseBench]), !seen[root]})
		seen[root] = true
	}
	plain := newStartUps(starts, "")
	best, least := plain, splitGain*plain.spread(starts)
	for _, name := range parameters(starts) {
		s := newStartUps(starts, name)
		if spread := s.spread(starts); spread < least {
			best, least = s, spread
		}
	}
	return best
}

// parameters are those by which start-ups may differ.
func parameters(starts []start) []string {
	names := map[string]bool{}
	for _, x := range starts {
		for name := range x.point.All() {
			names[name] = true
		}
	}
	delete(names, space.EngineParam)
	delete(names, space.CheckpointParam)
	return slices.Sorted(maps.Keys(names))
}

// newStartUps sorts start-ups into kinds, by a parameter's values too when it is named.
func newStartUps(starts []start, split string) StartUps {
	s := StartUps{split: split, warm: map[string]int{}}
	for _, x := range starts {
		if name := s.finest(x.point); name != "" && !x.cold {
			s.warm[name]++
		}
	}
	s.kinds, s.roots, s.all = sumUpBy(starts, s.kind), sumUpBy(starts, rootKind), sumUp("", starts)
	return s
}

// sumUpBy makes a kind of the starts of each name.
func sumUpBy(starts []start, name func(space.Point) string) map[string]StartUp {
	of := map[string][]start{}
	for _, x := range starts {
		of[name(x.point)] = append(of[name(x.point)], x)
	}
	kinds := map[string]StartUp{}
	for kind, some := range of {
		kinds[kind] = sumUp(kind, some)
	}
	return kinds
}

// sumUp makes one kind of some starts.
func sumUp(kind string, starts []start) StartUp {
	g := StartUp{Like: kind, Trials: len(starts)}
	if len(starts) > 0 {
		g.Engine = starts[0].point.Engine()
	}
	var warm []time.Duration
	for _, x := range starts {
		if x.cold {
			g.Cold = max(g.Cold, x.took)
		} else {
			warm = append(warm, x.took)
		}
	}
	g.Typical = g.Cold
	if n := len(warm); n > 0 {
		slices.Sort(warm)
		g.Typical = (warm[(n-1)/2] + warm[n/2]) / 2
	}
	return g
}

// rootKind names engine and checkpoint: what is started, and what is read.
func rootKind(p space.Point) string {
	kind := p.Engine()
	if v, ok := p.Get(space.CheckpointParam); ok {
		kind += " " + v.String()
	}
	return kind
}

// finest names engine, checkpoint and the value of the parameter that tells start-ups apart; empty without one.
func (s StartUps) finest(p space.Point) string {
	if v, ok := p.Get(s.split); ok && s.split != "" {
		return rootKind(p) + " " + strings.TrimPrefix(s.split, p.Engine()+".") + "=" + v.String()
	}
	return ""
}

// kind names the kind of a configuration. A value with few starts is none of its own.
func (s StartUps) kind(p space.Point) string {
	if name := s.finest(p); s.warm[name] >= splitFrom {
		return name
	}
	return rootKind(p)
}

// spread is how far the warm starts lie from the typical one of their kind, as a sum of logarithms.
func (s StartUps) spread(starts []start) (sum float64) {
	for _, x := range starts {
		if typical := s.kinds[s.kind(x.point)].Typical; !x.cold {
			sum += math.Abs(math.Log(max(x.took, time.Millisecond).Seconds() / max(typical, time.Millisecond).Seconds()))
		}
	}
	return sum
}

// Of is how long a configuration is likely to take to start; 0 while nothing is known. Of an engine or a checkpoint that was never started, all the others
// say most.
func (s StartUps) Of(p space.Point) time.Duration {
	for _, g := range []StartUp{s.kinds[s.kind(p)], s.roots[rootKind(p)]} {
		if g.Trials > 0 {
			return g.Typical
		}
	}
	return s.all.Typical
}

// Kinds lists the kinds of configurations that were started, the most frequent first.
func (s StartUps) Kinds() []StartUp { return byTrials(s.kinds) }

// Roots lists them by engine and checkpoint alone.
func (s StartUps) Roots() []StartUp { return byTrials(s.roots) }

func byTrials(kinds map[string]StartUp) []StartUp {
	return slices.SortedFunc(maps.Values(kinds), func(a, b StartUp) int {
		return cmp.Or(cmp.Compare(b.Trials, a.Trials), cmp.Compare(a.Like, b.Like))
	})
}
