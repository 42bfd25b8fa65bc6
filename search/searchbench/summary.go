package searchbench

import (
	"fmt"
	"slices"
)

// Near is the regret, in percent, from which a method is near the best.
const Near = 10

// counts are the numbers of trials that tables have columns for.
var counts = []int{10, 20, 40, 60}

// At is how a method stands after a number of trials, over all its runs.
type At struct {
	Trials int     `json:"trials"`
	Mean   float64 `json:"mean"`   // regret, %
	Median float64 `json:"median"` // regret, %
	P90    float64 `json:"p90"`    // regret, %
	Bad    float64 `json:"bad"`    // share of the trials so far that did not run or broke a constraint
	Hours  float64 `json:"hours"`  // of the machine
}

// Summary is how a method did over all its runs. Shares are from 0 to 1, regrets in percent.
type Summary struct {
	Method    string
	N         int // runs
	At        []At
	Confirmed float64 // mean regret after confirmation at the last count
	BadLate   float64 // share of the second half's trials that are bad
	Within2   float64 // share of the runs that end within 2 % of the best
	Within5   float64 // share of the runs that end within 5 %
	Area      float64 // mean regret over all trials
	NearHours float64 // until the regret is first at most Near; a run that never gets there counts with its whole time
	NearShare float64 // share of the runs that get there
	Seconds   float64 // of the sampler, for a suggestion
	Stopped   int     // trials that were cut short, of all runs together
	// StoppedBest is how many of them would have been measured best so far.
	StoppedBest int
	// BetterBy has, by count and reference method, how much less the reference's regret is, in points: the mean over the runs that both have.
	BetterBy map[int]map[string]Interval
}

// Last is the standing at the last count.
func (s Summary) Last() At {
	if len(s.At) == 0 {
		return At{}
	}
	return s.At[len(s.At)-1]
}

// Summarise makes a summary of each method, in order of appearance, against reference methods. Trials beyond the shortest run's are left out, so
// that every figure is over all of a method's runs.
func Summarise(rows []Row, references ...string) []Summary {
	byMethod := map[string][]Row{}
	var methods []string
	trials := counts[len(counts)-1]
	for _, r := range rows {
		if byMethod[r.Method] == nil {
			methods = append(methods, r.Method)
		}
		byMethod[r.Method] = append(byMethod[r.Method], r)
		trials = min(trials, len(r.Trials))
	}
	if trials == 0 {
		return nil
	}
	var out []Summary
	for _, m := range methods {
		s := summarise(m, byMethod[m], trials)
		s.BetterBy = map[int]map[string]Interval{}
		for _, at := range s.At {
			s.BetterBy[at.Trials] = map[string]Interval{}
			for _, ref := range references {
				if ref != m && byMethod[ref] != nil {
					s.BetterBy[at.Trials][ref] = paired(byMethod[m], byMethod[ref], at.Trials)
				}
			}
		}
		out = append(out, s)
	}
	return out
}

// upTo are the counts within so many trials; the last is always that number itself.
func upTo(trials int) []int {
	var out []int
	for _, c := range counts {
		if c < trials {
			out = append(out, c)
		}
	}
	return append(out, trials)
}

func summarise(method string, rows []Row, trials int) Summary {
	s := Summary{Method: method, N: len(rows)}
	n := float64(len(rows))
	for _, count := range upTo(trials) {
		at := At{Trials: count}
		var regret []float64
		for _, r := range rows {
			regret = append(regret, r.Trials[count-1].Regret)
			at.Bad += float64(badIn(r.Trials[:count])) / float64(count) / n
			at.Hours += r.Trials[count-1].Minutes / 60 / n
		}
		at.Mean, at.Median, at.P90 = average(regret), quantile(regret, 0.5), quantile(regret, 0.9)
		s.At = append(s.At, at)
	}
	for _, r := range rows {
		used := r.Trials[:trials]
		end := used[trials-1].Regret
		s.Within2 += share(end <= 2) / n
		s.Within5 += share(end <= 5) / n
		s.BadLate += float64(badIn(used[trials/2:])) / float64(trials-trials/2) / n
		s.Confirmed += r.confirmed(trials) / n
		if trials == len(r.Trials) { // a row does not say which they were
			s.Stopped += r.Stopped
			s.StoppedBest += r.StoppedBest
		}
		s.Seconds += r.Seconds / float64(len(r.Trials)) / n
		near := slices.IndexFunc(used, func(x Score) bool { return x.Regret <= Near })
		s.NearShare += share(near >= 0) / n
		if near < 0 {
			near = trials - 1
		}
		s.NearHours += used[near].Minutes / 60 / n
		for _, x := range used {
			s.Area += x.Regret / float64(trials) / n
		}
	}
	return s
}

func badIn(trials []Score) int {
	n := 0
	for _, t := range trials {
		if t.Bad {
			n++
		}
	}
	return n
}

func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// confirmed is the regret after confirmation at the latest count that the trials reach.
func (r Row) confirmed(trials int) float64 {
	if trials > confirmedAt[0] {
		return r.Confirmed[1]
	}
	return r.Confirmed[0]
}

// run names what two methods have in common.
func (r Row) run() string { return fmt.Sprintf("%s %d %g", r.Surface, r.Seed, r.Noise) }

// paired is how much less the reference's regret is after so many trials, over the runs that both have.
func paired(rows, reference []Row, count int) Interval {
	other := map[string]float64{}
	for _, r := range reference {
		other[r.run()] = r.Trials[count-1].Regret
	}
	var differences []float64
	for _, r := range rows {
		if x, ok := other[r.run()]; ok {
			differences = append(differences, r.Trials[count-1].Regret-x)
		}
	}
	return bootstrap(differences)
}
