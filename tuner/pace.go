package tuner

import "time"

// Pace is how long trials take, learned from those that have ended: what ran costs its start-up and its benchmark, what failed mostly less.
type Pace struct {
	Ran     int           // trials that ran
	StartUp time.Duration // of one that ran: all but the benchmark, on average
	Bench   time.Duration // of one that ran, on average
	Failed  int           // trials that did not run, or are not believed
	Failure time.Duration // of one of them, on average
	// Expected is what a further trial costs: as many of them fail as among the latest.
	Expected time.Duration
}

// latest is how many trials say how often further ones fail: a search fails less the more it knows.
const latest = 10

// Pace learns from the trials of this study that have come to an end; the zero Pace when there are none.
func (h History) Pace() Pace {
	var p Pace
	var ran []bool
	for _, t := range h {
		took := t.Ended.Sub(t.Started)
		if t.Foreign || t.Outcome.Kind == Running || t.Outcome.Kind == Interrupted || took < 0 {
			continue
		}
		ran = append(ran, t.Ran())
		if !t.Ran() {
			p.Failed++
			p.Failure += took
			continue
		}
		p.Ran++
		bench := min(t.Outcome.Run.Phases[PhaseBench], took)
		p.Bench += bench
		p.StartUp += took - bench
	}
	if p.Ran > 0 {
		p.StartUp, p.Bench = p.StartUp/time.Duration(p.Ran), p.Bench/time.Duration(p.Ran)
	}
	if p.Failed > 0 {
		p.Failure /= time.Duration(p.Failed)
	}
	p.Expected = p.expect(ran[max(0, len(ran)-latest):])
	return p
}

// expect is the mean cost of trials that end like these.
func (p Pace) expect(ran []bool) time.Duration {
	var sum time.Duration
	for _, r := range ran {
		if r {
			sum += p.StartUp + p.Bench
		} else {
			sum += p.Failure
		}
	}
	if len(ran) == 0 {
		return 0
	}
	return sum / time.Duration(len(ran))
}

// Left estimates how many trials the rest of the budget buys and how long they take, at this pace; elapsed is what the trial that now runs has taken
// already. The time is 0 while nothing is known of it, and the trials are -1 where nothing bounds them.
func (b Budget) Left(h History, spent, elapsed time.Duration) (trials int, left time.Duration) {
	trials = -1
	expected := h.Pace().Expected
	if b.Trials > 0 {
		trials = max(0, b.Trials-h.Finished())
		left = max(0, time.Duration(trials)*expected-min(elapsed, expected))
	}
	if b.WallClock == 0 || trials == 0 {
		return trials, left
	}
	clock := max(0, b.WallClock-spent)
	if trials >= 0 && expected > 0 && left <= clock {
		return trials, left
	}
	if expected > 0 {
		// What has begun before the clock runs out is finished.
		n := int((clock + min(elapsed, expected) + expected - 1) / expected)
		if trials < 0 || n < trials {
			trials = n
		}
	}
	return trials, clock
}
